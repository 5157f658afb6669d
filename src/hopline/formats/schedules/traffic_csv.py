"""Read a plain table of traffic: ``src,dst,bytes``, one line a message.

What belongs here: the columns. A column of start times says its unit in its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from hopline.errors import FormatError
from hopline.formats.numbered import Line, numbered, quoted
from hopline.formats.schedules.traffic import MOST_RANKS, Flows, TrafficPlan, contents
from hopline.formats.source import shown
from hopline.quantity import counted

NAMES = {
    "src": "src", "source": "src", "dst": "dst", "destination": "dst", "bytes": "bytes", "size_bytes": "bytes",
    "start_ps": "start", "start_ns": "start", "start_us": "start", "start_ms": "start", "start_s": "start",
}  # fmt: skip
"""Name of a column, in small letters -> what it holds."""
UNITS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
"""End of the name of a column of starts -> its unit in picoseconds."""
NEEDED = ("src", "dst", "bytes")


@dataclass(frozen=True, slots=True)
class _Head:
    """Place of each column, and the picoseconds that a unit of ``start`` is."""

    places: dict[str, int]
    columns: int
    unit: int


def is_head(line: str) -> bool:
    """Whether a line names the columns of such a table."""
    words = [word.strip().strip('"').lower() for word in line.split(",")]
    return len(words) >= len(NEEDED) and set(NEEDED) <= {NAMES.get(word) for word in words}


def read(path: str) -> TrafficPlan:
    """The plan of the table at ``path``. Raises FormatError."""
    lines = (line for line in numbered(path) if line.text.strip() and not line.text.lstrip().startswith("#"))
    first = next(lines, None)
    if first is None:
        raise FormatError(f"{shown(path)} has no line: expected the columns src,dst,bytes")
    head, flows = _head(first), Flows()
    left = _rows(head, lines, flows)
    remarks = [f"{counted(left, 'message')} of 0 bytes from a rank to itself: left out"] if left else []
    ranks = flows.highest + 1
    facts = {"messages": len(flows), "bytes": flows.bytes(), "ranks": ranks}
    return TrafficPlan(path, contents("traffic", path, ranks, flows, {**facts}, remarks), flows)


def _head(line: Line) -> _Head:
    places: dict[str, int] = {}
    unit = 1
    words = [word.strip().strip('"') for word in line.text.split(",")]
    for place, word in enumerate(words):
        meaning = NAMES.get(word.lower())
        if meaning is None:
            known = ", ".join(NAMES)
            raise line.wrong(
                f"unknown column {quoted(word)}: expected src,dst,bytes and perhaps start_us (known: {known})"
            )
        if meaning in places:
            raise line.wrong(f"column {quoted(word)} says {meaning} a second time: expected it once")
        places[meaning] = place
        if meaning == "start":
            unit = UNITS[word.lower().removeprefix("start_")]
    missing = [name for name in NEEDED if name not in places]
    if missing:
        raise line.wrong(f"no column {missing[0]}: expected src,dst,bytes")
    return _Head(places, len(words), unit)


def _rows(head: _Head, lines: Iterator[Line], flows: Flows) -> int:
    """Add the message of each line; how many were left out."""
    src, dst, size, start = (head.places.get(name, -1) for name in (*NEEDED, "start"))
    left = 0
    for line in lines:
        words = [word.strip() for word in line.text.split(",")]
        if len(words) != head.columns:
            raise line.wrong(f"{len(words)} columns: expected {head.columns}, as the first line names (is it cut?)")
        ends = [line.integer(words[at], name, 0, MOST_RANKS - 1) for at, name in ((src, "src"), (dst, "dst"))]
        count = line.integer(words[size], "bytes")
        begin = _start(line, words[start], head.unit) if start >= 0 else 0
        if ends[0] == ends[1] and not count:
            left += 1
        else:
            flows.add(line, ends[0], ends[1], count, begin)
    return left


def _start(line: Line, text: str, unit: int) -> int:
    line.decimal(text, "start")
    return round(Fraction(text) * unit)
