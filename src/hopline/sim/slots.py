"""Requests through slots, one after another: when each was submitted, completed and released.

What belongs here: the clock of a queue of requests whose completions come back in order. Times are whole ticks of the
inputs' common denominator, so that ties are ties: at one instant completions come first, then polls, then submits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hopline.errors import InputError
from hopline.machine.slots import Moderation, Slots
from hopline.quantity import exact

MOST_REQUESTS = 10_000_000
Times = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SlotTimes:
    """What happened to each request, in s, shape (requests,); ``wire`` is how long each kept the wire busy.

    ``average`` is bytes over the last release, None for no time.
    """

    submit: Times
    begin: Times
    complete: Times
    release: Times
    injected: float
    average: float | None

    @property
    def transfer_end(self) -> float:
        """When the last request had completed."""
        return float(self.complete.max(initial=0.0))

    @property
    def release_end(self) -> float:
        """When the last slot was free again."""
        return float(self.release.max(initial=0.0))


def simulate_slots(asked: Slots, requests: int) -> SlotTimes:
    """Send ``requests`` through the slots, the first at 0. O(requests).

    Raises InputError for a negative or a huge number of them.
    """
    if not 0 <= requests <= MOST_REQUESTS:
        raise InputError(f"{requests} requests: expected 0 to {MOST_REQUESTS:,}")
    course = Course(asked)
    for _ in range(requests):
        course.step()
    course.rule.finish()
    last = Fraction(course.rule.release[-1], course.scale) if requests else Fraction(0)
    injected = course.begin[-1] + course.wire if requests else 0
    return SlotTimes(
        submit=_seconds(course.submit, course.scale),
        begin=_seconds(course.begin, course.scale),
        complete=_seconds(course.complete, course.scale),
        release=_seconds(course.rule.release, course.scale),
        injected=injected / course.scale,
        average=float(exact(asked.size) * requests / last) if last else None,
    )


def _seconds(ticks: Sequence[int], scale: int) -> Times:
    return np.array([tick / scale for tick in ticks], dtype=np.float64)


class Rule(Protocol):
    """When completions are released; ``release`` grows in order."""

    release: list[int]

    def add(self, submit: int, complete: int) -> None:
        """Take the next completion."""

    def released(self, index: int) -> int:
        """When request ``index`` is released; nothing else will be submitted before."""

    def finish(self) -> None:
        """No more requests come."""

    def key(self, now: int) -> tuple[int, ...]:
        """What else later releases depend on, relative to ``now``."""


class AtOnce:
    """Each completion releases its slot."""

    def __init__(self) -> None:
        self.release: list[int] = []

    def add(self, submit: int, complete: int) -> None:
        """Release it when it completes."""
        del submit
        self.release.append(complete)

    def released(self, index: int) -> int:
        """When request ``index`` completed."""
        return self.release[index]

    def finish(self) -> None:
        """Nothing is left."""

    def key(self, now: int) -> tuple[int, ...]:
        """Nothing else matters."""
        del now
        return ()


class Polled(AtOnce):
    """A look every ``interval`` from ``first`` on releases at most ``batch`` of the completions that are there."""

    def __init__(self, interval: int, first: int, batch: int | None) -> None:
        super().__init__()
        self.interval, self.first, self.batch = interval, first, batch

    def add(self, submit: int, complete: int) -> None:
        """At the first look at or after its completion, after its submit, and after those whose batch was full."""
        look = max(0, -((self.first - complete) // self.interval), (submit - self.first) // self.interval + 1)
        time = self.first + look * self.interval
        if self.batch is not None and len(self.release) >= self.batch:
            time = max(time, self.release[-self.batch] + self.interval)
        self.release.append(time)

    def key(self, now: int) -> tuple[int, ...]:
        """Where between two looks ``now`` is."""
        return ((now - self.first) % self.interval,)


class Grouped(AtOnce):
    """An event for ``count`` completions, or ``time`` after the oldest that waits."""

    def __init__(self, count: int, time: int | None) -> None:
        super().__init__()
        self.count, self.time = count, time
        self.waiting: list[int] = []

    def add(self, submit: int, complete: int) -> None:
        """Wait with the others."""
        del submit
        if self.waiting and self.time is not None and complete > self.waiting[0] + self.time:
            self._tell(self.waiting[0] + self.time)
        self.waiting.append(complete)
        if len(self.waiting) == self.count:
            self._tell(complete)

    def _tell(self, time: int) -> None:
        self.release += [time] * len(self.waiting)
        self.waiting.clear()

    def released(self, index: int) -> int:
        """The event that tells ``index``: where none has come, nothing is in flight that could bring it before the time."""
        if index >= len(self.release):
            assert self.time is not None
            self._tell(self.waiting[0] + self.time)
        return self.release[index]

    def finish(self) -> None:
        """The last request of all asks for an event of its own, or the time passes."""
        if self.waiting:
            self._tell(self.waiting[-1] if self.time is None else self.waiting[0] + self.time)

    def key(self, now: int) -> tuple[int, ...]:
        """How long those that wait have done so."""
        return tuple(complete - now for complete in self.waiting)


def _rule(asked: Slots, scale: int) -> Rule:
    if asked.moderation is not None:
        return _grouped(asked.moderation, scale)
    if not asked.poll:
        return AtOnce()
    first = asked.poll if asked.first_poll is None else asked.first_poll
    return Polled(int(exact(asked.poll) * scale), int(exact(first) * scale), asked.batch)


def _grouped(moderation: Moderation, scale: int) -> Grouped:
    return Grouped(moderation.count, None if moderation.time is None else int(exact(moderation.time) * scale))


def scale_of(asked: Slots, *others: float) -> int:
    """Ticks of a second in which all times of ``asked`` and ``others`` (s) are whole."""
    times = [asked.issue, asked.turnaround, asked.poll, asked.first_poll or 0.0, *asked.loaded[: asked.count], *others]
    times += [asked.moderation.time or 0.0] if asked.moderation else []
    return math.lcm(*(exact(time).denominator for time in times), asked.wire.denominator)


def loads(asked: Slots) -> range:
    """Requests in flight for which the turnaround matters."""
    return range(1, 1 + (asked.count or 1)) if asked.loaded else range(1, 2)


class Course:
    """The requests so far, in ticks; ``step`` sends one more.

    Request i waits for the issue interval after i - 1 and for the slot that i - count gives back; then for the wire.
    """

    def __init__(self, asked: Slots) -> None:
        self.scale = scale_of(asked)
        self.count, self.issue = asked.count, int(exact(asked.issue) * self.scale)
        self.wire = int(asked.wire * self.scale)
        self.turns = [int(asked.turn(load) * self.scale) for load in loads(asked)]
        self.rule = _rule(asked, self.scale)
        self.submit: list[int] = []
        self.begin: list[int] = []
        self.complete: list[int] = []
        self.free = self.back = 0

    def step(self) -> None:
        """Submit the next request as early as may be."""
        index = len(self.submit)
        submit = self.submit[-1] + self.issue if index else 0
        if self.count is not None and index >= self.count:
            submit = max(submit, self.rule.released(index - self.count))
        begin = max(submit, self.free)
        complete = begin + (self.turns[0] if len(self.turns) == 1 else self._turn(index, submit))
        if index:
            complete = max(complete, self.complete[-1])
        self.free = begin + self.wire
        self.submit.append(submit)
        self.begin.append(begin)
        self.complete.append(complete)
        self.rule.add(submit, complete)

    def _turn(self, index: int, now: int) -> int:
        """By how many are in flight with it: submitted and not completed."""
        while self.back < index and self.complete[self.back] <= now:
            self.back += 1
        return self.turns[index - self.back]

    def key(self) -> tuple[int, ...]:
        """What later requests depend on beside the last releases, relative to the last submit."""
        now = self.submit[-1]
        ahead = (self.begin[-1] - now, self.complete[-1] - now, self.free - now)
        return (*ahead, len(self.submit) - len(self.rule.release), *self.rule.key(now))
