"""How many equal buckets: the number with the shortest step, and those that reach a time.

What belongs here: a step as a function of the number of its buckets, cheap where it has a closed form, and its lower bounds.
Time in buckets is not monotone: more of them leave less to the last, and pay more start-ups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from hopline.errors import InputError
from hopline.jobs.step_parts import Parts
from hopline.model import solving, step
from hopline.quantity import exact

_EXACT = 1e-12
"""Seconds: less than that between two steps is the noise of floats."""
_CLOSE = 1e-10
"""Seconds from a target within which a step is worked out exactly."""
_MOST_PRICED = 1024
"""Buckets that are tried where each number asks for prices of a collective, or for a course with contention."""
_MOST_TRIED = 128
"""Buckets that are tried one by one, where prices fall at some size, so that no bound holds."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Numbers of buckets that reach a time: from ``first`` to ``last`` (None: as many as are tried do)."""

    first: int
    last: int | None


def most(parts: Parts) -> int:
    """Numbers up to which are looked at: all that there can be, or as many as can be looked at in time."""
    found = step.MOST_BUCKETS if parts.sending.size is None else min(step.MOST_BUCKETS, int(parts.sending.size))
    if not parts.sending.rises:
        return min(found, _MOST_TRIED)
    return min(found, _MOST_PRICED) if parts.sending.price is not None or _slows(parts) else found


def best(parts: Parts) -> int:
    """The number with the shortest step, the first of equals; as many as there can be where more cost nothing."""
    taken = _Taken(parts)
    return most(parts) if taken.free else solving.least(taken, taken.least, most(parts))


def reaching(parts: Parts, seconds: float) -> Counted | None:
    """Those whose step takes at most ``seconds``; None: none does."""
    taken, high = _Taken(parts), most(parts)

    def holds(number: int) -> bool:
        near = taken(number)
        return exactly(parts, number) <= seconds if abs(near - seconds) < _CLOSE else near < seconds

    def may(first: int, last: int) -> bool:
        return taken.least(first, last) <= seconds + _CLOSE

    first = solving.reaching(holds, may, high)
    if first is None:
        return None
    last = high if holds(high) else solving.reaching(holds, may, high, last=True)
    return Counted(first, None if last == high else last)


def size_of(parts: Parts, count: int, seconds: float) -> float | None:
    """Bytes of a bucket, whole ones, of which as many make a step of at most ``seconds``; None: none near to it does."""
    size = -(-int(parts.sending.size or 0) // count)
    sizes: Iterator[int] = (size - less for less in range(min(64, size)))
    return next((float(one) for one in sizes if _of_size(parts, float(one)) <= seconds), None)


def in_buckets(parts: Parts, count: int) -> Parts:
    """In as many, with gradients coming from the same time on."""
    backward = float(exact(parts.whole) - exact(parts.begin(parts.whole, parts.amounts())))
    return replace(parts, buckets=count, bucket=None, ready=None, backward=backward)


def exactly(parts: Parts, count: int) -> float:
    """Seconds of the step in as many."""
    return in_buckets(parts, count).seconds()


def _of_size(parts: Parts, size: float) -> float:
    try:
        return replace(in_buckets(parts, 1), buckets=None, bucket=size).seconds()
    except InputError:
        return float("inf")


def _slows(parts: Parts) -> bool:
    return max(parts.slow.compute, parts.slow.comm) > 1


class _Taken:
    """Number of equal buckets -> seconds of the step, to the picosecond."""

    def __init__(self, parts: Parts) -> None:
        self.parts, self.whole = parts, parts.whole
        self.begin = parts.begin(self.whole, parts.amounts())
        self._slow = _slows(parts)
        self._alone: Callable[[float], float] = lru_cache(maxsize=1 << 16)(self._price)

    @property
    def free(self) -> bool:
        """Whether buckets have no start-up, so that more of them are ever better."""
        return (
            not self._slow and self.parts.sending.price is None and not (self.parts.sending.size and self._alone(0.0))
        )

    def _price(self, size: float) -> float:
        return self.parts.sending.parts([size])[0].time

    def __call__(self, count: int) -> float:
        pieces = self._pieces(count)
        return round(self._course(pieces) if self._slow else self._closed(pieces), 12)

    def _pieces(self, count: int) -> list[tuple[int, float]]:
        """How many buckets of which size, the larger ones first; of a time alone parts of 1."""
        size = self.parts.sending.size
        if size is None or size != int(size):
            return [(count, (size or 1.0) / count)]
        each, more = divmod(int(size), count)
        return [(number, float(one)) for number, one in ((more, each + 1), (count - more, each)) if number]

    def _closed(self, pieces: list[tuple[int, float]]) -> float:
        """The last bucket ends after whichever has most behind it, and that is one at an end of a row of equal ones."""
        total = sum(number * size for number, size in pieces)
        left = sum(number * self._alone(size) for number, size in pieces)
        made, end = 0.0, self.whole
        for number, size in pieces:
            took = self._alone(size)
            for place in {0, number - 1}:
                ready = self.begin + (self.whole - self.begin) * (made + (place + 1) * size) / total
                end = max(end, ready + left - place * took)
            made, left = made + number * size, left - number * took
        return end + self.parts.update

    def _course(self, pieces: list[tuple[int, float]]) -> float:
        taken = [self._alone(size) for number, size in pieces for _ in range(number)]
        total, made, ready = sum(number * size for number, size in pieces), 0.0, []
        for size in (size for number, size in pieces for _ in range(number)):
            made += size
            ready.append(min(self.whole, self.begin + (self.whole - self.begin) * made / total))
        return step.quick(self.whole, [*ready[:-1], self.whole], taken, self.parts.update, self.parts.slow)

    def least(self, first: int, last: int) -> float:
        """No more than what any number from ``first`` to ``last`` takes, where larger buckets never take less.

        The last bucket comes after compute, and all of them after the first; contention only adds to that.
        """
        size = self.parts.sending.size
        if not self.parts.sending.rises:
            return 0.0
        smallest = self._alone((size or 1.0) / last if size is None or size != int(size) else float(int(size) // last))
        span = (self.whole - self.begin) / last
        bound = max(self.whole + smallest, self.begin + span + max(first * smallest, self._line(first)))
        return bound * (1 - 1e-12) - _EXACT + self.parts.update

    def _line(self, count: int) -> float:
        """What all buckets take together, where a price is a line, or a time alone."""
        sending = self.parts.sending
        if sending.price is not None:
            return 0.0
        if sending.size is None:
            return self._alone(1.0)
        none = self._alone(0.0)
        return count * none + self._alone(float(sending.size)) - none
