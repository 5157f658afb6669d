"""Several quantities in one text: lists and ranges.

What belongs here: ``1KiB,64KiB``, ``1KiB..1GiB:x4`` and how a range goes on.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from hopline.errors import QuantityError
from hopline.quantity.parsing import COMMA, NUMBER, no_number, number, parse
from hopline.quantity.units import Dimension, exact

MOST_VALUES = 10_000
_RANGE = re.compile(r"(?P<low>.+?)\.\.(?P<high>[^:]+)(?::(?P<step>[x×+].+))?")


def parse_list(text: str, dimension: Dimension) -> list[float]:
    """One value, a list ``1KiB,64KiB`` or a range ``1KiB..1GiB``, ``1KiB..1GiB:x4``, ``1us..9us:+2us``; in SI.

    Without a step a range doubles, except for counts, where it takes every whole number.
    Raises QuantityError as parse() does, for empty ranges and for more than 10 000 values.
    """
    if dimension != "count" and COMMA.fullmatch(text.strip()):
        unit = text.strip().lstrip("+-0123456789,. ")
        listed = ",".join(part if part.endswith(unit) else f"{part.strip()}{unit}" for part in text.strip().split(","))
        raise QuantityError(f"{no_number(text, text.strip(), dimension)}, or as a list {listed!r}, each with its unit")
    if dimension == "count" and re.search(r",\s*0\d", text):
        raise QuantityError(
            f"{text!r} is ambiguous: as one number write it without commas, as a list without leading zeros"
        )
    values = [v for part in text.split(",") for v in _range(part, dimension)]
    if len(values) > MOST_VALUES:
        raise QuantityError(f"{text!r} holds {len(values)} values: expected at most {MOST_VALUES}")
    return values


def _range(text: str, dimension: Dimension) -> list[float]:
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        return [parse(text, dimension)]
    low, high = parse(match["low"], dimension), parse(match["high"], dimension)
    if low > high:
        raise QuantityError(f"{text!r} is an empty range: {match['low'].strip()} is above {match['high'].strip()}")
    step = match["step"] or ("+1" if dimension == "count" else "x2")
    grow = _step(text, step, dimension, low)
    values, last, end = [low], exact(low), exact(high)
    while len(values) <= MOST_VALUES and (last := grow(last)) <= end:
        values.append(float(last))
    if len(values) > MOST_VALUES:
        raise QuantityError(f"{text!r} holds more than {MOST_VALUES} values: expected a larger step, like :x4")
    return values


def _step(text: str, step: str, dimension: Dimension, low: float) -> Callable[[Fraction], Fraction]:
    """How a range goes on from one value to the next, in exact arithmetic so that its end is met."""
    if step[0] == "+":
        addend = exact(parse(step[1:], dimension))
        if addend <= 0:
            raise QuantityError(f"{text!r}: the step must be above 0")
        return lambda value: value + addend
    factor = NUMBER.fullmatch(step[1:])
    if factor is None or float(step[1:]) <= 1:
        raise QuantityError(f"{text!r}: expected a factor above 1 like :x4, got {step[1:]!r}")
    if low == 0:
        raise QuantityError(f"{text!r}: a range that multiplies cannot start at 0")
    ratio = number(text, step[1:])
    whole = dimension in ("size", "count")
    return lambda value: max(Fraction(round(value * ratio)), value + 1) if whole else value * ratio
