"""Up-down order: ways that never go up again once they went down wait for one another in no circle.

What belongs here: orders of nodes, and ways through a net. With nodes in any order, edges to an earlier node lead up; a
trail up and then down holds up-edges in the order of their far ends, then down-edges, so waits only lead forward
(Autonet: Schroeder et al. 1991).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopline.records.deadlock import Net, Start, Trails
from hopline.study.deadlock_waits import inner, running

Places = NDArray[np.int64]
MOST_ROOTS = 64
"""Nodes tried as the top of an order; of more, those with most edges."""


@dataclass(frozen=True, slots=True, eq=False)
class Tops:
    """An order and the flows that break it: ``place`` by node (0 is the top), ``breaking`` are numbers of flows."""

    root: int
    place: Places
    breaking: NDArray[np.int64]


class Ways:
    """Ways through a net; what was found from a node is kept."""

    def __init__(self, net: Net) -> None:
        self._net = net
        order = np.argsort(net.origin, kind="stable")
        first = np.concatenate([[0], np.cumsum(np.bincount(net.origin, minlength=len(net.names)))])
        leaving, ends = order.tolist(), net.target[order].tolist()
        begin = first.tolist()
        self._near = [
            list(zip(ends[begin[n] : begin[n + 1]], leaving[begin[n] : begin[n + 1]], strict=True))
            for n in range(len(net.names))
        ]
        self._forwards: list[bool] = net.forwards.tolist()
        self._far: dict[int, list[int]] = {}
        self._legal: dict[int, dict[tuple[int, bool], tuple[int, bool, int]]] = {}
        self._place: list[int] = []

    def order(self, root: int) -> Places:
        """Nodes by their distance from ``root``, then by number; islands after one another."""
        place = np.full(len(self._near), -1, np.int64)
        count = 0
        for start in [root, *range(len(self._near))]:
            if place[start] >= 0:
                continue
            ring = [start]
            seen = {start}
            while ring:
                for node in sorted(ring):
                    place[node] = count
                    count += 1
                beyond = {end for node in ring for end, _ in self._near[node] if place[end] < 0} - seen
                seen |= beyond
                ring = list(beyond)
        return place

    def under(self, place: Places) -> None:
        """The order that ``legal`` goes by."""
        self._place, self._legal = place.tolist(), {}

    def legal(self, origin: int, target: int) -> list[int] | None:
        """Edges of a shortest way up and then down; None: there is none through nodes that forward."""
        if origin == target:
            return []
        came = self._legal.get(origin)
        if came is None:
            came = self._legal[origin] = self._spread(origin)
        at = next(((target, down) for down in (False, True) if (target, down) in came), None)
        if at is None:
            return None
        if (target, True) in came and (target, False) in came:
            at = min(((target, False), (target, True)), key=lambda one: len(self._back(came, origin, one)))
        return self._back(came, origin, at)

    def _spread(self, origin: int) -> dict[tuple[int, bool], tuple[int, bool, int]]:
        """Breadth first over (node, whether the way went down): where each was reached from, and by which edge."""
        came: dict[tuple[int, bool], tuple[int, bool, int]] = {(origin, False): (origin, False, -1)}
        queue = deque([(origin, False)])
        while queue:
            node, down = queue.popleft()
            if node != origin and not self._forwards[node]:
                continue
            for end, edge in self._near[node]:
                falls = self._place[end] > self._place[node]
                then = (end, falls)
                if not (down and not falls) and then not in came and end != origin:
                    came[then] = (node, down, edge)
                    queue.append(then)
        return came

    @staticmethod
    def _back(came: dict[tuple[int, bool], tuple[int, bool, int]], origin: int, at: tuple[int, bool]) -> list[int]:
        edges = []
        while at[0] != origin:
            node, down, edge = came[at]
            edges.append(edge)
            at = (node, down)
        return edges[::-1]

    def shortest(self, origin: int, target: int, most: int) -> Iterator[list[int]]:
        """Up to ``most`` ways of fewest edges, in the order of edges."""
        far = self._far.get(target)
        if far is None:
            far = self._far[target] = self._distances(target)
        if far[origin] < 0:
            return
        stack: list[tuple[int, list[int]]] = [(origin, [])]
        while stack and most:
            node, edges = stack.pop()
            if node == target:
                most -= 1
                yield edges
                continue
            nearer = [(end, edge) for end, edge in self._near[node] if far[end] == far[node] - 1]
            stack += [(end, [*edges, edge]) for end, edge in reversed(nearer)]

    def _distances(self, target: int) -> list[int]:
        """Fewest edges from each node to ``target`` through nodes that forward; -1: no way."""
        far = [-1] * len(self._near)
        far[target] = 0
        queue = deque([target])
        while queue:
            node = queue.popleft()
            if node != target and not self._forwards[node]:
                continue
            for end, _ in self._near[node]:
                if far[end] < 0:
                    far[end] = far[node] + 1
                    queue.append(end)
        return far


def best_top(net: Net, trails: Trails, ways: Ways) -> Tops:
    """The order, among those from the likeliest roots, that the fewest flows break."""
    degree = np.bincount(net.origin, minlength=len(net.names)) * np.where(net.forwards, 2, 1)
    roots = (
        np.argsort(-degree, kind="stable")[:MOST_ROOTS].tolist()
        if len(net.names) > MOST_ROOTS
        else range(len(net.names))
    )
    joints = inner(trails.start, len(trails.edge))
    flow = np.repeat(np.arange(len(trails)), np.diff(trails.start))[joints]
    found: Tops | None = None
    for root in roots:
        place = ways.order(root)
        down = (place[net.target] > place[net.origin])[trails.edge]
        breaking = np.unique(flow[down[joints] & ~down[joints + 1]])
        if found is None or len(breaking) < len(found.breaking):
            found = Tops(root, place, breaking)
        if not len(breaking):
            break
    if found is None:
        raise ValueError("a net without nodes has no order")
    return found


def valleys(place: Places, net: Net, start: Start, edge: NDArray[np.int32]) -> Places:
    """How often the flow of each hop went up again after it went down, up to this hop, shape (hops,)."""
    down = (place[net.target] > place[net.origin])[edge]
    turns = np.zeros(len(edge), np.bool_)
    joints = inner(start, len(edge))
    turns[joints + 1] = down[joints] & ~down[joints + 1]
    return running(start, turns)
