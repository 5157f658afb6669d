"""What packs the bytes of a log: compression, and UTF-16.

What belongs here: unpacking and transcoding as a stream, in bounded memory, told by the first bytes and never by a name.
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from hopline.errors import FormatError

MOST = 1 << 28
"""Bytes taken out of a compressed file, unless told otherwise: more is no benchmark's log."""
_PIECE = 1 << 18
_LOOK = 1 << 12


class Source(Protocol):
    """Bytes in order."""

    def peek(self) -> bytes:
        """The first bytes, which stay to be read; only before the first ``read``."""
        ...

    def read(self, most: int) -> bytes:
        """The next bytes, ``most`` unless they are transcoded; nothing at the end."""
        ...


@runtime_checkable
class Plain(Source, Protocol):
    """A file as it is."""

    holes: bool
    """Whether holes may be skipped, a single NUL in place of each."""


# --- compressed ---------------------------------------------------------------------------------------------------


class _Unpacker(Protocol):
    """What Python's decompressors have in common."""

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes: ...


class _Gzip:
    """zlib with the manners of the others."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(31)
        self._full = False

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    @property
    def needs_input(self) -> bool:
        return not (self._inner.unconsumed_tail or self._full)

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """At most ``max_length`` bytes."""
        out = self._inner.decompress(self._inner.unconsumed_tail + data, max_length)
        self._full = len(out) == max_length
        return out


_Way = tuple[Callable[[], _Unpacker], type[Exception]]
"""How a decompressor is made, and the error it raises for damaged data."""


def _gzip() -> _Way:
    return _Gzip, zlib.error


def _bzip2() -> _Way:
    from bz2 import BZ2Decompressor

    return BZ2Decompressor, OSError


def _xz() -> _Way:
    from lzma import LZMADecompressor, LZMAError

    return LZMADecompressor, LZMAError


def _zstd() -> _Way:
    """From Python 3.14 on."""
    from compression.zstd import ZstdDecompressor, ZstdError  # type: ignore[import-not-found,unused-ignore]

    return ZstdDecompressor, ZstdError


_PACKINGS: dict[bytes, tuple[str, Callable[[], _Way]]] = {
    b"\x1f\x8b": ("gzip", _gzip), b"BZh": ("bzip2", _bzip2), b"\xfd7zXZ\0": ("xz", _xz),
    b"\x28\xb5\x2f\xfd": ("zstd", _zstd),
}  # fmt: skip
"""First bytes of a compressed file -> what it is, and its decompressor, imported late: not every Python has all."""


@dataclass(slots=True)
class _Unpacked:
    """A compressed file, read as what it holds. It may have several parts, as ``cat a.gz b.gz`` makes them."""

    file: Plain
    name: str
    magic: bytes
    make: Callable[[], _Unpacker]
    failures: tuple[type[Exception], ...]
    inner: _Unpacker
    most: int
    first: bytes = b""
    given: int = 0

    def peek(self) -> bytes:
        """See Source."""
        self.first = self.first or self._next(_LOOK)
        return self.first

    def read(self, most: int) -> bytes:
        """See Source."""
        data, self.first = self.first, b""
        return data or self._next(most)

    def _next(self, most: int) -> bytes:
        out = b""
        while not out:
            data = b""
            if self.inner.eof:
                data = self.inner.unused_data or self.file.read(_PIECE)
                if not data.startswith(self.magic):
                    return b""
                self.inner = self.make()
            elif self.inner.needs_input:
                data = self.file.read(_PIECE)
                if not data:
                    raise self._refusal("is cut: its compressed data stops before its end; copy it again")
            try:
                out = self.inner.decompress(data, most)
            except self.failures as error:
                raise self._refusal(f"is damaged: its compressed data cannot be unpacked ({error})") from None
        self.given += len(out)
        if self.given > self.most:
            raise self._refusal(
                f"unpacks to more than {self.most} bytes: expected a log; unpack it yourself if it is one"
            )
        return out

    def _refusal(self, why: str) -> FormatError:
        return FormatError(f"{self.name} {why}")


def unpacked(file: Plain, name: str, most: int | None = None) -> Source:
    """What a file holds, compressed or not; ``name`` stands for it in messages. Raises FormatError, also beyond ``most``."""
    head = file.peek()
    magic = next((magic for magic in _PACKINGS if head.startswith(magic)), b"")
    if not magic:
        return file
    file.holes = False
    packing, way = _PACKINGS[magic]
    try:
        make, failure = way()
    except ImportError:
        raise FormatError(
            f"{name} is compressed with {packing}, which this Python cannot unpack: unpack it first"
        ) from None
    return _Unpacked(
        file, name, magic, make, (failure, OSError, EOFError, ValueError), make(), MOST if most is None else most
    )


# --- UTF-16 -------------------------------------------------------------------------------------------------------

_BYTE_ORDER = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


@dataclass(slots=True)
class _Utf16:
    """Text in UTF-16, as Windows shells write it, read as UTF-8."""

    source: Source
    decoder: codecs.IncrementalDecoder
    ended: bool = False

    def peek(self) -> bytes:
        """See Source."""
        return b""

    def read(self, most: int) -> bytes:
        """See Source."""
        while not self.ended:
            data = self.source.read(most)
            self.ended = not data
            if text := self.decoder.decode(data, final=not data):
                return text.encode("utf-8", "replace")
        return b""


def in_utf8(source: Source) -> Source:
    """What a source holds as UTF-8, where a byte order mark and the zeros of Latin text tell that it is UTF-16."""
    head = source.peek()
    encoding = _BYTE_ORDER.get(head[:2], "")
    first, second = head[2::2], head[3::2]
    zeros = second.count(0) if encoding == "utf-16-le" else first.count(0)
    if not encoding or 2 * zeros < len(second):
        return source
    if isinstance(source, Plain):
        source.holes = False
    return _Utf16(source, codecs.getincrementaldecoder(encoding)("replace"))
