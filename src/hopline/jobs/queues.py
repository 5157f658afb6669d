"""Queues from question to answer: what a burst does, what late feedback costs, when a loop swings, what a receiver holds.

What belongs here: composing ``model.queue``, ``model.feedback`` and the clocks of ``sim``; and rates in steps as people
write them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from hopline.errors import InputError, QuantityError
from hopline.model import feedback, queue
from hopline.model.queue import Stage
from hopline.quantity import POSITIVE, exact, parse
from hopline.records.queue import Bound, Course, Episode, Remedies, Reordered, Steps
from hopline.sim.reorder import reorder

_NOTHING = re.compile(r"0+(?:\.0*)?\s*(?:[KMGT]i?)?[Bb]?(?:/s|ps)?")


def rates(text: str, what: str = "arrival") -> Steps:
    """Steps of ``100GB/s,0@3us,50GB/s@6us``: rates, each from a time on, the first from 0 s.

    Raises QuantityError and InputError.
    """
    told = []
    for number, part in enumerate(text.split(",")):
        rate, at, start = (word.strip() for word in part.partition("@"))
        if bool(number) and not at:
            raise QuantityError(f"{part.strip()!r} does not say from when on: expected like 20GB/s@5us")
        told.append((parse(start, "time") if at else 0.0, rate_of(rate)))
    return queue.steps(told, what)


def rate_of(text: str) -> float:
    """Byte/s, of which there may be none here. Raises QuantityError."""
    if "@" in text or "," in text:
        raise QuantityError(f"{text!r} changes: expected one rate here, like 50GB/s")
    return 0.0 if _NOTHING.fullmatch(text) else parse(text, "bandwidth")


@dataclass(frozen=True, slots=True)
class Filled:
    """Queues in series over ``horizon`` s, with what would have lost nothing.

    Attributes
    ----------
    comes
        To each.
    needs
        For each: bytes of buffer with which it loses nothing of what comes to it now.
    faster
        For each: factor on its service with which it loses nothing of that; None: none does.
    """

    comes: tuple[Steps, ...]
    stages: tuple[Stage, ...]
    courses: tuple[Course, ...]
    horizon: float
    needs: tuple[float, ...]
    faster: tuple[float | None, ...]


def filled(arrival: Steps, stages: Sequence[Stage], horizon: float | None = None, every: float | None = None) -> Filled:
    """Fill them until ``horizon`` s; None: until all are empty again.

    ``every``: the arrivals repeat after as many seconds. Raises InputError where the end has to be told.
    """
    if every is not None:
        if horizon is None:
            raise InputError("arrivals that repeat have no end: give --horizon")
        arrival = queue.repeated(arrival, every, horizon)
    end = _end(arrival, stages) if horizon is None else POSITIVE.check("horizon", horizon)
    courses = queue.series(arrival, stages, end)
    left = [arrival, *(course.departs for course in courses)]
    comes = tuple(queue.later(steps, stage.delay) for steps, stage in zip(left, stages, strict=False))
    needs, faster = [], []
    for arrives, stage, course in zip(comes, stages, courses, strict=True):
        needs.append(float(queue.fill(arrives, stage.service, end, None, stage.initial).most))
        faster.append(_faster(arrives, stage, end) if course.dropped else 1.0)
    return Filled(comes, tuple(stages), tuple(courses), end, tuple(needs), tuple(faster))


def _end(arrival: Steps, stages: Sequence[Stage]) -> float:
    """When the last queue is empty after the last change, and a little more."""
    last = max([arrival[-1][0], *(stage.service[-1][0] for stage in stages)], default=Fraction(0))
    comes, backlog = arrival[-1][1], Fraction(0)
    for stage in stages:
        last += Fraction(stage.delay)
        held = queue.fill(arrival, stage.service, float(last), stage.capacity, stage.initial).final
        backlog, leaves = backlog + Fraction(held), stage.service[-1][1]
        if comes > leaves:
            what = "a queue without a capacity grows" if stage.capacity is None else "a queue drops"
            raise InputError(f"{what} without end at the last rate: give --horizon, or a last step below the service")
        if comes < leaves:
            last += backlog / (leaves - comes)
        comes = min(comes, leaves)
    return float(last * Fraction(11, 10)) or 1e-6


def _faster(arrives: Steps, stage: Stage, end: float) -> float | None:
    """The least factor, exactly: what comes in the worst busy time, less the room, over what is served in it (Dinkelbach)."""
    factor, room = Fraction(1), exact(stage.capacity or 0.0)
    while True:
        scaled = tuple((start, rate * factor) for start, rate in stage.service)
        course = queue.fill(arrives, scaled, end, None, stage.initial)
        if course.most <= room:
            return float(factor)
        peak = course.levels.index(course.most)
        begun = max((place for place in range(peak) if course.levels[place] == 0), default=0)
        served = queue.amount(stage.service, course.times[begun], course.times[peak])
        if not served:
            return None
        factor += (course.most - room) / served


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
    def arrivals(self) -> tuple[Steps, ...]:
        """What comes, and the same with feedback exactly at the bound where it is missed."""
        bound = self.bound.longest if self.bound.overflow else None
        return tuple(_turned(self.before, self.after, delay) for delay in (self.delay, bound) if delay is not None)

    @property
    def courses(self) -> tuple[Course, ...]:
        """The queue over time, for each of ``arrivals``."""
        end = 1.1 * max(self.episode.empty or 0.0, 2 * self.delay, 2 * (self.bound.longest or 0.0), 1e-9)
        service = queue.steps([(0.0, self.service)], "service")
        return tuple(queue.fill(comes, service, end, self.capacity, self.initial) for comes in self.arrivals)


def _turned(before: float, after: float, delay: float) -> Steps:
    return queue.steps([(0.0, before), (delay, after)] if delay else [(0.0, after)])


def late(
    before: float, after: float, service: float, delay: float, capacity: float, initial: float = 0.0,
    drain: float | None = None,
) -> Late:  # fmt: skip
    """The bound, what happens, and what would help. Raises InputError."""
    found = feedback.episode(before, after, service, delay, capacity, initial)
    bound = feedback.bound(capacity - initial, before, service, delay)
    cures = feedback.remedies(before, service, delay, capacity, initial, drain)
    return Late(before, after, service, delay, capacity, initial, drain, bound, found, cures)


def reordered(
    packet: int, rate: float, delays: Sequence[float], packets: int, pattern: Sequence[int] | None = None
) -> Reordered:
    """What a receiver holds, see ``sim.reorder``."""
    return reorder(packet, rate, delays, packets, pattern)
