"""Rings of waits: found in what Kahn's algorithm leaves over, and told rank by rank.

What belongs here: one ring, a short one, and its words.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from hopline.schedule.check import words
from hopline.schedule.check.order import AFTER, BEGUN, LANE, MESSAGE, OWN, Waits
from hopline.schedule.operations import NONE, Index, Schedule
from hopline.schedule.pieces import Ints

_CAUSES = {LANE: "stands behind", AFTER: "comes after", BEGUN: "waits for the beginning of", MESSAGE: "waits for"}
_SHOWN = 8
"""Operations of a ring that are named; of longer ones the middle is left out."""
_SEARCHED = 200_000
"""Edges up to which the shortest ring through the first one's nodes is sought."""

Hop = tuple[int, int, int]
"""A row, why it waits, and the row that it waits for."""


def ring(graph: Waits, level: Index) -> list[Hop]:
    """A ring among the nodes without a level (there must be some): each hop's last row is the next one's first."""
    stuck = np.flatnonzero((level[graph.source] == NONE) & (level[graph.target] == NONE))
    stuck = stuck[np.argsort(graph.target[stuck], kind="stable")]
    target = graph.target[stuck]
    here = int(target[0])
    seen: dict[int, int] = {}
    path: list[int] = []
    while here not in seen:
        seen[here] = len(path)
        edge = int(stuck[np.searchsorted(target, here)])
        path.append(edge)
        here = int(graph.source[edge])
    path = path[seen[here] :]
    if len(path) > 1 and len(stuck) <= _SEARCHED:
        path = _shorter(graph, stuck, path)
    return _hops(graph, path)


def _shorter(graph: Waits, stuck: Ints, path: list[int]) -> list[int]:
    """The shortest ring through the lowest node of ``path``, searched backwards."""
    back: dict[int, list[int]] = {}
    for edge, target in zip(stuck.tolist(), graph.target[stuck].tolist(), strict=True):
        back.setdefault(target, []).append(edge)
    start = min(int(graph.target[edge]) for edge in path)
    came: dict[int, int] = {}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        for edge in back.get(here, ()):
            node = int(graph.source[edge])
            if node in came:
                continue
            came[node] = edge
            if node == start:
                return _walked(graph, came, start)
            queue.append(node)
    return path


def _walked(graph: Waits, came: dict[int, int], start: int) -> list[int]:
    """``came`` holds, of each node, the edge that leads from it towards ``start``; the ring in order of waiting."""
    found: list[int] = []
    here = start
    while not found or here != start:
        found.append(came[here])
        here = int(graph.target[came[here]])
    return found[::-1]


def _hops(graph: Waits, path: list[int]) -> list[Hop]:
    """Rows of the edges in order of waiting; where one node is two ends of a message, the wait for the other end between."""
    hops: list[Hop] = []
    for here, then in zip(path, path[1:] + path[:1], strict=True):
        second, first = int(graph.edges.second[here]), int(graph.edges.first[here])
        if graph.edges.cause[here] != OWN:
            hops.append((second, int(graph.edges.cause[here]), first))
        waiting = int(graph.edges.second[then])
        if waiting != first:
            hops.append((first, MESSAGE, waiting))
    return hops


def told(schedule: Schedule, hops: list[Hop]) -> str:
    """``rank 0 send to 1 (row 0) waits for rank 1 recv from 0 (row 3), which stands behind ...``."""
    first = min(range(len(hops)), key=lambda i: hops[i][0])
    hops = hops[first:] + hops[:first]
    parts = [f"{_CAUSES[cause]} {words.operation(schedule, row)}" for _, cause, row in hops]
    if len(parts) > _SHOWN:
        parts = [*parts[: _SHOWN - 2], f"waits, over {len(parts) - _SHOWN} more, for what", *parts[-2:]]
    return f"{words.operation(schedule, hops[0][0])} {', which '.join(parts)}"
