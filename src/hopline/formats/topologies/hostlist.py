"""Slurm's lists of names: ``n[0-3,007],login`` to names.

What belongs here: the grammar. Ranges keep their zeros (``n[08-10]`` is n08, n09, n10), a name may have several brackets of
which the last counts fastest, commas part names (Slurm, ``src/common/hostlist.c``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from hopline.errors import FormatError
from hopline.formats.numbered import quoted

MOST = 1 << 20
"""Names of a list."""
_RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?", re.ASCII)
_PLAIN = re.compile(r"[^\s\[\],]*")
_LONGEST = 256


def expand(text: str, most: int = MOST) -> list[str]:
    """The names of a list in its order. Raises FormatError for a malformed list, and for more than ``most`` names."""
    names: list[str] = []
    for part in _parts(text):
        parts, count = _pieces(part, text)
        if len(names) + count > most:
            raise FormatError(f"{quoted(text)} names more than {most} nodes: expected fewer")
        names += ["".join(chosen) for chosen in product(*parts)]
    if not names:
        raise FormatError("the list of nodes is empty: expected one like n[0-3,7]")
    return names


def _parts(text: str) -> Iterator[str]:
    """What commas outside of brackets part."""
    depth, begin = 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if not 0 <= depth <= 1:
            raise FormatError(f"{quoted(text)}: brackets do not match: expected a list like n[0-3,7]")
        if letter == "," and not depth:
            yield _whole(text[begin:at].strip(), text)
            begin = at + 1
    if depth:
        raise FormatError(f"{quoted(text)}: a bracket has no end: expected a list like n[0-3,7]")
    if text[begin:].strip() or begin:
        yield _whole(text[begin:].strip(), text)


def _whole(part: str, text: str) -> str:
    if not part:
        raise FormatError(f"{quoted(text)} has an empty name: expected names between commas")
    return part


def _pieces(part: str, text: str) -> tuple[list[list[str]], int]:
    """What the places of a name can be, and how many names that makes."""
    pieces: list[list[str]] = []
    count, at = 1, 0
    while at < len(part):
        plain = _PLAIN.match(part, at)
        assert plain is not None
        if plain.end() > at:
            pieces.append([plain[0]])
            at = plain.end()
        elif part[at] == "[":
            end = part.index("]", at)
            bounds = [_bounds(range_, text) for range_ in part[at + 1 : end].split(",")]
            count *= sum(last - first + 1 for first, last, _ in bounds)
            if count > MOST:
                raise FormatError(f"{quoted(text)} names more than {MOST} nodes: expected fewer")
            pieces.append([f"{n:0{width}d}" for first, last, width in bounds for n in range(first, last + 1)])
            at = end + 1
        else:
            raise FormatError(f"{quoted(part)} is no name: expected one like n[0-3,7], without blanks")
    if len(part) > _LONGEST and len(pieces) == 1:
        raise FormatError(f"the name {quoted(part)} is longer than {_LONGEST} letters: expected shorter ones")
    return pieces, count


def _bounds(text: str, whole: str) -> tuple[int, int, int]:
    """First, last and width of a range."""
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        raise FormatError(f"{quoted(whole)}: {quoted(text)} is no range: expected one like 0-3 or 7")
    first, last = int(found[1]), int(found[2] or found[1])
    if last < first:
        raise FormatError(f"{quoted(whole)}: the range {quoted(text)} goes down: expected the smaller number first")
    if last - first >= MOST:
        raise FormatError(f"{quoted(whole)} names more than {MOST} nodes: expected fewer")
    return first, last, len(found[1])
