"""The words of many lines that have the same number of them, column by column.

What belongs here: turning text into columns fast, whatever the columns mean. Tools print their rows with fixed widths,
so the lines are first tried as a rectangle of bytes, where a column of numbers is read with a few array operations a
digit; lines of unequal length are split into words. Both give the very same numbers as ``float`` of each word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hopline.records.table import Floats

Bytes = NDArray[np.uint8]


class Words(Protocol):
    """Lines of equally many words; columns are counted from 0."""

    def column(self, place: int) -> list[bytes]:
        """The words of a column; a single one when all are the same."""
        ...

    def numbers(self, place: int) -> Floats:
        """A column as floats. Raises ValueError when a word is no number."""
        ...

    def halves(self, place: int) -> Floats:
        """Half a unit of the last printed digit, for each word of a column of numbers."""
        ...


def of(text: bytes, count: int, width: int) -> Words | None:
    """The words of ``count`` lines, each led by a newline; None unless each line has ``width`` words."""
    return _grid(text, count, width) or _tokens(text, count, width)


# --- words one by one ---------------------------------------------------------------------------------------------

_END = b"\0"
"""Stands before each line among the words; clean text holds no NUL, so no word can be mistaken for it."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """All words of all lines in a row, each line led by _END."""

    words: list[bytes]
    step: int

    def column(self, place: int) -> list[bytes]:
        """See Words."""
        column = self.words[place + 1 :: self.step]
        return column if len(set(column)) > 1 else column[:1]

    def numbers(self, place: int) -> Floats:
        """See Words."""
        return np.array(list(map(float, self.words[place + 1 :: self.step])))

    def halves(self, place: int) -> Floats:
        """See Words."""
        return np.array(list(map(half, self.words[place + 1 :: self.step])))


def _tokens(text: bytes, count: int, width: int) -> Tokens | None:
    words = text.replace(b"\n", b" \0 ").split()
    if len(words) != count * (width + 1) or words[:: width + 1] != [_END] * count:
        return None
    return Tokens(words, width + 1)


def half(word: bytes) -> float:
    """Half a unit of the last printed digit of a number."""
    mantissa, _, power = word.lower().partition(b"e")
    last = int(power or b"0") - len(mantissa.partition(b".")[2])
    return 0.5 * 10.0**last if -300 < last < 300 else 0.0


# --- a rectangle --------------------------------------------------------------------------------------------------

_MOST_DIGITS = 15
"""Up to here a number's digits are exact in a float, and so is the power of ten that divides them."""
_TENS = 10.0 ** np.arange(_MOST_DIGITS + 1)
_BLANK, _NEWLINE, _POINT, _ZERO = b" \n.0"


@dataclass(frozen=True, slots=True)
class Grid:
    """Lines of one length whose columns are parted by blanks at the same places; a field is (columns, lines)."""

    fields: tuple[Bytes, ...]

    def column(self, place: int) -> list[bytes]:
        """See Words."""
        field = self.fields[place]
        if np.array_equal(field[:, :-1], field[:, 1:]):
            field = field[:, :1]
        return _words(field)

    def numbers(self, place: int) -> Floats:
        """See Words."""
        field = self.fields[place]
        point = field == _POINT
        digit = (field >= _ZERO) & (field <= _ZERO + 9)
        plain = bool(np.all(digit | point | (field == _BLANK)))
        if not plain or len(field) > _MOST_DIGITS or point.sum(axis=0, dtype=np.uint8).max() > 1:
            return np.array(list(map(float, _words(field))))
        value = np.zeros(field.shape[1])
        for row, is_digit in zip(field, digit, strict=True):
            value = np.where(is_digit, value * 10 + (row - _ZERO), value)
        if not digit.any(axis=0).all():
            raise ValueError("a point without digits is no number")
        return value / _TENS[_decimals(point, digit)] if point.any() else value

    def halves(self, place: int) -> Floats:
        """See Words."""
        field = self.fields[place]
        digit, point = (field >= _ZERO) & (field <= _ZERO + 9), field == _POINT
        if not np.all(digit | point | (field == _BLANK)):
            return np.array(list(map(half, _words(field))))
        return 0.5 * 10.0 ** -_decimals(point, digit).astype(float)


def _decimals(point: NDArray[np.bool_], digit: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Digits after the point, for each line."""
    return np.asarray((np.logical_or.accumulate(point, axis=0) & digit).sum(axis=0), np.intp)


def _words(field: Bytes) -> list[bytes]:
    lines = np.ascontiguousarray(field.T)
    return [word.strip() for word in lines.view(f"S{lines.shape[1]}")[:, 0].tolist()]


def _grid(text: bytes, count: int, width: int) -> Grid | None:
    length, rest = divmod(len(text), count)
    if rest or count < 2:
        return None
    lines = np.frombuffer(text, np.uint8).reshape(count, length)
    if not np.all(lines[:, 0] == _NEWLINE):
        return None
    columns = np.ascontiguousarray(lines[:, 1:].T)
    inked = columns > _BLANK
    if not np.all(inked | (columns == _BLANK)):
        return None
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inked.any(axis=1), [False]]).astype(np.int8)))
    if len(edges) != 2 * width:
        return None
    spans = [slice(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True)]
    if not all(_one_word(inked[span]) for span in spans):
        return None
    return Grid(tuple(columns[span] for span in spans))


def _one_word(inked: NDArray[np.bool_]) -> bool:
    """Whether each line has exactly one word in these columns: one step from blank to ink."""
    starts = inked[0].astype(np.uint8) + (inked[1:] & ~inked[:-1]).sum(axis=0, dtype=np.uint8)
    return bool(np.all(starts == 1))
