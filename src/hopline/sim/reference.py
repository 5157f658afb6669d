"""The oracle: a plain loop over ticks that is meant to be read, and that small schedules are run by.

What belongs here: the rules of a simulation, once, in Python. Compiled kernels must agree with it to the picosecond.

1. A row is ready when the row before it on its lane, its ``after`` and its ``more`` are done, its ``begun`` are ready, and
   (by rounds) all rows of earlier rounds are done. Reduce, Copy and Compute begin when they are ready.
2. A message is ready when both ends are; an eager one when its Send is. It begins when both its ports are free, holds them
   for its time, and then both ends are done. The Recv of an eager message is done when the message has arrived and it is
   ready itself.
3. In every tick all that ends ends first, with all that follows from it and takes no time; messages that take no time go as
   soon as their ports are free and hold none. Then the waiting messages are gone through by (tick they were ready, row of
   the Send), and each begins whose ports are free.
"""

from __future__ import annotations

from collections import defaultdict
from heapq import heappop, heappush

import numpy as np

from hopline.schedule.operations import NONE, RECV, SEND
from hopline.sim.arrays import Outcome, Tasks
from hopline.sim.rows import Rows


def run(tasks: Tasks) -> Outcome:
    """What happens, row by row."""
    running = _Run(tasks)
    running.go()
    return Outcome(
        np.array(running.end, np.int64), np.array(running.ready, np.int64), np.array(running.held, np.int32),
        np.array(running.busy, np.int64), np.array(running.finish, np.int64),
    )  # fmt: skip


class _Run(Rows):
    def __init__(self, tasks: Tasks) -> None:
        super().__init__(tasks)
        rows = len(tasks)
        self.port, self.rounds = tasks.port.tolist(), [0, *tasks.rounds.tolist(), rows]
        self.held, self.since = [NONE] * rows, [NONE] * rows
        self.busy, self.last = [0] * len(tasks.used), [NONE] * len(tasks.used)
        self.taken = [False] * len(tasks.used)
        self.waiting: dict[int, set[int]] = defaultdict(set)
        for row in range(self.rounds[1], rows):
            self.pending[row] += 1
        self.round, self.left = 0, self.rounds[1]
        self.flights: list[tuple[int, int]] = []
        self.fresh: list[int] = []
        self.freed: set[int] = set()

    def go(self) -> None:
        """Tick by tick to the end."""
        self.todo = self.free()
        self._settle()
        self._start()
        while self.flights:
            self.now = self.flights[0][0]
            while self.flights and self.flights[0][0] == self.now:
                self._landed(heappop(self.flights)[1])
            self._settle()
            self._start()

    def _settle(self) -> None:
        """All that follows in this tick from rows that became ready, without a port."""
        while self.todo:
            row = self.todo.pop()
            self.begun(row)
            if self.kind[row] <= RECV:
                self._met(row)
            elif self.work[row]:
                heappush(self.flights, (self.now + self.work[row], row))
            else:
                self.done(row)

    def _met(self, row: int) -> None:
        send = self.meeting(row)
        if send == NONE:
            return
        self.since[send] = self.now
        if self.work[send]:
            self.fresh.append(send)
        elif self._free(send):
            self.arrived(send)
        else:
            self._wait(send)

    def _landed(self, row: int) -> None:
        if self.kind[row] != SEND:
            self.done(row)
            return
        ports = {self.port[row], self.port[self.mate[row]]}
        for port in ports:
            self.taken[port], self.last[port] = False, row
            self.busy[port] += self.work[row]
        self.freed |= ports
        self.arrived(row)
        for send in sorted(send for port in ports for send in self.waiting[port] if not self.work[send]):
            if self.end[send] < 0 and self._free(send):
                self._leave(send)
                self.arrived(send)

    def done(self, row: int) -> None:
        """After the last row of a round the next one begins."""
        super().done(row)
        self.left -= 1
        while not self.left and self.rounds[self.round + 1] < len(self.end):
            self.round += 1
            low, high = self.rounds[self.round], self.rounds[self.round + 1]
            self.left = high - low
            self.release(list(range(low, high)))

    def _start(self) -> None:
        """Waiting messages whose ports came free, and those that became ready, begin in their order."""
        waited = {send for port in self.freed for send in self.waiting[port] if self.work[send]}
        for send in sorted(waited.union(self.fresh), key=lambda send: (self.since[send], send)):
            if not self._free(send):
                self._wait(send)
                continue
            self._leave(send)
            out, into = self.port[send], self.port[self.mate[send]]
            self.taken[out] = self.taken[into] = True
            if self.since[send] < self.now:
                before = self.last[out]
                self.held[send] = before if before != NONE and self.end[before] == self.now else self.last[into]
            heappush(self.flights, (self.now + self.work[send], send))
        self.fresh.clear()
        self.freed.clear()

    def _free(self, send: int) -> bool:
        return not (self.taken[self.port[send]] or self.taken[self.port[self.mate[send]]])

    def _wait(self, send: int) -> None:
        self.waiting[self.port[send]].add(send)
        self.waiting[self.port[self.mate[send]]].add(send)

    def _leave(self, send: int) -> None:
        self.waiting[self.port[send]].discard(send)
        self.waiting[self.port[self.mate[send]]].discard(send)
