"""The columns of an nccl-tests table: from the header line of its block, or assumed from the number of words in a row.

What belongs here: what each header word means, and the four layouts met since 2019. A column is found by its title and
never by its place, because releases insert columns; both halves of a row use the same titles, so the second ``time``
opens the in-place half.

A: up to 2.11, with ``error``, the deviation of a result and not a count. B: with ``#wrong``, the number of wrong
elements. C: the same from 2.18 on, wider. D: with ``i_min i_max i_p99 i_cv%`` after each ``#wrong``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from hopline.quantity import convert

_SHARED = ("size", "count", "type", "redop", "root")
_HALF = {
    "time": "time", "cputime": "time", "algbw": "algbw", "busbw": "busbw", "#wrong": "wrong", "error": "error",
    "i_min": "time_min", "i_max": "time_max", "i_p99": "time_p99", "i_cv%": "time_cv",
}  # fmt: skip
IN_PLACE = "_in_place"

_US, _GBS = convert(1, "us"), convert(1, "GB/s")
SCALE = {
    "size": 1.0, "count": 1.0, "time": _US, "time_min": _US, "time_max": _US, "time_p99": _US, "time_cv": 0.01,
    "algbw": _GBS, "busbw": _GBS,
}  # fmt: skip
"""Numeric columns and what one of their printed unit is in SI."""
VERDICTS = ("wrong", "error")


@dataclass(frozen=True, slots=True)
class Layout:
    """The name of each word of a row, in order. ``assumed`` when no header told."""

    letter: str
    names: tuple[str, ...]
    assumed: bool = False

    def variant(self, words: int) -> tuple[str, ...] | None:
        """The names for a row of that many words (alltoall may leave ``redop`` blank); None when it cannot be one."""
        return _variants(self.names).get(words)


@lru_cache(64)
def _variants(names: tuple[str, ...]) -> dict[int, tuple[str, ...]]:
    found = {len(names): names}
    if "redop" in names:
        found[len(names) - 1] = tuple(name for name in names if name != "redop")
    return found


def scale(name: str) -> float | None:
    """SI value of one printed unit of column ``name``; None for a column that holds no measured number."""
    return SCALE.get(name.removesuffix(IN_PLACE))


def is_verdict(name: str) -> bool:
    """Whether the column says how right the result was."""
    return name.removesuffix(IN_PLACE) in VERDICTS


@lru_cache(64)
def from_header(line: bytes) -> Layout | None:
    """The layout that a header line announces; None when it is no such line or lost a part that is needed."""
    words = line.decode("ascii", "replace").lstrip("# \t").split()
    if words[:2] != ["size", "count"]:
        return None
    names = _named(words)
    if not {"type", "time", "algbw", "busbw", "time_in_place", "busbw_in_place"} <= set(names):
        return None
    return Layout(_letter(names, line), names)


def _named(words: list[str]) -> tuple[str, ...]:
    """Column names of header words; a word that no release is known to print keeps its place as ``?word``."""
    names: list[str] = []
    suffix = ""
    for word in words:
        if word in _SHARED:
            names.append(word)
        elif word == "timestamp":
            names += ["?date", "?clock"]
        elif word in _HALF:
            if _HALF[word] == "time" and "time" in names:
                suffix = IN_PLACE
            names.append(_HALF[word] + suffix)
        else:
            names.append(f"?{word}")
    return tuple(names) if len(set(names)) == len(names) else ()


def _letter(names: tuple[str, ...], line: bytes) -> str:
    if "error" in names:
        return "A"
    if "time_min" in names:
        return "D"
    return "C" if b"busbw  #wrong" in line[: line.find(b"#wrong") + 6] else "B"


_MEASURED = "time algbw busbw"
_ASSUMED = {
    11: ("A", f"size count type {_MEASURED} error {_MEASURED} error"),
    12: ("A", f"size count type redop {_MEASURED} error {_MEASURED} error"),
    13: ("B", f"size count type redop root {_MEASURED} #wrong {_MEASURED} #wrong"),
    21: ("D", "size count type redop root" + f" {_MEASURED} #wrong i_min i_max i_p99 i_cv%" * 2),
}


def from_rows(rows: list[list[bytes]]) -> Layout | None:
    """The layout of rows without a header, by the number of words of the first that could be a row."""
    for words in rows:
        if len(words) in _ASSUMED and words[2][:1].isalpha():
            letter, titles = _ASSUMED[len(words)]
            if len(words) == 13 and b"e-" in words[8] + words[12]:
                letter, titles = "A", titles.replace("#wrong", "error")
            return Layout(letter, _named(titles.split()), assumed=True)
    return None
