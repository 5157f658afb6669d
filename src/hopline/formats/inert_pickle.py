"""Pickles of plain data, read without running anything.

What belongs here: a machine for those instructions of pickle that make numbers, text, lists, tuples, sets and dicts. A pickle
is a program; those that look up a name, call, build an object, or ask for something outside of the file have no
instruction here, so none can be run. Layout: CPython's ``Lib/pickletools.py`` (protocols 0 to 5).

Memory is bounded by the length of the file: the memo is a dict (the C machine makes an array as long as the largest number in
the file), lengths are held against what is left before anything is made, and the number of instructions is limited.
"""

from __future__ import annotations

import struct
from ast import literal_eval
from collections.abc import Callable
from typing import Any

from hopline.errors import FormatError

MOST = 1 << 24
"""Instructions: more is no dump. A flight recorder of 20,000 calls with 30 frames each has about 8 million."""
_LONGEST = 1 << 10
"""Bytes of a whole number."""

REFUSED = {
    b"c": "GLOBAL", b"\x93": "STACK_GLOBAL", b"i": "INST", b"o": "OBJ", b"R": "REDUCE", b"b": "BUILD", b"\x81": "NEWOBJ",
    b"\x92": "NEWOBJ_EX", b"P": "PERSID", b"Q": "BINPERSID", b"\x82": "EXT1", b"\x83": "EXT2", b"\x84": "EXT4",
    b"\x97": "NEXT_BUFFER", b"\x98": "READONLY_BUFFER",
}  # fmt: skip
"""Instructions that reach outside of the file -> their names."""


class _Mark:
    """Stands on the stack where a group of values begins."""


_MARK = _Mark()


def read(data: bytes, name: str) -> Any:
    """The value that a pickle makes; ``name`` stands for the file in messages.

    Raises FormatError for anything but plain data, and for a pickle that is cut or damaged.
    """
    machine = _Machine(data, name)
    try:
        return machine.run()
    except (IndexError, struct.error):
        raise FormatError(
            f"{name} is cut or damaged at byte {machine.at}: expected a whole pickle; copy it again"
        ) from None
    except (ValueError, TypeError, SyntaxError, RecursionError, AttributeError) as error:
        why = str(error).split("\n")[0][:80]
        raise FormatError(
            f"{name} is damaged before byte {machine.at} ({why}): expected a pickle of plain data"
        ) from None


class _Machine:
    """A stack, and values by number."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data, self.name, self.at = data, name, 0
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        """See ``read``."""
        acts = _ACTS
        data, size = self.data, len(self.data)
        for _ in range(MOST):
            if self.at >= size:
                raise IndexError
            code = data[self.at]
            self.at += 1
            if code == _STOP:
                return self._only()
            act = acts[code]
            if act is None:
                raise self._refusal(bytes([code]))
            act(self)
        raise FormatError(f"{self.name} has more than {MOST} instructions: expected the dump of a flight recorder")

    def _only(self) -> Any:
        value = self.stack.pop()
        if isinstance(value, _Mark):
            raise IndexError
        return value

    def _refusal(self, code: bytes) -> FormatError:
        if code in REFUSED:
            return FormatError(
                f"{self.name} is a pickle that would run code or reach outside of itself ({REFUSED[code]} at byte "
                f"{self.at - 1}): expected plain data only; nothing of it was run"
            )
        return FormatError(
            f"{self.name} has the byte {code[0]:#04x} at {self.at - 1}, which is no instruction of a pickle"
        )

    def take(self, size: int) -> bytes:
        """The next bytes of the file. Raises IndexError where there are not as many."""
        end = self.at + size
        if size < 0 or end > len(self.data):
            raise IndexError
        out = self.data[self.at : end]
        self.at = end
        return out

    def number(self, code: str) -> Any:
        """A number of fixed length, by the code of ``struct``."""
        return struct.unpack(code, self.take(struct.calcsize(code)))[0]

    def line(self) -> bytes:
        """Up to the next newline."""
        end = self.data.find(b"\n", self.at)
        if end < 0:
            raise IndexError
        out = self.data[self.at : end]
        self.at = end + 1
        return out

    def group(self) -> list[Any]:
        """What stands above the last mark, which is taken away."""
        stack = self.stack
        place = len(stack) - 1
        while not isinstance(stack[place], _Mark):
            place -= 1
            if place < 0:
                raise IndexError
        out = stack[place + 1 :]
        del stack[place:]
        return out

    def keep(self, place: int) -> None:
        """Give what is on top a number."""
        self.memo[place] = self.top()

    def recall(self, place: int) -> None:
        """Put what has a number on top."""
        if place not in self.memo:
            raise ValueError(f"it recalls number {place}, which was not kept")
        self.stack.append(self.memo[place])

    def top(self) -> Any:
        """What is on top; a mark is nothing. Raises IndexError."""
        value = self.stack[-1]
        if isinstance(value, _Mark):
            raise IndexError
        return value


# --- instructions -------------------------------------------------------------------------------------------------


def _whole(data: bytes) -> int:
    if len(data) > _LONGEST:
        raise ValueError(f"a whole number of {len(data)} bytes")
    return int.from_bytes(data, "little", signed=True)


def _decimal(line: bytes) -> int | bool:
    if line in (b"00", b"01"):
        return line == b"01"
    return int(line.removesuffix(b"L"))


def _quoted(line: bytes) -> str:
    found = literal_eval("b" + line.decode("ascii"))
    if not isinstance(found, bytes):
        raise ValueError("a string without quotes")
    return found.decode("latin-1")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _append(m: _Machine) -> None:
    value = m._only()
    _expect(m.top(), list).append(value)


def _appends(m: _Machine) -> None:
    values = m.group()
    _expect(m.top(), list).extend(values)


def _set_item(m: _Machine) -> None:
    value, key = m._only(), m._only()
    _expect(m.top(), dict)[key] = value


def _set_items(m: _Machine) -> None:
    values = m.group()
    _expect(m.top(), dict).update(_pairs(values))


def _add_items(m: _Machine) -> None:
    values = m.group()
    _expect(m.top(), set).update(values)


def _pairs(values: list[Any]) -> dict[Any, Any]:
    return dict(zip(values[::2], values[1::2], strict=True))


def _expect(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{type(value).__name__} in place of {kind.__name__}")
    return value


def _tuple(count: int) -> Callable[[_Machine], None]:
    def act(m: _Machine) -> None:
        m.stack.append(tuple(reversed([m._only() for _ in range(count)])))

    return act


def _pop(m: _Machine) -> None:
    m.stack.pop()


def _push(make: Callable[[_Machine], Any]) -> Callable[[_Machine], None]:
    return lambda m: m.stack.append(make(m))


def _protocol(m: _Machine) -> None:
    if (found := m.number("<B")) > 5:
        raise ValueError(f"protocol {found} is none of 0 to 5")


_INSTRUCTIONS: dict[bytes, Callable[[_Machine], None]] = {
    b"\x80": _protocol, b"\x95": lambda m: _frame(m), b"(": lambda m: m.stack.append(_MARK),
    b"0": _pop, b"1": lambda m: m.group().clear(), b"2": lambda m: m.stack.append(m.top()),
    b"N": _push(lambda _: None), b"\x88": _push(lambda _: True), b"\x89": _push(lambda _: False),
    b"I": _push(lambda m: _decimal(m.line())), b"L": _push(lambda m: _decimal(m.line())),
    b"F": _push(lambda m: float(m.line())), b"G": _push(lambda m: m.number(">d")),
    b"J": _push(lambda m: m.number("<i")), b"K": _push(lambda m: m.number("<B")), b"M": _push(lambda m: m.number("<H")),
    b"\x8a": _push(lambda m: _whole(m.take(m.number("<B")))), b"\x8b": _push(lambda m: _whole(m.take(m.number("<i")))),
    b"S": _push(lambda m: _quoted(m.line())), b"T": _push(lambda m: m.take(m.number("<i")).decode("latin-1")),
    b"U": _push(lambda m: m.take(m.number("<B")).decode("latin-1")),
    b"V": _push(lambda m: m.line().decode("raw-unicode-escape")), b"X": _push(lambda m: _text(m.take(m.number("<I")))),
    b"\x8c": _push(lambda m: _text(m.take(m.number("<B")))), b"\x8d": _push(lambda m: _text(m.take(m.number("<Q")))),
    b"B": _push(lambda m: m.take(m.number("<I"))), b"C": _push(lambda m: m.take(m.number("<B"))),
    b"\x8e": _push(lambda m: m.take(m.number("<Q"))), b"\x96": _push(lambda m: m.take(m.number("<Q"))),
    b"]": _push(lambda _: []), b"}": _push(lambda _: {}), b")": _push(lambda _: ()), b"\x8f": _push(lambda _: set()),
    b"l": _push(lambda m: m.group()), b"d": _push(lambda m: _pairs(m.group())), b"t": _push(lambda m: tuple(m.group())),
    b"\x91": _push(lambda m: frozenset(m.group())), b"\x85": _tuple(1), b"\x86": _tuple(2), b"\x87": _tuple(3),
    b"a": _append, b"e": _appends, b"s": _set_item, b"u": _set_items, b"\x90": _add_items,
    b"p": lambda m: m.keep(int(m.line())), b"q": lambda m: m.keep(m.number("<B")), b"r": lambda m: m.keep(m.number("<I")),
    b"\x94": lambda m: m.keep(len(m.memo)), b"g": lambda m: m.recall(int(m.line())),
    b"h": lambda m: m.recall(m.number("<B")), b"j": lambda m: m.recall(m.number("<I")),
}  # fmt: skip
"""Byte -> what it does."""
_STOP = ord(".")
_ACTS = [_INSTRUCTIONS.get(bytes([code])) for code in range(256)]


def _frame(m: _Machine) -> None:
    """A frame only says how much to read at once."""
    if m.number("<Q") > len(m.data) - m.at:
        raise IndexError
