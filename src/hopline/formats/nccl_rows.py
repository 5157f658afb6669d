"""The rows of nccl-tests tables: from lines to columns, thousands of lines at a time.

What belongs here: what makes a line a complete row, and why a line that starts like one is not. All rows go through
``_convert``, which takes many lines or none; a stretch of lines that it refuses is halved until the culprits stand
alone, so that a row reads the same in whatever company it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from hopline.formats.lines import tells_failure
from hopline.formats.nccl_layout import SCALE, Layout, is_verdict, scale
from hopline.formats.nccl_ranks import ratio_interval
from hopline.formats.words import Words, of
from hopline.records.table import Floats

_WORD = re.compile(rb"[A-Za-z]\w*")
_PLACEHOLDER = re.compile(rb"[Xx]{2,}[.Xx]*")
MOST = 1 << 22
"""Bytes of rows converted at once: bounds the memory that their words take."""

BAD_TIME = "the time is not a finite number above 0"
ZERO_SIZE = "size or count is 0 (the size was below one element a rank)"
WRONG = "the result was wrong (#wrong above 0)"
PLACEHOLDER = "placeholder in place of numbers"
ERROR_INSIDE = "error text inside the row"
TORN = "torn row: a part is missing"


@dataclass(slots=True)
class Run:
    """Consecutive lines that look like rows: the table they belong to, the first one's number, how many."""

    table: int
    line: int
    count: int
    text: bytes


@dataclass(slots=True)
class Rows:
    """All complete rows of one layout, of any number of tables, and the lines that only began like one."""

    layout: Layout
    chunks: list[dict[str, Floats]] = field(default_factory=list)
    kinds: dict[int, set[tuple[bytes, ...]]] = field(default_factory=dict)
    torn: list[tuple[int, str, int]] = field(default_factory=list)
    """(table, reason, line)"""
    error: tuple[int, bytes] | None = None
    """The first line that has error text inside."""
    _pending: list[Run] = field(default_factory=list)
    _size: int = 0

    def add(self, run: Run) -> None:
        """Take a run; it is converted later, together with others."""
        self._pending.append(run)
        self._size += len(run.text)
        if self._size >= MOST:
            self.flush()

    def flush(self) -> None:
        """Convert what is pending."""
        runs, self._pending, self._size = self._pending, [], 0
        if runs and not self._take(runs):
            for run in runs:
                self._halve(run)

    def columns(self) -> dict[str, Floats]:
        """All rows so far, column by column; the chunks are let go one by one."""
        self.flush()
        names = list(self.chunks[0]) if self.chunks else []
        return {name: np.concatenate([chunk.pop(name) for chunk in self.chunks]) for name in names}

    def _halve(self, run: Run) -> None:
        if self._take([run]):
            return
        lines = run.text.split(b"\n")[1:]
        if len(lines) == 1:
            reason = _why(lines[0])
            self.torn.append((run.table, reason, run.line))
            if reason == ERROR_INSIDE:
                self.error = self.error or (run.line, lines[0])
            return
        step = 1 if len(lines) <= 8 else -(-len(lines) // 2)
        for start in range(0, len(lines), step):
            part = lines[start : start + step]
            self._halve(Run(run.table, run.line + start, len(part), b"\n" + b"\n".join(part)))

    def _take(self, runs: list[Run]) -> bool:
        """Convert these runs together; False, with nothing done, when any of their lines is not a complete row."""
        text = b"".join(run.text for run in runs)
        end = text.find(b"\n", 1)
        names = self.layout.variant(len((text[:end] if end > 0 else text).split()))
        counts = [run.count for run in runs]
        words = of(text, sum(counts), len(names)) if names else None
        if names is None or words is None or not _kinds_fit(words, names):
            return False
        columns = _convert(words, names)
        if columns is None:
            return False
        starts = np.cumsum([0, *counts[:-1]])
        columns["?table"] = np.repeat(np.array([run.table for run in runs], float), counts)
        lines = np.repeat(np.array([run.line for run in runs]) - starts, counts)
        columns["?line"] = lines + np.arange(len(lines), dtype=float)
        self.chunks.append(columns)
        self._remember(runs, [words.column(names.index(name)) if name in names else [b""] for name in _KINDS])
        return True

    def _remember(self, runs: list[Run], columns: list[list[bytes]]) -> None:
        """Which data types, operations and roots each table holds."""
        if all(len(column) == 1 for column in columns):
            only = {tuple(column[0] for column in columns)}
            for table in {run.table for run in runs}:
                self.kinds.setdefault(table, set()).update(only)
            return
        count = sum(run.count for run in runs)
        full = [column * count if len(column) == 1 else column for column in columns]
        start = 0
        for run in runs:
            part = slice(start, start + run.count)
            self.kinds.setdefault(run.table, set()).update(zip(*(column[part] for column in full), strict=True))
            start += run.count


_KINDS = ("type", "redop", "root")


def _kinds_fit(words: Words, names: tuple[str, ...]) -> bool:
    """Whether data types and operations are words: of a torn row they would be numbers."""
    return all(
        _WORD.fullmatch(word) for name in _KINDS[:2] if name in names for word in set(words.column(names.index(name)))
    )


def _convert(words: Words, names: tuple[str, ...]) -> dict[str, Floats] | None:
    """Columns in SI, with the interval that the printed digits leave for busbw/algbw; None when a word is no number."""
    columns: dict[str, Floats] = {}
    count = 0
    try:
        for place, name in enumerate(names):
            factor = scale(name)
            if factor is not None:
                columns[name] = _scaled(words.numbers(place), factor)
                count = len(columns[name])
            elif is_verdict(name):
                columns[name] = _verdicts(words.column(place), count)
    except ValueError:
        return None
    if not all(_whole(columns[name]) for name in ("size", "count")):
        return None
    algbw, busbw = (SCALE[name] * words.halves(names.index(name)) for name in ("algbw", "busbw"))
    columns["?low"], columns["?high"] = ratio_interval(columns["algbw"], columns["busbw"], algbw, busbw)
    return columns


def _scaled(column: Floats, factor: float) -> Floats:
    with np.errstate(over="ignore"):
        return column if factor == 1.0 else column * factor


def _whole(column: Floats) -> bool:
    return bool(np.all((column >= 0) & (column < 2**63) & (np.floor(column) == column)))


def _verdicts(words: list[bytes], count: int) -> Floats:
    """``N/A`` as NaN; a number with an asterisk, which marks an error beyond the threshold, as infinity."""
    if len(words) == 1:
        return np.full(count, _verdict(words[0]))
    known = {word: _verdict(word) for word in set(words)}
    return np.array(list(map(known.__getitem__, words)))


def _verdict(word: bytes) -> float:
    if word == b"N/A":
        return np.nan
    return np.inf if float(word.rstrip(b"*")) >= 0 and word.endswith(b"*") else float(word)


def _why(line: bytes) -> str:
    words = line.split()
    if any(_PLACEHOLDER.fullmatch(word) for word in words):
        return PLACEHOLDER
    return ERROR_INSIDE if tells_failure(line) else TORN
