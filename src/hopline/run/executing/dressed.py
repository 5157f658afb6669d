"""Buffers for schedules that name none.

What belongs here: GOAL and tables of messages say how many bytes go where and not which. Each message is given bytes of its
own at both ends, and the promise that they arrive, so that it is verified as everything else is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hopline.errors import InputError
from hopline.schedule.matching import match
from hopline.schedule.operations import COPY, NONE, RECV, REDUCE, SEND, Buffer, Schedule
from hopline.schedule.pieces import Ints
from hopline.schedule.promises import Promise, given, wanted

MOST = 2**31
"""Bytes that one rank sends, or receives, at most: all are kept until they are verified."""
_OUT, _IN, _SUM, _ADDED = range(4)


def dressed(schedule: Schedule) -> Schedule:
    """The schedule with buffers; itself where it has some. Raises InputError where they would be too large."""
    if schedule.buffers:
        return schedule
    columns = schedule.columns
    mate = match(schedule)
    start = np.zeros(len(schedule), np.int64)
    room = {kind: _placed(schedule, kind, start) for kind in (SEND, RECV)}
    local = np.isin(columns.kind, (REDUCE, COPY))
    scratch = int(columns.size[local].max(initial=0))
    for kind, words in ((SEND, "sends"), (RECV, "receives")):
        if room[kind] > MOST:
            raise InputError(f"{schedule.name}: a rank {words} {room[kind]:.3g} bytes: expected at most {MOST:.3g}")
    buffer = np.select([columns.kind == RECV, local], [_IN, _SUM], _OUT).astype(np.uint8)
    source = np.where(local, _ADDED, 0).astype(np.uint8)
    other = np.where(local, 0, columns.other)
    made = replace(columns, buffer=buffer, source=source, start=start, other=other)
    sizes = (room[SEND], room[RECV], scratch, scratch)
    names = ("sent", "received", "sums", "added")
    buffers = tuple(Buffer(name, size) for name, size in zip(names, sizes, strict=True))
    recvs = np.flatnonzero((columns.kind == RECV) & (mate != NONE))
    ends = columns.rank[recvs], start[recvs], columns.size[recvs], columns.rank[mate[recvs]], start[mate[recvs]]
    promise = Promise(
        "messages",
        given(np.arange(schedule.ranks), 0, room[SEND], buffer=_OUT),
        wanted(*ends, buffer=_IN, source=_OUT),
    )
    return replace(schedule, columns=made, buffers=buffers, promise=promise)


def _placed(schedule: Schedule, kind: int, start: Ints) -> int:
    """Give the rows of a kind bytes one after another on each rank, in ``start``; bytes of the rank with the most."""
    columns = schedule.columns
    rows = np.flatnonzero(columns.kind == kind)
    order = rows[np.argsort(columns.rank[rows], kind="stable")]
    ends = np.cumsum(columns.size[order])
    first = ends - columns.size[order]
    base = first[np.searchsorted(columns.rank[order], columns.rank[order])] if len(order) else first
    start[order] = first - base
    return int((start[order] + columns.size[order]).max(initial=0))
