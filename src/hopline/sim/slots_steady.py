"""What slots give in the long run: the requests go round, and one round is found.

What belongs here: finding where the state of a ``Course`` comes back, so that the rate is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hopline.machine.slots import Slots
from hopline.quantity import exact
from hopline.sim.slots import Course, loads

MOST_STEPS = 300_000
_BASE, _PRIME = 1_000_003, (1 << 61) - 1


@dataclass(frozen=True, slots=True)
class Steady:
    """Requests per second in the long run.

    Attributes
    ----------
    rate
        None: unbounded.
    requests, time
        A round: so many requests in so many seconds, over and over.
    exact
        Whether a round was found; else the rate is that of the second half of a long run.
    """

    rate: float | None
    requests: int
    time: float
    exact: bool = True


def steady(asked: Slots, most: int = MOST_STEPS) -> Steady:
    """The long-run rate at which slots are released.

    Where each completion releases its slot it is the smallest of the limits (waits only add up, so the rate is that of the
    slowest circle of waits: issue, wire or turnaround / count, and a mixture of them is faster than one of them). Without
    binding slots it is the smallest of the others'. Else the state is followed until it comes back: the system is
    deterministic in whole ticks and what it depends on is bounded, so it must.
    """
    least = max(exact(asked.issue), asked.wire)
    if asked.poll and asked.batch is not None:
        least = max(least, exact(asked.poll) / asked.batch)
    if not asked.poll and asked.moderation is None and not asked.loaded and asked.count is not None:
        least = max(least, asked.turn(1) / asked.count)
        return Steady(float(1 / least) if least else None, 1, float(least))
    if _enough(asked, least):
        return Steady(float(1 / least) if least else None, 1, float(least))
    return _followed(asked, most)


def _enough(asked: Slots, least: Fraction) -> bool:
    """Whether slots never bind: none are told, or those there are outlast the turnaround and a whole poll interval.

    Requests e = max(issue, wire) apart are seen at most ceil(poll/e) at a poll; a batch that takes as many leaves none over.
    """
    if asked.count is None:
        return asked.moderation is None or asked.moderation.time is not None or least > 0
    apart = max(exact(asked.issue), asked.wire)
    if asked.moderation is not None or least != apart or not apart:
        return False
    return asked.count * apart >= max(map(asked.turn, loads(asked))) + exact(asked.poll)


def _followed(asked: Slots, most: int) -> Steady:
    course, width = Course(asked), max(asked.count or 1, asked.batch or 1)
    past = [course.rule.release, course.complete] if asked.loaded else [course.rule.release]
    trails, most = [_Trail(times, width) for times in past], max(most, 3 * width)
    seen: dict[tuple[int, ...], int] = {}
    for index in range(most):
        course.step()
        hashes = [trail.follow() for trail in trails]
        if len(course.rule.release) <= width:
            continue
        state = (*hashes, course.rule.release[-1] - course.submit[-1], *course.key())
        before = seen.setdefault(state, index)
        if before != index and all(_same(times, index - before, width) for times in past):
            return _round(course, before, index)
    return _round(course, most // 2, most - 1, found=False)


def _same(times: list[int], apart: int, width: int) -> bool:
    """Whether the last ``width`` are truly those ``apart`` before, shifted, and not only their hash."""
    end = len(times)
    old, new = times[end - apart - width : end - apart], times[end - width :]
    return all(b - a == new[0] - old[0] for a, b in zip(old, new, strict=True))


def _round(course: Course, before: int, index: int, found: bool = True) -> Steady:
    requests, ticks = index - before, course.submit[index] - course.submit[before]
    rate = Fraction(requests * course.scale, ticks) if ticks else None
    return Steady(None if rate is None else float(rate), requests, ticks / course.scale, found)


class _Trail:
    """A rolling hash over the last ``width`` - 1 distances between ``times``."""

    def __init__(self, times: list[int], width: int) -> None:
        self.times, self.width, self.hash, self.at = times, width, 0, 1
        self._old = pow(_BASE, width - 1, _PRIME)

    def follow(self) -> int:
        """Take in those that came since."""
        while self.at < len(self.times):
            self.hash = (self.hash * _BASE + self.times[self.at] - self.times[self.at - 1] + 1) % _PRIME
            gone = self.at - self.width + 1
            if gone >= 1:
                self.hash = (self.hash - self._old * (self.times[gone] - self.times[gone - 1] + 1)) % _PRIME
            self.at += 1
        return self.hash
