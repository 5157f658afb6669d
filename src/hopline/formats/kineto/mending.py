"""What profilers write that is no JSON, made JSON: pointers without quotes, NaN, stray backslashes, bytes that are no UTF-8.

What belongs here: the table of such defects and what each becomes. Everything that is mended is counted by its name, so that
it can be told.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite
from typing import NamedTuple

from hopline.formats.kineto.quotes import inside_strings

_OUTSIDE = re.compile(
    rb"(?P<pointer>[-+]?0[xX][0-9a-fA-F]+)|(?P<nan>[-+]?(?:NaN|nan)(?:\(\w*\))?)|(?P<infinity>[-+]?(?:Infinity|infinity|inf)\b)"
    rb"|(?P<huge>-?\d+(?:\.\d+)?[eE]\+?\d{3,}|-?\d{309,})|(?P<absent>:(?=\s*[,}]))|(?P<comma>,(?=\s*[\]}]))"
)
_ESCAPE = re.compile(rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}|(?P<stray>))')
_CONTROL = re.compile(rb"[\x01-\x1f]")
"""NUL is none of a profiler's: it is what a copy leaves where it was interrupted."""
NO_UTF8, CONTROL, STRAY = "bytes that are no UTF-8", "control characters in strings", "stray backslashes"


class _Defect(NamedTuple):
    """What it is called, and what it becomes, with ``%s`` where what was there stays."""

    what: str
    becomes: bytes


_DEFECTS = {
    "pointer": _Defect("pointers without quotes", b'"%s"'),
    "nan": _Defect("numbers that are NaN", b"null"),
    "infinity": _Defect("infinite numbers", b"null"),
    "huge": _Defect("numbers beyond all doubles", b"null"),
    "absent": _Defect("keys without a value", b":null"),
    "comma": _Defect("commas before a bracket", b""),
}


def mended(text: bytes, counts: dict[str, int]) -> bytes:
    """``text`` with its defects mended; adds to ``counts`` how many of each there were. Unchanged where it has none."""
    text = _in_utf8(text, counts)
    text = _escaped(text, counts)
    return _outside(_printable(text, counts), counts)


def _in_utf8(text: bytes, counts: dict[str, int]) -> bytes:
    try:
        text.decode()
    except UnicodeDecodeError:
        clean = text.decode(errors="replace")
        _count(counts, NO_UTF8, clean.count("\ufffd") - text.count("\ufffd".encode()))
        return clean.encode()
    return text


def _escaped(text: bytes, counts: dict[str, int]) -> bytes:
    """Backslashes that escape nothing doubled."""
    if b"\\" not in text:
        return text

    def put(match: re.Match[bytes]) -> bytes:
        if match["stray"] is None:
            return match.group()
        _count(counts, STRAY)
        return b"\\\\"

    return _ESCAPE.sub(put, text)


def _printable(text: bytes, counts: dict[str, int]) -> bytes:
    """Control characters in strings escaped."""

    def put(match: re.Match[bytes]) -> bytes:
        _count(counts, CONTROL)
        return b"\\u%04x" % match.group()[0]

    return _where(_CONTROL, text, put, inside=True)


def _outside(text: bytes, counts: dict[str, int]) -> bytes:
    def put(match: re.Match[bytes]) -> bytes:
        kind = match.lastgroup or ""
        if kind == "huge" and isfinite(float(match.group())):
            return match.group()
        defect = _DEFECTS[kind]
        _count(counts, defect.what)
        return defect.becomes.replace(b"%s", match.group())

    return _where(_OUTSIDE, text, put, inside=False)


def _where(pattern: re.Pattern[bytes], text: bytes, put: Callable[[re.Match[bytes]], bytes], *, inside: bool) -> bytes:
    """What matches replaced, but only inside of strings, or only outside."""
    if not pattern.search(text):
        return text
    strings = inside_strings(text)
    return pattern.sub(lambda match: put(match) if strings[match.start()] == inside else match.group(), text)


def _count(counts: dict[str, int], what: str, more: int = 1) -> None:
    counts[what] = counts.get(what, 0) + more
