"""The order in which a rank may post its operations, and whether it decides which messages meet.

What belongs here: rule 3 of ``operations`` for files that give waits and no order of posting. Messages meet in the order in
which both ends are posted, as MPI and LogGOPSim have it, and rows are taken to be posted from top to bottom. So a row must
stand below what it waits for. Where that leaves it open which of two messages of one pair and tag comes first, the file says.
"""

from __future__ import annotations

import heapq
from collections import defaultdict

import numpy as np

from hopline.schedule.check.order import BEGUN, MESSAGE, Edges, edges, joined, within
from hopline.schedule.matching import match, ways
from hopline.schedule.operations import NONE, RECV, SEND, Columns, Index, Ints, Schedule

FILE_ORDER = "messages of one pair and tag that nothing orders are matched in the order of the file"
"""The remark where ``open_ends`` says that it matters."""
_STEPS = 1_000_000
"""Waits that are followed at most, one by one, before an order is taken to be open."""


def posted(columns: Columns, waits: Ints) -> Ints:
    """Rows so that each stands below what it waits for, shape (rows,), in the order that they have where that is open.

    Above all, rows of one pair of ranks and tag keep their order, as far as waits let them. Rows that wait for one another in
    a circle, and those behind it, keep their places behind the others of their rank.

    Parameters
    ----------
    waits
        Pairs of rows of one rank, shape (k, 2): the first waits for the second.
    """
    rows = np.arange(len(columns))
    late = waits[waits[:, 0] < waits[:, 1]]
    if not len(late):
        return rows
    out, channels = rows.copy(), _channels(columns)
    concerned = np.unique(columns.rank[late[:, 0]])
    own = rows[np.isin(columns.rank, concerned)]
    own = own[np.argsort(columns.rank[own], kind="stable")]
    pairs = waits[np.isin(columns.rank[waits[:, 0]], concerned)]
    pairs = pairs[np.argsort(columns.rank[pairs[:, 0]], kind="stable")]
    bounds = [np.searchsorted(columns.rank[part], concerned).tolist() for part in (own, pairs[:, 0])]
    for (low, first), (high, last) in zip(
        zip(*bounds, strict=True), zip(*(b[1:] + [None] for b in bounds), strict=True), strict=True
    ):
        mine = own[low:high]
        out[mine] = _Line(mine.tolist(), pairs[first:last].tolist(), channels[mine].tolist()).order()
    return out


def _channels(columns: Columns) -> Ints:
    """A number for each kind, pair of ranks and tag of messages; NONE for other rows."""
    out = np.full(len(columns), NONE, np.int64)
    sends, recvs = (np.flatnonzero(columns.kind == kind).astype(np.int32) for kind in (SEND, RECV))
    way = ways(columns, sends, recvs) if len(sends) + len(recvs) else np.empty(0, np.int64)
    out[sends], out[recvs] = 2 * way[: len(sends)], 2 * way[len(sends) :] + 1
    return out


class _Line:
    """The rows of one rank on their way into a line.

    Of those that wait for nothing any more, the upper ones go first. A message is held back while another of its channel that
    stands above it in the file is still to come; where nothing else can go, one goes that the other waits for.
    """

    def __init__(self, rows: list[int], waits: list[list[int]], channels: list[int]) -> None:
        self._rows, self._channel = rows, dict(zip(rows, channels, strict=True))
        self._left: dict[int, int] = dict.fromkeys(rows, 0)
        self._then: dict[int, list[int]] = defaultdict(list)
        self._needs: dict[int, list[int]] = defaultdict(list)
        for row, on in waits:
            self._left[row] += 1
            self._then[on].append(row)
            self._needs[row].append(on)
        self._queues: dict[int, list[int]] = defaultdict(list)
        """Channel -> its rows still to come, the next one last."""
        for row in reversed(rows):
            self._queues[self._channel[row]].append(row)
        self._done: set[int] = set()
        self._held: set[int] = set()
        self._steps = _STEPS

    def order(self) -> list[int]:
        """The line."""
        ready = [row for row in self._rows if not self._left[row]]
        out: list[int] = []
        while ready or self._held:
            row = heapq.heappop(ready) if ready else self._forced()
            if self._first(row) != row and row not in self._held:
                self._held.add(row)
                continue
            self._held.discard(row)
            self._done.add(row)
            out.append(row)
            for later in self._then[row]:
                self._left[later] -= 1
                if not self._left[later]:
                    heapq.heappush(ready, later)
            if self._first(row) in self._held:
                self._held.discard(self._first(row))
                heapq.heappush(ready, self._first(row))
        return out + [row for row in self._rows if row not in self._done]

    def _first(self, row: int) -> int:
        """The uppermost row of the channel that is still to come; NONE: there is none, or it is no message."""
        queue = self._queues[self._channel[row]] if self._channel[row] != NONE else [row]
        while queue and queue[-1] in self._done:
            queue.pop()
        return queue[-1] if queue else NONE

    def _forced(self) -> int:
        """A row that is held back for one that waits for it; where there is none, the uppermost."""
        held = sorted(self._held)
        return next((row for row in held if len(held) > 1 and self._awaits(self._first(row), row)), held[0])

    def _awaits(self, row: int, on: int) -> bool:
        """Whether ``row`` waits for ``on``, over whatever is still to come."""
        stack, seen = [row], {row}
        while stack and self._steps > 0:
            for before in self._needs[stack.pop()]:
                self._steps -= 1
                if before == on:
                    return True
                if before not in seen and before not in self._done:
                    seen.add(before)
                    stack.append(before)
        return False


# --- whether it matters -------------------------------------------------------------------------------------------------


def open_ends(schedule: Schedule) -> bool:
    """Whether it depends on the order of rows which messages meet: two of one channel in no order that are not alike.

    It makes no difference where all at one end of a channel are alike: of one size, and waiting and awaited alike.
    """
    columns, mate = schedule.columns, match(schedule)
    inner = within(schedule)
    first, second = _neighbours(columns)
    if not len(first) or not inner.down:
        return False
    still = np.flatnonzero(~_behind(len(columns), inner, first, second))
    alike = _Alike(schedule, inner)
    open_: list[tuple[int, int]] = []
    for one, two in zip(first[still].tolist(), second[still].tolist(), strict=True):
        if not alike.same(one, two):
            open_.append((one, two))
    past = _Past(schedule, inner, mate)
    return any(not alike.others(mate, one, two) and not past.holds(two, one) for one, two in open_)
