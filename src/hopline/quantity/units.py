"""Units by name, the sizes of data types, and what each dimension is in SI.

What belongs here: tables. Letters' case matters, because ``Gb`` and ``GB`` differ by eight: KB = 1000, KiB = 1024,
``b`` = bit, ``B`` = byte (IEC 80000-13).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

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
BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
PREFIXES = {**_DECIMAL, **BINARY}
_BYTE, _BIT = Fraction(1), Fraction(1, 8)
_ATOMS = {"B": _BYTE, "b": _BIT, "byte": _BYTE, "bytes": _BYTE, "bit": _BIT, "bits": _BIT}

TIMES: dict[str, Fraction] = {
    "ps": Fraction(1, 10**12), "ns": Fraction(1, 10**9), "us": Fraction(1, 10**6), "usec": Fraction(1, 10**6),
    "ms": Fraction(1, 10**3), "msec": Fraction(1, 10**3), "s": Fraction(1), "sec": Fraction(1), "min": Fraction(60),
}  # fmt: skip
SIZES: dict[str, Fraction] = {
    prefix + atom: scale * value for prefix, scale in PREFIXES.items() for atom, value in _ATOMS.items()
}
BANDWIDTHS: dict[str, Fraction] = {
    f"{size}/{time}": SIZES[size] / TIMES[time] for size in SIZES for time in ("ns", "us", "ms", "s", "sec")
}
BANDWIDTHS |= {f"{prefix}bps": scale * _BIT for prefix, scale in PREFIXES.items()}
BANDWIDTHS |= {f"{prefix}Bps": scale * _BYTE for prefix, scale in PREFIXES.items()}

UNITS: dict[Dimension, dict[str, Fraction]] = {
    "time": TIMES, "size": SIZES, "bandwidth": BANDWIDTHS, "count": {"": Fraction(1)},
}  # fmt: skip
"""Dimension -> unit name -> its value in SI. Help texts and errors are made from it."""

EXAMPLES: dict[Dimension, str] = {
    "time": "0.25us, 12 ms", "size": "192MiB, 1e6 B, 5120 x bf16", "bandwidth": "50GB/s, 400Gb/s", "count": "16",
}  # fmt: skip
"""Dimension -> what such a quantity looks like."""


def exact(value: float) -> Fraction:
    """The rational number that a float's shortest decimal literal names (0.1 -> 1/10), for ceilings and comparisons.

    Raises OverflowError for what is not finite.
    """
    if isinstance(value, int):
        return Fraction(value)
    if not math.isfinite(value):
        raise OverflowError(f"{value} is no rational number")
    return Fraction(repr(float(value)))
