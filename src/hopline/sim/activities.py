"""From activities to when each of them was: in one pass, or by events where they slow one another down.

What belongs here: the two loops. The rules are those of ``schedule/activities``; times are whole picoseconds, so that the
answer is the same everywhere. Where rates change, work is kept in millionths of a picosecond and ends are rounded up.
"""

from __future__ import annotations

from collections import defaultdict
from heapq import heapify, heappop, heappush

import numpy as np

from hopline.errors import SimulationError
from hopline.records.replay import Replay
from hopline.schedule.activities import COMPUTE, NONE, TRANSFER, Activities

_UNIT = 1_000_000
"""Work that is done in a picosecond with nothing beside it."""


def simulate_activities(activities: Activities, *, way: str | None = None) -> Replay:
    """When each activity is ready, starts and ends.

    ``way``: ``pass`` (one pass, nothing slows anything) or ``events``; None: the one that is needed. Raises SimulationError
    where activities wait for one another in a circle.
    """
    run = _Events if (way or ("events" if activities.contended else "pass")) == "events" else _Pass
    running = run(activities)
    running.go()
    if left := running.end.count(NONE):
        row = running.end.index(NONE)
        raise SimulationError(
            f"{left} of {len(activities)} activities never end: row {row} waits for what waits for it; expected no circle"
        )
    ready, start, end = (np.array(column, np.int64) for column in (running.ready, running.start, running.end))
    return Replay(ready, start, end, np.array(running.cause, np.int32), np.array(running.last, np.int32))


class _Waits:
    """Who waits for whom, and what has come so far."""

    def __init__(self, activities: Activities) -> None:
        rows = len(activities)
        self.work, self.ready = activities.work.tolist(), activities.begin.tolist()
        self.start, self.end = [NONE] * rows, [NONE] * rows
        self.cause, self.last = [NONE] * rows, list(range(rows))
        self.pending = np.bincount(activities.done[:, 0], minlength=rows).tolist()
        self.first, self.waiting, self.lag = _followers(activities, rows)
        self.meeting = activities.meeting.tolist()
        self.members: dict[int, list[int]] = defaultdict(list)
        for row in np.flatnonzero(activities.meeting != NONE).tolist():
            self.members[self.meeting[row]].append(row)
        self.missing = {number: len(rows) for number, rows in self.members.items()}

    def release(self, cause: int) -> list[int]:
        """Rows that wait for nothing more now that ``cause`` has ended."""
        free, at, ready, pending = [], self.end[cause], self.ready, self.pending
        low, high = self.first[cause], self.first[cause + 1]
        for row, lag in zip(self.waiting[low:high], self.lag[low:high], strict=True):
            time = at + lag
            if time >= ready[row] and (time > ready[row] or self.cause[row] == NONE):
                ready[row], self.cause[row] = time, cause
            pending[row] -= 1
            if not pending[row]:
                free.append(row)
        return free

    def starting(self, row: int) -> list[int]:
        """Rows that start now that ``row`` is ready: itself, or its whole meeting, or none."""
        number = self.meeting[row]
        if number == NONE:
            return [row]
        self.missing[number] -= 1
        if self.missing[number]:
            return []
        members = self.members[number]
        last = max(members, key=self.ready.__getitem__)
        for member in members:
            self.last[member] = last
        return members


class _Pass(_Waits):
    """Each row once, in an order in which all that it waits for stands before it."""

    def go(self) -> None:
        start, end = self.start, self.end
        todo = [row for row, pending in enumerate(self.pending) if not pending]
        while todo:
            row = todo.pop()
            members = [row] if self.meeting[row] == NONE else self.starting(row)
            for member in members:
                start[member] = self.ready[self.last[member]]
                end[member] = start[member] + self.work[member]
                todo += self.release(member)


class _Events(_Waits):
    """Tick by tick, with rates that change when something starts or ends on a rank."""

    def __init__(self, activities: Activities) -> None:
        super().__init__(activities)
        self.kind, self.rank = activities.kind.tolist(), activities.rank.tolist()
        self.slow = [[round(_UNIT / factor) for factor in row] for row in activities.slowdown.tolist()]
        self.on: tuple[list[set[int]], list[set[int]]] = (
            [set() for _ in range(activities.ranks)], [set() for _ in range(activities.ranks)],
        )  # fmt: skip
        """Kernels and transfers that are on, by rank."""
        rows = len(activities)
        self.left, self.rate, self.since, self.version = [0] * rows, [_UNIT] * rows, [0] * rows, [0] * rows
        self.now = 0

    def go(self) -> None:
        self.heap = [(self.ready[row], row, 0) for row, pending in enumerate(self.pending) if not pending]
        heapify(self.heap)
        while self.heap:
            self.now, row, version = heappop(self.heap)
            if not version:
                self._is_ready(row)
            elif version == self.version[row]:
                self._is_done(row)

    def _push(self, rows: list[int]) -> None:
        for row in rows:
            self.ready[row] = max(self.ready[row], self.now)
            heappush(self.heap, (self.ready[row], row, 0))

    def _is_ready(self, row: int) -> None:
        members = self.starting(row)
        for member in members:
            self.start[member], self.since[member] = self.now, self.now
            self.left[member] = self.work[member] * _UNIT
            self._switch(member, True)
        for member in members:
            self._pace(member)

    def _is_done(self, row: int) -> None:
        self.end[row] = self.now
        self._switch(row, False)
        if self.kind[row] == TRANSFER:
            for part in self._parts(row):
                self._pace(part)
        self._push(self.release(row))

    def _switch(self, row: int, on: bool) -> None:
        """A kernel or transfer comes or goes; where it is the first or was the last of its rank, others change their pace."""
        kind, rank = self.kind[row], self.rank[row]
        if kind not in (COMPUTE, TRANSFER):
            return
        mine, others = self.on if kind == COMPUTE else self.on[::-1]
        before = bool(mine[rank])
        (mine[rank].add if on else mine[rank].discard)(row)
        if before == bool(mine[rank]):
            return
        touched = set(others[rank])
        if kind == COMPUTE:
            touched = {part for other in touched for part in self._parts(other)}
        for other in sorted(touched):
            self._pace(other)

    def _parts(self, row: int) -> list[int]:
        """The rows that started together with a transfer and are still on, itself among them."""
        members = self.members[self.meeting[row]] if self.meeting[row] != NONE else [row]
        return [member for member in members if self.end[member] == NONE]

    def _pace(self, row: int) -> None:
        """What is left of a row that is on, at the rate of now."""
        self.left[row] -= self.rate[row] * (self.now - self.since[row])
        self.since[row], self.rate[row] = self.now, self._rate(row)
        self.version[row] += 1
        heappush(self.heap, (self.now + max(0, -(-self.left[row] // self.rate[row])), row, self.version[row]))

    def _rate(self, row: int) -> int:
        kind, rank = self.kind[row], self.rank[row]
        if kind == COMPUTE:
            return self.slow[0][rank] if self.on[1][rank] else _UNIT
        if kind == TRANSFER:
            ranks = {self.rank[member] for member in self._parts(row)}
            return min((self.slow[1][other] for other in ranks if self.on[0][other]), default=_UNIT)
        return _UNIT


def _followers(activities: Activities, rows: int) -> tuple[list[int], list[int], list[int]]:
    """Those who wait for each row: where its own begin in the list, shape (rows + 1,); who; and the lags."""
    order = np.argsort(activities.done[:, 1], kind="stable")
    first = np.searchsorted(activities.done[order, 1], np.arange(rows + 1))
    return first.tolist(), activities.done[order, 0].tolist(), activities.lag[order].tolist()
