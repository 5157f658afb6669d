"""Rows of a schedule in the making, one at a time, each with whatever it waits for.

What belongs here: from calls to columns. What a row means is the reader's.
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopline.errors import FormatError
from hopline.formats.schedules.order import before_on_lane, by_causes
from hopline.formats.schedules.posting import posted
from hopline.schedule.check.cells import distinct
from hopline.schedule.matching import match
from hopline.schedule.operations import DTYPES, FREE, NONE, Buffer, Columns, Index, Schedule
from hopline.schedule.pieces import Ints
from hopline.schedule.promises import Promise

_CODES = {np.uint8: "B", np.int32: "i", np.int64: "q"}
MOST = (1 << 31) - 1
"""Rows of a schedule: they are numbered in 32 bits."""


class Rows:
    """Rows so far, pairs of which the first waits for the second, and pairs of which it waits for the second's begin.

    ``mark`` is whatever number the reader gives to rows that it adds, to tell later where in the file they come from.
    """

    def __init__(self) -> None:
        self.mark = 0
        self._marks = array("q")
        self._columns = {name: array(_CODES[dtype]) for name, dtype in DTYPES.items() if name != "after"}
        self._waits, self._begun = array("q"), array("q")

    def __len__(self) -> int:
        return len(self._columns["kind"])

    def add(
        self,
        kind: int,
        rank: int,
        size: int,
        *,
        lane: int = FREE,
        buffer: int = 0,
        start: int = 0,
        source: int = 0,
        other: int = 0,
        peer: int = NONE,
    ) -> int:
        """A row; its number."""
        values = (kind, lane, buffer, source, rank, peer, start, size, other)
        for column, value in zip(self._columns.values(), values, strict=True):
            column.append(value)
        self._marks.append(self.mark)
        return len(self) - 1

    def wait(self, row: int, on: int) -> None:
        """``row`` begins when ``on`` is done."""
        self._waits.extend((row, on))

    def wait_begun(self, row: int, on: int) -> None:
        """``row`` begins when ``on`` has begun."""
        self._begun.extend((row, on))

    def extend(self, schedule: Schedule, members: Index, tags: int, marks: Ints, buffers: int = 0) -> int:
        """All rows of another schedule; the first one's number.

        Its rank r becomes ``members[r]`` and has the mark ``marks[r]``, its tags begin at ``tags``, its buffers at number
        ``buffers``.
        """
        first, columns = len(self), schedule.columns
        is_message = columns.peer != NONE
        changed = {
            "rank": members[columns.rank],
            "buffer": columns.buffer + buffers,
            "source": columns.source + buffers,
            "peer": np.where(is_message, members[columns.peer], NONE),
            "other": columns.other + np.where(is_message, tags, 0),
        }
        for name, column in self._columns.items():
            values = changed.get(name, getattr(columns, name))
            column.frombytes(np.ascontiguousarray(values, DTYPES[name]).tobytes())
        self._marks.frombytes(marks[columns.rank].astype(np.int64).tobytes())
        waiting = np.flatnonzero(columns.after != NONE)
        pairs = np.concatenate([np.stack([waiting, columns.after[waiting]], axis=1), schedule.more])
        self._waits.frombytes((pairs + first).astype(np.int64).tobytes())
        self._begun.frombytes((schedule.begun + first).astype(np.int64).tobytes())
        return first

    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns but ``after``, as arrays."""
        return {name: np.array(column, DTYPES[name]) for name, column in self._columns.items()}

    def mates(self) -> Index:
        """The other end of each row so far; NONE: there is none."""
        columns = Columns(after=np.full(len(self), NONE, np.int32), **self.columns())
        return match(Schedule("", 1, columns))

    def circular(self) -> bool:
        """Whether rows wait for one another in a circle, where a Send waits for its Recv."""
        columns = self.columns()
        return self._sorted(columns, _distinct(self._waits, columns)) is None

    def _sorted(self, columns: dict[str, NDArray[Any]], waits: Ints) -> Ints | None:
        return by_causes(columns["kind"], columns["rank"], columns["lane"], self.mates(), waits)

    def made(
        self,
        name: str,
        ranks: int,
        buffers: tuple[Buffer, ...] = (),
        promise: Promise | None = None,
        *,
        in_order: bool = False,
    ) -> tuple[Schedule, Ints]:
        """The schedule, and the mark of each of its rows.

        ``in_order``: rows stay where they are, as far as they may be posted so; else they are sorted by causes if possible.
        """
        if len(self) > MOST:
            raise FormatError(f"{name} has {len(self)} operations: expected at most {MOST}")
        columns = self.columns()
        waits, begun = _distinct(self._waits, columns), _pairs(self._begun)
        rows = self._posted(columns, waits, begun) if in_order else self._sorted(columns, waits)
        marks = np.array(self._marks, np.int64)
        if rows is not None:
            marks = marks[rows]
            columns = {key: column[rows] for key, column in columns.items()}
            new = np.empty(len(rows), np.int64)
            new[rows] = np.arange(len(rows))
            waits, begun = new[waits], new[begun]
        waits = waits[np.lexsort((waits[:, 1], waits[:, 0]))]
        first = np.r_[True, waits[1:, 0] != waits[:-1, 0]][: len(waits)]
        after = np.full(len(self), NONE, np.int32)
        after[waits[first, 0]] = waits[first, 1]
        made = Schedule(
            name, ranks, Columns(after=after, **columns), buffers, promise,
            more=waits[~first].astype(np.int32), begun=begun.astype(np.int32),
        )  # fmt: skip
        return made, marks

    def _posted(self, columns: dict[str, NDArray[Any]], waits: Ints, begun: Ints) -> Ints:
        free = Columns(after=np.full(len(self), NONE, np.int32), **columns)
        return posted(free, np.concatenate([waits, begun]))


def _pairs(flat: array[int]) -> Ints:
    return np.array(flat, np.int64).reshape(-1, 2)


def _distinct(flat: array[int], columns: dict[str, NDArray[Any]]) -> Ints:
    """Each pair once, without those that the order on a lane says already."""
    many = max(len(columns["rank"]), 1)
    row, on = np.divmod(distinct(_pairs(flat) @ np.array([many, 1])), many)
    lanes = before_on_lane(columns["rank"], columns["lane"])
    same = (columns["rank"][row] == columns["rank"][on]) & (columns["lane"][row] == columns["lane"][on])
    kept: Ints = np.stack([row, on], axis=1)[~(same & (on < row) & (lanes[row] != NONE))]
    return kept
