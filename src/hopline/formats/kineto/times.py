"""Numbers of a trace as whole columns: times in nanoseconds, and whole numbers that may be missing.

What belongs here: every way that profilers write a time (whole or broken microseconds, as text, with more digits than a double
has), and what stands for no number. Columns of plain numbers are converted at once; only others are looked at one by one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from hopline.records.trace import NONE, Nanoseconds

MISSING = np.iinfo(np.int64).min
"""In place of a time that is no number, or absurdly large."""
_EXACT = 2.0**43
"""Microseconds up to which a double still tells whole nanoseconds apart."""
_FARTHEST = 9_000_000_000_000_000
"""Microseconds whose nanoseconds fit a column (the year 2255)."""
_STANDS_FOR_NONE = (2**32 - 1, 2**64 - 1)
"""What -1 becomes in the hands of profilers."""
_NUMBERS = {int, float}


def nanoseconds(values: list[Any]) -> Nanoseconds | None:
    """Whole nanoseconds of microseconds; None where some are no plain numbers, or have more digits than a double."""
    if not set(map(type, values)) <= _NUMBERS:
        return None
    column = np.array(values)
    if column.dtype.kind == "i":
        ticks: Nanoseconds = column * 1000
        return ticks if bool((np.abs(column) < _FARTHEST).all()) else None
    if column.dtype.kind != "f" or not bool((np.abs(column) < _EXACT).all()):
        return None
    full = np.floor(column)
    ticks = full.astype(np.int64) * 1000
    ticks += np.rint((column - full) * 1000).astype(np.int64)
    return ticks


def each(values: Sequence[Any]) -> Nanoseconds:
    """Nanoseconds of microseconds of any type; MISSING where one is none."""
    return np.fromiter(map(_one, values), np.int64, len(values))


def _one(value: Any) -> int:
    try:
        number = Decimal(value) if isinstance(value, str) else value
        if isinstance(number, bool) or not abs(number) < _FARTHEST:
            return MISSING
        full = math.floor(number)
        return full * 1000 + round((number - full) * 1000)
    except (ArithmeticError, TypeError, ValueError):
        return MISSING


def whole(values: list[Any]) -> Nanoseconds:
    """Whole numbers of values of any type; NONE for what is none, or stands for none."""
    try:
        if not set(map(type, values)) <= {int}:
            raise TypeError
        column = np.fromiter(values, np.int64, len(values))
    except (TypeError, OverflowError):
        return np.fromiter(map(whole_number, values), np.int64, len(values))
    column[column == _STANDS_FOR_NONE[0]] = NONE
    return column


def whole_number(value: Any) -> int:
    """A value of any type as a whole number, NONE where it is none."""
    try:
        number = int(value, 0) if isinstance(value, str) else int(value)
    except (TypeError, ValueError, OverflowError):
        return NONE
    if isinstance(value, bool) or (isinstance(value, float) and number != value):
        return NONE
    return NONE if number in _STANDS_FOR_NONE or not -(2**63) <= number < 2**63 else number


def says_none(value: Any) -> bool:
    """Whether a value of any type stands for none, rather than for something that is no number."""
    return value is None or (isinstance(value, int | str) and value in (NONE, str(NONE), "", *_STANDS_FOR_NONE))
