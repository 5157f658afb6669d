"""SI to text: rounded to what it is worth where people read it, exact where a file holds it.

What belongs here: printing quantities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from hopline.errors import InputError, QuantityError
from hopline.quantity.parsing import parse
from hopline.quantity.units import BINARY, Dimension

_TIME_STEPS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps"))
_BANDWIDTH_STEPS = ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "KB/s"), (1.0, "B/s"))
_SIZE_STEPS = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "B"))
_BINARY_STEPS = tuple((float(v), f"{p}B") for p, v in reversed(BINARY.items()))


def show(value: float | None, dimension: Dimension, digits: int = 4) -> str:
    """``value`` (SI) as people write it, to ``digits`` significant figures; sizes that are round in binary stay exact.

    >>> show(1.049126e-3, "time"), show(67108864, "size"), show(17977528089.9, "bandwidth")
    ('1.049 ms', '64 MiB', '17.98 GB/s')
    """
    if value is None:
        return "—"
    if not math.isfinite(value):
        return "unbounded" if value > 0 else str(value)
    return _SHOW[dimension](float(value), digits)


def show_within(value: float, spread: float, dimension: Dimension) -> str:
    """``value`` with no more digits than its ``spread`` (same unit, e.g. an interval's half width) is worth."""
    if not spread > 0 or not value > 0 or not math.isfinite(spread):
        return show(value, dimension)
    return show(value, dimension, digits=max(1, min(6, 2 + math.floor(math.log10(value / spread)))))


def _scaled(value: float, steps: Iterable[tuple[float, str]], digits: int) -> str:
    """``value`` in the largest unit in which it is at least 1 when rounded."""
    steps = tuple(steps)
    if value == 0:
        return f"0 {next(unit for scale, unit in steps if scale == 1)}"
    scale, unit = next((s for s in steps if float(f"{abs(value) / s[0]:.{digits - 1}e}") >= 1), steps[-1])
    return f"{_digits(value / scale, digits)} {unit}"


def _digits(value: float, digits: int) -> str:
    """Significant figures in plain notation where that is short, else in powers of ten."""
    if value != 0 and not 1e-4 <= abs(value) < 1e7:
        return f"{value:.{digits - 1}e}"
    rounded = abs(float(f"{value:.{digits - 1}e}"))
    decimals = max(0, digits - 1 - math.floor(math.log10(rounded))) if rounded else 0
    return f"{value:.{decimals}f}"


def _show_size(value: float, digits: int) -> str:
    """Exact where it is round in binary or in thousands, else rounded in binary units, as message sizes are made."""
    if exact := _round_in_binary(value):
        return exact
    if value.is_integer() and value < 10_000:
        return f"{value:.0f} B"
    if value.is_integer() and value % 1000 == 0 and len(f"{value:.0f}".rstrip("0")) <= digits:
        return _scaled(value, _SIZE_STEPS, digits)
    return _scaled(value, (*_BINARY_STEPS, (1.0, "B")), digits)


def binary(size: float, digits: int = 4) -> str:
    """A size in binary units, however round it is in thousands: for tables in which neighbours stand beside one another.

    >>> binary(150000), binary(150001), binary(512)
    ('146.5 KiB', '146.5 KiB', '512 B')
    """
    value = float(size)
    return _round_in_binary(value) or (f"{value:.0f} B" if value < 1024 else _scaled(value, _BINARY_STEPS, digits))


def _round_in_binary(value: float) -> str:
    """Exact, where it is quarters of a binary unit; else ""."""
    for scale, unit in _BINARY_STEPS:
        if value >= scale and (value / scale * 4).is_integer() and value / scale < 1024:
            return f"{value / scale:g} {unit}"
    return ""


def _show_count(value: float, digits: int) -> str:
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else _digits(value, digits)


_SHOW: dict[str, Callable[[float, int], str]] = {
    "time": lambda value, digits: _scaled(value, _TIME_STEPS, digits),
    "bandwidth": lambda value, digits: _scaled(value, _BANDWIDTH_STEPS, digits),
    "size": _show_size,
    "count": _show_count,
}


_WRITTEN: dict[Dimension, tuple[tuple[float, str], ...]] = {
    "time": ((1e-6, "us"), (1.0, "s")),
    "bandwidth": ((1e9, "GB/s"), (1.0, "B/s")),
    "size": ((1.0, "B"),),
    "count": ((1.0, ""),),
}


def write(value: float, dimension: Dimension) -> str:
    """``value`` (SI) as text that parse() reads back to the very same float: for machine files."""
    for scale, unit in _WRITTEN[dimension]:
        for literal in (f"{value / scale:.12g} {unit}".strip(), f"{value / scale!r} {unit}".strip()):
            if _reads_back(literal, value, dimension):
                return literal
    raise InputError(f"{value!r} cannot be written as a {dimension}")


def _reads_back(literal: str, value: float, dimension: Dimension) -> bool:
    try:
        return parse(literal, dimension) == value
    except QuantityError:
        return False


def counted(count: int, thing: str) -> str:
    """``1 rank``, ``2 ranks``."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
