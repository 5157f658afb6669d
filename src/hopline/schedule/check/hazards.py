"""Is every byte written after those who need what was there, and read after what they need.

What belongs here: which pairs of touches must be in order, those that are not, and how many buffers in turn would mend it.

In each cell touches stand in an order in which nobody waits for a later one. If each writing touch comes after all readers
since the write before (or after that write, where nobody read), and each reader after the last write, then all touches of
which one writes are in order; and if any two are not, one of these pairs is not. So as many pairs are asked for as there are
touches, twice at most, and the answer is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hopline.schedule.check import cells, words
from hopline.schedule.check.forms import Truth
from hopline.schedule.check.order import spread
from hopline.schedule.check.pasts import Past
from hopline.schedule.check.sorts import MOST, Sort, sort
from hopline.schedule.faults import Fault
from hopline.schedule.operations import NONE, REDUCE, Bytes, Index, Schedule
from hopline.schedule.pieces import Ints

KINDS = ("overwritten", "early", "clash")
_SAYS = (
    "may overwrite {bytes} before {first} is done reading them",
    "may read {bytes} before {first} has written them",
    "and {first} may write {bytes} at once",
)
_REGIONS = 16
"""Cells of which the number of buffers is worked out."""
_FILLS = 256
"""Fillings of a cell that are looked at for it."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """Touches cell by cell, and in order within a cell."""

    cell: Ints
    row: Index
    writes: Truth


@dataclass(frozen=True, slots=True)
class Races:
    """Pairs of rows in no order that touch ``cell``, the lower row first; and the kind of fault each of them is."""

    first: Index
    second: Index
    cell: Ints
    kind: Bytes


def sequence(touches: cells.Touches, cuts: Ints, place: Index | None) -> Sequence:
    """Sorted by (cell, place of the row); ``place`` None: rows are in order as they stand."""
    first, count = cells.cells(cuts, touches.address, touches.size)
    which = np.repeat(np.arange(len(first)), count) if len(first) != int(count.sum()) else slice(None)
    row = touches.row[which]
    where = row if place is None else place[row]
    bits = max(int(where.max(initial=0)), 1).bit_length()
    keys = (spread(first, count) << (bits + 1)) | where.astype(np.int64) << 1 | touches.writes[which]
    keys.sort()
    at = (keys >> 1) & ((1 << bits) - 1)
    rows = at if place is None else np.argsort(place)[at]
    return Sequence(keys >> (bits + 1), rows.astype(np.int32), (keys & 1).astype(np.bool_))


def pairs(order: Sequence) -> tuple[Ints, Ints]:
    """Indices into ``order`` of the touches that must come one after the other."""
    count = len(order.cell)
    index = np.arange(count)
    fresh = np.ones(count, np.bool_)
    fresh[1:] = order.cell[1:] != order.cell[:-1]
    begin = np.maximum.accumulate(np.where(fresh, index, 0))
    last = np.maximum.accumulate(np.where(order.writes, index, -1))
    before = np.concatenate([[-1], last[:-1]])[:count]
    held = before >= begin
    alone = held & (~order.writes | (before == index - 1))
    ahead = np.minimum.accumulate(np.where(order.writes, index, count)[::-1])[::-1]
    reads = np.flatnonzero(~order.writes & (ahead < count))
    reads = reads[order.cell[ahead[reads]] == order.cell[reads]]
    return np.concatenate([before[alone], reads]), np.concatenate([index[alone], ahead[reads]])


def races(schedule: Schedule, order: Sequence, past: Past) -> Races:
    """The pairs that are in no order. Of two, the lower row is taken to be meant first."""
    one, two = pairs(order)
    wrong = np.flatnonzero(~past.before(order.row[one], order.row[two]))
    one, two = one[wrong], two[wrong]
    turned = order.row[one] > order.row[two]
    one, two = np.where(turned, two, one), np.where(turned, one, two)
    adds = (schedule.columns.kind[order.row] == REDUCE) & order.writes
    reads = ~order.writes | adds
    kind = np.full(len(one), KINDS.index("clash"), np.uint8)
    kind[reads[two] & ~(adds[one] & adds[two])] = KINDS.index("early")
    kind[reads[one] & order.writes[two] & ~adds[two]] = KINDS.index("overwritten")
    kind[~order.writes[one]] = KINDS.index("overwritten")
    return Races(order.row[one], order.row[two], order.cell[one], kind)


def faults(schedule: Schedule, found: Races, where: cells.Line, cuts: Ints, hints: str) -> list[Sort]:
    """The races, by kind and rows; ``hints`` says how many buffers would mend those they can."""
    out: list[Sort] = []
    mends = mended(schedule, found)
    for number, kind in enumerate(KINDS):
        rows = np.flatnonzero(found.kind == number)
        ordered, which = np.unique(found.second[rows].astype(np.int64) << 32 | found.first[rows], return_inverse=True)
        told = []
        for place, pair in enumerate(ordered[:MOST].tolist()):
            second, first = pair >> 32, pair & 0xFFFFFFFF
            mine = rows[which == place]
            low, size = _stretch(cuts, found.cell[mine])
            said = _SAYS[number].format(bytes=where.told(schedule, low, size), first=words.operation(schedule, first))
            hint = hints if mends[mine[0]] else ""
            told.append(Fault(kind, f"{words.operation(schedule, second)} {said}{hint}", (second, first)))
        out += sort(told, len(ordered))
    return out


def _stretch(cuts: Ints, chosen: Ints) -> tuple[int, int]:
    """Address and size of the first stretch of cells without a hole."""
    chosen = np.unique(chosen)
    holes = np.flatnonzero(np.diff(chosen) != 1)
    last = chosen[holes[0]] if len(holes) else chosen[-1]
    low = int(cuts[chosen[0]])
    return low, int(cuts[last + 1]) - low


def mended(schedule: Schedule, found: Races) -> Truth:
    """Which races more buffers would mend: those in which a reader is overtaken by the next filling of what it reads."""
    fills = schedule.columns.kind[found.second] != REDUCE
    mends: Truth = fills & (found.kind == KINDS.index("overwritten"))
    return mends


def buffers(schedule: Schedule, order: Sequence, found: Races, past: Past) -> tuple[int, bool]:
    """How many buffers used in turn would mend these races, and whether all cells and fillings were looked at.

    Recv and Copy fill a cell; others use what the last filling before them left. With B buffers filling k takes the place of
    filling k - B, and must come after all who use that one; B is the least for which every filling does.
    """
    regions = np.unique(found.cell[mended(schedule, found)])
    most, whole = 1, len(regions) <= _REGIONS
    for cell in regions[:_REGIONS].tolist():
        low, high = np.searchsorted(order.cell, [cell, cell + 1])
        rows, fills = (
            order.row[low:high],
            order.writes[low:high] & (schedule.columns.kind[order.row[low:high]] != REDUCE),
        )
        filled = rows[fills]
        if len(filled) > _FILLS:
            whole, rows, fills = False, *(part[: int(np.flatnonzero(fills)[_FILLS])] for part in (rows, fills))
            filled = rows[fills]
        most = max(most, _in_turn(past, filled, rows))
    return most, whole


def _in_turn(past: Past, filled: Index, rows: Index) -> int:
    count = len(filled)
    grid = np.repeat(rows, count), np.tile(filled, len(rows))
    done = past.before(*grid).reshape(len(rows), count)
    came = past.before(grid[1], grid[0]).reshape(len(rows), count)
    number = np.arange(count)
    same = rows[:, None] == filled[None, :]
    uses = np.where(came | same, number, NONE).max(axis=1)
    last = np.where(~done & (number > uses[:, None]), number, uses[:, None]).max(axis=1)
    return int((last + 1 - uses).max(initial=1))
