"""The part of a schedule that one rank carries out.

What belongs here: from columns of all ranks to the rows of each, with what each waits for, and the refusal of what cannot be
carried out. Nothing here sends a byte.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hopline.errors import InputError
from hopline.run.executing.groups import groups_of
from hopline.schedule.matching import match
from hopline.schedule.operations import COMPUTE, FREE, KINDS, NONE, RECV, SEND, Bytes, Index, Schedule
from hopline.schedule.pieces import Ints
from hopline.schedule.promises import Given, Promise, Wanted

LARGEST_MESSAGE = 2**31 - 1
"""MPI counts are C ints."""


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of one rank, in the order of the schedule; what they wait for is numbered by place in these arrays.

    Attributes
    ----------
    name, rank, ranks
        Of the schedule, and which rank of how many.
    rows
        Numbers of the rows in the schedule.
    kind, buffer, source, peer, start, size, other
        As in ``Columns``.
    message
        Of a Send or Recv: its number among the messages from one rank to the other, which both ends know it by.
    group
        Number of the group that a row belongs to, see ``groups``; all 0 where each message begins by itself.
    waits, begun
        Pairs, shape (k, 2): the first begins when the second is done, or has begun.
    buffers
        (name, bytes) of each.
    given, wanted
        What the schedule promises: all ranks' data before, and what this rank must hold after.
    promised
        Whether there is a promise.
    """

    name: str
    rank: int
    ranks: int
    rows: Ints
    kind: Bytes
    buffer: Bytes
    source: Bytes
    peer: Index
    start: Ints
    size: Ints
    other: Ints
    message: Ints
    group: Ints
    waits: Ints
    begun: Ints
    buffers: tuple[tuple[str, int], ...]
    given: Given
    wanted: Wanted
    promised: bool

    def __len__(self) -> int:
        return len(self.rows)


def parts_of(schedule: Schedule, *, grouped: bool = False) -> list[Part]:
    """The part of each rank; ``grouped``: with the groups of messages. Raises InputError for what real ranks cannot do."""
    mate = match(schedule)
    _check(schedule, mate)
    columns = schedule.columns
    number = _numbers(schedule, mate)
    order = np.argsort(columns.rank, kind="stable")
    bounds = np.searchsorted(columns.rank[order], np.arange(schedule.ranks + 1))
    local = np.empty(len(order), np.int64)
    local[order] = np.arange(len(order)) - bounds[columns.rank[order]]
    waits = np.vstack([_lane_pairs(schedule, order), _after_pairs(schedule), schedule.more])
    group = groups_of(schedule, mate, [waits, schedule.begun]) if grouped else np.zeros(len(schedule), np.int64)
    return [
        _part(schedule, rank, order[bounds[rank] : bounds[rank + 1]], number, group, local, waits)
        for rank in range(schedule.ranks)
    ]


def _part(
    schedule: Schedule, rank: int, rows: Ints, number: Ints, group: Ints, local: Ints, waits: Ints
) -> Part:  # fmt: skip
    columns, promise = schedule.columns, schedule.promise
    names = ("kind", "buffer", "source", "peer", "start", "size", "other")
    taken = {name: getattr(columns, name)[rows] for name in names}
    return Part(
        schedule.name, rank, schedule.ranks, rows, **taken, message=number[rows], group=group[rows],
        waits=_own(schedule, waits, rank, local), begun=_own(schedule, schedule.begun, rank, local),
        buffers=tuple((buffer.name, buffer.size) for buffer in schedule.buffers),
        given=promise.given if promise else _NOTHING.given, wanted=_wanted(promise, rank), promised=promise is not None,
    )  # fmt: skip


_NONE: Ints = np.empty(0, np.int64)
_NOTHING = Promise("", Given(*[_NONE] * 4), Wanted(*[_NONE] * 7))


def _wanted(promise: Promise | None, rank: int) -> Wanted:
    if promise is None:
        return _NOTHING.wanted
    wanted = promise.wanted
    kept = wanted.rank == rank
    columns = (wanted.rank, wanted.buffer, wanted.start, wanted.size, wanted.origin, wanted.source, wanted.other)
    return Wanted(*(column[kept] for column in columns))


def _own(schedule: Schedule, pairs: Ints | Index, rank: int, local: Ints) -> Ints:
    mine = pairs[schedule.columns.rank[pairs[:, 0]] == rank]
    found: Ints = np.unique(local[mine], axis=0) if len(mine) else np.empty((0, 2), np.int64)
    return found


def _lane_pairs(schedule: Schedule, order: Ints) -> Ints:
    """(row, the row above it on its lane)."""
    columns = schedule.columns
    bound = order[columns.lane[order] != FREE]
    key = columns.rank[bound].astype(np.int64) << 8 | columns.lane[bound]
    sort = np.argsort(key, kind="stable")
    rows, same = bound[sort], np.diff(key[sort]) == 0
    return np.column_stack([rows[1:][same], rows[:-1][same]]).astype(np.int64)


def _after_pairs(schedule: Schedule) -> Ints:
    rows = np.flatnonzero(schedule.columns.after != NONE)
    return np.column_stack([rows, schedule.columns.after[rows]]).astype(np.int64)


def _numbers(schedule: Schedule, mate: Index) -> Ints:
    """Number of each message among those from one rank to another."""
    columns = schedule.columns
    sends = np.flatnonzero(columns.kind == SEND)
    way = columns.rank[sends].astype(np.int64) * schedule.ranks + columns.peer[sends]
    order = np.argsort(way, kind="stable")
    ordered = way[order]
    number = np.zeros(len(schedule), np.int64)
    number[sends[order]] = np.arange(len(sends)) - np.searchsorted(ordered, ordered)
    number[mate[sends]] = number[sends]
    return number


def _check(schedule: Schedule, mate: Index) -> None:
    columns = schedule.columns
    ends = (columns.kind == SEND) | (columns.kind == RECV)
    for row in np.flatnonzero(ends & (mate == NONE))[:1].tolist():
        raise InputError(f"{_named(schedule, row)} meets no other end: hopline schedule check tells all that is wrong")
    sends = np.flatnonzero(columns.kind == SEND)
    for row in sends[columns.size[sends] != columns.size[mate[sends]]][:1].tolist():
        raise InputError(f"{_named(schedule, row)} has {columns.size[row]} bytes, its Recv {columns.size[mate[row]]}")
    for row in sends[columns.size[sends] > LARGEST_MESSAGE][:1].tolist():
        raise InputError(f"{_named(schedule, row)} has {columns.size[row]} bytes: expected at most {LARGEST_MESSAGE}")
    for row in sends[columns.peer[sends] == columns.rank[sends]][:1].tolist():
        raise InputError(f"{_named(schedule, row)} is to itself: expected another rank, or a Copy")
    _check_ranges(schedule)


def _check_ranges(schedule: Schedule) -> None:
    columns = schedule.columns
    sizes = np.array([buffer.size for buffer in schedule.buffers], np.int64)
    moving = columns.kind != COMPUTE
    reads = moving & (columns.kind != SEND) & (columns.kind != RECV)
    for rows, buffer, first in ((moving, columns.buffer, columns.start), (reads, columns.source, columns.other)):
        at = np.flatnonzero(rows)
        known = buffer[at] < len(sizes)
        room = np.where(known, sizes[np.minimum(buffer[at], len(sizes) - 1)] if len(sizes) else -1, -1)
        wrong = at[(first[at] < 0) | (columns.size[at] < 0) | (first[at] + columns.size[at] > room)]
        for row in wrong[:1].tolist():
            held = f"buffer {buffer[row]}"
            if buffer[row] < len(sizes):
                held = f"{schedule.buffers[buffer[row]].name}, which has {sizes[buffer[row]]}"
            raise InputError(
                f"{_named(schedule, row)} is about bytes {first[row]} to {first[row] + columns.size[row]} of {held}"
            )


def _named(schedule: Schedule, row: int) -> str:
    columns = schedule.columns
    kind, peer = KINDS[columns.kind[row]], columns.peer[row]
    other = {"send": f" to {peer}", "recv": f" from {peer}"}.get(kind, "")
    return f"{schedule.name}: {kind}{other} of rank {columns.rank[row]} (row {row})"
