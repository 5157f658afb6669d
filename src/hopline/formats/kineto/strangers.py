"""What a file that is no trace looks like.

What belongs here: the table of first bytes and keys by which other files are known.
"""

from __future__ import annotations

import re

from hopline.errors import FormatError
from hopline.formats.lines import excerpt


class StrangerError(FormatError):
    """The file is no trace at all."""


_FIRST = {
    b"PK\x03\x04": "is a zip archive: unzip it first",
    b"SQLite format 3": "is an SQLite database (an export of Nsight Systems?)",
    b"\x80\x02": "is a pickle", b"\x80\x03": "is a pickle", b"\x80\x04": "is a pickle", b"\x80\x05": "is a pickle",
    b"\x7fELF": "is a program",
    b"\x89PNG": "is a picture",
}  # fmt: skip
_KEYS = {
    re.compile(rb'"traceEvents"\s*:\s*[^\s\[]'): "has traceEvents that are no list",
    re.compile(rb'"nodes"'): "is an execution trace (it has nodes and no events)",
    re.compile(rb'"pg_config"|"entries"'): "looks like a dump of a flight recorder",
}
_NULS = re.compile(rb"\0+")


def what_it_is(start: bytes, whole: bool = False) -> str:
    """A file that begins with ``start``, as the rest of a sentence; ``whole`` where that is all of it."""
    for magic, what in _FIRST.items():
        if start.startswith(magic):
            return what
    if not start.strip(b"\0 \t\r\n"):
        return "holds only NUL bytes (an interrupted or sparse copy?)" if b"\0" in start else "holds only blanks"
    if start.startswith(b"{"):
        for key, what in _KEYS.items():
            if key.search(start):
                return what
        return "is JSON without traceEvents" if whole else "begins like JSON, but no traceEvents follow"
    if b"\0" in start[:4096]:
        return "is a binary file"
    return f"begins with {excerpt(start[:200], 40)!r}"
