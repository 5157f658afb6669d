"""The order in which a rank may post its operations.

What belongs here: rule 3 of ``operations`` for files that give waits and no order of posting. Messages meet in the order in
which both ends are posted, as MPI and LogGOPSim have it, and rows are taken to be posted from top to bottom. So a row must
stand below what it waits for. Where that leaves it open which of two messages of one pair and tag comes first, the file says;
whether it matters is ``ties``.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from hopline.schedule.matching import ways
from hopline.schedule.operations import NONE, RECV, SEND, Columns
from hopline.schedule.pieces import Ints

_STEPS = 1_000_000
"""Waits of a rank that are followed one by one at most; beyond, rows that are held back go in the order of the file."""


def posted(columns: Columns, waits: Ints) -> Ints:
    """Rows in an order in which each stands below what it waits for, shape (rows,); in their old order where that is open.

    Above all, messages of one pair of ranks and tag keep their order, as far as waits let them. A rank's rows keep to the
    places that the rank has. Those that wait for one another in a circle, and those behind it, come last of their rank.

    Parameters
    ----------
    waits
        Pairs of rows of one rank, shape (k, 2): the first waits for the second.
    """
    out = np.arange(len(columns))
    ranks = np.unique(columns.rank[waits[waits[:, 0] < waits[:, 1], 0]])
    if not len(ranks):
        return out
    number, rank_of = channels(columns), columns.rank[waits[:, 0]]
    for own, asked in zip(_grouped(columns.rank, ranks), _grouped(rank_of, ranks), strict=True):
        out[own] = lined(own.tolist(), waits[asked].tolist(), number[own].tolist())
    return out


def lined(rows: list[int], waits: list[list[int]], numbers: list[int]) -> list[int]:
    """``rows`` (in order) as ``posted`` has them; ``numbers``: the channel of each, NONE where it is no message."""
    return _Line(rows, waits, numbers).order()


def _grouped(rank: NDArray[np.int32], ranks: NDArray[np.int32]) -> list[Ints]:
    """Where each of ``ranks`` stands in ``rank``."""
    some = np.flatnonzero(np.isin(rank, ranks))
    some = some[np.argsort(rank[some], kind="stable")]
    return np.split(some, np.searchsorted(rank[some], ranks[1:]))


def channels(columns: Columns) -> Ints:
    """A number for each kind, pair of ranks and tag of messages, shape (rows,); NONE for other rows."""
    out = np.full(len(columns), NONE, np.int64)
    sends, recvs = (np.flatnonzero(columns.kind == kind).astype(np.int32) for kind in (SEND, RECV))
    if len(sends) + len(recvs):
        way = ways(columns, sends, recvs)
        out[sends], out[recvs] = 2 * way[: len(sends)], 2 * way[len(sends) :] + 1
    return out


class _Line:
    """The rows of one rank on their way into a line.

    Of those that wait for nothing any more, the upper ones go first. A message is held back while another of its channel that
    stands above it in the file is still to come; where nothing else can go, one goes that those wait for.
    """

    def __init__(self, rows: list[int], waits: list[list[int]], numbers: list[int]) -> None:
        self._rows, self._channel = rows, dict(zip(rows, numbers, strict=True))
        self._left: dict[int, int] = dict.fromkeys(rows, 0)
        self._then: dict[int, list[int]] = defaultdict(list)
        for row, on in waits:
            self._left[row] += 1
            self._then[on].append(row)
        self._coming: dict[int, list[int]] = defaultdict(list)
        """Channel -> its rows still to come, the next one last; rows behind it may be done."""
        for row in reversed(rows):
            if self._channel[row] != NONE:
                self._coming[self._channel[row]].append(row)
        self._done: set[int] = set()
        self._held: set[int] = set()
        self._uppermost: list[int] = []
        """Heap of the rows that are held back; those that have gone since may be in it."""
        self._steps = _STEPS

    def order(self) -> list[int]:
        """The line."""
        ready = [row for row in self._rows if not self._left[row]]
        out: list[int] = []
        while ready or self._held:
            row = heapq.heappop(ready) if ready else self._forced()
            if self._first(row) not in (row, NONE) and row not in self._held:
                self._held.add(row)
                heapq.heappush(self._uppermost, row)
                continue
            self._held.discard(row)
            self._done.add(row)
            out.append(row)
            for later in self._then[row]:
                self._left[later] -= 1
                if not self._left[later]:
                    heapq.heappush(ready, later)
            free = self._first(row)
            if free in self._held:
                self._held.discard(free)
                heapq.heappush(ready, free)
        return out + [row for row in self._rows if row not in self._done]

    def _first(self, row: int) -> int:
        """The uppermost row of its channel that is still to come; NONE: there is none, or it is on no channel."""
        coming = self._coming.get(self._channel[row], [])
        while coming and coming[-1] in self._done:
            coming.pop()
        return coming[-1] if coming else NONE

    def _forced(self) -> int:
        """A row that is held back only for rows that wait for it; where none is found, the uppermost."""
        while self._uppermost[0] not in self._held:
            heapq.heappop(self._uppermost)
        if len(self._held) > 1 and self._steps > 0:
            self._steps -= len(self._held)
            return next(filter(self._leads, sorted(self._held)), self._uppermost[0])
        return self._uppermost[0]

    def _leads(self, row: int) -> bool:
        """Whether all rows of its channel that stand above it and are still to come wait for it, over whatever."""
        if self._steps <= 0:
            return False
        above = set(takewhile(lambda other: other < row, reversed(self._coming[self._channel[row]]))) - self._done
        self._steps -= len(above)
        stack, seen = [row], {row}
        while stack and above and self._steps > 0:
            for later in self._then[stack.pop()]:
                self._steps -= 1
                if later not in seen:
                    seen.add(later)
                    above.discard(later)
                    stack.append(later)
        return not above
