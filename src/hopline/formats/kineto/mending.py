"""What profilers write that is no JSON, made JSON: pointers without quotes, NaN, stray backslashes, bytes that are no UTF-8.

What belongs here: the table of such defects and what each becomes. Everything that is mended is counted by its name, so that
it can be told.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from math import isfinite
from typing import NamedTuple

from hopline.formats.kineto.quotes import inside_strings

_ESCAPE = re.compile(rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}|(?P<stray>))')
_CONTROL = re.compile(rb"[\x01-\x1f]")
"""NUL is none of a profiler's: it is what a copy leaves where it was interrupted."""
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE]\+?\d+)?")
NO_UTF8, CONTROL, STRAY = "bytes that are no UTF-8", "control characters in strings", "stray backslashes"


class _Defect(NamedTuple):
    """Something outside of strings: what it is called, what it looks like, and what it becomes (``%s`` is what was there).

    One of ``signs`` is in every text that has it, once all digits are zeros and E is e: that is looked for first.
    """

    what: str
    signs: tuple[bytes, ...]
    pattern: re.Pattern[bytes]
    becomes: bytes


_DEFECTS = (
    _Defect("pointers without quotes", (b"0x", b"0X"), re.compile(rb"0[xX][0-9a-fA-F]+"), b'"%s"'),
    _Defect("numbers that are NaN", (b"NaN", b"nan"), re.compile(rb"(?:NaN|nan|-NaN|-nan)(?:\(\w*\))?"), b"null"),
    _Defect("infinite numbers", (b"Inf", b"inf"), re.compile(rb"(?:Inf|inf|-Inf|-inf|\+inf)(?:inity)?\b"), b"null"),
    _Defect("numbers beyond all doubles", (b"0e000", b"0e+000"), re.compile(rb"-?\d[\d.]*[eE]\+?\d{3,}"), b"null"),
    _Defect("numbers beyond all doubles", (b"0" * 309,), re.compile(rb"-?\d{309,}"), b"null"),
    _Defect("keys without a value", (b":",), re.compile(rb":(?=\s*[,}])"), b":null"),
    _Defect("commas before a bracket", (b",",), re.compile(rb",(?=\s*[\]}])"), b""),
)


_ZEROS = bytes.maketrans(b"123456789E", b"000000000e")


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
    plain = text.translate(_ZEROS)
    for defect in _DEFECTS:
        if any(sign in plain for sign in defect.signs):
            text = _where(defect.pattern, text, partial(_replaced, defect, counts), inside=False)
    return text


def _replaced(defect: _Defect, counts: dict[str, int], match: re.Match[bytes]) -> bytes:
    found = match.group()
    if _NUMBER.fullmatch(found) and isfinite(float(found)):
        return found
    _count(counts, defect.what)
    return defect.becomes.replace(b"%s", found)


def _where(pattern: re.Pattern[bytes], text: bytes, put: Callable[[re.Match[bytes]], bytes], *, inside: bool) -> bytes:
    """What matches replaced, but only inside of strings, or only outside."""
    if not pattern.search(text):
        return text
    strings = inside_strings(text)
    return pattern.sub(lambda match: put(match) if strings[match.start()] == inside else match.group(), text)


def _count(counts: dict[str, int], what: str, more: int = 1) -> None:
    counts[what] = counts.get(what, 0) + more
