"""Schedule files as bytes and lines, in bounded memory; and new files that overwrite nothing.

What belongs here: what ``source`` and ``packing`` leave to say for schedules. Not here: what a line means.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from hopline.errors import FormatError, OutputError
from hopline.formats.source import STDIN, opened, shown

PIECE = 1 << 18
"""Bytes read at a time."""
LONGEST = 1 << 20
"""Bytes of a line, or of an element: more is no schedule."""
MOST = 1 << 27
"""Bytes of a file that is read as one document (XML, JSON)."""
_BOM = b"\xef\xbb\xbf"


def usable(path: str, what: str = "schedule") -> None:
    """Raise FormatError for a folder and for an empty file; ``what`` is expected in it."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return
    if path == STDIN:
        return
    if stat.S_ISDIR(found.st_mode):
        raise FormatError(f"{shown(path)} is a folder: expected a {what} file")
    if stat.S_ISREG(found.st_mode) and not found.st_size:
        raise FormatError(f"{shown(path)} is empty: expected a {what}")


def pieces(path: str, most: int | None = None) -> Iterator[bytes]:
    """The bytes of a file as they come, unpacked. Raises FormatError for more than ``most``."""
    size = 0
    with opened(path) as file:
        while data := file.read(PIECE):
            size += len(data)
            if most is not None and size > most:
                raise FormatError(f"{shown(path)} holds more than {most} bytes: expected a schedule")
            yield data


def whole(path: str, most: int = MOST) -> bytes:
    """All bytes of a file. Raises FormatError for more than ``most``."""
    return b"".join(pieces(path, most)).removeprefix(_BOM)


def lines(path: str, longest: int = LONGEST) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers (from 1), without their ends. Raises FormatError for a line longer than ``longest``."""
    rest, number = b"", 1
    for data in pieces(path):
        if number == 1 and not rest:
            data = data.removeprefix(_BOM)
        *full, rest = (rest + data).split(b"\n")
        for line in full:
            if len(line) > longest:
                raise _too_long(path, number, longest)
            yield number, line
            number += 1
        if len(rest) > longest:
            raise _too_long(path, number, longest)
    if rest:
        yield number, rest


def _too_long(path: str, number: int, longest: int) -> FormatError:
    return FormatError(f"{shown(path)} line {number} is longer than {longest} bytes: expected a schedule's short lines")


@contextmanager
def new_file(path: str) -> Iterator[IO[bytes]]:
    """A file to write, compressed where its name ends in ``.gz``; gone again where writing fails.

    Raises OutputError where there is one of that name, or where it cannot be written.
    """
    try:
        file: IO[bytes] = open(path, "xb")  # noqa: SIM115 (closed below)
    except FileExistsError:
        raise OutputError(f"{shown(path)} exists: give another name, or move it away first") from None
    except (OSError, ValueError) as error:
        raise OutputError(f"{shown(path)} cannot be written: {getattr(error, 'strerror', None) or error}") from None
    try:
        with file, _packed(file, path) as stream:
            yield stream
    except OSError as error:
        Path(path).unlink(missing_ok=True)
        raise OutputError(f"{shown(path)} cannot be written: {error.strerror}") from None
    except BaseException:
        Path(path).unlink(missing_ok=True)
        raise


@contextmanager
def _packed(file: IO[bytes], path: str) -> Iterator[IO[bytes]]:
    if not path.endswith(".gz"):
        yield file
        return
    from gzip import GzipFile

    with GzipFile("", "wb", 6, file, 0) as stream:
        yield stream  # type: ignore[misc]
