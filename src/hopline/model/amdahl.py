"""What a faster part brings to the whole, and the most that it could.

What belongs here: Amdahl's law (AFIPS 1967), whole = other + part, where ``other`` is everything else: compute and update, and
what of the part is hidden behind them is no part of the whole at all.
"""

from __future__ import annotations

from fractions import Fraction

from hopline.quantity import NON_NEGATIVE, POSITIVE, exact
from hopline.records.step import Speedup


def faster(other: float, part: float, factor: float) -> Speedup:
    """The part ``factor`` times as fast. Raises InputError."""
    return after(other, part, float(exact(part) / exact(POSITIVE.check("factor", factor))))


def after(other: float, part: float, changed: float) -> Speedup:
    """The part takes ``changed`` instead of ``part``; all in seconds. Raises InputError."""
    rest, before, now = (
        exact(NON_NEGATIVE.check(name, value))
        for name, value in (("everything else", other), ("the part", part), ("the part afterwards", changed))
    )
    return Speedup(
        _over(rest + before, rest + now),
        _over(before - now, rest + before),
        _over(before - now, before),
        _over(rest + before, rest),
    )


def _over(one: Fraction, other: Fraction) -> float | None:
    return float(one / other) if other else None
