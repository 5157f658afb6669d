"""Cycles of a directed graph: the sets in which everything reaches everything, and a shortest way round.

What belongs here: graphs of plain numbers. What waits for what is ``deadlock``; how a cycle is broken is ``deadlock_cuts``.
Nothing here calls itself, so a chain of any length will do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Arcs = Mapping[int, Sequence[int]]
"""Node -> nodes that it points to."""


@dataclass(slots=True)
class Budget:
    """Arcs that a search may still look at: what it costs is the same on every machine."""

    left: int

    def spend(self, arcs: int) -> bool:
        """Whether so many more may be looked at."""
        self.left -= arcs
        return self.left >= 0


def tangles(nodes: int, origin: Numbers, target: Numbers) -> list[list[int]]:
    """Sets of nodes (sorted) in which each reaches all, by Tarjan; single nodes only where they point to themselves.

    origin, target: shape (arcs,), numbers below ``nodes``. Sets stand in the order of their first node.
    """
    order = np.argsort(origin, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(origin, minlength=nodes))]).tolist()
    to = target[order].tolist()
    loops = set(origin[origin == target].tolist())
    seen, low, at = [0] * nodes, [0] * nodes, first[:-1]
    held, stack, found, clock = [False] * nodes, [], [], 0
    for root in range(nodes):
        if seen[root] or first[root] == first[root + 1]:
            continue
        path = [root]
        while path:
            node = path[-1]
            if not seen[node]:
                clock += 1
                seen[node] = low[node] = clock
                stack.append(node)
                held[node] = True
            if at[node] < first[node + 1]:
                child = to[at[node]]
                at[node] += 1
                if not seen[child]:
                    path.append(child)
                elif held[child] and seen[child] < low[node]:
                    low[node] = seen[child]
                continue
            path.pop()
            if path and low[node] < low[path[-1]]:
                low[path[-1]] = low[node]
            if low[node] == seen[node]:
                one = _popped(stack, node, held)
                if len(one) > 1 or node in loops:
                    found.append(sorted(one))
    return sorted(found)


def _popped(stack: list[int], last: int, held: list[bool]) -> list[int]:
    one = []
    while True:
        node = stack.pop()
        held[node] = False
        one.append(node)
        if node == last:
            return one


def grouped(arcs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """Arcs by the node that they leave."""
    found: dict[int, list[int]] = {}
    for origin, target in arcs:
        found.setdefault(origin, []).append(target)
    return found


def shortest_cycle(arcs: Arcs, budget: Budget) -> tuple[list[int], bool]:
    """Nodes of a cycle of fewest arcs (empty: there is none), and whether it is known to be one.

    Nodes are tried in order; one that was tried is taken out, and with it what then lies on no cycle any more, so that a
    long ring is gone through once. Where the budget ends first, what was found so far is returned.
    """
    alone = next((node for node in sorted(arcs) if node in arcs[node]), None)
    if alone is not None:
        return [alone], True
    into = grouped((target, origin) for origin, targets in arcs.items() for target in targets)
    gone: set[int] = set()
    best: list[int] = []
    for start in sorted(arcs):
        if start in gone:
            continue
        cycle = _through(start, arcs, gone, len(best) - 1 if best else 0, budget)
        best = cycle or best
        if len(best) == 2 or budget.left < 0:
            break
        _take_out(start, arcs, into, gone)
    return best, budget.left >= 0 or len(best) == 2


def _through(start: int, arcs: Arcs, gone: set[int], most: int, budget: Budget) -> list[int]:
    """A shortest cycle through ``start`` of at most ``most`` arcs (0: of any number), breadth first; empty: none."""
    came = {start: start}
    depth = {start: 0}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        if most and depth[node] >= most:
            break
        targets = arcs.get(node, ())
        if not budget.spend(len(targets)):
            break
        for target in targets:
            if target == start:
                return _walked(came, start, node)
            if target not in came and target not in gone:
                came[target], depth[target] = node, depth[node] + 1
                queue.append(target)
    return []


def _walked(came: Mapping[int, int], start: int, node: int) -> list[int]:
    back = [node]
    while back[-1] != start:
        back.append(came[back[-1]])
    return back[::-1]


def _take_out(node: int, arcs: Arcs, into: Arcs, gone: set[int]) -> None:
    """Mark ``node`` as gone, and all that nothing points to, or that points to nothing, without it."""
    gone.add(node)
    waiting = [node]
    while waiting:
        taken = waiting.pop()
        for near, ahead in ((arcs, into), (into, arcs)):
            for other in near.get(taken, ()):
                if other not in gone and all(end in gone for end in ahead.get(other, ())):
                    gone.add(other)
                    waiting.append(other)
