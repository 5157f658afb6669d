"""nccl-tests and rccl-tests console output, of any release, from any launcher, as saved or as pasted into a page.

What belongs here: which lines open and close a table, and what the lines around it state. What a header means is in
``nccl_layout``, what a row is in ``nccl_rows``, how many ranks there were in ``nccl_ranks``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from hopline.errors import FormatError
from hopline.formats import nccl_layout
from hopline.formats.lines import blocks, excerpt, quoted, shown, tells_failure
from hopline.formats.nccl_layout import Layout
from hopline.formats.nccl_ranks import RANKS
from hopline.formats.nccl_rows import Rows, Run
from hopline.formats.nccl_start import Start
from hopline.formats.nccl_table import Draft, tables
from hopline.formats.nccl_version import version_of
from hopline.records.table import Log, count_dropped

TOOL = "nccl-tests"

_ROW = rb"\d+[ \t]+\d+[ \t][^\n]*"
_RANK_LINE = rb"#[ \t]+Rank[ \t]+\d{1,9}[ \t][^\n]*"
_STRETCH = re.compile(
    rb"\n[ \t]*(?:(?P<rows>%b(?:\n[ \t]*%b)*)|(?P<ranks>%b(?:\n[ \t]*%b)*))" % (_ROW, _ROW, _RANK_LINE, _RANK_LINE)
)
"""Consecutive lines that begin with two whole numbers, or that each name a rank."""
_RANK = re.compile(rb"\n[ \t]*#[ \t]+Rank[ \t]+(\d+)")
_RIGHT_HALF = re.compile(rb"\d+(?:\.\d+)?(?:[ \t]+(?:[\d.e+-]+|N/A)){3,}")
_COMMAND = re.compile(rb"(\w+?)_perf(?:_mpi)?(?:[\"',]*\s+[\"']?-|\s*$)")
_NAME = re.compile(rb"(\w+?)_perf")
_PLACED = re.compile(rb"[ \t]on[ \t]+(\S+)[ \t]+device[ \t]+\d+(?:[ \t]+\[[^\]\n]*\])?[ \t]*([^\n]*)")
_LIBRARY = re.compile(rb"\bnccl-library=(\d{4,6})\b")
_BARE_RANK = re.compile(rb"Rank\s+(\d+)\s+(?:Group|Pid)\b")
_NUMBER = re.compile(rb":\s*([\d.e+-]+)")
_LARGEST = re.compile(rb"\bmaxBytes:? *(\d{1,18})\b")


@dataclass(slots=True)
class _Reader:
    """Where in the log we are. One method for each line that means something."""

    start: Start = field(default_factory=Start)
    layout: Layout | None = None
    command: str = ""
    draft: Draft | None = None
    drafts: list[Draft] = field(default_factory=list)
    stores: dict[Layout, Rows] = field(default_factory=dict)
    stray: list[int] = field(default_factory=list)
    headers: int = 0
    errors: int = 0
    first_error: tuple[int, bytes] | None = None

    def text(self, text: bytes, line: int) -> int:
        """Lines between rows; returns the number of the line after them."""
        alarmed: bool | None = None
        for raw in text[1:].split(b"\n"):
            if raw[:1] == b"#":
                words = raw.split(None, 2)
                key = words[0][1:] or (words[1] if len(words) > 1 else b"")
                if key in _COMMENTS:
                    _COMMENTS[key](self, raw, line)
            elif raw and b"NCCL INFO" not in raw:
                alarmed = tells_failure(text) if alarmed is None else alarmed
                self._other(raw.strip(), line, alarmed)
            line += 1
        return line

    def rows(self, text: bytes, line: int, count: int) -> None:
        """Consecutive lines that begin with two whole numbers."""
        if self.layout is None:
            self.layout = nccl_layout.from_rows([row.split() for row in text[:4096].split(b"\n")[1:]])
            if self.layout is None:
                return
        draft = self._opened(self.layout)
        self.stores[draft.layout].add(Run(draft.number, line, count, text))

    def header(self, raw: bytes, _line: int) -> None:
        """Titles: a new table."""
        layout = nccl_layout.from_header(raw.strip())
        if layout is not None:
            self.headers += 1
            self.layout, self.draft, self.stray = layout, None, []

    def begin(self, raw: bytes, _line: int) -> None:
        """A line that the tool prints once at its start, and the version or the name that it may hold."""
        key = raw.lstrip(b"# \t").split(None, 1)[0]
        if self.layout is not None or self.draft is not None or key in self.start.seen:
            self.start, self.layout, self.draft = Start(), None, None
        self.start.seen.add(key)
        if key == b"nccl-tests":
            self.start.version = _version(raw)
            library = _LIBRARY.search(raw)
            self.start.library = version_of(int(library[1])) if library else ""
        asked = _LARGEST.search(raw)
        if asked:
            self.start.largest = int(asked[1])

    def collective(self, raw: bytes, line: int) -> None:
        """``# Collective test starting: all_reduce_perf``, or ``concluded``."""
        name = _benchmark(_NAME.search(raw))
        if b"starting" in raw:
            self.begin(raw, line)
            self.start.benchmark = name
        elif self.drafts and name and not self.drafts[-1].benchmark:
            self.drafts[-1].benchmark = name

    def ranks(self, text: bytes, _line: int, count: int) -> None:
        """Consecutive lines ``#  Rank  3 Group  0 Pid ...``"""
        if self.draft is not None:
            self.start, self.layout, self.draft = Start(), None, None
        self.start.listed += count
        self.start.placed += _PLACED.findall(text)
        self.start.highest = max(self.start.highest or 0, *(int(rank) + 1 for rank in _RANK.findall(text)))

    def out_of_bounds(self, raw: bytes, _line: int) -> None:
        """``# Out of bounds values : 0 OK``"""
        number = _number(raw)
        if self.drafts and number is not None:
            self.drafts[-1].out_of_bounds = number

    def average(self, raw: bytes, _line: int) -> None:
        """``# Avg bus bandwidth    : 7.41855``: the table is complete."""
        number = _number(raw)
        if self.draft is not None and number is not None:
            self.draft.average = number * nccl_layout.SCALE["busbw"]
        if self.layout is not None:
            self.start, self.layout, self.draft = Start(), None, None

    def error(self, raw: bytes, line: int) -> None:
        """Keep count, and the first one to be quoted."""
        self.errors += 1
        if self.first_error is None or line < self.first_error[0]:
            self.first_error = (line, raw)

    def _other(self, raw: bytes, line: int, alarmed: bool) -> None:
        if raw[:1] == b"#":
            self.text(b"\n" + raw, line)
        elif raw[:1].isdigit() and _RIGHT_HALF.fullmatch(raw):
            self._right_half(line)
        elif raw.startswith(b"size"):
            self.header(raw, line)
        elif (bare := _BARE_RANK.match(raw)) and len(bare[1]) <= 9:
            self.start.highest = max(self.start.highest or 0, int(bare[1]) + 1)
        else:
            self.command = _benchmark(_COMMAND.search(raw)) or self.command if b"_perf" in raw else self.command
            if alarmed and tells_failure(raw):
                self.error(raw, line)

    def _right_half(self, line: int) -> None:
        """Numbers only: the end of a row whose beginning is lost or stands further up. They are never put together."""
        if self.layout is None:
            self.stray.append(line)
        else:
            self._opened(self.layout).right_halves.append(line)

    def _opened(self, layout: Layout) -> Draft:
        if self.draft is None:
            named = self.start.benchmark or self.command
            number = len(self.drafts)
            self.draft = Draft(number, layout, named, self.start.version, self.start.listed, self.start.highest)
            self.draft.right_halves, self.stray = self.stray, []
            self.draft.largest, self.draft.told = self.start.largest, self.start.told()
            self.drafts.append(self.draft)
            if layout not in self.stores:
                self.stores[layout] = Rows(layout)
        return self.draft


_COMMENTS: dict[bytes, Callable[[_Reader, bytes, int], None]] = {
    b"size": _Reader.header, b"nccl-tests": _Reader.begin, b"rccl-tests": _Reader.begin, b"nThread": _Reader.begin,
    b"nThreads:": _Reader.begin, b"Collective": _Reader.collective, b"Out": _Reader.out_of_bounds,
    b"Avg": _Reader.average, b"error:": _Reader.error,
}  # fmt: skip
"""First word of a ``#`` line -> what it does."""


def read(path: str) -> Log:
    """All tables of an nccl-tests log, never merged.

    Raises FormatError when the file cannot be read, is no such log, or holds no usable row; the message says why, and
    quotes the log's own error where it has one.
    """
    notes: list[str] = []
    reader = _Reader()
    for block in blocks(path, notes):
        position, line = 0, block.line
        for match in _STRETCH.finditer(block.text):
            start, end = match.span()
            if start > position:
                line = reader.text(block.text[position:start], line)
            count = block.text.count(b"\n", start, end)
            take = reader.rows if match.lastgroup == "rows" else reader.ranks
            take(match.group(), line, count)
            line, position = line + count, end
        reader.text(block.text[position:], line)
    found, left = tables(reader.drafts, list(reader.stores.values()))
    for rows in reader.stores.values():
        if rows.error:
            reader.error(rows.error[1], rows.error[0])
    if not found:
        raise FormatError(f"{shown(path)}: {_no_table(reader, left)}")
    if reader.first_error:
        number, raw = reader.first_error
        what = "1 error line" if reader.errors == 1 else f"{reader.errors} error lines"
        notes.append(f"{what} beside the rows, first at line {number}: {excerpt(raw)}")
    return Log(path, TOOL, tuple(found), count_dropped(left), tuple(notes))


def _no_table(reader: _Reader, left: list[tuple[str, int]]) -> str:
    """Why nothing could be used."""
    said = quoted(*reader.first_error) if reader.first_error else ""
    if left:
        return f"no usable row: {', '.join(map(str, count_dropped(left)))}{said}"
    if reader.headers:
        return f"no usable row: a table's header and nothing under it{said}"
    if reader.start.listed:
        return f"no usable row: ranks are listed ({reader.start.listed}) but no table follows{said}"
    return f"no nccl-tests table{said}"


def _number(raw: bytes) -> float | None:
    match = _NUMBER.search(raw)
    try:
        return float(match[1]) if match else None
    except ValueError:
        return None


def _version(raw: bytes) -> str:
    """``2.18.2`` of ``# nccl-tests version 2.18.2 nccl-headers=...``"""
    words = raw.split(None, 4)
    return excerpt(words[3]) if len(words) > 3 else ""


def _benchmark(match: re.Match[bytes] | None) -> str:
    """The benchmark that a program's name stands for; "" when it is none of the known ones."""
    name = match[1].decode("ascii", "replace") if match else ""
    return name if name in RANKS else ""
