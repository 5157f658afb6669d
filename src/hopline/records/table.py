"""Measured tables as they come out of a log: sizes and times in columns, what was dropped and why.

What belongs here: what a benchmark printed, in SI. Not how it was printed (``formats``) nor what follows (``study``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from hopline.curve import Floats as Floats
from hopline.errors import FormatError

Measure = Literal["time", "gap"]
"""``time``: from start to completion. ``gap``: time per message in a stream, which holds no latency."""
Fact = str | int | float | tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Dropped:
    """Rows that must not be used: why, how many, and where the first of them stands (line number from 1)."""

    reason: str
    count: int
    first_line: int

    def __str__(self) -> str:
        rows = "row" if self.count == 1 else "rows"
        return f"{self.count} {rows} dropped: {self.reason} (first at line {self.first_line})"


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """One table of a log.

    Attributes
    ----------
    tool, benchmark
        Who printed it and what was measured (``all_reduce``, ``send_recv``, ``latency``); "" where the log does not say.
    measure
        ``time`` or ``gap``, see Measure.
    columns
        Name -> float column, all of one length, usable rows only. ``size`` (bytes) and ``time`` (s) are always there;
        readers add what the tool prints beside (``time_in_place``, ``time_min``, ``algbw``, ``busbw``, ...), in SI.
    rows
        Table rows met, with those that were dropped for a reason the row itself shows (zero size, wrong result).
    ranks
        Number of ranks where the log's statements agree, else None (see notes).
    line
        Line number (from 1) of the table's first row in its file.
    facts
        What only this tool states (``factor``, ``ranks_listed``, ...).
    contradictions
        Where the log's own statements exclude one another (ranks listed against busbw/algbw), a line each.
    """

    tool: str
    benchmark: str
    measure: Measure
    columns: Mapping[str, Floats]
    rows: int
    ranks: int | None = None
    line: int = 0
    title: str = ""
    dropped: tuple[Dropped, ...] = ()
    notes: tuple[str, ...] = ()
    facts: Mapping[str, Fact] = field(default_factory=dict)
    contradictions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        lengths = {len(column) for column in self.columns.values()}
        if not {"size", "time"} <= set(self.columns) or len(lengths) != 1:
            raise FormatError(f"table {self.benchmark!r} needs columns size and time of one length, has {lengths}")
        for column in self.columns.values():
            column.flags.writeable = False
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))
        object.__setattr__(self, "facts", MappingProxyType(dict(self.facts)))

    @property
    def size(self) -> Floats:
        """Message sizes in bytes."""
        return self.columns["size"]

    @property
    def time(self) -> Floats:
        """Times in seconds, of the out-of-place half where the tool prints two."""
        return self.columns["time"]

    def __len__(self) -> int:
        return len(self.size)


@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """All tables of one file, in file order and never merged, with what no table could take."""

    source: str
    kind: str
    tables: tuple[Table, ...]
    dropped: tuple[Dropped, ...] = ()
    notes: tuple[str, ...] = ()


def count_dropped(events: Iterable[tuple[str, int]]) -> tuple[Dropped, ...]:
    """(reason, line) pairs in file order -> one Dropped a reason."""
    found: dict[str, Dropped] = {}
    for reason, line in events:
        before = found.get(reason)
        found[reason] = Dropped(reason, before.count + 1, before.first_line) if before else Dropped(reason, 1, line)
    return tuple(found.values())
