"""Does it depend on the order of rows which messages meet.

What belongs here: messages of one pair and tag that nothing orders, and whether they could change places unnoticed. The order
that rows get is ``posting``.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from hopline.formats.schedules.posting import channels
from hopline.schedule.check.order import BEGUN, Edges, adjacency, waits, within
from hopline.schedule.matching import match
from hopline.schedule.operations import NONE, RECV, Index, Schedule
from hopline.schedule.pieces import Ints

FILE_ORDER = "messages of one pair and tag that nothing orders are matched in the order of the file"
"""What a reader should know where it does."""
_STEPS = 1_000_000
"""Waits that are followed one by one at most; beyond, an order is taken to be open."""


def open_ends(schedule: Schedule) -> bool:
    """Whether two messages of one channel, side by side there, are in no order and could not change places unnoticed.

    They can where both are alike at one end: of one size, and waiting and awaited alike. Where messages are left over or rows
    wait for later ones, something else is wrong, and it is not asked.
    """
    mate, inner = match(schedule), within(schedule)
    if not inner.down or np.any((mate == NONE) & (schedule.columns.kind <= RECV)):
        return False
    upper, lower = _neighbours(channels(schedule.columns))
    still = np.flatnonzero(~_behind(len(schedule), inner, upper, lower))
    if not len(still):
        return False
    ties = _Ties(schedule, inner, mate)
    pairs = zip(upper[still].tolist(), lower[still].tolist(), strict=True)
    return any(not ties.alike(one, two) and not ties.ordered(one, two) for one, two in pairs)


def _neighbours(number: Ints) -> tuple[Ints, Ints]:
    """Rows that follow one another on a channel: the upper and the lower ones."""
    rows = np.flatnonzero(number != NONE)
    rows = rows[np.argsort(number[rows], kind="stable")]
    same = number[rows[1:]] == number[rows[:-1]]
    return rows[:-1][same], rows[1:][same]


def _behind(count: int, inner: Edges, upper: Ints, lower: Ints) -> NDArray[np.bool_]:
    """Where the lower row waits for the upper one, or leads there by always going to the lowest row that is waited for.

    By steps of powers of two: rows that are waited for stand above.
    """
    asked, known = _packed(upper, lower), np.sort(_packed(inner.first, inner.second))
    direct = np.append(known, NONE)[np.searchsorted(known, asked)] == asked
    parent = np.full(count, NONE, np.int32)
    np.maximum.at(parent, inner.second, inner.first)
    steps, here = [parent], lower.copy()
    while len(here) and np.any(steps[-1] != NONE):
        last = steps[-1]
        steps.append(np.where(last == NONE, NONE, last[last]))
    for step in reversed(steps):
        there = step[here]
        here = np.where(there >= upper, there, here)
    out: NDArray[np.bool_] = direct | (here == upper)
    return out


def _packed(first: Ints | Index, second: Ints | Index) -> Ints:
    return first.astype(np.int64) << 32 | second


class _Ties:
    """Questions to two rows of one channel."""

    def __init__(self, schedule: Schedule, inner: Edges, mate: Index) -> None:
        self._columns, self._mate = schedule.columns, mate
        self._graph = waits(schedule, inner, mate)
        self._before = adjacency(self._graph.count, self._graph.target, self._graph.source)
        self._sides = [
            adjacency(len(schedule), key[some], value[some])
            for some in (inner.cause == BEGUN, inner.cause != BEGUN)
            for key, value in ((inner.second, inner.first), (inner.first, inner.second))
        ]
        self._steps = _STEPS

    def alike(self, one: int, two: int) -> bool:
        """Whether the two, or their other ends, can change places unnoticed."""
        return self._same(one, two) or self._same(int(self._mate[one]), int(self._mate[two]))

    def _same(self, one: int, two: int) -> bool:
        sizes = self._columns.size
        return bool(sizes[one] == sizes[two]) and all(_of(side, one) == _of(side, two) for side in self._sides)

    def ordered(self, one: int, two: int) -> bool:
        """Whether ``two`` surely begins after ``one`` has begun, over messages, too."""
        graph = self._graph
        start, goals = int(graph.begins[two]), {int(graph.begins[one]), int(graph.ends[one])}
        answered = int(graph.ends[self._mate[two]]) if self._columns.kind[two] == RECV else NONE
        queue, seen = deque([start]), {start}
        while queue and self._steps > 0:
            node = queue.popleft()
            for before in _of(self._before, node):
                self._steps -= 1
                if node == start and before == answered:
                    continue
                if before in goals:
                    return True
                if before not in seen:
                    seen.add(before)
                    queue.append(before)
        return False


def _of(table: tuple[Ints, Ints, Index], key: int) -> list[int]:
    begin, size, values = table
    found: list[int] = values[begin[key] : begin[key] + size[key]].tolist()
    return found
