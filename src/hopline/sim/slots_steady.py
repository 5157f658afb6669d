"""What slots give in the long run: the requests go round, and one round is found.

What belongs here: finding where the state of a ``Course`` comes back, so that the rate is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hopline.machine.slots import Slots
from hopline.quantity import exact
from hopline.sim.slots import Course

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

    Without binding slots it is the smallest of the others' limits; else the state is followed until it comes back: the
    system is deterministic in whole ticks and what it depends on is bounded, so it must.
    """
    least = max(exact(asked.issue), asked.wire)
    if asked.poll and asked.batch is not None:
        least = max(least, exact(asked.poll) / asked.batch)
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
    return asked.count * apart >= max(asked.turn(k) for k in range(1, max(1, len(asked.loaded)) + 1)) + exact(
        asked.poll
    )


def _followed(asked: Slots, most: int) -> Steady:
    course, trail = Course(asked), _Trail(max(asked.count or 1, asked.batch or 1))
    most = max(most, 20 * trail.width)
    seen: dict[tuple[int, ...], int] = {}
    for index in range(most):
        course.step()
        trail.follow(course.rule.release)
        if len(course.rule.release) <= trail.width:
            continue
        state = (trail.hash, course.rule.release[-1] - course.submit[-1], *course.key(), *_back(course, asked))
        before = seen.setdefault(state, index)
        if before != index and _same(course, before, index, trail.width):
            return _round(course, before, index)
    half = most // 2
    return _round(course, half, most - 1, found=False)


def _back(course: Course, asked: Slots) -> tuple[int, ...]:
    """Completions that are ahead, where the turnaround depends on how many there are."""
    if not asked.loaded:
        return ()
    now = course.submit[-1]
    return tuple(complete - now for complete in course.complete[course.back :] if complete > now)


def _same(course: Course, before: int, index: int, width: int) -> bool:
    """Whether the releases before both are truly alike, and not only their hash."""
    ends = [at + len(course.rule.release) - index for at in (before, index)]
    old, new = (course.rule.release[end - width : end] for end in ends)
    return all(b - a == new[0] - old[0] for a, b in zip(old, new, strict=True))


def _round(course: Course, before: int, index: int, found: bool = True) -> Steady:
    requests, ticks = index - before, course.submit[index] - course.submit[before]
    rate = Fraction(requests * course.scale, ticks) if ticks else None
    return Steady(None if rate is None else float(rate), requests, ticks / course.scale, found)


class _Trail:
    """A rolling hash over the last ``width`` - 1 distances between releases."""

    def __init__(self, width: int) -> None:
        self.width, self.hash, self.at = width, 0, 1
        self._old = pow(_BASE, width - 1, _PRIME)

    def follow(self, release: list[int]) -> None:
        """Take what was released since."""
        while self.at < len(release):
            self.hash = (self.hash * _BASE + release[self.at] - release[self.at - 1] + 1) % _PRIME
            gone = self.at - self.width + 1
            if gone >= 1:
                self.hash = (self.hash - self._old * (release[gone] - release[gone - 1] + 1)) % _PRIME
            self.at += 1
