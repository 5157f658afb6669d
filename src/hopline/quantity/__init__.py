"""Text to plain SI floats and back: the only room that knows a unit's name.

What belongs here: parsing ``192MiB``, ``400Gb/s``, ``0.25us``, ``5120 x bf16``; lists and ranges of such; printing them
rounded to what they are worth; checking plain numbers. Everywhere else a size is bytes, a time is seconds, a bandwidth is
byte/s, all plain floats.
"""

from hopline.quantity.bounds import NON_NEGATIVE, POSITIVE, Bound
from hopline.quantity.parsing import bandwidth, convert, count, parse, size, time
from hopline.quantity.printing import binary, counted, show, show_within, write
from hopline.quantity.ranges import MOST_VALUES, parse_list
from hopline.quantity.units import DTYPES, EXAMPLES, UNITS, Dimension, exact

__all__ = [
    "DTYPES",
    "EXAMPLES",
    "MOST_VALUES",
    "NON_NEGATIVE",
    "POSITIVE",
    "UNITS",
    "Bound",
    "Dimension",
    "bandwidth",
    "binary",
    "convert",
    "count",
    "counted",
    "exact",
    "parse",
    "parse_list",
    "show",
    "show_within",
    "size",
    "time",
    "write",
]  # fmt: skip
