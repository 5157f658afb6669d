"""Numbers of a step as text: times, parts of one another, gains.

What belongs here: what its pages have in common.
"""

from __future__ import annotations

from hopline.quantity import show

NOTHING = 5e-4
"""Gain below which a change is none: half of 0.1 %."""


def seconds(value: object) -> str:
    """A time (s)."""
    return show(float(value), "time")  # type: ignore[arg-type]


def ratio(value: object) -> str:
    """One number over another."""
    return f"{float(value):.3g}"  # type: ignore[arg-type]


def percent(value: object) -> str:
    """A fraction in per cent."""
    return f"{100 * float(value):.3g} %"  # type: ignore[arg-type]


def share(part: object, whole: object) -> str:
    """A part of a whole in per cent."""
    return percent(float(part) / float(whole)) if float(whole) else "0 %"  # type: ignore[arg-type]


def less(before: object, after: object) -> str:
    """How much less or more the second is than the first."""
    one, other = float(before), float(after)  # type: ignore[arg-type]
    if not one:
        return "more" if other else "the same"
    part = 1 - other / one
    return "the same" if abs(part) < 1e-12 else f"{percent(abs(part))} {'less' if part > 0 else 'more'}"


def gain(value: float) -> str:
    """A change of the whole by a fraction that it saves."""
    return "0" if abs(value) < NOTHING / 10 else f"{-100 * value:+.2f} %"
