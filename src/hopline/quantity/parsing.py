"""Text to SI: ``192MiB``, ``400Gb/s``, ``0.25us``, ``5120 x bf16``.

What belongs here: reading one quantity, and refusing what could mean two things with the readings it could have had.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from hopline.errors import QuantityError
from hopline.quantity.units import DTYPES, EXAMPLES, PREFIXES, UNITS, Dimension, exact

NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\d.])", re.ASCII)
_NOT_NUMBERS = re.compile(r"[+-]?(?:nan|inf|infinity)(?![a-z])", re.IGNORECASE)
COMMA = re.compile(r"([+-]?(?:\d+,\d+|\d{1,3}(?:,\d{3})+))(?![\d,])[^,]*", re.ASCII)
_ELEMENTS = re.compile(r"(\d+(?:\s*[x×*]\s*\d+)*)\s*[x×*]\s*([a-z]+\d*)", re.ASCII)
_LARGEST_EXPONENT = 330
_LONGEST_TEXT = 1000


def size(text: str) -> float:
    """A size in bytes from text such as ``192MiB`` or ``4096x7168 x bf16``; it must be a whole number of bytes."""
    return parse(text, "size")


def time(text: str) -> float:
    """A time in seconds from text such as ``0.25us``."""
    return parse(text, "time")


def bandwidth(text: str) -> float:
    """A bandwidth in byte/s from text such as ``400Gb/s``; it must be above zero."""
    return parse(text, "bandwidth")


def count(text: str) -> float:
    """A whole number of things, at least 0."""
    return parse(text, "count")


def parse(text: str, dimension: Dimension) -> float:
    """Parse ``text`` as a quantity of ``dimension`` and return it in SI.

    Raises QuantityError when the unit is missing, ambiguous or of another dimension, and for values that no such
    quantity can have (negative, not finite, a fraction of a byte, a bandwidth of zero).
    """
    if len(text) > _LONGEST_TEXT:
        raise QuantityError(
            f"{text[:40]!r}... is {len(text)} characters long: expected a {dimension} like {EXAMPLES[dimension]}"
        )
    cleaned = text.replace("µ", "u").replace("μ", "u").replace("\u00a0", " ").strip()
    value = _elements(cleaned) if dimension == "size" else None
    if value is None:
        value = _number_and_unit(text, cleaned, dimension)
    return _checked(text, value, dimension)


def _elements(cleaned: str) -> Fraction | None:
    """Bytes of ``5120 x bf16`` or ``1x4096x7168 x bf16``; None when the text is not of that form."""
    match = _ELEMENTS.fullmatch(cleaned)
    if match is None:
        return None
    factors, dtype = match.groups()
    if dtype not in DTYPES:
        raise QuantityError(f"unknown data type {dtype!r} in {cleaned!r}: known are {', '.join(DTYPES)}")
    return math.prod((Fraction(int(part)) for part in re.split(r"[x×*]", factors)), start=DTYPES[dtype])


def _number_and_unit(text: str, cleaned: str, dimension: Dimension) -> Fraction:
    match = NUMBER.match(cleaned)
    if match is None:
        raise QuantityError(no_number(text, cleaned, dimension))
    unit = cleaned[match.end() :].strip()
    if unit.startswith(","):
        raise QuantityError(no_number(text, cleaned, dimension))
    value = number(text, match.group())
    if unit in UNITS[dimension]:
        return value * UNITS[dimension][unit]
    if value == 0 and unit == "":
        return value
    raise QuantityError(_wrong_unit(text, match.group(), unit, dimension))


def number(text: str, literal: str) -> Fraction:
    """The literal as a rational, refused first when its exponent alone would fill the memory."""
    try:
        decimal = Decimal(literal)
    except InvalidOperation:
        raise QuantityError(f"{text!r}: the exponent is out of range") from None
    if decimal and abs(decimal.adjusted()) > _LARGEST_EXPONENT:
        raise QuantityError(
            f"{text!r} is out of range: expected one between 1e-{_LARGEST_EXPONENT} and 1e{_LARGEST_EXPONENT}"
        )
    return Fraction(decimal)


def no_number(text: str, cleaned: str, dimension: Dimension) -> str:
    """Why ``text`` holds no number that could be read."""
    if COMMA.fullmatch(cleaned):
        return (
            f"{text!r} is ambiguous: a comma can group thousands or mark decimals; "
            f"write {cleaned.replace(',', '')!r} or {cleaned.replace(',', '.', 1)!r}"
        )
    if _NOT_NUMBERS.match(cleaned):
        return f"{text!r} is not a finite {dimension}: expected something like {EXAMPLES[dimension]}"
    return f"{text!r} is not a {dimension}: expected a number and a unit, like {EXAMPLES[dimension]}"


def _wrong_unit(text: str, number: str, unit: str, dimension: Dimension) -> str:
    """Why ``unit`` will not do for ``dimension``, with the readings the text could have had."""
    for other, table in UNITS.items():
        if unit and unit in table:
            return f"{text!r} is a {other}, expected a {dimension} like {EXAMPLES[dimension]}"
    if dimension == "count":
        return f"{text!r} is not a count: expected a whole number like {EXAMPLES['count']}"
    readings = _readings_of_unit(unit, dimension)
    if not unit:
        return f"{text!r} has no unit: expected a {dimension} like {EXAMPLES[dimension]}"
    if readings:
        listed = [f"{number} {reading}" for reading in readings.split(", ")]
        if len(listed) == 1:
            return f"{text!r}: unknown unit {unit!r}, did you mean {listed[0]!r}?"
        return f"{text!r} is ambiguous as a {dimension}: it could be {' or '.join(listed)}"
    return f"{text!r}: unknown unit {unit!r}, expected a {dimension} like {EXAMPLES[dimension]}"


_SHORT_ATOMS = ("B", "b")


def _readings_of_unit(unit: str, dimension: Dimension | None) -> str:
    """Units that differ from ``unit`` only by letter case or by a missing atom (``50G`` -> GB/s, Gb/s, GiB/s)."""
    prefix = unit.removesuffix("/s").removesuffix("ps")
    completed = [p + a for p in (prefix, prefix + "i") if p in PREFIXES and p for a in _SHORT_ATOMS]
    wanted = {unit.lower()} | {c.lower() for c in completed} | {f"{c.lower()}/s" for c in completed}
    tables = [UNITS[dimension]] if dimension else list(UNITS.values())
    exactly = set(completed) | {f"{c}/s" for c in completed}
    found = [
        name
        for table in tables
        for name in table
        if name.lower() in wanted and (name in exactly or not completed) and not name.startswith("k")
    ]
    return ", ".join(dict.fromkeys(found))


def _checked(text: str, value: Fraction, dimension: Dimension) -> float:
    if value < 0:
        raise QuantityError(f"{text!r} is negative: expected a {dimension} of at least 0")
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if dimension in ("size", "count") and value.denominator != 1:
        unit = "bytes" if dimension == "size" else "things"
        raise QuantityError(f"{text!r} is {result:.6g} {unit}: expected a whole number of {unit}")
    if math.isinf(result) or (dimension == "size" and result > 2**63):
        raise QuantityError(f"{text!r} is out of range for a {dimension}")
    if dimension == "bandwidth" and result == 0:
        raise QuantityError(f"{text!r}: a bandwidth must be above 0, like {EXAMPLES['bandwidth']}")
    return result


def convert(value: float, unit: str) -> float:
    """``value`` of ``unit`` in SI (s, byte, byte/s). Raises QuantityError for a unit that no table holds."""
    name = unit.replace("µ", "u").replace("μ", "u")
    for table in UNITS.values():
        if name in table:
            try:
                return float(exact(value) * table[name])
            except (ValueError, OverflowError):
                raise QuantityError(f"{value!r} {unit} is out of range") from None
    raise QuantityError(
        f"unknown unit {unit!r}: {_readings_of_unit(name, None) or 'expected one like MiB, us or Gb/s'}"
    )
