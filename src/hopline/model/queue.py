"""A fluid queue, exactly: what comes and what leaves change in steps, so its level is piecewise linear.

What belongs here: one queue, and queues in series. No step in time is taken: each breakpoint is the solution of a linear
equation in rationals. Dropping begins when the queue is full and more comes than leaves; equality only keeps it full.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from hopline.errors import InputError
from hopline.quantity import NON_NEGATIVE, POSITIVE, exact, show
from hopline.records.queue import Course, Lost, Steps

MOST_STEPS = 100_000
Told = Iterable[tuple[float, float]]


def steps(told: Told, what: str = "arrival") -> Steps:
    """Exact steps of (from second, byte/s). Raises InputError unless they start at 0 s and ascend."""
    found = tuple(
        (exact(NON_NEGATIVE.check(f"start of {what}", start)), exact(NON_NEGATIVE.check(f"{what} rate", rate)))
        for start, rate in told
    )
    if not found or found[0][0] != 0:
        first = f"the first starts at {show(float(found[0][0]), 'time')}" if found else "none is told"
        raise InputError(f"{what} rates: {first}, expected one from 0 s on (a rate of 0 where nothing moves)")
    if len(found) > MOST_STEPS:
        raise InputError(f"{len(found):,} {what} rates: expected at most {MOST_STEPS:,}")
    for (before, _), (start, _) in pairwise(found):
        if start <= before:
            raise InputError(
                f"{what} rates: {show(float(start), 'time')} follows {show(float(before), 'time')}, expected times that ascend"
            )
    return found


def repeated(told: Steps, every: float, horizon: float) -> Steps:
    """The steps over and over, each time after ``every`` s, until ``horizon``. Raises InputError where they are longer."""
    period, end = exact(POSITIVE.check("period of the arrivals", every)), exact(horizon)
    if told[-1][0] >= period:
        raise InputError(f"arrivals repeat every {every!r} s, and their last step starts at {float(told[-1][0])!r} s")
    times = -(-end // period)
    if times * len(told) > MOST_STEPS:
        raise InputError(f"arrivals repeat {times:,} times: expected at most {MOST_STEPS:,} steps in all")
    return tuple((turn * period + start, rate) for turn in range(max(1, times)) for start, rate in told)


def later(told: Steps, delay: float) -> Steps:
    """The steps ``delay`` s later, with nothing before."""
    wait = exact(NON_NEGATIVE.check("delay", delay))
    return told if wait == 0 else ((Fraction(0), Fraction(0)), *((start + wait, rate) for start, rate in told))


def amount(told: Steps, start: Fraction, stop: Fraction) -> Fraction:
    """Bytes that the steps bring from ``start`` to ``stop``."""
    cuts = [start, *(at for at, _ in told if start < at < stop), stop]
    brought = ((after - before) * rate for (before, after), rate in zip(pairwise(cuts), _at(told, cuts), strict=False))
    return sum(brought, Fraction(0))


def fill(arrival: Steps, service: Steps, horizon: float, capacity: float | None = None, initial: float = 0.0) -> Course:
    """The course of a queue until ``horizon`` (s); ``capacity`` in bytes, None: unlimited.

    Raises InputError where it starts with more than it holds.
    """
    end = exact(NON_NEGATIVE.check("horizon", horizon))
    room = None if capacity is None else exact(NON_NEGATIVE.check("capacity", capacity))
    level = exact(NON_NEGATIVE.check("initial fill", initial))
    if room is not None and level > room:
        raise InputError(f"the queue starts with {initial:g} bytes and holds {capacity:g}: expected at most that")
    filling = _Filling(room, level)
    changes = sorted({start for start, _ in (*arrival, *service) if start < end} | {end})
    came, left = _at(arrival, changes), _at(service, changes)
    for start, stop, comes, leaves in zip(changes, changes[1:], came, left, strict=False):
        filling.go(start, stop, comes, leaves)
    return filling.course(end)


def _at(told: Steps, times: Sequence[Fraction]) -> list[Fraction]:
    """The rate from each of ``times`` on; both ascend."""
    found, place = [], 0
    for time in times:
        while place + 1 < len(told) and told[place + 1][0] <= time:
            place += 1
        found.append(told[place][1])
    return found


class _Filling:
    """A course in the making."""

    def __init__(self, room: Fraction | None, level: Fraction) -> None:
        self.room, self.level = room, level
        self.times, self.levels = [Fraction(0)], [level]
        self.departs: list[tuple[Fraction, Fraction]] = []
        self.lost: list[Lost] = []
        self.emptied: Fraction | None = None

    def go(self, start: Fraction, stop: Fraction, comes: Fraction, leaves: Fraction) -> None:
        """On from ``start`` to ``stop`` with constant rates: to the border that is met, and along it."""
        net = comes - leaves
        met = self._border(net)
        reached = stop if met is None else min(stop, start + (met - self.level) / net)
        if reached > start:
            self._move(start, reached, self.level + net * (reached - start), leaves)
            if self.level == 0 and net < 0:
                self.emptied = reached
        if reached < stop:
            if net > 0:
                self._lose(reached, stop, net)
            self._move(reached, stop, self.level, leaves if net > 0 else comes)

    def _border(self, net: Fraction) -> Fraction | None:
        """The level at which the queue goes no further; None: it does not get there."""
        if net > 0:
            return self.room
        return Fraction(0) if net < 0 else None

    def _move(self, start: Fraction, stop: Fraction, level: Fraction, departs: Fraction) -> None:
        if not self.departs or self.departs[-1][1] != departs:
            self.departs.append((start, departs))
        self.level = level
        self.times.append(stop)
        self.levels.append(level)

    def _lose(self, start: Fraction, stop: Fraction, net: Fraction) -> None:
        size = net * (stop - start)
        if self.lost and self.lost[-1].end == start:
            before = self.lost.pop()
            start, size = before.start, before.size + size
        self.lost.append(Lost(start, stop, size))

    def course(self, end: Fraction) -> Course:
        """What came out."""
        departs = tuple(self.departs) or ((Fraction(0), Fraction(0)),)
        if self.times[-1] != end:
            self.times.append(end)
            self.levels.append(self.level)
        emptied = Fraction(0) if not any(self.levels) else self.emptied
        return Course(tuple(self.times), tuple(self.levels), departs, tuple(self.lost), emptied)


@dataclass(frozen=True, slots=True)
class Stage:
    """One of several queues: byte/s served, bytes that it holds and starts with, seconds of way from the one before."""

    service: Steps
    capacity: float | None = None
    initial: float = 0.0
    delay: float = 0.0


def series(arrival: Steps, stages: Sequence[Stage], horizon: float) -> list[Course]:
    """Queues one behind the other: what leaves one arrives at the next, ``delay`` s later; what is dropped does not."""
    courses: list[Course] = []
    for stage in stages:
        came = later(courses[-1].departs if courses else arrival, stage.delay)
        courses.append(fill(came, stage.service, horizon, stage.capacity, stage.initial))
    return courses
