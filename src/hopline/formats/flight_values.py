"""Fields of a call of the flight recorder: each held against what it should be, in time and memory that the file bounds.

What belongs here: one field at a time. A pickle can hold one list a million times, so what is made of a list is made once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import PurePath
from typing import Any, TypeVar

from hopline.errors import FormatError
from hopline.formats.lines import excerpt
from hopline.records.flight import Shape

MOST_TENSORS, MOST_DIMENSIONS = 1 << 16, 64
"""Of a call, and of a tensor."""
MOST_GROUPS, MOST_FRAMES, MOST_TEXT, MOST_NAME = 1 << 14, 256, 1 << 12, 80
"""Groups of a dump, frames of a call, and letters of a path and of a name that are looked at."""
_LIBRARY = re.compile(r"[/\\](?:torch|c10d|site-packages[/\\]torch)[/\\]|^torch[/\\]|_bootstrap|^<")
Shared = dict[tuple[str, int], Any]
"""What was made of a list, by what for and by its id."""
Made = TypeVar("Made")
_SECONDS = 1e-3
TIMES = ("time_created", "time_discovered_started", "time_discovered_completed")
_UNITS = {"_ns": 1, "_us": 1000}
_TIMEOUT = "timeout_ms"
EARLIEST, LATEST = 10**18, 9 * 10**18
"""Nanoseconds since 1970 between which a recorder can run: from 2001 to 2255."""


def once(shared: Shared, what: str, value: Any, make: Callable[[Any], Made]) -> Made:
    """What ``make`` makes of a value, the first time it is seen."""
    key = (what, id(value))
    if key not in shared:
        shared[key] = make(value)
    found: Made = shared[key]
    return found


def text(entry: Mapping[Any, Any], key: str, place: str) -> str:
    """A text. Raises FormatError for anything else."""
    value = entry.get(key)
    if not isinstance(value, str):
        raise FormatError(f"{place} has {key}={plain(value)}: expected text; is it a flight recorder dump?")
    return value


def whole(entry: Mapping[Any, Any], keys: tuple[str, ...], place: str) -> int:
    """A whole number from 0 on, by the first key that is there. Raises FormatError for anything else."""
    value: Any = next((entry[key] for key in keys if key in entry), None)
    if not _is_number(value, int) or not 0 <= value < 1 << 63:
        raise FormatError(f"{place} has {keys[0]}={plain(value)}: expected a whole number from 0 on")
    return int(value)


def sizes(entry: Mapping[Any, Any], key: str, place: str, shared: Shared) -> tuple[Shape, ...]:
    """Shapes of tensors; of one list of a pickle that many calls share, once."""
    value = entry.get(key, ())
    if not isinstance(value, list | tuple) or len(value) > MOST_TENSORS:
        raise FormatError(f"{place} has {key} {plain(value)}: expected a list of shapes")
    return once(shared, "shapes", value, lambda shapes: tuple(_shape(one, key, place) for one in shapes))


def _shape(value: Any, key: str, place: str) -> Shape:
    if not isinstance(value, list | tuple) or len(value) > MOST_DIMENSIONS:
        raise FormatError(f"{place} has {plain(value)} in {key}: expected a shape of at most {MOST_DIMENSIONS} numbers")
    for one in value:
        if not _is_number(one, int) or not 0 <= one < 1 << 63:
            raise FormatError(f"{place} has {plain(one)} in a shape of {key}: expected whole numbers from 0 on")
    return tuple(value)


def words(entry: Mapping[Any, Any], key: str, shared: Shared) -> tuple[str, ...]:
    """Words of a list, "?" for what is none."""
    value = entry.get(key, ())
    if not isinstance(value, list | tuple) or len(value) > MOST_TENSORS:
        return ()
    return once(shared, "words", value, lambda words: tuple(name(one) or "?" for one in words))


def truth(entry: Mapping[Any, Any], key: str, place: str) -> bool:
    """True or false. Raises FormatError for anything else."""
    value = entry[key]
    if value not in (True, False):
        raise FormatError(f"{place} has {key}={plain(value)}: expected true or false")
    return bool(value)


def time(entry: Mapping[Any, Any], what: str) -> int | None:
    """Nanoseconds since 1970 of ``time_created`` and the like, which may be in microseconds; None: not told, or none."""
    for unit, scale in _UNITS.items():
        value: Any = entry.get(what + unit)
        if _is_number(value, int) and EARLIEST <= value * scale < LATEST:
            return int(value) * scale
    return None


def timeout(entry: Mapping[Any, Any]) -> float | None:
    """Seconds; None: not told, or none."""
    value: Any = entry.get(_TIMEOUT)
    return value * _SECONDS if _is_number(value, int | float) and 0 < value < 1e15 else None


def untold(entry: Mapping[Any, Any]) -> str:
    """A time of a call that is none, as ``key=value``; "": there is no such. None, 0 and -1 stand for no time."""
    known = {what + unit: time(entry, what) for what in TIMES for unit in _UNITS} | {_TIMEOUT: timeout(entry)}
    for key, found in known.items():
        value = entry.get(key)
        if found is None and value is not None and not (_is_number(value, int) and value in (0, -1)):
            return f"{key}={plain(value)}"
    return ""


def _is_number(value: Any, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def where(frames: Any, shared: Shared) -> str:
    """The innermost frame that is the user's: ``train.py:120 step``; frames come innermost first."""
    if not isinstance(frames, list):
        return ""
    return once(shared, "where", frames, _innermost)


def _innermost(frames: list[Any]) -> str:
    for frame in frames[:MOST_FRAMES]:
        file = frame.get("filename") if isinstance(frame, dict) else None
        if isinstance(file, str) and not _is_library(file[:MOST_TEXT]):
            return _frame(frame, file)
    return ""


@lru_cache(maxsize=1 << 12)
def _is_library(file: str) -> bool:
    return _LIBRARY.search(file) is not None


def _frame(frame: Mapping[Any, Any], file: str) -> str:
    return (
        f"{name(PurePath(file[:MOST_TEXT]).name)}:{name(frame.get('line', ''))} {name(frame.get('name', ''))}".strip()
    )


def name(value: Any) -> str:
    """Text or a number as a name that can be printed; "" for anything else, of which a pickle can make what has no end."""
    if not isinstance(value, str | int | float) or (isinstance(value, int) and abs(value) >= 1 << 64):
        return ""
    text = str(value)[:MOST_NAME]
    return text if text.isprintable() else repr(text)[1:-1]


def plain(value: Any) -> str:
    """A value for a message: of what holds others its type alone."""
    return (
        excerpt(repr(value).encode(), 60)
        if isinstance(value, str | int | float | None)
        else f"a {type(value).__name__}"
    )
