"""The YAML that ASTRA-sim's network files are written in: keys with a list of plain words each.

What belongs here: that much of YAML and no more; everything else is refused by line. A YAML library would turn words into
numbers by rules of its own (``010`` is 8, ``1e3`` a text), and be loaded for four lines. ASTRA-sim converts words itself, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hopline.formats.numbered import Line, numbered, quoted

_KEY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*))?$", re.ASCII)
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)$")
_COMMENT = re.compile(r"(?:^|[ \t])#.*$")
_WORD = re.compile(r"[\w.+-]+|\"[^\"\\]*\"|'[^'\\]*'")
_MOST = 1 << 16
"""Entries of a list: more are no dimensions."""


@dataclass(slots=True)
class Entry:
    """A key and its words."""

    key: str
    line: Line
    values: list[str] = field(default_factory=list)
    open: str = ""
    """Of a list that has no end yet, what was read."""
    block: bool = False


def entries(path: str) -> dict[str, Entry]:
    """Keys of the file at ``path`` with their words. Raises FormatError for YAML that is more than lists of words."""
    found: dict[str, Entry] = {}
    last: Entry | None = None
    for line in numbered(path):
        text = _COMMENT.sub("", line.text).rstrip()
        if not text.strip() or text in ("---", "..."):
            continue
        if last is not None and last.open:
            _more(last, text)
            continue
        key, item = _KEY.match(text), _ITEM.match(text)
        if key:
            if key[1] in found:
                raise line.wrong(f"{key[1]} stands here a second time: expected each key once")
            last = found[key[1]] = Entry(key[1], line)
            _begin(last, (key[2] or "").strip())
        elif item and last is not None and last.block:
            last.values.append(_word(line, item[1].strip()))
        else:
            raise line.wrong(f"{quoted(text.strip())} is no list of words: expected lines like 'topology: [ Ring ]'")
        if last is not None and len(last.values) > _MOST:
            raise line.wrong(f"more than {_MOST} entries: expected one for each dimension")
    if last is not None and last.open:
        raise last.line.wrong(f"the list of {last.key} has no end: expected ']'")
    return found


def _begin(entry: Entry, text: str) -> None:
    if not text:
        entry.block = True
    elif text.startswith("["):
        _more(entry, text)
    else:
        entry.values.append(_word(entry.line, text))


def _more(entry: Entry, text: str) -> None:
    """A list in brackets, or a further line of it."""
    entry.open = f"{entry.open} {text.strip()}".strip()
    if len(entry.open) > (1 << 20):
        raise entry.line.wrong(f"the list of {entry.key} goes on for more than {1 << 20} letters: expected ']'")
    if not entry.open.endswith("]"):
        return
    inner = entry.open[1:-1].strip().removesuffix(",")
    entry.values, entry.open = [_word(entry.line, word.strip()) for word in inner.split(",")] if inner else [], ""


def _word(line: Line, text: str) -> str:
    if not _WORD.fullmatch(text):
        raise line.wrong(f"{quoted(text)} is no plain word or number: expected a list like [ 4, 8 ]")
    return text[1:-1] if text[0] in "\"'" else text
