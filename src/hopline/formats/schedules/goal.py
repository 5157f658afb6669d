"""Read GOAL text, the schedules of LogGOPSim and ATLAHS.

What belongs here: from statements to rows. A GOAL file has no buffers; what no ``requires`` orders may go on at once.

Times are whole nanoseconds in the file and picoseconds in a Schedule. Numbers of CPUs and NICs are counted and left out.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePath

import numpy as np

from hopline.errors import FormatError
from hopline.formats.schedules.contents import Asked, Contents, Reading, expect_no_size, expect_ranks, idle, total
from hopline.formats.schedules.goal_grammar import statements
from hopline.formats.schedules.rows import Rows
from hopline.formats.schedules.ties import FILE_ORDER, open_ends
from hopline.formats.source import shown
from hopline.schedule.operations import COMPUTE, NONE, RECV, SEND
from hopline.schedule.pieces import Ints

NANOSECOND = 1000
"""In picoseconds."""
MOST_RANKS = 1 << 22
ANY = -1


@dataclass(slots=True)
class Labels:
    """Line and label of each operation of a file, in its order: arrays, since there may be millions."""

    lines: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))
    text: bytearray = field(default_factory=bytearray)

    def add(self, line: int, label: bytes | None) -> None:
        """One more."""
        self.lines.append(line)
        self.text += label or b""
        self.ends.append(len(self.text))

    def place(self, number: int) -> str:
        """``line 7, label l2``."""
        begin = self.ends[number - 1] if number else 0
        label = self.text[begin : self.ends[number]].decode()
        return f"line {self.lines[number]}" + (f", label {label}" if label else "")


@dataclass(frozen=True, slots=True)
class GoalPlan:
    """A GOAL file; see Plan."""

    path: str
    contents: Contents
    rows: Rows
    labels: Labels

    def reading(self, asked: Asked) -> Reading:
        """See Plan."""
        if self.contents.refusal:
            raise FormatError(f"{shown(self.path)}: {self.contents.refusal}")
        expect_ranks(shown(self.path), self.contents.ranks, asked)
        expect_no_size(shown(self.path), asked)
        schedule, numbers = self.rows.made(self.contents.name, self.contents.ranks, in_order=True)
        tied = (FILE_ORDER,) if open_ends(schedule) else ()
        return Reading(schedule, self.contents, (*self.contents.remarks, *tied), partial(_place, self.labels, numbers))


def _place(labels: Labels, numbers: Ints, row: int) -> str:
    return labels.place(int(numbers[row]))


def read(path: str) -> GoalPlan:
    """The plan of the GOAL file at ``path``. Raises FormatError."""
    reader = _Reader(path)
    for line, found in statements(path):
        reader.take(line, found)
    return reader.done()


@dataclass(slots=True)
class _Reader:
    path: str
    ranks: int = 0
    rank: int = NONE
    opened: int = 0
    """Line of the block that is read."""
    rows: Rows = field(default_factory=Rows)
    written: Labels = field(default_factory=Labels)
    labels: dict[bytes, int] = field(default_factory=dict)
    needs: list[tuple[int, bytes, bytes, bool]] = field(default_factory=list)
    blocks: set[int] = field(default_factory=set)
    requires: int = 0
    irequires: int = 0
    anywhere: int = 0
    """Recvs from any rank or with any tag."""
    placed: int = 0
    """Operations on a CPU or NIC other than 0."""
    calculations: array[int] = field(default_factory=lambda: array("q"))

    def take(self, line: int, found: re.Match[bytes]) -> None:
        if found["way"] or found["time"]:
            self._operation(line, found)
        elif found["needs"]:
            self._inside(line)
            self.needs.append((line, found["late"], found["early"], found["needs"] == b"irequires"))
        elif found["rank"]:
            self._open(line, int(found["rank"]))
        elif found["ranks"]:
            self._set_ranks(line, int(found["ranks"]))
        else:
            self._inside(line)
            self._close()

    def done(self) -> GoalPlan:
        if self.rank != NONE:
            raise self._wrong(self.opened, f"the block of rank {self.rank} has no end: expected a line with '}}'")
        if not self.ranks:
            raise FormatError(f"{shown(self.path)} has no num_ranks: expected a GOAL schedule")
        return GoalPlan(self.path, self._contents(), self.rows, self.written)

    def _wrong(self, line: int, what: str) -> FormatError:
        return FormatError(f"{shown(self.path)} line {line}: {what}")

    def _inside(self, line: int) -> None:
        if self.rank == NONE:
            raise self._wrong(line, "stands outside of a rank's block: expected 'rank 0 {' before it")

    def _set_ranks(self, line: int, ranks: int) -> None:
        if self.ranks or self.rank != NONE:
            raise self._wrong(line, "num_ranks stands here a second time: expected it once, at the top")
        if not 1 <= ranks <= MOST_RANKS:
            raise self._wrong(line, f"num_ranks is {ranks}: expected 1 to {MOST_RANKS}")
        self.ranks = ranks

    def _open(self, line: int, rank: int) -> None:
        if self.rank != NONE:
            raise self._wrong(line, f"rank {rank} begins inside of the block of rank {self.rank}: expected '}}' first")
        if not self.ranks:
            raise self._wrong(line, f"rank {rank} begins before num_ranks: expected 'num_ranks N' at the top")
        if rank >= self.ranks:
            raise self._wrong(line, f"rank {rank} of {self.ranks}: expected 0 to {self.ranks - 1}")
        if rank in self.blocks:
            raise self._wrong(line, f"rank {rank} has a block already: expected one for each rank")
        self.rank, self.opened = rank, line
        self.blocks.add(rank)

    def _operation(self, line: int, found: re.Match[bytes]) -> None:
        self._inside(line)
        label = found["label"]
        if label:
            if label in self.labels:
                raise self._wrong(line, f"label {label.decode()!r} is taken: expected each once in a rank's block")
            self.labels[label] = len(self.rows)
        self.rows.mark = len(self.rows)
        self.written.add(line, label)
        self.placed += int(found["cpu"] or 0) > 0 or int(found["nic"] or 0) > 0
        if found["time"]:
            self.calculations.append((self.rank << 32) + int(found["cpu"] or 0))
            self.rows.add(COMPUTE, self.rank, int(found["time"]) * NANOSECOND)
            return
        peer, tag = int(found["peer"]), int(found["tag"] or 0)
        if peer >= self.ranks:
            raise self._wrong(line, f"there is no rank {peer}: expected 0 to {self.ranks - 1}")
        self.anywhere += ANY in (peer, tag)
        kind = SEND if found["way"] == b"send" else RECV
        self.rows.add(kind, self.rank, int(found["size"]), peer=peer, other=tag)

    def _close(self) -> None:
        for line, late, early, begun in self.needs:
            for label in (late, early):
                if label not in self.labels:
                    raise self._wrong(line, f"rank {self.rank} has no label {label.decode()!r}")
            if late == early:
                raise self._wrong(line, f"{late.decode()} waits for itself: expected another label")
            wait = self.rows.wait_begun if begun else self.rows.wait
            wait(self.labels[late], self.labels[early])
            self.irequires += begun
            self.requires += not begun
        self.labels.clear()
        self.needs.clear()
        self.rank = NONE

    def _contents(self) -> Contents:
        columns = self.rows.columns()
        kind, size = columns["kind"], columns["size"]
        lone = self.rows.mates() == NONE
        facts = {
            "num_ranks": self.ranks, "rank_blocks": len(self.blocks), "sends": int(np.count_nonzero(kind == SEND)),
            "recvs": int(np.count_nonzero(kind == RECV)), "calcs": int(np.count_nonzero(kind == COMPUTE)),
            "requires": self.requires, "irequires": self.irequires, "send_bytes": total(size[kind == SEND]),
            "recv_bytes": total(size[kind == RECV]), "unmatched_sends": int(np.count_nonzero(lone & (kind == SEND))),
            "unmatched_recvs": int(np.count_nonzero(lone & (kind == RECV))),
        }  # fmt: skip
        refusal = (
            f"{self.anywhere} operations take any rank or any tag (-1): what each meets is known only when it runs, "
            "so there is no schedule of it"
        )
        name = PurePath(self.path).name.removesuffix(".gz").removesuffix(".goal")
        return Contents("goal", name, self.ranks, {**facts}, None, self._remarks(), refusal if self.anywhere else "")

    def _remarks(self) -> tuple[str, ...]:
        out = []
        if self.placed:
            out.append(f"{self.placed} operations name a CPU or NIC other than 0: these numbers are left out")
        if len(set(self.calculations)) < len(self.calculations):
            out.append("calculations that no 'requires' orders go on at once; LogGOPSim takes those of one CPU in turn")
        return (*out, *idle(self.ranks, self.rows.columns()["rank"]))
