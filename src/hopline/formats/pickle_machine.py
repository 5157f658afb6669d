"""A stack machine for data: what ``inert_pickle`` runs its instructions on.

What belongs here: bytes, stacks and memo, each held against what is there; and the names of instructions that are refused.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from hopline.errors import FormatError

MOST = 1 << 24
"""Instructions: more is no dump. A flight recorder of 20,000 calls with 30 frames each has about 8 million."""
FIXED = {code: struct.Struct(code) for code in (">d", "<i", "<H", "<I", "<Q")}
"""Numbers of fixed length."""
REFUSED = {
    b"c": "GLOBAL", b"\x93": "STACK_GLOBAL", b"i": "INST", b"o": "OBJ", b"R": "REDUCE", b"b": "BUILD", b"\x81": "NEWOBJ",
    b"\x92": "NEWOBJ_EX", b"P": "PERSID", b"Q": "BINPERSID", b"\x82": "EXT1", b"\x83": "EXT2", b"\x84": "EXT4",
    b"\x97": "NEXT_BUFFER", b"\x98": "READONLY_BUFFER",
}  # fmt: skip
"""Instructions that reach outside of the file -> their names."""
_RECALL, _SMALL = b"hK"


class Machine:
    """Values in the making, and values by number.

    ``stack`` holds what came since the last mark, ``below`` what stood before each mark that is open.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self.data, self.name, self.at = data, name, 0
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []
        self.memo: dict[int, Any] = {}
        self.dicts: dict[bytes, dict[Any, Any]] = {}

    def run(self, acts: Sequence[Callable[[Machine], None] | None], stop: int) -> Any:
        """The value on top when the byte ``stop`` comes; ``acts``: what each byte does.

        Recalling a value and small numbers, which most instructions of a dump are, are done here without a call, and bytes
        come from an iterator, which is faster than to index them. Raises FormatError for a byte that does nothing and for too
        many, IndexError or StopIteration where data or stack end first, KeyError for a value that was not kept.
        """
        data: Any = iter(self.data)
        size, memo, stack = len(self.data), self.memo, self.stack
        for _, code in zip(range(MOST), data, strict=False):
            if code == _RECALL:
                stack.append(memo[next(data)])
            elif code == _SMALL:
                stack.append(next(data))
            else:
                self.at = size - data.__length_hint__()
                if code == stop:
                    return self.pop()
                act = acts[code]
                if act is None:
                    raise refusal(self.name, code, self.at - 1)
                act(self)
                data.__setstate__(self.at)
                stack = self.stack
        self.at = size - data.__length_hint__()
        if self.at == size:
            raise IndexError
        raise FormatError(f"{self.name} has more than {MOST} instructions: expected the dump of a flight recorder")

    def mark(self) -> None:
        """Begin a group."""
        self.below.append(self.stack)
        self.stack = []

    def pop(self) -> Any:
        """What is on top, taken away; a mark is nothing. Raises IndexError."""
        return self.stack.pop()

    def drop(self) -> None:
        """Take away what is on top, be it a mark. Raises IndexError."""
        if self.stack:
            self.stack.pop()
        else:
            self.stack = self.below.pop()

    def take(self, size: int) -> bytes:
        """The next bytes of the file. Raises IndexError where there are not as many."""
        end = self.at + size
        if size < 0 or end > len(self.data):
            raise IndexError
        out = self.data[self.at : end]
        self.at = end
        return out

    def number(self, code: str) -> Any:
        """A number of fixed length, by a key of FIXED. Raises struct.error where the data end first."""
        fixed = FIXED[code]
        (value,) = fixed.unpack_from(self.data, self.at)
        self.at += fixed.size
        return value

    def byte(self) -> int:
        """A number of one byte."""
        value = self.data[self.at]
        self.at += 1
        return value

    def line(self) -> bytes:
        """Up to the next newline."""
        end = self.data.find(b"\n", self.at)
        if end < 0:
            raise IndexError
        out = self.data[self.at : end]
        self.at = end + 1
        return out

    def group(self) -> list[Any]:
        """What stands above the last mark, which is taken away. Raises IndexError where there is none."""
        out, self.stack = self.stack, self.below.pop()
        return out

    def keep(self, place: int) -> None:
        """Give what is on top a number."""
        if place in self.memo:
            self.dicts.clear()
        self.memo[place] = self.top()

    def recall(self, place: int) -> None:
        """Put what has a number on top. Raises KeyError."""
        self.stack.append(self.memo[place])

    def top(self) -> Any:
        """What is on top; a mark is nothing. Raises IndexError."""
        return self.stack[-1]


def refusal(name: str, code: int, at: int) -> FormatError:
    """What is said of a byte that is no instruction here."""
    refused = REFUSED.get(bytes([code]))
    if refused is not None:
        return FormatError(
            f"{name} is a pickle that would run code or reach outside of itself ({refused} at byte {at}): expected plain data "
            "only; nothing of it was run"
        )
    return FormatError(f"{name} has the byte {code:#04x} at {at}, which is no instruction of a pickle")
