"""Which buffers wait for which: from the trails of flows to a graph.

What belongs here: buffers and dependencies by number, in whole arrays, and counting along flows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopline.records.deadlock import Index, Start
from hopline.study.deadlock_cycles import tangles

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Waits:
    """Buffers and which waits for which.

    Attributes
    ----------
    edge, classes
        Of each buffer, shape (buffers,), in order of edge and class.
    origin, target
        Buffers of each dependency (the first waits for the second), shape (dependencies,), in order.
    joint
        Hops at which a dependency is made (by it and the next hop of its flow), shape (joints,).
    made
        Which dependency that is, shape (joints,).
    """

    edge: Index
    classes: Index
    origin: Numbers
    target: Numbers
    joint: Numbers
    made: Numbers

    def buffer(self, number: int) -> tuple[int, int]:
        """(edge, class) of a buffer."""
        return int(self.edge[number]), int(self.classes[number])

    def tangles(self) -> list[list[int]]:
        """Sets of buffers in which each waits for all, over others."""
        return tangles(len(self.edge), self.origin, self.target)


def waits(start: NDArray[np.int64], edge: Index, classes: Index) -> Waits:
    """What waits for what. start: shape (flows + 1,); edge, classes: shape (hops,), numbers from 0."""
    span = int(classes.max(initial=0)) + 1
    key = edge.astype(np.int64) * span + classes
    buffers, hop = _numbered(key)
    joints = inner(start, len(edge))
    code = hop[joints] * max(len(buffers), 1) + hop[joints + 1]
    dependencies, made = _numbered(code)
    origin, target = np.divmod(dependencies, max(len(buffers), 1))
    return Waits((buffers // span).astype(np.int32), (buffers % span).astype(np.int32), origin, target, joints, made)


def _numbered(keys: Numbers) -> tuple[Numbers, Numbers]:
    """Distinct keys in order, and the number of each key among them; without sorting where keys are dense."""
    most = int(keys.max(initial=-1)) + 1
    if most > 4 * len(keys) + 1000:
        distinct, number = np.unique(keys, return_inverse=True)
        return distinct, number
    seen = np.zeros(most, np.bool_)
    seen[keys] = True
    distinct = np.flatnonzero(seen)
    place = np.cumsum(seen) - 1
    return distinct, place[keys]


def inner(start: Start, hops: int) -> NDArray[np.int64]:
    """Hops that another hop of the same flow follows."""
    follows = np.ones(hops, np.bool_)
    ends = start[1:][np.diff(start) > 0]
    follows[ends - 1] = False
    return np.flatnonzero(follows)


def running(start: Start, marks: NDArray[np.bool_]) -> Numbers:
    """How many hops of the same flow are marked up to each hop, itself included, shape (hops,)."""
    total = np.concatenate([[0], np.cumsum(marks)])
    before: Numbers = np.repeat(total[start[:-1]], np.diff(start))
    return total[1:] - before
