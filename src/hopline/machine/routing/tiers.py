"""Up-down routing: which edges lead up.

What belongs here: orders of all nodes. A way goes up in the order, then down; such ways never wait for each other in a circle,
since each buffer only waits for one that is further up, or further down.
"""

from __future__ import annotations

import numpy as np

from hopline.machine.graph import Graph, Hops, Index, Start
from hopline.machine.routing.states import Ends, spread, up_down
from hopline.machine.routing.walking import Choice, Longs, NoWayError, walk


def route(graph: Graph, choice: Choice, origin: Index, target: Index, channel: Index) -> Hops:
    """The fewest hops up, then down. By tiers where all flows have a way by these, else from a root (all flows then)."""
    ends = Ends.of(graph)
    try:
        return walk(graph, ends, up_down(graph, ends, by_tiers(graph, ends)), choice, origin, target, channel)
    except NoWayError:
        return walk(graph, ends, up_down(graph, ends, by_root(graph, ends)), choice, origin, target, channel)


def by_tiers(graph: Graph, ends: Ends) -> Start:
    """Place of each node in the order: further from the devices is higher, then later in the file."""
    return _order(_layers(graph, graph.devices), ends)


def by_root(graph: Graph, ends: Ends) -> Start:
    """Nearer to the root of its island is higher, then earlier in the file (Autonet: M. Schroeder et al., 1991).

    The root is the node with the most edges, the first of several.
    """
    layer = np.full(len(graph.names), -1, np.int64)
    degree = np.diff(graph.first)
    for root in np.argsort(-degree, kind="stable").tolist():
        if layer[root] < 0:
            found = _layers(graph, np.array([root], np.int32))
            layer = np.where(found >= 0, found, layer)
    backwards = _order(layer, ends, outer=1)
    return len(backwards) - 1 - backwards


def _order(layer: Longs, ends: Ends, outer: int = -1) -> Start:
    """Places by layer, then number; nodes with one neighbour are the lowest (``outer`` -1) or the last."""
    sequence = np.lexsort((np.arange(len(layer)), layer, outer * (ends.lead >= 0)))
    place = np.empty(len(layer), np.int64)
    place[sequence] = np.arange(len(layer))
    return place


def _layers(graph: Graph, roots: Index) -> Longs:
    """Hops from the nearest of ``roots``; -1: not reached."""
    layer = np.full(len(graph.names), -1, np.int64)
    front, depth = roots.astype(np.int64), 0
    while len(front):
        layer[front] = depth
        position, _ = spread(graph.first, front)
        near = np.unique(graph.target[graph.leaving[position]])
        front, depth = near[layer[near] < 0].astype(np.int64), depth + 1
    return layer
