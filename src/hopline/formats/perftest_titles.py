"""What perftest's titles mean: the name of a test, and the columns of a table.

What belongs here: words of perftest's headers. Titles of columns hold blanks, so a header line is read title by title and
never word by word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from hopline.formats.drafts import GBIT, MIBS, US, plain
from hopline.formats.words import half as half

_TEST = re.compile(
    rb"^(?P<verb>Send|Send_imm|RDMA_Write|RDMA_Write_imm|RDMA_Read|Write|Read|Atomic)[ _]"
    rb"(?:(?:CMP_AND_SWAP|FETCH_AND_ADD)[ _])?(?P<both>Bidirectional[ _])?(?:Post[ _]List[ _])?"
    rb"(?P<what>BW|Latency)(?![A-Za-z])"
    rb"[\w ]*Test$",
    re.IGNORECASE,
)
_WHAT = {b"bw": "bw", b"latency": "latency", b"lat": "latency"}
_ROUND_TRIPS = ("read_latency", "atomic_latency")
_UNITS = {"MB/sec": ("MB(=MiB)", MIBS), "MiB/sec": ("MiB", MIBS), "Gb/sec": ("Gb", GBIT)}
"""Printed unit of a bandwidth -> what it is, and one of it in byte/s."""
_COLUMN = re.compile(
    r"#bytes|#sl|#iterations|BW (?:peak|average|Port\d)\s?\[[^\]]+\]|MsgRate(?: Port\d)?\s?\[[^\]]+\]|CPU_Util\[%+\]"
    r"|t_\w+\[[^\]]+\]|99(?:\.9+)?% percentile\[[^\]]+\]|tps average|\S+"
)
_PLAIN = {
    "#bytes": ("size", 1.0), "#iterations": ("iterations", 1.0), "#sl": ("service_level", 1.0),
    "MsgRate[Mpps]": ("message_rate", 1e6), "tps average": ("transactions", 1.0), "CPU_Util[%]": ("cpu", 0.01),
    "CPU_Util[%%]": ("cpu", 0.01), "t_min[usec]": ("time_min", US), "t_max[usec]": ("time_max", US),
    "t_typical[usec]": ("time_p50", US), "t_avg[usec]": ("time_avg", US), "t_stdev[usec]": ("time_stdev", US),
    "99% percentile[usec]": ("time_p99", US), "99.9% percentile[usec]": ("time_p999", US),
}  # fmt: skip
"""Title -> name of the column and one of the printed unit in SI."""
_TIMES = ("time_p50", "time_avg")
"""Columns that can be the time of a latency table, the better one first."""


@dataclass(frozen=True, slots=True)
class Test:
    """What was tested, in our words; all empty where the log does not say."""

    benchmark: str = ""
    title: str = ""
    bidirectional: bool = False

    @property
    def round_trip(self) -> bool:
        """Whether a latency is that of a whole round trip."""
        return self.benchmark in _ROUND_TRIPS


@dataclass(frozen=True, slots=True)
class Titles:
    """Columns of a table, what one of each printed unit is in SI, and the unit of bandwidths as printed."""

    names: tuple[str, ...] = ()
    scales: tuple[float, ...] = ()
    unit: str = ""


@lru_cache(64)
def test(text: bytes) -> Test | None:
    """The test that a title line such as ``RDMA_Write BW Test`` announces."""
    match = _TEST.match(text)
    if match is None:
        return None
    verb = match["verb"].lower().removeprefix(b"rdma_").decode("ascii")
    return Test(f"{verb}_{_WHAT[match['what'].lower()]}", plain(text), match["both"] is not None)


def of_command(match: re.Match[bytes], text: bytes) -> Test:
    """The test that a command line such as ``ib_write_bw -b -d mlx5_0`` runs."""
    both = re.search(rb"\s(?:-\w*b|--bidirectional)(?:\s|$)", text[match.end() :]) is not None
    return Test(f"{match[1].decode()}_{_WHAT[match[2]]}", "", both)


@lru_cache(64)
def columns(text: bytes) -> Titles:
    """The columns of a header line; no names for any other line, or for a unit that is not known."""
    found = [_column(title) for title in _COLUMN.findall(" ".join(text.decode("ascii", "replace").split()))]
    names = tuple(name for name, _, _ in found)
    usable = names[:1] == ("size",) and len(set(names)) == len(names) and ({"bandwidth", *_TIMES} & set(names))
    if not usable:
        return Titles()
    unit = next((unit for name, _, unit in found if name == "bandwidth"), "")
    return Titles(names, tuple(scale for _, scale, _ in found), unit)


def time_column(names: tuple[str, ...]) -> str:
    """The column that is a latency table's time: the typical one, or the average where only that was printed."""
    return next(name for name in _TIMES if name in names)


def _column(title: str) -> tuple[str, float, str]:
    """Name, scale, and unit of a bandwidth."""
    if title in _PLAIN:
        return (*_PLAIN[title], "")
    match = re.fullmatch(r"(BW|MsgRate) (peak|average|Port\d)\s?\[([^\]]+)\]", title)
    if match and match[1] == "MsgRate":
        return f"message_rate_{match[2].lower()}", 1e6, ""
    if match and match[3] in _UNITS:
        unit, scale = _UNITS[match[3]]
        suffix = {"average": ""}.get(match[2], f"_{match[2].lower()}")
        return f"bandwidth{suffix}", scale, unit
    return f"?{title}", 1.0, ""
