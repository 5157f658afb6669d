"""Text to plain SI floats and back: the only file that knows a unit's name.

What belongs here: parsing ``192MiB``, ``400Gb/s``, ``0.25us``, ``5120 x bf16``; ranges of such; printing them rounded to
what they are worth. Everywhere else a size is bytes, a time is seconds, a bandwidth is byte/s, all plain floats.

Conventions: KB = 1000, KiB = 1024, ``b`` = bit, ``B`` = byte (IEC 80000-13). Letters' case matters, because ``Gb`` and
``GB`` differ by eight. A text that could mean two things is refused with the readings it could have had.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Literal

from hopline.errors import InputError, QuantityError

Dimension = Literal["time", "size", "bandwidth", "count"]

DTYPES: dict[str, Fraction] = {
    "fp64": Fraction(8), "float64": Fraction(8), "double": Fraction(8), "int64": Fraction(8), "uint64": Fraction(8),
    "fp32": Fraction(4), "float32": Fraction(4), "float": Fraction(4), "tf32": Fraction(4), "int32": Fraction(4),
    "uint32": Fraction(4), "bf16": Fraction(2), "bfloat16": Fraction(2), "fp16": Fraction(2), "float16": Fraction(2),
    "half": Fraction(2), "int16": Fraction(2), "fp8": Fraction(1), "int8": Fraction(1), "uint8": Fraction(1),
    "char": Fraction(1), "fp4": Fraction(1, 2), "int4": Fraction(1, 2),
}  # fmt: skip
"""Bytes of one element of each data type."""

_DECIMAL = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
_PREFIXES = {**_DECIMAL, **_BINARY}
_BYTE, _BIT = Fraction(1), Fraction(1, 8)
_ATOMS = {"B": _BYTE, "b": _BIT, "byte": _BYTE, "bytes": _BYTE, "bit": _BIT, "bits": _BIT}

TIMES: dict[str, Fraction] = {
    "ps": Fraction(1, 10**12), "ns": Fraction(1, 10**9), "us": Fraction(1, 10**6), "usec": Fraction(1, 10**6),
    "ms": Fraction(1, 10**3), "msec": Fraction(1, 10**3), "s": Fraction(1), "sec": Fraction(1), "min": Fraction(60),
}  # fmt: skip
SIZES: dict[str, Fraction] = {
    prefix + atom: scale * value for prefix, scale in _PREFIXES.items() for atom, value in _ATOMS.items()
}
BANDWIDTHS: dict[str, Fraction] = {
    f"{size}/{time}": SIZES[size] / TIMES[time] for size in SIZES for time in ("ns", "us", "ms", "s", "sec")
}
BANDWIDTHS |= {f"{prefix}bps": scale * _BIT for prefix, scale in _PREFIXES.items()}
BANDWIDTHS |= {f"{prefix}Bps": scale * _BYTE for prefix, scale in _PREFIXES.items()}

UNITS: dict[Dimension, dict[str, Fraction]] = {
    "time": TIMES, "size": SIZES, "bandwidth": BANDWIDTHS, "count": {"": Fraction(1)},
}  # fmt: skip
"""Dimension -> unit name -> its value in SI. Help texts and errors are made from it."""

EXAMPLES: dict[Dimension, str] = {
    "time": "0.25us, 12 ms", "size": "192MiB, 1e6 B, 5120 x bf16", "bandwidth": "50GB/s, 400Gb/s", "count": "16",
}  # fmt: skip
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\d.])", re.ASCII)
_NOT_NUMBERS = re.compile(r"[+-]?(?:nan|inf|infinity)(?![a-z])", re.IGNORECASE)
_COMMA = re.compile(r"([+-]?(?:\d+,\d+|\d{1,3}(?:,\d{3})+))(?![\d,])[^,]*", re.ASCII)
_ELEMENTS = re.compile(r"(\d+(?:\s*[x×*]\s*\d+)*)\s*[x×*]\s*([a-z]+\d*)", re.ASCII)
_LARGEST_EXPONENT = 330
_LONGEST_TEXT = 1000


def exact(value: float) -> Fraction:
    """The rational number that a float's shortest decimal literal names (0.1 -> 1/10), for ceilings and comparisons."""
    return Fraction(value) if isinstance(value, int) else Fraction(repr(float(value)))


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
    match = _NUMBER.match(cleaned)
    if match is None:
        raise QuantityError(_no_number(text, cleaned, dimension))
    unit = cleaned[match.end() :].strip()
    if unit.startswith(","):
        raise QuantityError(_no_number(text, cleaned, dimension))
    number = _number(text, match.group())
    if unit in UNITS[dimension]:
        return number * UNITS[dimension][unit]
    if number == 0 and unit == "":
        return number
    raise QuantityError(_wrong_unit(text, match.group(), unit, dimension))


def _number(text: str, literal: str) -> Fraction:
    """The literal as a rational, refused first when its exponent alone would fill the memory."""
    try:
        decimal = Decimal(literal)
    except InvalidOperation:
        raise QuantityError(f"{text!r}: the exponent is out of range") from None
    if decimal and abs(decimal.adjusted()) > _LARGEST_EXPONENT:
        raise QuantityError(f"{text!r} is out of range: expected a number below 1e{_LARGEST_EXPONENT}")
    return Fraction(decimal)


def _no_number(text: str, cleaned: str, dimension: Dimension) -> str:
    if _COMMA.fullmatch(cleaned):
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
    completed = [p + a for p in (prefix, prefix + "i") if p in _PREFIXES and p for a in _SHORT_ATOMS]
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


# --- several values in one argument -------------------------------------------------------------------------------

MOST_VALUES = 10_000
_RANGE = re.compile(r"(?P<low>.+?)\.\.(?P<high>[^:]+)(?::(?P<step>[x×+].+))?")


def parse_list(text: str, dimension: Dimension) -> list[float]:
    """One value, a list ``1KiB,64KiB`` or a range ``1KiB..1GiB``, ``1KiB..1GiB:x4``, ``1us..9us:+2us``; in SI.

    Without a step a range doubles, except for counts, where it takes every whole number.
    Raises QuantityError as parse() does, for empty ranges and for more than 10 000 values.
    """
    if dimension != "count" and _COMMA.fullmatch(text.strip()):
        raise QuantityError(_no_number(text, text.strip(), dimension))
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
    factor = _NUMBER.fullmatch(step[1:])
    if factor is None or float(step[1:]) <= 1:
        raise QuantityError(f"{text!r}: expected a factor above 1 like :x4, got {step[1:]!r}")
    if low == 0:
        raise QuantityError(f"{text!r}: a range that multiplies cannot start at 0")
    ratio = _number(text, step[1:])
    whole = dimension in ("size", "count")
    return lambda value: max(Fraction(round(value * ratio)), value + 1) if whole else value * ratio


# --- printing -----------------------------------------------------------------------------------------------------

_TIME_STEPS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps"))
_BANDWIDTH_STEPS = ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "KB/s"), (1.0, "B/s"))
_SIZE_STEPS = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "B"))
_BINARY_STEPS = tuple((float(v), f"{p}B") for p, v in reversed(_BINARY.items()))


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
    steps = tuple(steps)
    if value == 0:
        return f"0 {steps[0][1] if steps is _TIME_STEPS else steps[-1][1]}"
    rounded = float(f"{value:.{digits - 1}e}")
    scale, unit = next((s for s in steps if abs(rounded) >= s[0] * (1 - 1e-12)), steps[-1])
    return f"{_digits(rounded / scale, digits)} {unit}"


def _digits(value: float, digits: int) -> str:
    """Significant figures in plain notation where that is short, else in powers of ten."""
    if value != 0 and not 1e-4 <= abs(value) < 1e7:
        return f"{value:.{digits - 1}e}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:.{decimals}f}"


def _show_size(value: float, digits: int) -> str:
    for scale, unit in _BINARY_STEPS:
        if value >= scale and (value / scale * 4).is_integer() and value / scale < 1024:
            return f"{value / scale:g} {unit}"
    if value.is_integer() and value < 10_000:
        return f"{value:.0f} B"
    return _scaled(value, _SIZE_STEPS, digits)


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


# --- numbers that are already SI ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bound:
    """What a plain number must satisfy: at least ``least`` (or above it when ``strict``) and finite."""

    least: float = 0.0
    strict: bool = False

    def check(self, name: str, value: float) -> float:
        """``value`` as a float. Raises InputError naming ``name`` when it breaks the bound."""
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{name} is {value!r}: expected a number") from None
        if not math.isfinite(number) or number < self.least or (self.strict and number == self.least):
            bound = "above" if self.strict else "at least"
            raise InputError(f"{name} is {value!r}: expected a finite number {bound} {self.least:g}")
        return number


NON_NEGATIVE = Bound()
POSITIVE = Bound(strict=True)
