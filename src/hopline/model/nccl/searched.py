"""The graphs that NCCL's search is likely to find on a machine whose nodes are all alike, where nobody told them.

What belongs here: a plain rule in place of the search (src/graph/search.cc, v2.30.7-1). It knows GPUs that all reach one
another over NVSwitch at the same rate, and one NIC a GPU. A log's GRAPH lines are the better source.
"""

from __future__ import annotations

from dataclasses import dataclass

from hopline.errors import InputError
from hopline.model.nccl.job import Graph
from hopline.model.nccl.numbers import ARCHITECTURES, CAPABILITY

NVLINK = {"volta": 6 * 20.0, "ampere": 12 * 20.0, "hopper": 18 * 20.6, "blackwell": 18 * 40.1}
"""GB/s that NCCL reckons a GPU has over all its links (src/graph/topo.h; links of V100, A100, H100, B200)."""
NIC = {"volta": 12.5, "ampere": 25.0, "hopper": 50.0, "blackwell": 50.0}
"""GB/s of the NIC of each GPU, taken where none is told: 100, 200, 400 and 400 Gb/s."""
_OLD_WITHIN = (40.0, 30.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0, 7.0, 6.0, 5.0, 4.0, 3.0)
_OLD_BETWEEN = (
    48.0,
    30.0,
    28.0,
    24.0,
    20.0,
    18.0,
    15.0,
    12.0,
    10.0,
    9.0,
    7.0,
    6.0,
    5.0,
    4.0,
    3.0,
    2.4,
    1.2,
    0.24,
    0.12,
)
_WITHIN = {
    "volta": _OLD_WITHIN, "ampere": _OLD_WITHIN,
    "hopper": (60.0, 50.0, 40.0, 30.0, 24.0, 20.0, 15.0, 12.0, 11.0, 6.0, 3.0),
    "blackwell": (90.0, 80.0, 70.0, 60.0, 50.0, 45.0, 40.0, 30.0, 24.0, 20.0, 19.0, 18.0),
}  # fmt: skip
_BETWEEN = {
    "volta": _OLD_BETWEEN, "ampere": _OLD_BETWEEN,
    "hopper": (48.0, 45.0, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0, 17.5, 15.0, 12.0, 6.0, 3.0, 2.4, 1.2, 0.24, 0.12),
    "blackwell": (
        96.0, 86.0, 80.0, 48.0, 45.1, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0, 17.5, 15.0, 12.0, 6.0, 3.0, 2.4, 1.2, 0.24, 0.12,
    ),
}  # fmt: skip
"""Bandwidths that the search tries for a channel, on one node and over the network."""
_DOUBLED, _FAST, _FEW = 25.0, 50.0, 4
MOST_HEADS = 32


@dataclass(frozen=True, slots=True)
class Node:
    """What a node is made of: GPUs of an architecture; ``nvlink`` and ``nic`` in GB/s of each GPU."""

    architecture: str
    gpus: int
    nvlink: float
    nic: float


def graphs(node: Node, nodes: int) -> dict[str, Graph]:
    """Algorithm -> Graph. Raises InputError where no bandwidth that is tried fits."""
    ring, tree, multicast = _alone(node) if nodes == 1 else _over_network(node)
    found = {"Ring": ring, "Tree": tree, "CollNetDirect": tree, "CollNetChain": tree, "PAT": tree}
    return found | ({"NVLS": multicast, "NVLSTree": multicast} if multicast is not None else {})


def assumed(architecture: str, per_node: int, nic: float | None = None, nvlink: float | None = None) -> Node:
    """A node of ``architecture`` with the rates of its usual machines where none are told."""
    if architecture not in ARCHITECTURES:
        raise InputError(f"{architecture!r} is no architecture: expected one of {', '.join(ARCHITECTURES)}")
    return Node(architecture, per_node, nvlink or NVLINK[architecture], nic or NIC[architecture])


def _alone(node: Node) -> tuple[Graph, Graph, Graph | None]:
    """On one node rings and trees find the same channels; NVLS takes one a GPU."""
    speed, channels = _best(node.nvlink, _WITHIN[node.architecture], node.nvlink)
    ring = _doubled(Graph(channels, speed, speed), node)
    if not _multicasts(node):
        return ring, ring, None
    heads = min(MOST_HEADS, node.gpus)
    pulled = _fitting(_WITHIN[node.architecture], node.nvlink / heads)
    faster = [speed for speed in _WITHIN[node.architecture] if pulled <= speed < 4 * pulled]
    return ring, ring, Graph(heads, pulled, max(_reached(pulled, faster), pulled))


def _reached(start: float, faster: list[float]) -> float:
    """The search goes on to the next faster while the last was below twice the start."""
    at = start
    for speed in sorted(faster):
        if speed > at and at < 2 * start:
            at = speed
    return at


def _over_network(node: Node) -> tuple[Graph, Graph, Graph | None]:
    """A channel a NIC; trees need not come back to where they began and find a little more, inside of nodes."""
    tried = _BETWEEN[node.architecture]
    share = node.nvlink / node.gpus if node.gpus > 1 else node.nic
    speed = _fitting(tried, min(node.nic, share))
    ring = _doubled(Graph(node.gpus, speed, speed), node)
    wider = share * node.gpus / (node.gpus - 1) if node.gpus > 1 else node.nic
    lower = _fitting(tried, min(node.nic, wider))
    doubled = _doubled(Graph(node.gpus, lower, lower), node)
    limit = wider * node.gpus / doubled.channels
    inside = _reached(doubled.within, [one for one in tried if doubled.within < one <= limit])
    tree = Graph(doubled.channels, inside, doubled.between)
    if not _multicasts(node):
        return ring, tree, None
    return ring, tree, Graph(node.gpus, _fitting(tried, share), _fitting(tried, node.nic))


def _multicasts(node: Node) -> bool:
    return CAPABILITY[node.architecture] >= 90 and node.gpus > 1


def _best(total: float, tried: tuple[float, ...], most: float) -> tuple[float, int]:
    """The bandwidth of a channel with which whole channels fill most of ``total``, the faster of equals."""
    found = (0.0, 0)
    for speed in tried:
        channels = int(total / speed + 1e-9) if speed <= most else 0
        if channels and speed * channels > found[0] * found[1]:
            found = (speed, channels)
        elif found[1] and speed / found[0] <= 0.49:
            break
    if not found[1]:
        raise InputError(
            f"{total:g} GB/s a GPU: expected at least {tried[-1]:g}, the least that NCCL tries for a channel"
        )
    return found


def _fitting(tried: tuple[float, ...], limit: float) -> float:
    found = next((speed for speed in tried if speed <= limit + 1e-9), None)
    if found is None:
        raise InputError(f"{limit:g} GB/s a channel: expected at least {tried[-1]:g}, the least that NCCL tries")
    return found


def _doubled(graph: Graph, node: Node) -> Graph:
    """Fast channels are split in two."""
    slow = graph.within < _DOUBLED
    if slow or (CAPABILITY[node.architecture] > 80 and graph.within < _FAST and graph.channels > _FEW):
        return graph
    return Graph(2 * graph.channels, graph.within / 2, graph.between / 2)
