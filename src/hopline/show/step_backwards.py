"""What each input of a step would have to be, as text: rounded so that what stands there still reaches what is asked.

What belongs here: amounts of inputs, and the table of a step solved backwards.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from hopline.quantity import binary, show
from hopline.records.step import Answer, Effect, Reached
from hopline.show.document import Block, Grid, Heading

_FACTORS = ("bandwidth of the network", "start-ups of the network", "slowdown of compute", "slowdown of communication")
_DIGITS = 4
_UNITS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def amount(value: float, of: Effect | Reached) -> str:
    """A value of an input: sizes in binary units, factors as such."""
    if of.name in _FACTORS:
        return f"x {value:.4g}"
    return binary(value) if of.dimension == "size" else show(value, of.dimension)


def reaching(value: float, of: Reached) -> str:
    """The same, rounded to the side from which it reaches what is asked."""
    if of.dimension == "size":
        return _size(value)
    if of.dimension == "count" and of.name not in _FACTORS:
        return show(value, "count")
    exact = Decimal(repr(value))
    last = Decimal(1).scaleb(exact.adjusted() - _DIGITS + 1)
    rounded = exact.quantize(last, ROUND_CEILING if of.more else ROUND_FLOOR) if exact else exact
    return amount(float(rounded), of)


def _size(value: float) -> str:
    """Whole bytes, rounded down."""
    for scale, unit in _UNITS:
        if value >= scale and binary(value).endswith(unit):
            part = Decimal(int(value)) / scale
            last = Decimal(1).scaleb(part.adjusted() - _DIGITS + 1)
            return binary(value) if value * 4 % scale == 0 else f"{part.quantize(last, ROUND_FLOOR)} {unit}"
    return f"{int(value)} B"


def blocks(found: Answer) -> list[Block]:
    """The table; nothing where nothing was aimed at."""
    if found.target is None:
        return []
    what = "communication" if found.budget else "a step"
    last = float(found.last.comm if found.budget else found.last.step)
    had = last <= found.target
    state = "reached already, with this much to spare" if had else "any one of these alone"
    rows = [(row.name, amount(row.now, row), _needed(row, found.most_buckets)) for row in found.reached]
    heading = Heading(f"To reach {what} of {show(found.target, 'time')}: {state}")
    return [heading, Grid(("", "is", "may be" if had else "has to be"), rows)]


def _needed(row: Reached, most: int | None) -> str:
    if row.value is None:
        return f"reaches it nowhere: {show(row.best, 'time')} remain"
    told = reaching(row.value, row)
    if row.name == "buckets":
        looked = f" ({most:,} were looked at)" if most else ""
        return f"{told} or more{looked}" if row.until is None else f"{told} to {show(row.until, 'count')}"
    if row.name == "bucket size":
        return f"{told} or less" if row.until is None else f"{told} to {reaching(row.until, row)}"
    return told
