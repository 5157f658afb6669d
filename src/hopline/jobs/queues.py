"""Queues from question to answer: what a burst does, what late feedback costs, when a loop swings, what a receiver holds.

What belongs here: composing ``model.queue``, ``model.feedback`` and the clocks of ``sim``; and rates in steps as people
write them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from hopline.errors import InputError, QuantityError
from hopline.machine.loop import Integral, Loop, Marking, Pause, Proportional
from hopline.model import feedback, queue
from hopline.model.queue import Stage
from hopline.quantity import parse
from hopline.records.queue import Bound, Course, Episode, Looped, Remedies, Steps
from hopline.sim.loop import simulate_loop

_NOTHING = re.compile(r"0+(?:\.0*)?\s*(?:[KMGT]i?)?[Bb]?(?:/s|ps)?")
_ROUNDS = 50


def rates(text: str, what: str = "arrival") -> Steps:
    """Steps of ``100GB/s,0@3us,50GB/s@6us``: rates, each from a time on; the first from 0. Raises QuantityError, InputError."""
    told = []
    for number, part in enumerate(text.split(",")):
        rate, at, start = (word.strip() for word in part.partition("@"))
        if bool(number) and not at:
            raise QuantityError(f"{what}: {part.strip()!r} does not say from when on: expected like 20GB/s@5us")
        told.append((parse(start, "time") if at else 0.0, rate_of(rate)))
    return queue.steps(told, what)


def rate_of(text: str) -> float:
    """Byte/s, of which there may be none here."""
    return 0.0 if _NOTHING.fullmatch(text) else parse(text, "bandwidth")


@dataclass(frozen=True, slots=True)
class Filled:
    """Queues in series over ``horizon`` s, with what would have lost nothing.

    Attributes
    ----------
    arrival
        At the first.
    needs
        For each: bytes of buffer with which it loses nothing of what comes to it now.
    faster
        For each: factor on its service with which it loses nothing of that; None: none does.
    """

    arrival: Steps
    stages: tuple[Stage, ...]
    courses: tuple[Course, ...]
    horizon: float
    needs: tuple[float, ...]
    faster: tuple[float | None, ...]


def filled(arrival: Steps, stages: Sequence[Stage], horizon: float | None = None, every: float | None = None) -> Filled:
    """Fill them until ``horizon`` s; None: until all are empty again, or twice as long as the last change takes to show.

    ``every``: the arrivals repeat after as many seconds. Raises InputError where the end has to be told.
    """
    if every is not None:
        if horizon is None:
            raise InputError("arrivals that repeat have no end: give --horizon")
        arrival = queue.repeated(arrival, every, horizon)
    end = _end(arrival, stages) if horizon is None else horizon
    courses = queue.series(arrival, stages, end)
    came = [arrival, *(course.departs for course in courses)]
    needs, faster = [], []
    for comes, stage, course in zip(came, stages, courses, strict=False):
        arrives = queue.later(comes, stage.delay)
        needs.append(float(queue.fill(arrives, stage.service, end, None, stage.initial).most))
        faster.append(_faster(arrives, stage, end) if course.dropped else 1.0)
    return Filled(arrival, tuple(stages), tuple(courses), end, tuple(needs), tuple(faster))


def _end(arrival: Steps, stages: Sequence[Stage]) -> float:
    """When the last queue is empty after the last change, and a little more."""
    last = max([arrival[-1][0], *(stage.service[-1][0] for stage in stages)], default=Fraction(0))
    comes, backlog = arrival[-1][1], Fraction(0)
    for stage in stages:
        last += Fraction(stage.delay)
        held = (
            queue.fill(arrival, stage.service, float(last), stage.capacity, stage.initial).final
            if last
            else stage.initial
        )
        backlog, leaves = backlog + Fraction(held), stage.service[-1][1]
        if comes > leaves:
            if stage.capacity is None:
                raise InputError("a queue without a capacity grows without end at the last rate: give --horizon")
            last += 2 * (Fraction(stage.capacity) - Fraction(held)) / (comes - leaves)
        elif comes < leaves:
            last += backlog / (leaves - comes)
        comes = min(comes, leaves)
    return float(last * Fraction(11, 10)) or 1e-6


def _faster(arrives: Steps, stage: Stage, end: float) -> float | None:
    """By bisection: the loss falls as the service grows."""
    if stage.capacity == 0:
        return None

    def loses(factor: Fraction) -> bool:
        service = tuple((start, rate * factor) for start, rate in stage.service)
        return bool(queue.fill(arrives, service, end, stage.capacity, stage.initial).lost)

    low, high = Fraction(1), Fraction(2)
    while loses(high):
        low, high = high, 2 * high
        if high > 1 << 20:
            return None
    while high - low > high / (1 << 30):
        middle = (low + high) / 2
        low, high = (middle, high) if loses(middle) else (low, middle)
    return float(high)


@dataclass(frozen=True, slots=True)
class Late:
    """Feedback that takes effect ``delay`` s after too much began to come."""

    before: float
    after: float
    service: float
    delay: float
    capacity: float
    initial: float
    drain: float | None
    bound: Bound
    episode: Episode
    remedies: Remedies

    @property
    def courses(self) -> tuple[Course, ...]:
        """The queue over time, and the same with feedback exactly at the bound."""
        delays = [self.delay]
        if self.bound.overflow and self.bound.longest:
            delays.append(self.bound.longest)
        end = 1.1 * max(self.episode.empty or 0.0, 2 * self.delay, 2 * (self.bound.longest or 0.0), 1e-9)
        service = queue.steps([(0.0, self.service)], "service")
        return tuple(
            queue.fill(_turned(self.before, self.after, delay), service, end, self.capacity, self.initial)
            for delay in delays
        )


def _turned(before: float, after: float, delay: float) -> Steps:
    return queue.steps([(0.0, before), (delay, after)] if delay else [(0.0, after)])


def late(
    before: float, after: float, service: float, delay: float, capacity: float, initial: float = 0.0, drain: float | None = None
) -> Late:  # fmt: skip
    """The bound, what happens, and what would help. Raises InputError."""
    found = feedback.episode(before, after, service, delay, capacity, initial)
    bound = feedback.bound(capacity - initial, before, service, delay)
    cures = feedback.remedies(before, service, delay, capacity, initial, drain)
    return Late(before, after, service, delay, capacity, initial, drain, bound, found, cures)


@dataclass(frozen=True, slots=True)
class Stability:
    """What theory says of a law: it settles below ``limit`` s of delay, without any swing up to ``calm`` s.

    None: no such delay is known; 0: it swings at any. ``why`` is the formula in words.
    """

    limit: float | None
    calm: float | None
    why: str


@dataclass(frozen=True, slots=True)
class LoopAnswer:
    """A law at several delays."""

    asked: Loop
    horizon: float
    stability: Stability
    runs: tuple[Looped, ...]


def stability(asked: Loop) -> Stability:
    """The delay at which the linear form of a law begins to swing for good. Raises InputError where it has no fixed point."""
    law = asked.law
    if isinstance(law, Pause):
        return Stability(
            0.0,
            0.0,
            "stop and go has no fixed point: it swings at any delay, between what the delay makes of xoff and xon",
        )
    if isinstance(law, Proportional):
        gain = 1 / law.time
        return Stability(
            feedback.proportional_limit(gain),
            feedback.proportional_calm(gain),
            "delay / time = π/2; no swing up to 1/e",
        )
    if isinstance(law, Integral):
        limit = feedback.integral_limit(1 / law.time, 1 / (law.time * law.reset))
        return Stability(limit, None, "first root of s² + (s + 1/reset)/time exp(-s T) on the imaginary axis")
    c, k, _ = marking_point(asked, law)
    return Stability(
        feedback.marking_limit(c, k),
        None,
        "first root of s² + c s + k exp(-s T) on the imaginary axis, about the fixed point",
    )


def marking_point(asked: Loop, law: Marking) -> tuple[float, float, float]:
    """(damping, gain, level in bytes) of additive increase and multiplicative decrease about its fixed point."""
    return feedback.marking_constants(asked.service, law.increase, law.decrease, law.kmin, law.kmax, law.pmax)


def loops(asked: Loop, delays: Sequence[float], horizon: float | None = None) -> LoopAnswer:
    """Run the law at each delay for ``horizon`` s; None: long enough to see whether it settles. Raises InputError."""
    found = stability(asked)
    end = _long(asked, found, max(delays)) if horizon is None else horizon
    return LoopAnswer(asked, end, found, tuple(simulate_loop(asked, delay, end) for delay in delays))


def _long(asked: Loop, found: Stability, delay: float) -> float:
    """Some ten swings: a swing lasts four delays at the limit."""
    law = asked.law
    if isinstance(law, Pause):
        turn = 2 * delay + (law.xoff - law.xon) / asked.service
        rises = asked.line - asked.service
        return 8 * (2 * delay + turn + (law.xoff / rises if rises > 0 else turn))
    if isinstance(law, Marking):
        c, k, _ = marking_point(asked, law)
        return min(60 / k**0.5 + 6 / c, 400 / k**0.5)
    return 12 * max(4 * (found.limit or 0.0), 4 * delay)


def gentler(asked: Loop, delay: float) -> Loop | None:
    """The same law, so much slower that ``delay`` s are half of its limit; None where a law cannot be made so."""
    law = asked.law
    if isinstance(law, Proportional):
        return replace(asked, law=replace(law, time=law.time * 2 * delay / feedback.proportional_limit(1 / law.time)))
    if isinstance(law, Integral):
        limit = feedback.integral_limit(1 / law.time, 1 / (law.time * law.reset))
        return replace(asked, law=replace(law, time=law.time * 2 * delay / limit, reset=law.reset * 2 * delay / limit))
    if isinstance(law, Marking):
        return _wider(asked, law, delay)
    return None


def _wider(asked: Loop, law: Marking, delay: float) -> Loop | None:
    """A flatter slope of marks: kmax further up, by doubling and bisection."""
    low, high = 1.0, 2.0

    def holds(factor: float) -> bool:
        wider = replace(law, kmax=law.kmin + factor * (law.kmax - law.kmin))
        c, k, _ = marking_point(asked, wider)
        return feedback.marking_limit(c, k) >= 2 * delay

    while not holds(high):
        low, high = high, 2 * high
        if high > 1 << 20:
            return None
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return replace(asked, law=replace(law, kmax=law.kmin + high * (law.kmax - law.kmin)))
