"""Backwards: what one input has to be for a time to be reached.

What belongs here: the search for the edge of a monotone condition, as exact as a float can be.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
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
