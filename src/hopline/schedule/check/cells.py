"""Bytes of all buffers of all ranks as one line of addresses, cut into cells that no operation cuts any further.

What belongs here: addresses, cuts and the cells between them. What happens to a cell is ``hazards`` and ``following``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hopline.errors import InputError
from hopline.schedule.check import words
from hopline.schedule.check.order import spread
from hopline.schedule.operations import COPY, REDUCE, SEND, Bytes, Index, Schedule
from hopline.schedule.pieces import Ints

MOST = 1 << 24
"""Cuts at most."""


@dataclass(frozen=True, slots=True)
class Line:
    """Where each buffer of a rank begins (``base``), and the bytes of a rank (``total``); rank after rank."""

    base: Ints
    total: int

    def address(self, rank: Ints | Index, buffer: Ints | Bytes, start: Ints) -> Ints:
        """Of a byte of a rank's buffer."""
        return rank.astype(np.int64) * self.total + self.base[buffer] + start

    def told(self, schedule: Schedule, address: int, size: int) -> str:
        """``bytes [0, 64) of data``; the rank is not told."""
        within = address % self.total if self.total else 0
        buffer = int(np.searchsorted(self.base, within, side="right")) - 1
        return words.span(schedule, buffer, within - int(self.base[buffer]), size)


@dataclass(frozen=True, slots=True)
class Touches:
    """Ranges that operations read or write, of one byte or more; columns of one length."""

    row: Index
    address: Ints
    size: Ints
    writes: Bytes


def line(schedule: Schedule) -> Line:
    """The addresses of a schedule."""
    sizes = np.array([buffer.size for buffer in schedule.buffers], np.int64)
    return Line(np.cumsum(sizes) - sizes, int(sizes.sum()))


def touches(schedule: Schedule, where: Line) -> Touches:
    """What operations read and write. A Reduce reads what it writes, too: that is one touch, a writing one."""
    columns = schedule.columns
    kind, some = columns.kind, columns.size > 0
    main = np.flatnonzero(some & (kind <= COPY))
    other = np.flatnonzero(some & ((kind == REDUCE) | (kind == COPY)))
    row = np.concatenate([main, other]).astype(np.int32)
    address = np.concatenate([
        where.address(columns.rank[main], columns.buffer[main], columns.start[main]),
        where.address(columns.rank[other], columns.source[other], columns.other[other]),
    ])  # fmt: skip
    writes = np.concatenate([kind[main] != SEND, np.zeros(len(other), np.bool_)]).astype(np.uint8)
    return Touches(row, address, columns.size[row], writes)


def cells(cuts: Ints, address: Ints, size: Ints) -> tuple[Ints, Ints]:
    """First cell and number of cells of each range, whose ends are ``cuts``."""
    first = np.searchsorted(cuts, address)
    return first, np.searchsorted(cuts, address + size) - first


def distinct(values: Ints) -> Ints:
    """The values in order, each once. (A sort is many times faster here than the table of numpy's ``unique``.)"""
    values = np.sort(values)
    fresh = np.ones(len(values), np.bool_)
    fresh[1:] = values[1:] != values[:-1]
    return values[fresh]


def carried(cuts: Ints, source: Ints, target: Ints, size: Ints) -> Ints:
    """Cuts and those that follow from them: each cut inside of a source or a target lies in the other, too.

    Raises InputError beyond MOST of them.
    """
    new = cuts
    while len(new):
        found = []
        for here, there in ((source, target), (target, source)):
            low = np.searchsorted(new, here, side="right")
            count = np.searchsorted(new, here + size, side="left") - low
            held = np.flatnonzero(count > 0)
            if int(count[held].sum()) > 4 * MOST:
                raise InputError(f"{int(count[held].sum())} cuts to carry: expected at most {4 * MOST}")
            shift = np.repeat(there[held] - here[held], count[held])
            found.append(distinct(new[spread(low[held], count[held])] + shift))
        reached = distinct(np.concatenate(found))
        place = np.minimum(np.searchsorted(cuts, reached), len(cuts) - 1)
        new = reached[cuts[place] != reached]
        cuts = distinct(np.concatenate([cuts, new])) if len(new) else cuts
        if len(cuts) > MOST:
            raise InputError(f"{len(cuts)} ranges of bytes to follow one by one: expected at most {MOST}")
    return cuts
