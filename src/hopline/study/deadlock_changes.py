"""What changes start from, and trails after a change, looked at again.

What belongs here: what all kinds of remedy share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopline.records.deadlock import Change, Net, Remedy, RemedyKind, Trails
from hopline.study.deadlock_cuts import Arc, Cut
from hopline.study.deadlock_waits import Waits, waits

Numbers = NDArray[np.int64]
Classify = Callable[[int, list[int]], list[int]]
"""(flow, its edges) -> the classes of its hops."""


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """What remedies start from.

    Attributes
    ----------
    waits
        Of the trails as they are.
    cut, flows
        Bounds on the flows that have to change, and a set of them that do.
    arcs
        Dependency of each arc (pair of buffers) that lies on a cycle.
    """

    net: Net
    trails: Trails
    classify: Classify
    waits: Waits
    cut: Cut
    flows: Numbers
    arcs: Mapping[Arc, int]
    limit: int

    @property
    def staying(self) -> NDArray[np.bool_]:
        """Dependencies that flows make which do not have to change, shape (dependencies,)."""
        flow = np.repeat(np.arange(len(self.trails)), np.diff(self.trails.start))[self.waits.joint]
        stay = np.zeros(len(self.waits.origin), np.bool_)
        stay[self.waits.made[~np.isin(flow, self.flows)]] = True
        return stay


def changed(trails: Trails, changes: Mapping[int, Change]) -> Trails:
    """The trails after the changes (by flow)."""
    parts = [
        (np.array(changes[f].edges, np.int32), np.array(changes[f].classes, np.int32))
        if f in changes
        else (trails.of(f), trails.classes_of(f))
        for f in range(len(trails))
    ]
    start = np.concatenate([[0], np.cumsum([len(edges) for edges, _ in parts])]).astype(np.int64)
    edge = np.concatenate([edges for edges, _ in parts]).astype(np.int32)
    classes = np.concatenate([classes for _, classes in parts]).astype(np.int32)
    return Trails(trails.flows, start, edge, classes, trails.rate)


def remedy(
    given: Given, kind: RemedyKind, changes: list[Change], least: int,
    turns: tuple[tuple[int, int], ...] = (), root: int | None = None,
) -> Remedy:  # fmt: skip
    """The changes, applied and looked at again."""
    after = changed(given.trails, {change.flow: change for change in changes})
    free = not waits(after.start, after.edge, after.classes).tangles()
    ordered = tuple(sorted(changes, key=lambda change: change.flow))
    return Remedy(kind, ordered, min(least, len(changes)), len(np.unique(after.classes)), free, turns, root)


def ends(given: Given, flow: int) -> tuple[int, int]:
    """Nodes where a flow begins and ends."""
    edges = given.trails.of(flow)
    return int(given.net.origin[edges[0]]), int(given.net.target[edges[-1]])


def places(arcs: list[Arc]) -> dict[int, float]:
    """A place for each node so that all arcs lead forward, where they close no cycle (Kahn)."""
    out: dict[int, list[int]] = {}
    into: dict[int, int] = {}
    for origin, target in arcs:
        out.setdefault(origin, []).append(target)
        into[target] = into.get(target, 0) + 1
        into.setdefault(origin, 0)
    row = [node for node, count in into.items() if not count]
    for node in row:
        for target in out.get(node, ()):
            into[target] -= 1
            if not into[target]:
                row.append(target)
    return {node: float(place) for place, node in enumerate(row)}
