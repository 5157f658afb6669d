"""The oracle of LogGOPS: a plain loop over events that is meant to be read, and that small schedules are run by.

What belongs here: the rules, as published and as LogGOPSim has them (T. Hoefler, T. Schneider and A. Lumsdaine, HPDC 2010):

1. A rank has one processor and one NIC, which sends and receives apart. A row is freed when all that it waits for is done
   (``begun``: has begun), and is tried when the processor (and to send, the NIC) is free of what was begun before.
2. A Send keeps the processor for o + (s - 1) O and the NIC for g + (s - 1) G; its message arrives o + L after its start. It is
   done at once, or, if it is of more than S bytes, when it meets its Recv; its rank's clocks are then moved up to that time.
3. A message that has arrived needs the processor and the receiving NIC, and keeps them for o + (s - 1) max(O, G) and
   g + (s - 1) G. If the Recv has begun they meet; else the Recv meets it when it begins, at no further cost.
4. A Recv begins without the processor. Reduce, Copy and Compute keep it for their work.
5. What finds its processor or NIC busy is tried again when both are free. Events go by time, then by the order in which they
   came up: messages when they are sent; rows when they are freed, by rank, then Sends, Recvs and the rest, then those freed
   by a beginning before those freed by an end, by row.

A message meets the Recv that ``matching`` gives it.
"""

from __future__ import annotations

from collections import defaultdict
from heapq import heappop, heappush

import numpy as np

from hopline.schedule.operations import FREE, NONE, RECV, SEND
from hopline.sim.costs import Costs, Outcome


def run(costs: Costs) -> Outcome:
    """What happens, row by row."""
    running = _Run(costs)
    running.go()
    start, end, cpu, busy = (
        np.array(part, np.int64) for part in (running.start, running.end, running.cpu, running.busy)
    )
    cause, late_cause = (np.array(part, np.int32) for part in (running.cause, running.late_cause))
    return Outcome(start, end, cause, late_cause, cpu, busy)


class _Run:
    def __init__(self, costs: Costs) -> None:
        rows, ranks = len(costs), costs.ranks
        self.kind, self.rank, self.mate = costs.kind.tolist(), costs.rank.tolist(), costs.mate.tolist()
        self.work, self.nic, self.late, self.travel = (
            costs.cpu.tolist(),
            costs.nic.tolist(),
            costs.late.tolist(),
            costs.travel,
        )
        self.start, self.end, self.cause, self.late_cause = ([-1] * rows for _ in range(4))
        self.cpu: list[int] = [0] * ranks
        self.out: list[int] = [0] * ranks
        self.into: list[int] = [0] * ranks
        self.by_cpu, self.by_out, self.by_into = ([NONE] * ranks for _ in range(3))
        self.busy = [0] * (3 * ranks)
        self.begun: set[int] = set()
        self.let_by: dict[int, int] = {}
        self.pending = [0] * rows
        self.when_done: dict[int, list[int]] = defaultdict(list)
        self.when_begun: dict[int, list[int]] = defaultdict(list)
        self._link(costs)
        self.events: list[tuple[int, int, int, bool]] = []
        self.serial = 0
        self.freed: dict[int, list[int]] = defaultdict(list)

    def _link(self, costs: Costs) -> None:
        above: dict[tuple[int, int], int] = {}
        pairs = [(row, other) for row, other in enumerate(costs.after.tolist()) if other != NONE]
        for row, lane in enumerate(zip(self.rank, costs.lane.tolist(), strict=True)):
            if lane[1] != FREE:
                pairs += [(row, above[lane])] if lane in above else []
                above[lane] = row
        pairs += [(row, other) for row, other in costs.more.tolist()]
        for wait, table in ((pairs, self.when_done), (costs.begun.tolist(), self.when_begun)):
            for row, other in sorted(wait):
                self.pending[row] += 1
                table[other].append(row)

    def go(self) -> None:
        """Event by event to the end."""
        for row, pending in enumerate(self.pending):
            if not pending:
                self.freed[self.rank[row]].append(row)
        self._free()
        while self.events:
            time, serial, row, arrived = heappop(self.events)
            wait = self._wait(row, arrived)
            if wait > time:
                heappush(self.events, (wait, serial, row, arrived))
                continue
            if arrived:
                self._message(time, row)
            elif self.kind[row] == SEND:
                self._send(time, row)
            elif self.kind[row] == RECV:
                self._recv(time, row)
            else:
                self._work(time, row)
            self._free()

    def _wait(self, row: int, arrived: bool) -> int:
        """When what it needs is free."""
        rank: int = self.rank[self.mate[row] if arrived else row]
        if arrived:
            return max(self.cpu[rank], self.into[rank])
        if self.kind[row] == RECV:
            return 0
        return max(self.cpu[rank], self.out[rank]) if self.kind[row] == SEND else self.cpu[rank]

    def _send(self, time: int, row: int) -> None:
        rank = self.rank[row]
        self.cause[row] = self.by_cpu[rank] if self.cpu[rank] == time else self.by_out[rank]
        self._keep(time, row)
        self.out[rank], self.by_out[rank] = time + self.nic[row], 2 * row
        self.busy[3 * rank + 1] += self.nic[row]
        self._push(time + self.travel, row, True)
        if not self.late[row]:
            self._end(row, time, NONE)

    def _message(self, time: int, send: int) -> None:
        recv = self.mate[send]
        rank = self.rank[recv]
        if time == self.start[send] + self.travel:
            self.cause[recv] = 2 * send
        else:
            self.cause[recv] = self.by_cpu[rank] if self.cpu[rank] == time else self.by_into[rank]
        cause = NONE if self.cause[recv] == 2 * send else self.cause[recv]
        begun = recv in self.begun
        self._keep(time, recv)
        self.into[rank], self.by_into[rank] = time + self.nic[send], 2 * recv
        self.busy[3 * rank + 2] += self.nic[send]
        if begun:
            self._meet(send, time, cause)
            self._end(recv, time, NONE)

    def _recv(self, time: int, row: int) -> None:
        self._begin(row)
        if self.start[row] >= 0:
            self._meet(self.mate[row], time, self.let_by[row])
            self._end(row, time, self.let_by[row])

    def _work(self, time: int, row: int) -> None:
        rank = self.rank[row]
        self.cause[row] = self.by_cpu[rank] if self.cpu[rank] == time else NONE
        self._keep(time, row)
        self._end(row, time, NONE)

    def _keep(self, time: int, row: int) -> None:
        """The row has the processor."""
        rank = self.rank[row]
        self.start[row] = time
        self.cpu[rank], self.by_cpu[rank] = time + self.work[row], 2 * row
        self.busy[3 * rank] += self.work[row]
        if self.kind[row] != RECV:
            self._begin(row)

    def _meet(self, send: int, time: int, cause: int) -> None:
        if not self.late[send]:
            return
        rank = self.rank[send]
        if self.cpu[rank] < time:
            self.cpu[rank], self.by_cpu[rank] = time, 2 * send + 1
        if self.out[rank] < time:
            self.out[rank], self.by_out[rank] = time, 2 * send + 1
        self._end(send, time, cause)

    def _begin(self, row: int) -> None:
        self.begun.add(row)
        self._release(self.when_begun[row])

    def _end(self, row: int, time: int, cause: int) -> None:
        """Its own work is done, or will be; if that was before ``time``, because of ``cause``."""
        own = self.start[row] + self.work[row]
        self.end[row] = max(own, time)
        if time > own:
            self.late_cause[row] = cause
        self._release(self.when_done[row])

    def _release(self, rows: list[int]) -> None:
        for row in rows:
            self.pending[row] -= 1
            if not self.pending[row]:
                self.freed[self.rank[row]].append(row)

    def _free(self) -> None:
        """Rows that were freed come up, each for when its rank is free."""
        for rank in sorted(self.freed):
            for row in sorted(self.freed[rank], key=lambda row: min(self.kind[row], RECV + 1)):
                self.let_by[row] = self.by_cpu[rank]
                self._push(self.cpu[rank] if self.kind[row] == RECV else self._wait(row, False), row, False)
        self.freed.clear()

    def _push(self, time: int, row: int, arrived: bool) -> None:
        heappush(self.events, (time, self.serial, row, arrived))
        self.serial += 1
