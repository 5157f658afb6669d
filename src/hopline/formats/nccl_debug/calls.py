"""What messages say of single calls: the algorithm and protocol chosen, and what was asked for.

What belongs here: per-call lines in all layouts. ``256 Bytes -> Algo 0 proto 0 time 26.0`` (2.20 to 2.22), with the
function before it (2.23), and ``AllReduce: 4096 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}`` (since 2.24), the
size right-aligned or not.
"""

from __future__ import annotations

import re

from hopline.formats.nccl_debug.lines import Message
from hopline.records.nccl_log import Call, Collective
from hopline.records.nccl_names import ALGORITHMS, DATATYPES, PROTOCOLS, spelled

_US = 1e-6
_CALL = re.compile(
    r"(?:(\w+)\s*:\s*)?(?<![\w.])(\d+) Bytes -> Algo (\w+) proto (\w+)(?: time (\d+(?:\.\d+)?(?:e[+-]?\d+)?))?"
    r"(?:\s*channel\{Lo\.\.Hi\}=\{(\d+)\.\.(\d+)\})?"
)
_COLLECTIVE = re.compile(
    r"(\w+): opCount ([0-9a-f]+) sendbuff \S+ recvbuff \S+ (?:acc \S+ )?count (\d+) datatype (\d+) op (\d+) root (-?\d+) "
    r"comm \S+(?: \[nranks=(\d+)\])?"
)


def call(message: Message) -> Call | None:
    """The choice that a message tells, None where it tells none."""
    found = _CALL.search(message.text) if " Bytes -> Algo " in message.text else None
    if found is None:
        return None
    function, size, algorithm, protocol, time, first, last = found.groups()
    channels = (int(first), int(last)) if first is not None else None
    return Call(
        spelled(function or ""), int(size), _named(algorithm, ALGORITHMS), _named(protocol, PROTOCOLS),
        float(time) * _US if time else None, channels, message.measured, message.line,
    )  # fmt: skip


def collective(message: Message) -> Collective | None:
    """The call that a message tells as it was made, None where it tells none."""
    found = _COLLECTIVE.search(message.text) if ": opCount " in message.text else None
    if found is None:
        return None
    function, number, count, datatype, operation, root, ranks = found.groups()
    kind = int(datatype)
    name, element = DATATYPES[kind] if kind < len(DATATYPES) else (f"datatype {kind}", None)
    return Collective(
        function, int(number, 16), int(count), name, element, int(operation), int(root), int(ranks) if ranks else None,
        message.line,
    )  # fmt: skip


def _named(text: str, names: tuple[str, ...]) -> str:
    """A name, or the name of a number; a number beyond those known stays as it is."""
    if text.isdigit():
        return names[int(text)] if int(text) < len(names) else text
    return spelled(text)
