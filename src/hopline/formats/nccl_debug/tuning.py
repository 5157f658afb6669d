"""Tuning tables: one wide table (up to 2.17), or blocks of three algorithms under one another (since 2.18).

What belongs here: from lines of a table to its cells. Layouts: src/graph/tuning.cc of NCCL 2.8 to 2.30.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hopline.records.nccl_log import Cell, TuningTable
from hopline.records.nccl_names import FUNCTIONS, PROTOCOLS, spelled

_US, _GBPS = 1e-6, 1e9
_CELL = re.compile(r"\s*(\d+(?:\.\d+)?)\s*/\s*(\d+(?:\.\d+)?)\s*")
_NAME = re.compile(r"\s*([A-Za-z]+)\s*")
_PAIR = re.compile(r"\s*([A-Za-z0-9]+)\s*/\s*([A-Za-z0-9]+)\s*")
_HEADS = ("Algorithm", "Protocol", "Max NThreads", "Latency/AlgBw")
Way = tuple[str, str]


@dataclass(slots=True)
class Draft:
    """A table in the making, of one process."""

    line: int
    ways: list[Way] = field(default_factory=list)
    """Of the columns of the block that is being read."""
    algorithms: list[str] = field(default_factory=list)
    cells: dict[tuple[str, str, str], Cell] = field(default_factory=dict)
    threads: dict[Way, int] = field(default_factory=dict)
    torn: int = 0
    """Rows with another number of cells than their head has columns."""

    def table(self) -> TuningTable:
        """What was read."""
        return TuningTable(self.cells, self.threads, self.line)


@dataclass(slots=True)
class Tables:
    """All tables of a log: processes write theirs between one another's lines."""

    open: dict[str, Draft] = field(default_factory=dict)
    done: list[Draft] = field(default_factory=list)
    headless: int = 0
    """Rows of cells without a head above."""

    def take(self, process: str, text: str, line: int) -> bool:
        """Read a line; whether it belongs to a table."""
        if "|" not in text:
            return False
        head, *columns = text.split("|")
        name = head.strip()
        columns = columns[:-1] if columns and not columns[-1].strip() else columns
        if name not in _HEADS and name not in FUNCTIONS:
            return False
        if name in FUNCTIONS:
            return self._row(process, name, columns)
        draft = self._draft(process, name, columns, line)
        if name == "Algorithm":
            draft.algorithms = [spelled(word) for word in text.split("|", 1)[1].replace("|", " ").split()]
            draft.ways = [(algorithm, protocol) for algorithm in draft.algorithms for protocol in PROTOCOLS]
        elif name == "Latency/AlgBw":
            found = [_PAIR.fullmatch(column) for column in columns]
            draft.ways = [(spelled(pair[1]), spelled(pair[2])) for pair in found if pair]
        elif name == "Protocol":
            self._protocols(draft, columns)
        else:
            known = zip(draft.ways, columns, strict=False)
            draft.threads |= {way: int(text) for way, text in known if text.strip().isdigit()}
        return True

    def _draft(self, process: str, name: str, columns: list[str], line: int) -> Draft:
        """The table that a line of a head belongs to: a new one where the first algorithms come again."""
        old = self.open.get(process)
        first = name == "Latency/AlgBw" or (name == "Algorithm" and (old is None or self._again(old, columns)))
        if old is None or first:
            old = self.open[process] = Draft(line)
            self.done.append(old)
        return old

    @staticmethod
    def _again(old: Draft, columns: list[str]) -> bool:
        named = {spelled(word) for column in columns for word in column.split()}
        return any(algorithm in named for _, algorithm, _ in old.cells)

    @staticmethod
    def _protocols(draft: Draft, columns: list[str]) -> None:
        """Its columns, as far as there are algorithms for them: the last block repeats the names too often."""
        names = [spelled(match[0].strip()) for match in map(re.compile(r"\s*\S+\s*").fullmatch, columns) if match]
        each = len(PROTOCOLS)
        draft.ways = [(a, p) for i, a in enumerate(draft.algorithms) for p in names[i * each : (i + 1) * each]]

    def _row(self, process: str, function: str, columns: list[str]) -> bool:
        found = [_CELL.fullmatch(column) for column in columns]
        if not any(found):
            return False
        draft = self.open.get(process)
        if draft is None or not draft.ways:
            self.headless += 1
            return True
        draft.torn += len(found) != len(draft.ways) or not all(found)
        for way, cell in zip(draft.ways, found, strict=False):
            if cell:
                draft.cells[function, *way] = Cell(float(cell[1]) * _US, float(cell[2]) * _GBPS)
        return True
