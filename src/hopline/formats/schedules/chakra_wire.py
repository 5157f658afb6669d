"""Protocol Buffers as far as Chakra needs them: messages one after the other, their fields, and whole numbers.

What belongs here: bytes to values. Which field means what is ``chakra_nodes``. The wire format is documented at
protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from hopline.errors import FormatError

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
MOST = 1 << 26
"""Bytes of a message: more is no node of a trace."""
_LONGEST = 10
"""Bytes of a number."""
_SIZES = {FIXED64: 8, FIXED32: 4}

Value = int | bytes
"""Numbers as they are (two's complement not undone), fixed ones as their bytes, too."""


def messages(pieces: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The messages of a file, each led by its length. Raises FormatError where the file ends inside of one."""
    rest, at, done = b"", 0, 0
    for piece in pieces:
        rest, done, at = rest[at:] + piece, done + at, 0
        while True:
            size, begin = _length(rest, at, name, done)
            if begin < 0 or begin + size > len(rest):
                break
            yield rest[begin : begin + size]
            at = begin + size
    if at < len(rest):
        raise FormatError(
            f"{name} ends inside of the message at byte {done + at}: expected a whole Chakra trace; copy it again"
        )


def _length(data: bytes, at: int, name: str, done: int) -> tuple[int, int]:
    """Size and first byte of the message at ``at``; -1: not all of it is there yet."""
    try:
        size, begin = number(data, at)
    except IndexError:
        return 0, -1
    if size > MOST:
        raise FormatError(f"{name} has a message of {size} bytes at byte {done + at}: expected at most {MOST}")
    return size, begin


def number(data: bytes, at: int) -> tuple[int, int]:
    """The varint at ``at``, and where it ends. Raises IndexError where the data end first, FormatError for a longer one."""
    value = 0
    for i in range(_LONGEST):
        byte = data[at + i]
        value |= (byte & 0x7F) << 7 * i
        if byte < 0x80:
            return value & (1 << 64) - 1, at + i + 1
    raise FormatError(f"a number has more than {_LONGEST} bytes: expected Protocol Buffers")


def fields(data: bytes) -> Iterator[tuple[int, int, Value]]:
    """Number, wire type and value of each field of a message. Raises FormatError."""
    at = 0
    try:
        while at < len(data):
            key, at = number(data, at)
            kind, field = key & 7, key >> 3
            if kind == VARINT:
                value, at = number(data, at)
                yield field, kind, value
                continue
            if kind == BYTES:
                size, at = number(data, at)
            else:
                size = _SIZES.get(kind, -1)
            if size < 0 or not field:
                raise FormatError(f"a field {field} of wire type {kind}: expected Protocol Buffers")
            if at + size > len(data):
                raise IndexError
            yield field, kind, data[at : at + size]
            at += size
    except IndexError:
        raise FormatError("a message ends inside of a field: expected Protocol Buffers") from None


def numbers(kind: int, value: Value) -> list[int]:
    """A repeated field of numbers, packed into one field or not."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    try:
        while kind == BYTES and at < len(value):
            one, at = number(value, at)
            found.append(one)
    except IndexError:
        raise FormatError("packed numbers end inside of one: expected Protocol Buffers") from None
    return found


def signed(value: int, bits: int = 64) -> int:
    """Two's complement undone."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def zigzag(value: int) -> int:
    """The encoding of sint32 and sint64 undone."""
    return (value >> 1) ^ -(value & 1)


def fixed(value: Value, code: str) -> int | float:
    """A number of 4 or 8 bytes, by the code of ``struct``; 0 for other fields."""
    if isinstance(value, int) or len(value) != struct.calcsize(code):
        return 0
    found: int | float = struct.unpack(code, value)[0]
    return found
