"""The bytes of a log, wherever they are kept: a file, standard input, a pipe.

What belongs here: opening, and keeping what can be read only once, in bounded memory. Not here: what packs the bytes
(``packing``), what a line is (``lines``).
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from hopline.errors import FormatError
from hopline.formats.packing import Source, in_utf8, unpacked

STDIN = "-"
"""The path that stands for standard input."""
MOST = 1 << 30
"""Bytes taken from a pipe, unless told otherwise: more is no benchmark's log."""
_PIECE = 1 << 18
_LOOK = 1 << 12
_SEEK_DATA: int | None = getattr(os, "SEEK_DATA", None)


def shown(path: str) -> str:
    """``path`` fit for a one-line message."""
    text = os.fsencode(path).decode("utf-8", "replace")
    if path == STDIN:
        return "standard input"
    return text if text.isprintable() and text else repr(text)


@contextmanager
def opened(path: str, keep: bool = False, most: int | None = None) -> Iterator[Source]:
    """The file at ``path``, or standard input where that is "-", unpacked and in UTF-8 where it was in UTF-16.

    What can be read only once is copied to a temporary file. With ``keep`` it is still there for the next to open it,
    as standard input always is. ``most`` bytes at most are taken out of a pipe or a compressed file, in place of MOST.
    Raises FormatError in one line.
    """
    file = _open(path, keep, most)
    try:
        yield in_utf8(unpacked(file, shown(path), most))
    finally:
        if file.spool is None:
            os.close(file.descriptor)
        elif file.spool not in _SPOOLS.values():
            file.spool.close()


@contextmanager
def kept(path: str) -> Iterator[None]:
    """Whoever opens ``path`` within keeps what a pipe held for the next."""
    _KEPT.append(path)
    try:
        yield
    finally:
        _KEPT.remove(path)
        forget(path)


def forget(path: str) -> None:
    """Let go of what a pipe held, unless it is standard input."""
    try:
        key = _key(os.stat(path))
    except (OSError, ValueError):
        return
    if key in _SPOOLS and not _is_standard_input(key):
        _SPOOLS.pop(key).close()


# --- files and pipes ----------------------------------------------------------------------------------------------

_Key = tuple[int, int]
_SPOOLS: dict[_Key, IO[bytes]] = {}
"""Device and inode of a pipe -> what it held."""
_KEPT: list[str] = []
"""Paths whose content is wanted more than once."""


@dataclass(slots=True)
class _File:
    """A regular file whose read errors are FormatErrors, and whose holes cost nothing."""

    path: str
    descriptor: int
    spool: IO[bytes] | None = None
    """What the descriptor belongs to, where it is not ours."""
    at: int = 0
    holes: bool = True

    def peek(self) -> bytes:
        """See Source."""
        with _errors(self.path):
            return os.pread(self.descriptor, _LOOK, self.at)

    def read(self, most: int) -> bytes:
        """See Source; a single NUL for a hole."""
        with _errors(self.path):
            if self.holes and self._skip_hole():
                return b"\0"
            data = os.pread(self.descriptor, most, self.at)
        self.at += len(data)
        return data

    def _skip_hole(self) -> bool:
        """Move over a hole of a sparse file, where the system can tell; whether there was one."""
        if _SEEK_DATA is None:
            return False
        before = self.at
        try:
            self.at = os.lseek(self.descriptor, self.at, _SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:
                self.at = max(before, os.lseek(self.descriptor, 0, os.SEEK_END))
        return self.at > before


@contextmanager
def _errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FormatError(f"{shown(path)} cannot be read: {error.strerror}") from None


def _open(path: str, keep: bool, most: int | None) -> _File:
    try:
        with _errors(path):
            if path == STDIN:
                return _standard_input(most)
            found = os.stat(path)
            if stat.S_ISDIR(found.st_mode):
                raise FormatError(f"{shown(path)} is a directory: expected a log file")
            if stat.S_ISREG(found.st_mode):
                if not found.st_size:
                    raise FormatError(f"{shown(path)} is empty: expected the output of a benchmark")
                return _File(path, os.open(path, os.O_RDONLY | os.O_CLOEXEC))
            if stat.S_ISFIFO(found.st_mode):
                return _pipe(path, _key(found), keep, most)
        raise FormatError(f"{shown(path)} is a device or socket: expected a log file or a pipe")
    except ValueError:
        raise FormatError(f"{shown(path)} cannot be read: no file can have a name with a null byte") from None


def _standard_input(most: int | None) -> _File:
    """What stands on standard input, from where it stands; kept until the process ends."""
    found = os.fstat(0)
    if stat.S_ISCHR(found.st_mode):
        what = "a terminal" if os.isatty(0) else "a device"
        raise FormatError(f"standard input is {what}: expected a log (a pipe into hopline, or the name of a file)")
    if stat.S_ISDIR(found.st_mode):
        raise FormatError("standard input is a directory: expected a log")
    key = _key(found)
    if key not in _SPOOLS:
        _SPOOLS[key] = _copied(STDIN, 0, most)
    return _File(STDIN, _SPOOLS[key].fileno(), _SPOOLS[key])


def _pipe(path: str, key: _Key, keep: bool, most: int | None) -> _File:
    spool = _SPOOLS.get(key)
    if spool is None:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            spool = _SPOOLS[key] = _copied(path, descriptor, most)
        finally:
            os.close(descriptor)
    if not keep and path not in _KEPT and not _is_standard_input(key):
        del _SPOOLS[key]
    return _File(path, spool.fileno(), spool)


def _key(found: os.stat_result) -> _Key:
    return found.st_dev, found.st_ino


def _is_standard_input(key: _Key) -> bool:
    try:
        return key == _key(os.fstat(0))
    except OSError:
        return False


def _copied(path: str, descriptor: int, most: int | None) -> IO[bytes]:
    """All that comes out of a descriptor, in a file that is gone when it is closed."""
    from tempfile import TemporaryFile

    spool: IO[bytes] = TemporaryFile()  # noqa: SIM115 (it outlives this function)
    try:
        _copy(path, descriptor, spool, MOST if most is None else most)
    except BaseException:
        spool.close()
        raise
    return spool


def _copy(path: str, descriptor: int, spool: IO[bytes], most: int) -> None:
    size = 0
    while data := os.read(descriptor, _PIECE):
        size += len(data)
        if size > most:
            raise FormatError(f"{shown(path)} holds more than {most} bytes: expected a log; save it to a file first")
        spool.write(data)
    spool.flush()
    if not size:
        raise FormatError(f"{shown(path)} is empty: expected the output of a benchmark")
