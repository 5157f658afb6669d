"""Who waits for whom: the graph of a schedule's waits, and its levels.

What belongs here: nodes, edges and their levels. Rings in them are ``rings``, questions to them ``pasts``.

An operation has a beginning and an end, and the end comes after the beginning. Its beginning comes after the end of the row
before it on its lane, of ``after`` and of its ``more``, and after the beginning of its ``begun``. For messages:

* sends are buffered: the Recv ends after the Send does, which waits for nothing but its own beginning;
* sends block: both ends are one event, after both beginnings.

So one node stands for an operation (of a message, where sends block: for both ends), and only an operation whose beginning
others wait for has a second node, for its beginning. A ring of waits is then a ring of this graph and the other way round,
since a beginning that nobody waits for has its end as the only way on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hopline.schedule.operations import FREE, NONE, RECV, SEND, Bytes, Index, Schedule
from hopline.schedule.pieces import Ints

LANE, AFTER, BEGUN, MESSAGE, OWN = range(5)
"""Why one row waits for another: it stands behind it, after or more, begun, the other end of a message, its own beginning."""
_ROW_BITS = 31
_DEEP, _NARROW = 500, 16
"""Levels after which a graph with fewer nodes a level than this goes on node by node."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Row ``second`` waits for row ``first`` because of ``cause``; columns of one length."""

    first: Index
    second: Index
    cause: Bytes

    @property
    def down(self) -> bool:
        """Whether every row waits for earlier rows only."""
        return bool(np.all(self.first < self.second))


@dataclass(frozen=True, slots=True)
class Waits:
    """The graph: ``ends`` and ``begins`` are the nodes of each row, ``source`` and ``target`` those of each edge."""

    count: int
    ends: Index
    begins: Index
    edges: Edges
    source: Index
    target: Index


def joined(*parts: Edges) -> Edges:
    """All of them."""
    columns = ("first", "second", "cause")
    return Edges(*(np.concatenate([getattr(part, name) for part in parts]) for name in columns))


def edges(first: Index | Ints, second: Index | Ints, cause: int) -> Edges:
    """Edges of one cause."""
    return Edges(
        first.astype(np.int32, copy=False), second.astype(np.int32, copy=False), np.full(len(first), cause, np.uint8)
    )


def within(schedule: Schedule) -> Edges:
    """What rows of a rank wait for among its own: lane, after, more and begun."""
    columns = schedule.columns
    after = np.flatnonzero(columns.after != NONE)
    parts = [_lanes(schedule), edges(columns.after[after], after, AFTER)]
    parts += [
        edges(pairs[:, 1], pairs[:, 0], cause) for pairs, cause in ((schedule.more, AFTER), (schedule.begun, BEGUN))
    ]
    return joined(*parts)


def _lanes(schedule: Schedule) -> Edges:
    """Each row and the one before it on its lane: rows sorted by (rank, lane, row), packed into one number each."""
    columns = schedule.columns
    bound = np.flatnonzero(columns.lane != FREE)
    lane = columns.rank[bound].astype(np.int64) << 8 | columns.lane[bound]
    keys = lane << _ROW_BITS | bound
    keys.sort()
    same = np.flatnonzero((keys[1:] >> _ROW_BITS) == (keys[:-1] >> _ROW_BITS))
    rows = (keys & ((1 << _ROW_BITS) - 1)).astype(np.int32)
    return edges(rows[same], rows[same + 1], LANE)


def waits(schedule: Schedule, inner: Edges, mate: Index | None, blocking: bool = False) -> Waits:
    """The graph of ``inner`` (``within``) and of the messages (None: without them), where sends block or are buffered."""
    rows, kind = len(schedule), schedule.columns.kind
    ends = np.arange(rows, dtype=np.int32)
    split = np.unique(inner.first[inner.cause == BEGUN])
    parts = [inner, edges(split, split, OWN)]
    if mate is not None and blocking:
        recvs = np.flatnonzero(kind == RECV)
        ends[recvs] = mate[recvs]
    elif mate is not None:
        sends = np.flatnonzero(kind == SEND)
        parts.append(edges(sends, mate[sends], MESSAGE))
    begins = ends.copy()
    begins[split] = rows + np.arange(len(split), dtype=np.int32)
    every = joined(*parts)
    starts = (every.cause == BEGUN) | (every.cause == OWN)
    stops = (every.cause == MESSAGE) | (every.cause == OWN)
    source = np.where(starts, begins[every.first], ends[every.first])
    target = np.where(stops, ends[every.second], begins[every.second])
    return Waits(rows + len(split), ends, begins, every, source, target)


def spread(first: Ints | Index, count: Ints | Index) -> Ints:
    """first[0], first[0] + 1, ... (count[0] of them), then first[1], ..."""
    ends = np.cumsum(count, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    if total == len(first) and int(count.min(initial=1)) == 1:
        return np.asarray(first, np.int64)
    out: Ints = np.arange(total) + np.repeat(first - (ends - count), count)
    return out


def adjacency(count: int, key: Index, value: Index) -> tuple[Ints, Ints, Index]:
    """Values grouped by key: where each group begins, how many it holds, shape (count,), and the values."""
    packed = key.astype(np.int64) << 32 | value
    packed.sort()
    size = np.bincount(key, minlength=count)
    return np.cumsum(size) - size, size, (packed & 0xFFFFFFFF).astype(np.int32)


def levels(count: int, source: Index, target: Index) -> Index:
    """How many waits lie before each node at most, shape (count,); NONE for nodes on or behind a ring.

    Kahn's algorithm, a whole level at once; a deep and narrow graph goes on node by node.
    """
    level = np.full(count, NONE, np.int32)
    left = np.bincount(target, minlength=count)
    begin, size, after = adjacency(count, source, target)
    mark = np.empty(count, np.int64)
    front, depth, done = np.flatnonzero(left == 0), 0, 0
    while len(front):
        level[front] = depth
        depth, done = depth + 1, done + len(front)
        reached = after[spread(begin[front], size[front])]
        np.subtract.at(left, reached, 1)
        ready = reached[left[reached] == 0]
        number = np.arange(len(ready))
        mark[ready] = number
        front = ready[mark[ready] == number]
        if depth > _DEEP and done < depth * _NARROW:
            return _one_by_one(level, left, (begin, size, after), front.tolist(), depth)
    return level


def _one_by_one(level: Index, left: Ints, graph: tuple[Ints, Ints, Index], front: list[int], depth: int) -> Index:
    """Go on from ``front``, whose level is ``depth``."""
    begin, size, after = (part.tolist() for part in graph)
    out, waiting = level.tolist(), left.tolist()
    while front:
        coming = []
        for node in front:
            out[node] = depth
            for reached in after[begin[node] : begin[node] + size[node]]:
                waiting[reached] -= 1
                if not waiting[reached]:
                    coming.append(reached)
        front, depth = coming, depth + 1
    return np.array(out, np.int32)
