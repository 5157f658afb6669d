"""Pickles of plain data, read without running anything.

What belongs here: a machine for those instructions of pickle that make numbers, text, lists, tuples, sets and dicts. A pickle
is a program; those that look up a name, call, build an object, or ask for something outside of the file have no
instruction here, so none can be run. Layout: CPython's ``Lib/pickletools.py`` (protocols 0 to 5).

Memory is bounded by the length of the file: the memo is a dict (the C machine makes an array as long as the largest number in
the file), lengths are held against what is left before anything is made, and the number of instructions is limited. So is
time: keys of dicts are of types whose hashes nobody can choose.

A dump is mostly frames: dicts of three values that came before. They are found by a pattern and made at once (``_dict``), once
for all that are alike, which halves the time.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any

from hopline.errors import FormatError
from hopline.formats.pickle_machine import Machine

_LONGEST = 1 << 10
"""Bytes of a whole number."""
_LARGEST_KEY = 1 << 31

_KEYS = frozenset({str, bytes})
_DICT = re.compile(rb"(\x94|q.|r.{4}|)\(((?:[hK].)+)u", re.DOTALL)
"""What follows the making of a dict all of whose keys and values are such."""
_RECALL = ord("h")


def read(data: bytes, name: str) -> Any:
    """The value that a pickle makes; ``name`` stands for the file in messages.

    Raises FormatError for anything but plain data, and for a pickle that is cut or damaged.
    """
    machine = Machine(data, name)
    try:
        return machine.run(_ACTS, _STOP)
    except KeyError as error:
        raise FormatError(
            f"{name} is damaged before byte {machine.at} (it recalls number {error.args[0]}, which was not kept): expected a "
            "pickle of plain data"
        ) from None
    except (IndexError, StopIteration, struct.error):
        raise FormatError(
            f"{name} is cut or damaged at byte {machine.at}: expected a whole pickle; copy it again"
        ) from None
    except (ValueError, TypeError, SyntaxError, RecursionError, AttributeError) as error:
        why = str(error).split("\n")[0][:80]
        raise FormatError(
            f"{name} is damaged before byte {machine.at} ({why}): expected a pickle of plain data"
        ) from None


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
    if len(line) < 2 or line[:1] not in (b"'", b'"') or line[-1:] != line[:1]:
        raise ValueError("a string without quotes")
    return line[1:-1].decode("unicode-escape")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _append(m: Machine) -> None:
    value = m.pop()
    _expect(m.top(), list).append(value)


def _appends(m: Machine) -> None:
    values = m.group()
    _expect(m.top(), list).extend(values)


def _set_item(m: Machine) -> None:
    value, key = m.pop(), m.pop()
    _expect(m.top(), dict)[_key(key)] = value


def _set_items(m: Machine) -> None:
    values = m.group()
    _expect(m.top(), dict).update(_pairs(values))


def _add_items(m: Machine) -> None:
    values = m.group()
    _expect(m.top(), set).update(map(_key, values))


def _pairs(values: list[Any]) -> dict[Any, Any]:
    keys = values[::2]
    if not _KEYS.issuperset(map(type, keys)):
        keys = [_key(key) for key in keys]
    return dict(zip(keys, values[1::2], strict=True))


def _key(value: Any) -> Any:
    """A key of a dict or set: text, bytes or a small number. Of others, many can be made that collide, which costs hours."""
    if type(value) in _KEYS or (type(value) is int and -_LARGEST_KEY < value < _LARGEST_KEY):
        return value
    raise TypeError(f"a {type(value).__name__} as a key")


def _expect(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{type(value).__name__} in place of {kind.__name__}")
    return value


def _dict(m: Machine) -> None:
    found = _DICT.match(m.data, m.at)
    if found is None:
        m.stack.append({})
        return
    keep, items = found.groups()
    m.at = found.end()
    m.stack.append({})
    if keep:
        m.keep(int.from_bytes(keep[1:], "little") if len(keep) > 1 else len(m.memo))
    if items not in m.dicts:
        values = [
            m.memo[value] if code == _RECALL else value for code, value in zip(items[::2], items[1::2], strict=True)
        ]
        m.dicts[items] = _pairs(values)
    m.stack[-1].update(m.dicts[items])


def _tuple(count: int) -> Callable[[Machine], None]:
    def act(m: Machine) -> None:
        m.stack.append(tuple(reversed([m.pop() for _ in range(count)])))

    return act


def _push(make: Callable[[Machine], Any]) -> Callable[[Machine], None]:
    def act(m: Machine) -> None:
        value = make(m)
        m.stack.append(value)

    return act


def _protocol(m: Machine) -> None:
    if (found := m.byte()) > 5:
        raise ValueError(f"protocol {found} is none of 0 to 5")


_INSTRUCTIONS: dict[bytes, Callable[[Machine], None]] = {
    b"\x80": _protocol, b"\x95": lambda m: _frame(m), b"(": lambda m: m.mark(),
    b"0": lambda m: m.drop(), b"1": lambda m: m.group().clear(), b"2": lambda m: m.stack.append(m.top()),
    b"N": _push(lambda _: None), b"\x88": _push(lambda _: True), b"\x89": _push(lambda _: False),
    b"I": _push(lambda m: _decimal(m.line())), b"L": _push(lambda m: _decimal(m.line())),
    b"F": _push(lambda m: float(m.line())), b"G": _push(lambda m: m.number(">d")),
    b"J": _push(lambda m: m.number("<i")), b"K": _push(lambda m: m.byte()), b"M": _push(lambda m: m.number("<H")),
    b"\x8a": _push(lambda m: _whole(m.take(m.byte()))), b"\x8b": _push(lambda m: _whole(m.take(m.number("<i")))),
    b"S": _push(lambda m: _quoted(m.line())), b"T": _push(lambda m: m.take(m.number("<i")).decode("latin-1")),
    b"U": _push(lambda m: m.take(m.byte()).decode("latin-1")),
    b"V": _push(lambda m: m.line().decode("raw-unicode-escape")), b"X": _push(lambda m: _text(m.take(m.number("<I")))),
    b"\x8c": _push(lambda m: _text(m.take(m.byte()))), b"\x8d": _push(lambda m: _text(m.take(m.number("<Q")))),
    b"B": _push(lambda m: m.take(m.number("<I"))), b"C": _push(lambda m: m.take(m.byte())),
    b"\x8e": _push(lambda m: m.take(m.number("<Q"))), b"\x96": _push(lambda m: m.take(m.number("<Q"))),
    b"]": _push(lambda _: []), b"}": _dict, b")": _push(lambda _: ()), b"\x8f": _push(lambda _: set()),
    b"l": _push(lambda m: m.group()), b"d": _push(lambda m: _pairs(m.group())), b"t": _push(lambda m: tuple(m.group())),
    b"\x91": _push(lambda m: frozenset(map(_key, m.group()))), b"\x85": _tuple(1), b"\x86": _tuple(2), b"\x87": _tuple(3),
    b"a": _append, b"e": _appends, b"s": _set_item, b"u": _set_items, b"\x90": _add_items,
    b"p": lambda m: m.keep(int(m.line())), b"q": lambda m: m.keep(m.byte()), b"r": lambda m: m.keep(m.number("<I")),
    b"\x94": lambda m: m.keep(len(m.memo)), b"g": lambda m: m.recall(int(m.line())),
    b"h": lambda m: m.recall(m.byte()), b"j": lambda m: m.recall(m.number("<I")),
}  # fmt: skip
"""Byte -> what it does."""
_STOP = ord(".")
_ACTS = [_INSTRUCTIONS.get(bytes([code])) for code in range(256)]


def _frame(m: Machine) -> None:
    """A frame only says how much to read at once."""
    if m.number("<Q") > len(m.data) - m.at:
        raise IndexError
