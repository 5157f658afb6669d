"""Published profiles: one table of comma-separated values, in which many operations stand one under the other.

What belongs here: the header line, rows as cells by name, and one Table for each key that a layout makes of a row. What
columns mean is the layouts' (``aiconfigurator``, ``vidur``).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hopline.errors import FormatError
from hopline.formats.drafts import BAD_VALUE, TORN, Alarm, Draft, feed, log, plain, sane_size, sane_time
from hopline.formats.lines import shown
from hopline.formats.numbered import DECIMAL
from hopline.records.table import Fact, Floats, Log, Table

BAD_SIZE = "the size is no whole number of bytes"
_COUNT = re.compile(r"[1-9]\d{0,8}", re.ASCII)
_BENCHMARK = re.compile(r"[a-z]\w{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Key:
    """What tells tables apart: rows of one key are one table. ``title`` says it in words."""

    benchmark: str
    ranks: int
    title: str
    facts: tuple[tuple[str, Fact], ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A row as it stands, in bytes and seconds; NaN for what is no number."""

    key: Key
    size: float
    time: float


class RowError(FormatError):
    """Why a row must not be used, where it is not known to which table it belongs."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Columns of a tool.

    Attributes
    ----------
    tool
        Whose they are.
    needed
        Columns without which nothing can be read, in words where several would do: from the header's names to those missing.
    mark
        A column that only the header line has as a cell.
    row
        A row's cells by name to what they say. Raises RowError.
    medians
        Whether rows of one size are several ranks' views of one run, whose median is the time.
    """

    tool: str
    needed: Callable[[Sequence[str]], list[str]]
    mark: str
    row: Callable[[Mapping[str, str]], Row]
    medians: bool = False


def read(path: str, layout: Layout) -> Log:
    """All tables of the file, in the order of their first rows. Raises FormatError."""
    reader = _Reader(path, layout)
    notes = feed(path, reader)
    tables = [_table(draft, layout) for draft in reader.tables.values() if draft.rows]
    left = [event for draft in reader.drafts if not draft.rows for event in draft.events]
    nothing = f"a header of {layout.tool} and no row under it" if reader.columns else f"no table of {layout.tool}"
    return log(path, layout.tool, tables, reader.alarm, nothing, left, notes)


def decimal(text: str) -> float:
    """A number; NaN where it is none, so that it is no time and no size."""
    return float(text) if DECIMAL.fullmatch(text.strip()) else float("nan")


def count(text: str, what: str) -> int:
    """A whole number above 0 of ``what``. Raises RowError."""
    if not _COUNT.fullmatch(text.strip()):
        raise RowError(f"the number of {what} is no whole number above 0")
    return int(text)


def named(text: str) -> str:
    """The name of a collective. Raises RowError."""
    if not _BENCHMARK.fullmatch(text.strip()):
        raise RowError("the name of the collective is none")
    return text.strip()


@dataclass(slots=True)
class _Reader:
    """Where in the file we are."""

    path: str
    layout: Layout
    columns: tuple[str, ...] = ()
    tables: dict[Key, Draft] = field(default_factory=dict)
    left: Draft = field(default_factory=Draft)
    """Rows of which it is not known to which table they belong."""
    alarm: Alarm = field(default_factory=Alarm)

    @property
    def drafts(self) -> Sequence[Draft]:
        """See LineReader."""
        return [*self.tables.values(), self.left]

    def line(self, raw: bytes, number: int, alarmed: bool) -> None:
        """See LineReader."""
        text = raw.strip()
        if alarmed:
            self.alarm.hear(text, number)
        if not text or (not self.columns and self.layout.mark.encode() not in text):
            return
        cells = _cells(text)
        if self.layout.mark in cells:
            self._header(cells, number)
        elif self.columns:
            self._row(cells, number)

    def _header(self, cells: Sequence[str], number: int) -> None:
        twice = [name for place, name in enumerate(cells) if name in cells[:place]]
        if twice:
            raise FormatError(f"{shown(self.path)} line {number}: two columns are called {_quoted(twice[0])}")
        if missing := self.layout.needed(cells):
            raise FormatError(
                f"{shown(self.path)} line {number}: the header has no column {', '.join(missing)}: expected the columns "
                f"of {self.layout.tool}"
            )
        self.columns = tuple(cells)

    def _row(self, cells: Sequence[str], number: int) -> None:
        if len(cells) != len(self.columns):
            self.left.drop(TORN, number)
            return
        try:
            found = self.layout.row(dict(zip(self.columns, cells, strict=True)))
        except RowError as error:
            self.left.drop(str(error), number)
            return
        key = found.key
        draft = self.tables.get(key)
        if draft is None:
            draft = self.tables[key] = Draft(key.benchmark, ("size", "time"), title=key.title, ranks=key.ranks)
            draft.facts = dict(key.facts)
            draft.notes = [key.title]
        if not sane_size(found.size):
            draft.drop(BAD_SIZE, number)
        elif not sane_time(found.time):
            draft.drop(BAD_VALUE, number)
        else:
            draft.add((found.size, found.time), number)


def _cells(text: bytes) -> list[str]:
    """The cells of a line; none where its quotes do not close."""
    try:
        return [cell.strip() for cell in next(csv.reader([text.decode("utf-8", "replace")], strict=True))]
    except csv.Error:
        return []


def _quoted(text: str) -> str:
    return repr(plain(text.encode()))


def _table(draft: Draft, layout: Layout) -> Table:
    columns = draft.columns()
    if layout.medians:
        columns = _medians(columns["size"], columns["time"])
    return draft.table(layout.tool, "time", columns)


def _medians(size: Floats, time: Floats) -> dict[str, Floats]:
    """Distinct sizes in growing order with the median of the times of each."""
    distinct, index = np.unique(size, return_inverse=True)
    ends = np.cumsum(np.bincount(index))[:-1]
    groups = np.split(time[np.argsort(index, kind="stable")], ends)
    return {"size": distinct, "time": np.array([np.median(group) for group in groups])}
