"""Expected against got: which values of a case differ.

What belongs here: the meaning of ``expected`` and ``tolerance`` in a vector file. Numbers agree when they differ by no
more than max(abs, rel * |expected|), worked out on the decimal literals so that a value on the very edge agrees. Null
agrees with null only; true, false and text agree exactly; lists agree element by element; {min, max} is a closed range,
its ends with the same tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hopline.quantity import exact


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a number may be off: the larger of ``abs`` and ``rel`` times what was expected."""

    rel: float
    abs: float


@dataclass(frozen=True, slots=True)
class Difference:
    """An output that is not as expected; ``missing`` tells one that is not there from one that is null."""

    key: str
    expected: Any
    got: Any = None
    missing: bool = False


def differences(expected: Mapping[str, Any], got: Mapping[str, Any], tolerance: Tolerance) -> tuple[Difference, ...]:
    """Every output of ``expected`` that ``got`` lacks or holds otherwise."""
    return tuple(_differ_by_key("", expected, got, tolerance))


def _differ_by_key(
    prefix: str, expected: Mapping[str, Any], got: Mapping[str, Any], tolerance: Tolerance
) -> Iterator[Difference]:
    for key, value in expected.items():
        if key in got:
            yield from _differ(f"{prefix}{key}", value, got[key], tolerance)
        else:
            yield Difference(f"{prefix}{key}", value, missing=True)


def _differ(key: str, expected: Any, got: Any, tolerance: Tolerance) -> Iterator[Difference]:
    if isinstance(expected, list) and isinstance(got, list | tuple) and len(expected) == len(got):
        for index, (one, other) in enumerate(zip(expected, got, strict=True)):
            yield from _differ(f"{key}[{index}]", one, other, tolerance)
    elif isinstance(expected, dict) and isinstance(got, dict):
        yield from _differ_by_key(f"{key}.", expected, got, tolerance)
    elif not _agree(expected, got, tolerance):
        yield Difference(key, expected, got)


def _agree(expected: object, got: object, tolerance: Tolerance) -> bool:
    if isinstance(expected, dict):
        return _within(expected, got, tolerance)
    if _is_number(expected) and _is_number(got):
        return abs(_exact(got) - _exact(expected)) <= _slack(expected, tolerance)
    return type(expected) is type(got) and not _is_number(got) and expected == got


def _within(bounds: dict[str, object], got: object, tolerance: Tolerance) -> bool:
    low, high = bounds.get("min"), bounds.get("max")
    if set(bounds) != {"min", "max"} or not (_is_number(low) and _is_number(high) and _is_number(got)):
        return False
    return _exact(low) - _slack(low, tolerance) <= _exact(got) <= _exact(high) + _slack(high, tolerance)


def _is_number(value: object) -> bool:
    """A finite number; true and false are none."""
    if isinstance(value, int):
        return not isinstance(value, bool)
    return isinstance(value, float) and math.isfinite(value)


def _exact(value: Any) -> Fraction:
    return exact(value)


def _slack(expected: Any, tolerance: Tolerance) -> Fraction:
    return max(exact(tolerance.abs), exact(tolerance.rel) * abs(exact(expected)))
