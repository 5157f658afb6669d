"""A table while its lines are read: what the readers of small logs share.

What belongs here: gathering rows, the reasons why some are not usable, and making a Table or the one-line reason of
them. Not here: any tool's layout.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from hopline.errors import FormatError
from hopline.formats.lines import blocks, excerpt, quoted, shown, split, tells_failure
from hopline.formats.nccl_ranks import contradictions
from hopline.quantity import convert
from hopline.records.table import Fact, Floats, Log, Measure, Table, count_dropped

US, GBS, GBIT, MIBS = convert(1, "us"), convert(1, "GB/s"), convert(1, "Gb/s"), convert(1, "MiB/s")
"""One of each printed unit in SI."""
TORN = "torn row: not as many numbers as columns"
BAD_VALUE = "the time or bandwidth cannot be: not above 0, or beyond all reason"
TWICE = "the same result again (server and client both print it)"
MOST_ROWS = 1 << 20
LONGEST, LARGEST = 1e18, 2.0**63

Events = list[tuple[str, int]]
"""(reason, line) of rows that must not be used."""


@dataclass(slots=True)
class Draft:
    """A table in the making; ``rows`` hold one number for each of ``names``, in SI, and ``lines`` where they stand."""

    benchmark: str = ""
    names: tuple[str, ...] = ()
    rows: list[tuple[float, ...]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    events: Events = field(default_factory=list)
    facts: dict[str, Fact] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    title: str = ""
    ranks: int | None = None
    contradictions: tuple[str, ...] = ()

    def state_ranks(self, ranks: int | None, notes: tuple[str, ...]) -> None:
        """Take the number of ranks, with notes on how the log's statements of it agree."""
        self.ranks, self.contradictions = ranks, contradictions(ranks, notes)
        self.notes += notes

    def add(self, row: Sequence[float], line: int) -> None:
        """Take a row."""
        self.rows.append(tuple(row))
        self.lines.append(line)

    def drop(self, reason: str, line: int) -> None:
        """Count a row that must not be used."""
        self.events.append((reason, line))

    @property
    def met(self) -> int:
        """All rows, unusable ones included."""
        return len(self.rows) + len(self.events)

    def columns(self) -> dict[str, Floats]:
        """The rows column by column, without the unnamed ones."""
        numbers = np.array(self.rows, float).reshape(len(self.rows), len(self.names))
        return {name: numbers[:, place].copy() for place, name in enumerate(self.names) if not name.startswith("?")}

    def table(self, tool: str, measure: Measure, columns: dict[str, Floats]) -> Table:
        """The table of all rows."""
        events = count_dropped(sorted(self.events, key=_line))
        return Table(
            tool, self.benchmark, measure, columns, self.met, self.ranks, self.lines[0],
            self.title, events, tuple(self.notes), self.facts, self.contradictions,
        )  # fmt: skip


def bounded(path: str, rows: int) -> None:
    """Raise FormatError for more rows than any benchmark prints: they are not worth the memory."""
    if rows > MOST_ROWS:
        raise FormatError(
            f"{shown(path)} holds more than {MOST_ROWS} rows: expected the output of a benchmark; split it"
        )


def _line(event: tuple[str, int]) -> int:
    return event[1]


@dataclass(slots=True)
class Alarm:
    """The first line of a log that tells of a failure."""

    words: tuple[bytes, ...] = ()
    """What this tool says, beside what every launcher does."""
    first: tuple[int, bytes] | None = None

    def sounds(self, text: bytes) -> bool:
        """Whether any line of ``text`` tells of a failure."""
        return tells_failure(text) or any(map(text.__contains__, self.words))

    def hear(self, raw: bytes, line: int) -> None:
        """Remember the line if it is the first."""
        if self.first is None and self.sounds(raw):
            self.first = (line, raw)

    @property
    def said(self) -> str:
        """The end of an error message."""
        return quoted(*self.first) if self.first else ""

    def notes(self) -> tuple[str, ...]:
        """The note beside a table."""
        if self.first is None:
            return ()
        return (f"an error stands beside the rows, first at line {self.first[0]}: {excerpt(self.first[1])}",)


class LineReader(Protocol):
    """Who takes a log line by line, and what it has of it so far."""

    alarm: Alarm

    @property
    def drafts(self) -> Sequence[Draft]:
        """The tables so far."""

    def line(self, text: bytes, number: int, alarmed: bool, /) -> None:
        """A line that is not empty; ``alarmed``: some line near it tells of a failure."""


def feed(path: str, reader: LineReader) -> list[str]:
    """Give ``reader`` every line of the file; what had to be left out. Raises FormatError where it cannot be read."""
    notes: list[str] = []
    for block in blocks(path, notes):
        bounded(path, sum(draft.met for draft in reader.drafts))
        alarmed = reader.alarm.sounds(block.text)
        for number, raw in split(block):
            if raw:
                reader.line(raw, number, alarmed)
    return notes


def log(
    path: str, kind: str, tables: Sequence[Table], alarm: Alarm, nothing: str, left: Iterable[tuple[str, int]],
    notes: Sequence[str],
) -> Log:  # fmt: skip
    """The Log, or a FormatError that says why there is none: the rows left out, or else ``nothing``."""
    dropped = count_dropped(sorted(left, key=_line))
    if not tables:
        why = f"no usable row: {', '.join(map(str, dropped))}" if dropped else nothing
        raise FormatError(f"{shown(path)}: {why}{alarm.said}")
    return Log(path, kind, tuple(tables), dropped, (*notes, *alarm.notes()))


def numbers(words: Iterable[bytes]) -> list[float]:
    """The words as floats; none at all when one of them is no number."""
    try:
        return [float(word) for word in words]
    except ValueError:
        return []


def sane_time(value: float) -> bool:
    """Whether a time in seconds, or a bandwidth in byte/s, can be one."""
    return 1e-15 < value < LONGEST


def sane_size(value: float) -> bool:
    """Whether a size in bytes can be one."""
    return 0 <= value < LARGEST and value == math.floor(value)


def plain(text: bytes) -> str:
    """Bytes of a log as one line of text."""
    return excerpt(text)
