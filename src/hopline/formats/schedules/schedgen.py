"""Configurations of Schedgen2, LogGOPSim's generator: no schedules, and told apart from them.

What belongs here: the keys it knows. It sets whatever a file names and takes its own choice for what is misspelt, so that a
wrong key is worth a word. Keys: spcl/LogGOPSim, ``src/Schedgen2/schedgen.py``.
"""

from __future__ import annotations

from difflib import get_close_matches

from hopline.errors import FormatError
from hopline.formats.lines import excerpt
from hopline.formats.schedules.bounded import whole
from hopline.formats.schedules.contents import Plan
from hopline.formats.source import shown

KEYS = (
    "comm", "ptrn", "ptrn_config", "algorithm", "comm_size", "datasize", "window_size", "compute_time_dependency", "output",
    "ignore_verification", "config", "txt2bin", "randomized_data", "num_comm_groups", "tag",
)  # fmt: skip


def refuse(path: str) -> Plan:
    """Raise FormatError that says what the file is, and which of its keys Schedgen2 has not got."""
    import msgspec

    try:
        found = msgspec.json.decode(whole(path), type=dict[str, object])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"{shown(path)} is no JSON object: {excerpt(str(error).encode())}") from None
    unknown = [key for key in found if key not in KEYS]
    words = [f"{excerpt(key.encode(), 40)!r}{_close(key)}" for key in unknown[:3]]
    told = f"; unknown key {', '.join(words)}" if unknown else ""
    raise FormatError(
        f"{shown(path)} is a configuration of Schedgen2, no schedule{told}: run Schedgen2 with it, and give its GOAL file"
    )


def _close(key: str) -> str:
    close = get_close_matches(key, KEYS, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
