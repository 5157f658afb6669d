"""Rows and what they wait for, in plain Python: what the oracles have in common.

What belongs here: who waits for whom, and who is let go when a row begins or is done. What rows take and share is elsewhere.
"""

from __future__ import annotations

from collections import defaultdict

from hopline.schedule.operations import FREE, NONE, SEND
from hopline.sim.arrays import Tasks


class Rows:
    """All rows of ``tasks`` at tick ``now``; ``todo`` are those that are ready and were not looked at yet."""

    def __init__(self, tasks: Tasks) -> None:
        rows = len(tasks)
        self.kind, self.work, self.mate = tasks.kind.tolist(), tasks.work.tolist(), tasks.mate.tolist()
        self.eager = ((tasks.size <= tasks.eager) & (tasks.eager > 0)).tolist()
        self.rank, self.finish = tasks.rank.tolist(), [0] * tasks.ranks
        self.end, self.ready, self.pending = [NONE] * rows, [NONE] * rows, [0] * rows
        self.when_done: dict[int, list[int]] = defaultdict(list)
        self.when_begun: dict[int, list[int]] = defaultdict(list)
        self._link(tasks)
        self.todo: list[int] = []
        self.now = 0

    def _link(self, tasks: Tasks) -> None:
        above: dict[tuple[int, int], int] = {}
        pairs: list[tuple[int, int]] = [(row, other) for row, other in enumerate(tasks.after.tolist()) if other != NONE]
        for row, lane in enumerate(zip(tasks.rank.tolist(), tasks.lane.tolist(), strict=True)):
            if lane[1] != FREE:
                pairs += [(row, above[lane])] if lane in above else []
                above[lane] = row
        pairs += [(row, other) for row, other in tasks.more.tolist()]
        for wait, table in ((pairs, self.when_done), (tasks.begun.tolist(), self.when_begun)):
            for row, other in wait:
                self.pending[row] += 1
                table[other].append(row)

    def free(self) -> list[int]:
        """Rows that wait for nothing."""
        return [row for row, pending in enumerate(self.pending) if not pending]

    def meeting(self, row: int) -> int:
        """The Send of a message that is ready now that ``row``, an end of it, is; NONE: it is not yet, or went before."""
        send = row if self.kind[row] == SEND else self.mate[row]
        if not self.eager[send]:
            return send if self.ready[self.mate[row]] >= 0 else NONE
        if row == send:
            return send
        if self.end[send] >= 0:
            self.done(row)
        return NONE

    def arrived(self, send: int) -> None:
        """Both ends of a message are done, the Recv if it is ready."""
        self.done(send)
        if self.ready[self.mate[send]] >= 0:
            self.done(self.mate[send])

    def done(self, row: int) -> None:
        """What waited for a row is let go."""
        self.end[row] = self.finish[self.rank[row]] = self.now
        self.release(self.when_done[row])

    def begun(self, row: int) -> None:
        """A row is ready; what waited for that is let go."""
        self.ready[row] = self.now
        self.release(self.when_begun[row])

    def release(self, rows: list[int]) -> None:
        """Each of ``rows`` waits for one thing less."""
        for row in rows:
            self.pending[row] -= 1
            if not self.pending[row]:
                self.todo.append(row)
