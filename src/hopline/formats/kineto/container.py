"""The traces that a file holds: one, or several in a tar archive, packed or not.

What belongs here: opening, and the members of an archive as sources of bytes. Not here: what is in the text (``blocks``).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, cast

from hopline.errors import FormatError
from hopline.formats.archives import archive
from hopline.formats.packing import Source, unpacked
from hopline.formats.source import STDIN, opened, shown

MOST = 1 << 35
"""Bytes that a trace may unpack to."""
_TAR = slice(257, 262)
_LOOK = 1 << 12


def documents(path: str) -> Iterator[tuple[str, Source]]:
    """Name and text of each trace in the file ("-" is standard input). Raises FormatError."""
    _check(path)
    with opened(path, most=MOST) as source:
        if source.peek()[_TAR] == b"ustar":
            yield from _members(path, source)
        else:
            yield path, source


def _check(path: str) -> None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return
    if path != STDIN and stat.S_ISDIR(found.st_mode):
        raise FormatError(f"{shown(path)} is a folder: expected trace files; name those in it")
    if path != STDIN and stat.S_ISREG(found.st_mode) and not found.st_size:
        raise FormatError(f"{shown(path)} is empty: expected a trace")


@dataclass(slots=True)
class _Member:
    """A file in an archive."""

    file: IO[bytes]
    name: str
    holes: bool = False
    first: bytes = b""

    def peek(self) -> bytes:
        """See Source."""
        self.first = self.first or self._next(_LOOK)
        return self.first

    def read(self, most: int) -> bytes:
        """See Source."""
        data, self.first = self.first, b""
        return data or self._next(most)

    def _next(self, most: int) -> bytes:
        with _Damage(self.name):
            return self.file.read(most)


def _members(path: str, source: Source) -> Iterator[tuple[str, Source]]:
    some = False
    with _Damage(shown(path)), archive(cast("IO[bytes]", _Stream(source)), "r|") as members:
        for member in members:
            file = members.extractfile(member) if member.isreg() and member.size else None
            if file is None or os.path.basename(member.name).startswith("._"):
                continue
            some = True
            name = f"{path}:{member.name}"
            yield name, unpacked(_Member(file, shown(name)), shown(name), MOST)
    if not some:
        raise FormatError(f"{shown(path)} is an archive without a file in it: expected traces")


class _Stream:
    """A source with the manners of a file, for tarfile."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._rest = b""

    def read(self, size: int) -> bytes:
        """``size`` bytes, fewer only at the end."""
        parts, have = [self._rest], len(self._rest)
        while have < size and (data := self._source.read(size - have)):
            parts.append(data)
            have += len(data)
        data = b"".join(parts)
        self._rest = data[size:]
        return data[:size]


class _Damage:
    """Tells what tarfile finds wrong as a FormatError."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        """Nothing."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        """Raise FormatError in place of an error of tarfile."""
        import tarfile

        if isinstance(error, tarfile.TarError | EOFError | OSError):
            raise FormatError(f"{self._name} is a damaged or cut archive ({error}): copy it again") from None
