"""What stands around the events of a trace: numbers that are held against what they can be.

What belongs here: reading one value, or saying why it is none. An impossible value counts as not there, and that is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hopline.formats.lines import excerpt

MOST_RANKS = 1 << 24
"""Ranks that a job can have."""
LATEST = 9_000_000_000_000_000_000
"""Nanoseconds since 1970 that fit a column (the year 2255)."""
SINCE_1970 = 10**18
"""Nanoseconds above which a clock counts from 1970 (it is 2001); clocks of machines count from their start."""
_BASE = "baseTimeNanoseconds"


def info_of(head: Mapping[str, Any], told: list[str]) -> Mapping[str, Any]:
    """What the file says of the job."""
    info = head.get("distributedInfo")
    if "distributedInfo" in head and not isinstance(info, dict):
        told.append(_refusal("distributedInfo", info, "an object with rank and world_size"))
    return info if isinstance(info, dict) else {}


def number_in(info: Mapping[str, Any], key: str, least: int, told: list[str]) -> int | None:
    """A number of ranks or of one of them; None where the file does not say, or says what cannot be, which is told."""
    number = _whole(info.get(key))
    if number is not None and least <= number < MOST_RANKS:
        return number
    if key in info:
        wanted = f"a whole number from {least} to {MOST_RANKS - 1}"
        told.append(_refusal(f"distributedInfo.{key}", info[key], wanted))
    return None


def base_of(head: Mapping[str, Any], first: int, told: list[str]) -> int:
    """Nanoseconds since 1970 from which the file counts; ``first``: when its first event is, by that count.

    0 where the file does not say, or says what cannot be, which is told.
    """
    number = _whole(head.get(_BASE))
    if number is not None and 0 <= number < LATEST and number + first < LATEST:
        return number
    if _BASE in head:
        told.append(
            _refusal(_BASE, head[_BASE], "whole nanoseconds since 1970, before the year 2255 at the first event")
        )
    return 0


def text_of(value: Any) -> str:
    """A name or a number as text that can be printed; "" for anything else."""
    return excerpt(str(value).encode(errors="replace"), 500) if isinstance(value, str | int | float) else ""


def _refusal(what: str, value: Any, wanted: str) -> str:
    return f"{what} is {plain(value)}: expected {wanted}; it counts as not said"


def _whole(value: Any) -> int | None:
    """A whole number, also as text or as a float; a float of a base has lost digits, but is the best there is."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 20:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if type(value) is int else None


def plain(value: Any) -> str:
    """A value for a message; of what holds others its kind alone."""
    words = {dict: "an object", list: "a list", bool: str(value).lower(), type(None): "null"}
    return words.get(type(value)) or excerpt(repr(value).encode(errors="replace"), 60)
