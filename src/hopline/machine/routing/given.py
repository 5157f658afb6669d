"""Ways that somebody else chose: named node by node, and checked.

What belongs here: from names to edges, and what no way may do.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from hopline.errors import MachineError
from hopline.machine.graph import Graph, Hops


def named(graph: Graph, ways: Sequence[Sequence[str]]) -> Hops:
    """The hops of ways that are given as names of nodes.

    Raises UnknownNameError for unknown nodes and MachineError for neighbours that are none, or a node that comes twice.
    """
    between = {(int(a), int(b)): edge for edge, (a, b) in enumerate(zip(graph.origin, graph.target, strict=True))}
    edges: list[int] = []
    start = [0]
    for way in ways:
        numbers = [graph.number(name) for name in way]
        for a, b in pairwise(numbers):
            if (a, b) not in between:
                raise MachineError(
                    f"the route {_told(way)} goes from {graph.names[a]} to {graph.names[b]}, which are not joined in "
                    f"{graph.machine.name}: expected neighbours"
                )
        edges += [between[pair] for pair in pairwise(numbers)]
        start.append(len(edges))
    return check(graph, Hops(np.array(start, np.int64), np.array(edges, np.int32)))


def check(graph: Graph, hops: Hops) -> Hops:
    """The same hops. Raises MachineError for a way that is torn, or comes twice to a node: a loop."""
    origin, target = graph.origin[hops.edge], graph.target[hops.edge]
    flow = np.repeat(np.arange(len(hops)), np.diff(hops.start))
    torn = np.flatnonzero((flow[1:] == flow[:-1]) & (origin[1:] != target[:-1]))
    if len(torn):
        i = int(torn[0])
        raise MachineError(
            f"the route of flow {flow[i]} comes to {graph.names[target[i]]} and goes on from {graph.names[origin[i + 1]]}: "
            "expected each hop to begin where the one before it ended"
        )
    begins = hops.start[:-1][np.diff(hops.start) > 0]
    visits = np.concatenate([flow * len(graph.names) + target, flow[begins] * len(graph.names) + origin[begins]])
    visits.sort()
    twice = np.flatnonzero(visits[1:] == visits[:-1])
    if len(twice):
        number, node = divmod(int(visits[twice[0]]), len(graph.names))
        way = [graph.names[n] for n in (graph.origin[hops.of(number)[0]], *graph.target[hops.of(number)])]
        raise MachineError(
            f"the route {_told(way)} of flow {number} comes twice to {graph.names[node]}, a loop: expected each node once"
        )
    return hops


def _told(way: Sequence[str], most: int = 12) -> str:
    return ">".join(way[:most]) + (f">... ({len(way)} nodes)" if len(way) > most else "")
