"""Which Recv meets which Send: the k-th of one with the k-th of the other, on the same way from rank to rank, in row order.

What belongs here: rule 3 of ``operations``, and nothing that judges it. A way is (from, to, tag).
"""

from __future__ import annotations

import numpy as np

from hopline.schedule.operations import NONE, RECV, SEND, Columns, Index, Schedule
from hopline.schedule.pieces import Ints

BLOCK = 1 << 17
"""Rows that are looked at together."""


def match(schedule: Schedule) -> Index:
    """Row of the other end of each Send and Recv, shape (rows,); NONE: there is none, or the row is neither."""
    columns = schedule.columns
    mate = np.full(len(columns), NONE, np.int32)
    if not _side_by_side(columns, mate):
        mate[:] = NONE
        sends, recvs = (np.flatnonzero(columns.kind == kind).astype(np.int32) for kind in (SEND, RECV))
        sends, recvs = _met(columns, sends, recvs)
        mate[sends], mate[recvs] = recvs, sends
    return mate


def _side_by_side(columns: Columns, mate: Index) -> bool:
    """Whether the Recv of every Send is the row below it: then the k-th meets the k-th, since both are in row order.

    If so, ``mate`` is filled in. It goes block by block, since schedules have millions of rows.
    """
    for low in range(0, len(columns), BLOCK):
        kind = columns.kind[low : low + BLOCK + 1]
        sends = np.flatnonzero(kind[:BLOCK] == SEND)
        recvs = np.flatnonzero(kind[1:] == RECV)
        if not np.array_equal(sends, recvs) or (low == 0 and len(kind) and kind[0] == RECV):
            return False
        sends, recvs = sends + low, recvs + (low + 1)
        ends = (columns.peer, columns.rank), (columns.rank, columns.peer), (columns.other, columns.other)
        if not all(np.array_equal(one[sends], two[recvs]) for one, two in ends):
            return False
        mate[sends], mate[recvs] = recvs, sends
    return True


def _met(columns: Columns, sends: Index, recvs: Index) -> tuple[Index, Index]:
    """The pairs that meet: Sends and Recvs numbered by way, and within a way by their place in it."""
    way = ways(columns, sends, recvs)
    places = [_places(part) for part in (way[: len(sends)], way[len(sends) :])]
    most = 1 + max((int(place.max()) for place in places if len(place)), default=0)
    keys = way * most + np.concatenate(places)
    _, out, got = np.intersect1d(keys[: len(sends)], keys[len(sends) :], assume_unique=True, return_indices=True)
    return sends[out], recvs[got]


def ways(columns: Columns, sends: Index, recvs: Index) -> Ints:
    """Number of the way that each of ``sends``, then each of ``recvs`` goes, shape (sends + recvs,)."""
    rank, peer = columns.rank, columns.peer
    source = np.concatenate([rank[sends], peer[recvs]]).astype(np.int64)
    target = np.concatenate([peer[sends], rank[recvs]]).astype(np.int64)
    tag = np.concatenate([columns.other[sends], columns.other[recvs]])
    order = np.lexsort((tag, target, source))
    new = np.zeros(len(order), np.int64)
    for part in (source, target, tag):
        new[1:] |= np.diff(part[order]) != 0
    way = np.empty(len(order), np.int64)
    way[order] = np.cumsum(new)
    return way


def _places(way: Ints) -> Ints:
    """How many of the same way stand before each, shape of ``way``."""
    order = np.argsort(way, kind="stable")
    ordered = way[order]
    first = np.searchsorted(ordered, ordered)
    place = np.empty(len(way), np.int64)
    place[order] = np.arange(len(way)) - first
    return place
