"""The oracle of flows: a plain loop over ticks that is meant to be read, and that small schedules are run by.

What belongs here: the rules of a simulation of flows, once, in Python. Compiled kernels must agree with it.

1. A row is ready when the row before it on its lane, its ``after`` and its ``more`` are done, and its ``begun`` are ready.
   Reduce, Copy and Compute begin when they are ready.
2. A message is ready when both ends are; an eager one when its Send is. It then begins at once. For the latency of its route
   nothing flows. Then its bytes flow, and it shares every resource of its route until they are through; then both ends are
   done. The Recv of an eager message is done when the message has arrived and it is ready itself.
3. A message of no bytes, or with a route of no resources, takes its latency and shares nothing.
4. In every tick all that ends ends first, with all that follows from it and takes no time. Then shares are worked out anew
   for all flows (``sharing_reference``). A flow is through at the tick nearest to its last byte.
5. A flow that is bound by a resource for some ticks loses to it those ticks, less what its bytes would have taken alone.
"""

from __future__ import annotations

from heapq import heappop, heappush
from math import floor

import numpy as np

from hopline.schedule.operations import NONE, RECV, SEND
from hopline.sim.flows_arrays import EARLY, Load, Outcome
from hopline.sim.rows import Rows
from hopline.sim.sharing_reference import fill


def run(load: Load, keep: bool) -> Outcome:
    """What happens, row by row; ``keep``: with spans."""
    running = _Run(load)
    running.go()
    spans = np.array(running.spans, np.int64).reshape(-1, 3)
    bound = np.zeros(len(load.capacity), np.int64)
    np.add.at(bound, spans[:, 0], spans[:, 2] - spans[:, 1])
    return Outcome(
        np.array(running.end, np.int64), np.array(running.ready, np.int64), np.array(running.began, np.int64),
        np.array(running.finish, np.int64), np.array(running.cost, np.float64), bound, spans if keep else spans[:0],
        running.solves,
    )  # fmt: skip


class _Run(Rows):
    def __init__(self, load: Load) -> None:
        super().__init__(load.tasks)
        self.row, self.flow, self.first = load.row.tolist(), load.flow.tolist(), load.start.tolist()
        uses = list(zip(load.resource.tolist(), load.amount.tolist(), strict=True))
        self.uses = [uses[low:high] for low, high in zip(self.first[:-1], self.first[1:], strict=True)]
        self.bytes, self.alone, self.capacity = load.todo.tolist(), load.alone.tolist(), load.capacity.tolist()
        self.began, self.cost = [NONE] * len(self.row), [0.0] * len(uses)
        self.since = self.solves = 0
        self.timed: list[tuple[int, int]] = []
        self.sharing: set[int] = set()
        self.changed = False
        self.level: dict[int, float] = {}
        self.bound: dict[int, int] = {}
        self.binds: dict[int, int] = {}
        self.spans: list[tuple[int, int, int]] = []

    def go(self) -> None:
        """Tick by tick to the end."""
        self.todo = self.free()
        while True:
            self._settle()
            if self.changed:
                self._share()
            ticks = [self.timed[0][0]] if self.timed else []
            ticks += [self.since + self._ticks_left(flow) for flow in self.sharing]
            if not ticks:
                return
            self.now = min(ticks)
            self._flow_on()
            while self.timed and self.timed[0][0] == self.now:
                self._due(heappop(self.timed)[1])

    def _settle(self) -> None:
        """All that follows in this tick from rows that became ready."""
        while self.todo:
            row = self.todo.pop()
            self.begun(row)
            if self.kind[row] <= RECV:
                self._met(row)
            else:
                self._after(self.work[row], row)

    def _met(self, row: int) -> None:
        send = self.meeting(row)
        if send == NONE:
            return
        self.began[self.flow[send]] = self.now
        self._after(self.work[send], send)

    def _after(self, ticks: int, row: int) -> None:
        if ticks:
            heappush(self.timed, (self.now + ticks, row))
        else:
            self._due(row)

    def _due(self, row: int) -> None:
        """A row has worked, or the latency of a message is over."""
        flow = self.flow[row]
        if self.kind[row] != SEND:
            self.done(row)
        elif self.bytes[flow] and self.uses[flow]:
            self.sharing.add(flow)
            self.changed = True
        else:
            self.arrived(row)

    def _ticks_left(self, flow: int) -> int:
        ticks: float = self.bytes[flow] / self.level[flow]
        return max(floor(ticks - EARLY) + 1, 0)

    def _share(self) -> None:
        self.level, self.bound = fill({flow: self.uses[flow] for flow in sorted(self.sharing)}, self.capacity)
        self.changed = False
        self.solves += 1
        binding = set(self.bound.values())
        for resource in self.binds.keys() - binding:
            if (since := self.binds.pop(resource)) < self.now:
                self.spans.append((resource, since, self.now))
        for resource in binding - self.binds.keys():
            self.binds[resource] = self.now

    def _flow_on(self) -> None:
        """Up to now; flows that are through end."""
        elapsed = self.now - self.since
        through = {flow for flow in self.sharing if self._ticks_left(flow) <= elapsed}
        for flow in self.sharing:
            bytes_through = self.bytes[flow] if flow in through else self.level[flow] * elapsed
            self._lose(flow, elapsed - bytes_through / self.alone[flow])
            self.bytes[flow] -= bytes_through
        self.since = self.now
        for flow in sorted(through):
            self.sharing.remove(flow)
            self.changed = True
            self.arrived(self.row[flow])

    def _lose(self, flow: int, ticks: float) -> None:
        place = next(i for i, (resource, _) in enumerate(self.uses[flow]) if resource == self.bound[flow])
        self.cost[self.first[flow] + place] += ticks
