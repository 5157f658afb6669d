"""Slots that do not come back: endpoints that are dead, completions that are lost, and what the others still get.

What belongs here: an event-by-event clock of requests to several endpoints that share slots. Without faults it agrees with
``sim.slots`` to the tick.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass

import numpy as np

from hopline.errors import InputError
from hopline.machine.slots import Slots
from hopline.quantity import exact
from hopline.sim.slots import Times, scale_of

MOST_ENDPOINTS, MOST_ANSWERS = 100_000, 1_000_000
_COMPLETE, _POLL, _FREED, _READY = range(4)
"""Kinds of event, in the order in which they happen at one instant; submits come last."""


@dataclass(frozen=True, slots=True)
class Faults:
    """What goes wrong.

    Attributes
    ----------
    endpoints, dead
        Endpoints that take turns, and how many of them never answer.
    cap
        Most slots that an endpoint may hold: one that does is passed over. None: no isolation, requests go out in turn.
    lost_every
        Each so many-th request gets no completion; None: all do.
    timeout
        Seconds after which a request without completion gives its slot back; None: never.
    """

    endpoints: int = 1
    dead: int = 0
    cap: int | None = None
    lost_every: int | None = None
    timeout: float | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.endpoints <= MOST_ENDPOINTS or not 0 <= self.dead <= self.endpoints:
            raise InputError(
                f"{self.dead} dead of {self.endpoints} endpoints: expected 1 to {MOST_ENDPOINTS:,}, and no more of them dead"
            )
        for name, value in (("slots for an endpoint", self.cap), ("requests to a lost one", self.lost_every)):
            if value is not None and value < 1:
                raise InputError(f"{name}: {value}, expected at least 1")
        if self.timeout is not None and not self.timeout > 0:
            raise InputError(f"a timeout of {self.timeout!r} s: expected one above 0, or none")


@dataclass(frozen=True, slots=True, eq=False)
class FaultRun:
    """What the others got.

    Attributes
    ----------
    answered
        When each answered request gave its slot back, in s.
    gone
        Slots that are held without an answer at the end.
    stalled
        When the last thing happened, where nothing will happen any more, in s; None: it goes on.
    """

    answered: Times
    gone: int
    stalled: float | None

    def rate(self) -> float:
        """Requests per second that are answered, over the second half; 0 where all stands still.

        Counted between two instants at which answers came, since they come in bursts; the last burst may be cut.
        """
        instants = np.unique(self.answered)
        if self.stalled is not None or len(instants) < 3:
            return 0.0
        first, last = instants[(len(instants) - 1) // 2 - 1], instants[-2]
        counted = np.searchsorted(self.answered, (first, last), side="right")
        return float((counted[1] - counted[0]) / (last - first))


def simulate_faults(asked: Slots, faults: Faults, answers: int) -> FaultRun:
    """Run until ``answers`` requests have been answered, or nothing moves any more, or nothing can ever be answered.

    Raises InputError for slots without a number, for turnarounds by load and moderated completions.
    """
    if asked.count is None or asked.loaded or asked.moderation is not None:
        raise InputError(
            "faults need a number of slots, one turnaround and completions that are polled or release at once"
        )
    if not 1 <= answers <= MOST_ANSWERS:
        raise InputError(f"{answers} answers: expected 1 to {MOST_ANSWERS:,}")
    if faults.timeout is not None and faults.timeout < asked.turn(1):
        raise InputError(
            f"a timeout of {faults.timeout:g} s is below the turnaround of {float(asked.turn(1)):g} s, so that every request "
            "would run into it: expected a longer one"
        )
    if faults.timeout is not None and (faults.lost_every == 1 or faults.dead == faults.endpoints):
        return FaultRun(np.empty(0), asked.count, 0.0)
    state = _State(asked, faults)
    while len(state.answered) < answers and state.instant():
        pass
    stalled = state.now / state.scale if len(state.answered) < answers else None
    answered = np.array([tick / state.scale for tick in state.answered[:answers]], dtype=np.float64)
    return FaultRun(answered, state.gone, stalled)


class _State:
    """All that is going on, in ticks."""

    def __init__(self, asked: Slots, faults: Faults) -> None:
        assert asked.count is not None
        self.faults, self.batch, self.free = faults, asked.batch, asked.count
        self.scale = scale_of(asked, faults.timeout or 0.0)
        self.issue, self.poll = (int(exact(time) * self.scale) for time in (asked.issue, asked.poll))
        self.first = int(exact(asked.poll if asked.first_poll is None else asked.first_poll) * self.scale)
        self.turn, self.wire = int(asked.turn(1) * self.scale), int(asked.wire * self.scale)
        self.timeout = None if faults.timeout is None else int(exact(faults.timeout) * self.scale)
        self.held = [0] * faults.endpoints
        self.events: list[tuple[int, int, int, int]] = [(0, _READY, 0, 0)]
        self.done: deque[int] = deque()
        self.answered: list[int] = []
        self.now = self.ready = self.clear = self.sent = self.turn_of = self.gone = 0
        self.polling = False

    def instant(self) -> bool:
        """All that happens at the next instant; False where nothing will happen."""
        if not self.events:
            return False
        self.now = self.events[0][0]
        while self.events and self.events[0][0] == self.now:
            _, kind, endpoint, submit = heapq.heappop(self.events)
            if kind == _COMPLETE:
                self._completed(endpoint, submit)
            elif kind == _POLL:
                self._polled()
            elif kind == _FREED:
                self.gone -= 1
                self._give_back(endpoint)
        while self.free and self.now >= self.ready and (taker := self._next()) is not None:
            self._submit(taker)
        return True

    def _completed(self, endpoint: int, submit: int) -> None:
        if not self.poll:
            self._answer(endpoint)
            return
        self.done.append(endpoint)
        if not self.polling:
            look = max(0, -((self.first - self.now) // self.poll), (submit - self.first) // self.poll + 1)
            self._look(self.first + look * self.poll)

    def _look(self, time: int) -> None:
        heapq.heappush(self.events, (time, _POLL, 0, 0))
        self.polling = True

    def _polled(self) -> None:
        self.polling = False
        for _ in range(min(len(self.done), self.batch or len(self.done))):
            self._answer(self.done.popleft())
        if self.done:
            self._look(self.now + self.poll)

    def _answer(self, endpoint: int) -> None:
        self.answered.append(self.now)
        self._give_back(endpoint)

    def _give_back(self, endpoint: int) -> None:
        self.free += 1
        self.held[endpoint] -= 1

    def _next(self) -> int | None:
        """Whose turn it is: endpoints that hold as many as they may are passed over."""
        cap, count = self.faults.cap, self.faults.endpoints
        for step in range(count):
            endpoint = (self.turn_of + step) % count
            if cap is None or self.held[endpoint] < cap:
                self.turn_of = endpoint + 1
                return endpoint
        return None

    def _submit(self, endpoint: int) -> None:
        self.free -= 1
        self.held[endpoint] += 1
        self.sent += 1
        self.ready = self.now + self.issue
        begin = max(self.now, self.clear)
        self.clear = begin + self.wire
        lost = self.faults.lost_every is not None and self.sent % self.faults.lost_every == 0
        if endpoint < self.faults.dead or lost:
            self.gone += 1
            if self.timeout is not None:
                heapq.heappush(self.events, (begin + self.timeout, _FREED, endpoint, self.now))
        else:
            heapq.heappush(self.events, (begin + self.turn, _COMPLETE, endpoint, self.now))
        if self.issue:
            heapq.heappush(self.events, (self.ready, _READY, 0, 0))
