"""Rows in the order of their causes.

What belongs here: numpy on whole columns; no format.
"""

from __future__ import annotations

import numpy as np

from hopline.schedule.operations import FREE, NONE, RECV, Bytes, Index
from hopline.schedule.pieces import Ints


def before_on_lane(rank: Index, lane: Bytes) -> Index:
    """The row before each on its lane; NONE: it is the first, or stands on no lane."""
    out = np.full(len(rank), NONE, np.int32)
    rows = np.flatnonzero(lane != FREE)
    order = rows[np.lexsort((rows, lane[rows], rank[rows]))]
    same = (rank[order[1:]] == rank[order[:-1]]) & (lane[order[1:]] == lane[order[:-1]])
    out[order[1:][same]] = order[:-1][same]
    return out


def by_causes(kind: Bytes, rank: Index, lane: Bytes, mate: Index, waits: Ints) -> Ints | None:
    """Rows in an order in which each stands below what it waits for, the Recv of a message below its Send.

    Messages and other rows of one depth keep the order they had. None: rows wait for one another in a circle, where a Send
    waits for its Recv.

    Parameters
    ----------
    waits
        Pairs of rows, shape (k, 2): the first waits for the second.
    """
    rows = np.arange(len(kind))
    unit = np.where((kind == RECV) & (mate != NONE), mate, rows)
    lanes = before_on_lane(rank, lane)
    held = np.flatnonzero(lanes != NONE)
    then = unit[np.concatenate([held, waits[:, 0]])]
    first = unit[np.concatenate([lanes[held], waits[:, 1]])]
    depth = depths(len(rows), first, then)
    if (depth[unit] < 0).any():
        return None
    return np.lexsort((rows != unit, unit, depth[unit]))


def depths(count: int, first: Ints, then: Ints) -> Ints:
    """Number of edges on the longest way to each; -1: a circle leads there."""
    depth = np.full(count, -1, np.int64)
    order = np.argsort(first, kind="stable")
    after, degree = then[order], np.bincount(first, minlength=count)
    begins = np.cumsum(degree) - degree
    waiting = np.bincount(then, minlength=count)
    front, level = np.flatnonzero(waiting == 0), 0
    while len(front):
        depth[front] = level
        counts = degree[front]
        at = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        reached = after[np.repeat(begins[front], counts) + at]
        np.subtract.at(waiting, reached, 1)
        front = np.unique(reached[waiting[reached] == 0])
        level += 1
    return depth
