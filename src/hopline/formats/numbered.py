"""Lines of a file as they stand in it, each with its number, in bounded memory.

What belongs here: lines of the plain inputs of simulators and schedulers, and numbers in them. Logs, which launchers spoil,
are ``lines``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from hopline.errors import FormatError, QuantityError
from hopline.formats.lines import excerpt
from hopline.formats.source import opened, shown
from hopline.quantity import Dimension, parse

MOST = 1 << 30
"""Bytes of a file."""
LONGEST = 1 << 20
"""Bytes of a line."""
LARGEST = (1 << 62) - 1
_PIECE = 1 << 18
_BOM = b"\xef\xbb\xbf"
_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
DECIMAL = re.compile(r"[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,3})?", re.ASCII)
"""A number as C's strtod reads it."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its end, and where it stands."""

    document: str
    number: int
    text: str

    def wrong(self, what: str) -> FormatError:
        """An error that says where: raise it."""
        return FormatError(f"{self.document} line {self.number}: {what}")

    def integer(self, text: str, name: str, least: int = 0, most: int = LARGEST) -> int:
        """A whole number from ``least`` to ``most``. Raises FormatError."""
        if not _INTEGER.fullmatch(text) or not least <= int(text) <= most:
            wanted = f"{least} or more" if most == LARGEST else f"{least} to {most}"
            raise self.wrong(f"{name} is {quoted(text)}: expected a whole number, {wanted}")
        return int(text)

    def decimal(self, text: str, name: str, least: float = 0.0) -> float:
        """A finite number of at least ``least``. Raises FormatError."""
        if not DECIMAL.fullmatch(text) or not least <= float(text) < float("inf"):
            raise self.wrong(f"{name} is {quoted(text)}: expected a number, {least:g} or more")
        return float(text)

    def quantity(self, text: str, name: str, dimension: Dimension) -> float:
        """A number with its unit, in SI. Raises FormatError."""
        try:
            return _parsed(text, dimension)
        except QuantityError as error:
            raise self.wrong(f"{name} {error}") from None


@lru_cache(1 << 10)
def _parsed(text: str, dimension: Dimension) -> float:
    """Files repeat the same few rates and delays a million times."""
    return parse(text, dimension)


def quoted(text: str) -> str:
    """A word of a file fit for a message."""
    return repr(excerpt(text.encode("utf-8", "replace"), 40))


def numbered(path: str) -> Iterator[Line]:
    """All lines of the file at ``path``, empty ones too. Raises FormatError for what is no text, or too large."""
    document, rest, number, size = shown(path), b"", 1, 0
    with opened(path) as file:
        while data := file.read(_PIECE):
            size += len(data)
            if size > MOST:
                raise FormatError(f"{document} holds more than {MOST} bytes: expected a topology or a list of messages")
            *whole, rest = (rest + data).split(b"\n")
            for raw in whole:
                yield _line(document, number, raw)
                number += 1
            if len(rest) > LONGEST:
                raise FormatError(f"{document} line {number} is longer than {LONGEST} bytes: expected shorter ones")
    if rest:
        yield _line(document, number, rest)


def _line(document: str, number: int, raw: bytes) -> Line:
    if number == 1:
        raw = raw.removeprefix(_BOM)
    if b"\0" in raw:
        raise FormatError(f"{document} line {number} holds binary data: expected text")
    return Line(document, number, raw.rstrip(b"\r").decode("utf-8", "replace"))
