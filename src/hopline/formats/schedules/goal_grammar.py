"""The statements of GOAL, one line at a time.

What belongs here: what a line may say. What it means is ``goal``. The grammar is that of LogGOPSim's txt2bin (Hoefler,
Schneider and Lumsdaine, HPDC 2010); it also takes comments behind a statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hopline.errors import FormatError
from hopline.formats.lines import excerpt
from hopline.formats.schedules.bounded import lines
from hopline.formats.source import shown

_END = rb"(?:\s+|$|(?=\}))"
_STATEMENT = re.compile(
    rb"\s*(?:"
    rb"(?:(?P<label>[A-Za-z]\w*)\s*:\s*)?(?:"
    rb"(?P<way>send|recv)\s+(?P<size>\d{1,18})\s*b\s+(?P<word>to|from)\s+(?P<peer>-1|\d{1,10})"
    rb"(?:\s+tag\s+(?P<tag>-1|\d{1,10}))?"
    rb"|calc\s+(?P<time>\d{1,15}))(?:\s+cpu\s+(?P<cpu>\d{1,9}))?(?:\s+nic\s+(?P<nic>\d{1,9}))?" + _END + rb"|"
    rb"(?P<late>[A-Za-z]\w*)\s+(?P<needs>i?requires)\s+(?P<early>[A-Za-z]\w*)" + _END + rb"|"
    rb"rank\s+(?P<rank>\d{1,18})\s*\{\s*|num_ranks\s+(?P<ranks>\d{1,18})(?:\s+|$)|(?P<close>\})\s*)"
)
_COMMENTS = re.compile(rb"//.*|/\*.*?\*/", re.DOTALL)
_EXPECTED = (
    "expected 'send 8b to 1 tag 0', 'recv 8b from 0 tag 0', 'calc 100', 'l2 requires l1', "
    "'rank 0 {', '}' or 'num_ranks 2'"
)


def statements(path: str) -> Iterator[tuple[int, re.Match[bytes]]]:
    """Each statement of a file with its line. Raises FormatError for a line that holds something else."""
    inside, begun = False, 0
    for number, line in lines(path):
        if inside or b"/" in line:
            begun = begun if inside else number
            line, inside = _without_comments(line, inside)
        at = 0
        while at < len(line):
            found = _STATEMENT.match(line, at)
            if found is None or _mixed(found):
                rest = line[at:].strip()
                if not rest:
                    break
                raise FormatError(f"{shown(path)} line {number}: {_EXPECTED}, not {excerpt(rest, 60)!r}")
            yield number, found
            at = found.end()
    if inside:
        raise FormatError(f"{shown(path)} line {begun}: a comment begins here and has no end: expected '*/'")


def _mixed(found: re.Match[bytes]) -> bool:
    """A send that has a from, or a recv that has a to; only a recv takes from any rank."""
    way = found["way"]
    return way is not None and (
        (way == b"send") != (found["word"] == b"to") or (way == b"send" and found["peer"] == b"-1")
    )


def _without_comments(line: bytes, inside: bool) -> tuple[bytes, bool]:
    """What of a line is no comment, and whether a comment goes on into the next."""
    if inside:
        _, end, line = line.partition(b"*/")
        if not end:
            return b"", True
    line = _COMMENTS.sub(b" ", line)
    text, begin, _ = line.partition(b"/*")
    return text, bool(begin)
