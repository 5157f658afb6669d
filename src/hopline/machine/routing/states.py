"""Where a flow can be on its way and which edges it can take from there.

What belongs here: the steps of a routing as arrays. Plain ways have a state for each node; up-down ways have two. Nodes with
one neighbour are on nobody's way, so they have no steps: a flow begins and ends at their neighbours (``Ends``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopline.machine.graph import Graph, Index, Start

HOP, RELAY = 1 << 32, 1
"""Cost of a hop, and of one that ends at a device which sends on: fewest hops first, then fewest such devices."""


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Where flows enter the rest of the network.

    Attributes
    ----------
    at
        Of each node: itself, or the only neighbour of a node that has one neighbour.
    lead
        The edge there; -1 for a node that stands for itself.
    """

    at: Index
    lead: Index

    @classmethod
    def of(cls, graph: Graph) -> Ends:
        """Two nodes that only have each other stand for themselves."""
        degree = np.diff(graph.first)
        one = np.flatnonzero(degree == 1)
        edge = graph.leaving[graph.first[one]]
        far = degree[graph.target[edge]] > 1
        at, lead = np.arange(len(degree), dtype=np.int32), np.full(len(degree), -1, np.int32)
        at[one[far]], lead[one[far]] = graph.target[edge[far]], edge[far]
        return cls(at, lead)

    def inner(self, graph: Graph) -> Index:
        """Edges between nodes that stand for themselves."""
        own = self.lead < 0
        return np.flatnonzero(own[graph.origin] & own[graph.target]).astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Steps from state to state; those from state s are ``first[s] : first[s + 1]``, in the order of the file.

    Attributes
    ----------
    first, edge, there
        Edge of each step and the state behind it.
    back_first, back
        The same backwards: states from which state s is reached.
    cost
        Of a step that ends in each state.
    begin, goals
        State in which a flow begins at each node, shape (nodes,); states that are at it, shape (nodes, k).
    """

    first: Start
    edge: Index
    there: Index
    back_first: Start
    back: Index
    cost: NDArray[np.int64]
    begin: Index
    goals: Index

    @classmethod
    def of(cls, graph: Graph, here: Index, edge: Index, there: Index, goals: Index) -> Steps:
        """From the states before and behind each step; state s is at node s modulo the number of nodes."""
        nodes, states = goals.shape[0], goals.size
        forward, backward = np.lexsort((edge, here)), np.argsort(there, kind="stable")
        cost = HOP + RELAY * np.resize(graph.is_device, states).astype(np.int64)
        return cls(
            _first(here, states), edge[forward], there[forward], _first(there, states), here[backward], cost,
            np.arange(nodes, dtype=np.int32), goals,
        )  # fmt: skip

    @property
    def states(self) -> int:
        """Number of states."""
        return len(self.first) - 1


def _first(key: Index, count: int) -> Start:
    return np.concatenate([[0], np.cumsum(np.bincount(key, minlength=count))]).astype(np.int64)


def plain(graph: Graph, ends: Ends) -> Steps:
    """Any edge follows any other."""
    inner = ends.inner(graph)
    goals = np.arange(len(graph.names), dtype=np.int32)[:, None]
    return Steps.of(graph, graph.origin[inner], inner, graph.target[inner], goals)


def up_down(graph: Graph, ends: Ends, order: Start) -> Steps:
    """Edges to nodes of higher ``order`` first, then edges to lower ones. State n: may still go up; n + nodes: may not."""
    nodes = len(graph.names)
    inner = ends.inner(graph)
    here, there = graph.origin[inner], graph.target[inner]
    up = order[there] > order[here]
    goals = np.arange(2 * nodes, dtype=np.int32).reshape(2, nodes).T
    before = np.concatenate([here[up], here[~up], here[~up] + nodes]).astype(np.int32)
    behind = np.concatenate([there[up], there[~up] + nodes, there[~up] + nodes]).astype(np.int32)
    return Steps.of(graph, before, np.concatenate([inner[up], inner[~up], inner[~up]]), behind, goals)


def spread(first: Start, at: Start) -> tuple[Start, Start]:
    """Positions ``first[a] : first[a + 1]`` of every a of ``at``, and the place in ``at`` that each belongs to."""
    count = first[at + 1] - first[at]
    place = np.repeat(np.arange(len(at)), count)
    return np.arange(len(place)) - np.repeat(np.cumsum(count) - count - first[at], count), place
