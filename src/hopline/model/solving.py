"""Backwards: what one input has to be for a time to be reached.

What belongs here: the search for the edge of a condition, as exact as a float can be, the nearest one to where one is, and
searches over whole numbers that leave out only what a lower bound excludes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from fractions import Fraction

_SAME = Fraction(1, 10**12)


def edge(reaches: Callable[[float], bool], good: float, bad: float) -> float | None:
    """The number nearest to ``bad`` that reaches what is asked; None: not even ``good`` does.

    ``reaches`` holds from ``good`` up to an edge and not beyond it; both are finite and at least 0. Of the numbers within
    1e-12 of the edge the one of fewest digits is taken, so that an edge at 3 ms is 0.003.
    """
    if not reaches(good):
        return None
    if reaches(bad):
        return bad
    inside, outside = _place(good), _place(bad)
    while abs(outside - inside) > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if reaches(_float(middle)) else (inside, middle)
    return _fewest_digits(reaches, _float(inside))


_STEPS = (0.005, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 0.99, 0.999, 0.99999, 1.0)


def nearest(reaches: Callable[[float], bool], now: float, good: float, bad: float) -> float | None:
    """The edge nearest to ``now`` of a condition that need not be monotone: where it begins to hold, or ceases to.

    Looked for between ``now`` and ``good`` where it does not hold now, else between ``now`` and ``bad``; where it still holds
    there ``bad`` is the answer, where it holds nowhere None. What comes and goes between two of some twenty steps is not seen.
    """
    holds = reaches(now)
    before = now
    for value in _rungs(now, bad if holds else good):
        if reaches(value) != holds:
            return edge(reaches, before, value) if holds else edge(reaches, value, before)
        before = value
    return bad if holds else None


def _rungs(now: float, end: float) -> Iterator[float]:
    """From ``now`` to ``end``: by factors where that is far above, else by parts of the way."""
    if end > 4 * now > 0:
        yield from (now * (end / now) ** step for step in _STEPS[:-1])
    else:
        yield from (now + (end - now) * step for step in _STEPS[:-1])
    yield end


Span = Callable[[int, int], float]
"""A bound: no more than what is asked of any whole number from the first to the second."""


def least(cost: Callable[[int], float], bound: Span, high: int) -> int:
    """The number from 1 to ``high`` of the least ``cost``, the first of equals."""
    known: dict[int, float] = {}

    def at(number: int) -> float:
        if number not in known:
            known[number] = cost(number)
        return known[number]

    powers = [1 << power for power in range(high.bit_length()) if 1 << power <= high]
    best = min(powers, key=lambda number: (at(number), number))
    waiting = [(1, high)]
    while waiting:
        first, last = waiting.pop()
        floor = bound(first, last)
        if floor > at(best) or (floor == at(best) and first >= best):
            continue
        if first == last:
            best = min(best, first, key=lambda number: (at(number), number))
        else:
            waiting += sorted(_halves(first, last), key=lambda half: abs(half[0] - best), reverse=True)
    return best


def reaching(
    holds: Callable[[int], bool], may: Callable[[int, int], bool], high: int, last: bool = False
) -> int | None:
    """The first (``last``: the last) number from 1 to ``high`` that ``holds``; ``may``: whether any of a span could."""
    waiting = [(1, high)]
    while waiting:
        span = waiting.pop()
        if not may(*span):
            continue
        if span[0] == span[1]:
            if holds(span[0]):
                return span[0]
            continue
        lower, upper = _halves(*span)
        waiting += [lower, upper] if last else [upper, lower]
    return None


def _halves(first: int, last: int) -> tuple[tuple[int, int], tuple[int, int]]:
    middle = (first + last) // 2
    return (first, middle), (middle + 1, last)


def _place(value: float) -> int:
    """Of a float of at least 0 among all such: halving places finds any edge in 64 steps, however small it is."""
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def _float(place: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", place))[0])


def _fewest_digits(reaches: Callable[[float], bool], value: float) -> float:
    for digits in range(17):
        rounded = float(f"{value:.{digits}e}")
        if abs(Fraction(rounded) - Fraction(value)) <= _SAME * Fraction(value) and reaches(rounded):
            return rounded
    return value
