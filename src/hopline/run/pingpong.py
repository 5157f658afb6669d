"""Ping-pong led by rank 0: half a round trip is the one-way time of a message.

What belongs here: the leader's turns. It tells rank 1 the size and number of the round trips that follow, times them,
and decides when a size has had enough. Not which library carries the bytes (``mpi_rank``), nor how ranks are started
(``launch``).

Bursts up to LEAD_IN bytes are all checked; of larger messages the warm-up, repeats 1, 2, 4, 8, ... of a turn and its
last, since comparing takes longer than sending.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count

import numpy as np

from hopline.errors import DataMismatchError
from hopline.run.burst import END, FOLLOWER, LEAD_IN, ORDER_TAG, VERDICT_TAG, Burst, End, ping
from hopline.run.clock import Clock, batch_size, now, overhead
from hopline.run.pattern import Difference
from hopline.run.plan import Budget, Plan, is_over

REPORT_EVERY = 0.25
"""Seconds between two progress events of one turn."""

Emit = Callable[[Mapping[str, object]], None]


@dataclass(slots=True)
class Leader:
    """Rank 0: goes through the plan's turns, emits ``turn`` events while one lasts and a ``sample`` when it is over."""

    end: End
    plan: Plan
    emit: Emit
    clock: Clock = now
    times: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    batches: dict[int, int] = field(default_factory=dict)
    visits: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    iterations: count[int] = field(default_factory=lambda: count(1))
    reading: float = 0.0

    def lead(self) -> None:
        """Measure everything, then tell the follower to end; also after a DataMismatchError, which is raised on."""
        self.reading = overhead(self.clock)
        order = self.plan.order()
        budget = Budget(self.plan.seconds, len(order), self.clock)
        try:
            for number, size in enumerate(order, 1):
                self._turn(size, {"turn": number, "turns": len(order)}, budget)
        except DataMismatchError:
            self._order(END)
            raise
        self._order(END)

    def _turn(self, size: int, place: Mapping[str, int], budget: Budget) -> None:
        before, started, here = self.times[size], datetime.now(UTC).isoformat(), list[float]()
        end_at, report_at = budget.end_of_turn(), 0.0
        limit = self.plan.turn_limit(len(before), self.visits[size])
        batch = self._warm_up(size)
        last = END
        while not is_over(before, here, self.plan, limit, self.clock() >= end_at):
            if self.clock() >= report_at:
                report_at = self.clock() + REPORT_EVERY
                state = {"size": size, "batch": batch, "repeats": len(before) + len(here), "used": budget.used}
                self.emit({"event": "turn", **state, **place})
            last = Burst(size, batch, next(self.iterations), _is_checked(size, len(here) + 1))
            here.append(self._timed(last) / (2 * batch))
        self._check(last)
        self._finish(size, batch, started, here)

    def _finish(self, size: int, batch: int, started: str, here: list[float]) -> None:
        self.times[size] += here
        self.visits[size] += 1
        timing = {"clock": self.reading / (2 * batch), "times": [round(time, 12) for time in here]}
        self.emit({"event": "sample", "size": size, "batch": batch, "started": started, **timing})

    def _warm_up(self, size: int) -> int:
        """Send a checked burst; on a size's first turn also find its batch. Returns the batch."""
        self._timed(Burst(size, 1, next(self.iterations), check=True))
        if size not in self.batches:
            self.batches[size] = batch_size(
                lambda batch: self._timed(Burst(size, batch, next(self.iterations), check=False)), self.reading
            )
        return self.batches[size]

    def _timed(self, burst: Burst) -> float:
        """Seconds of a burst's timed round trips."""
        self._order(burst)
        comm, (send, receive) = self.end.comm, self.end.buffers(burst)
        ping(comm, send[:LEAD_IN], receive[:LEAD_IN], 1)
        start = self.clock()
        ping(comm, send, receive, burst.batch)
        elapsed = self.clock() - start
        if burst.check:
            self._compare(burst)
        return elapsed

    def _check(self, burst: Burst) -> None:
        """Compare what the burst left in both inboxes, where the burst itself did not."""
        if not burst.check:
            check = Burst(burst.size, 0, burst.iteration, check=True)
            self._order(check)
            self._compare(check)

    def _compare(self, burst: Burst) -> None:
        verdict = np.zeros(3, dtype=np.int64)
        self.end.comm.Recv(verdict, FOLLOWER, VERDICT_TAG)
        offset, expected, got = (int(number) for number in verdict)
        theirs = None if offset < 0 else Difference(FOLLOWER, offset, expected, got)
        difference = self.end.difference(burst) or theirs
        if difference is not None:
            raise DataMismatchError(_message(difference, burst))

    def _order(self, burst: Burst) -> None:
        self.end.comm.Send(burst.pack(), FOLLOWER, ORDER_TAG)


def _is_checked(size: int, repeat: int) -> bool:
    """Small messages always; large ones in repeats 1, 2, 4, 8, ... (the last is checked by the turn)."""
    return size <= LEAD_IN or repeat & (repeat - 1) == 0


def _message(difference: Difference, burst: Burst) -> str:
    return (
        f"rank {difference.rank} received other bytes than were sent: offset {difference.offset} of {burst.size} is "
        f"0x{difference.got:02x}, expected 0x{difference.expected:02x} (burst {burst.iteration}); "
        "check the memory of this machine and the MPI transport before trusting its data"
    )
