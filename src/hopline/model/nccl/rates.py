"""The bandwidth that NCCL's tuner gives a function by an algorithm and protocol, before anything is switched off.

What belongs here: GB/s from graphs. Latencies are ``tables``.
"""

from __future__ import annotations

from hopline.model.nccl import numbers as given
from hopline.model.nccl.job import Graph, Job

GATHERING = ("AllGather", "ReduceScatter")
ROOTED = ("Broadcast", "Reduce")
COLLNET = ("CollNetDirect", "CollNetChain")
MULTICAST = ("NVLS", "NVLSTree")
_GATHERED_BY = ("Ring", "NVLS", "CollNetDirect", "PAT")
_PARTS_OF_ONE, _PARTS_OF_EIGHT = 0.95, 0.85
_NEAR_NETWORK = 0.9


def has(function: str, algorithm: str, protocol: str, job: Job) -> bool:
    """Whether NCCL reckons with this way at all."""
    if function in ROOTED:
        return algorithm == "Ring"
    if algorithm not in _GATHERED_BY if function in GATHERING else algorithm == "PAT":
        return False
    if algorithm in MULTICAST:
        graph = job.graphs[algorithm]
        return protocol == "Simple" and graph.channels >= 2 and graph.hop == "nvlink"
    return algorithm != "PAT" or (protocol == "Simple" and pat(job))


def pat(job: Job) -> bool:
    """Whether PAT is on: by default only with one rank a node."""
    return bool(job.pat) if job.pat != 2 else job.nodes == job.ranks


def steps(function: str, ranks: int) -> int:
    """Steps of a ring."""
    return {"AllReduce": 2 * (ranks - 1), "AllGather": ranks - 1, "ReduceScatter": ranks - 1}.get(function, ranks)


def bandwidth(function: str, algorithm: str, protocol: str, job: Job) -> float:
    """GB/s of algorithm bandwidth."""
    graph = job.graphs[algorithm]
    channel = _multicast(function, algorithm, job) if algorithm in MULTICAST else _channel(algorithm, graph, job)
    bus = _FITTED[algorithm](function, protocol, graph.channels * channel, job)
    if function in GATHERING and algorithm != "Ring":
        return bus
    if algorithm == "Ring" or (algorithm in MULTICAST and job.numbers.nvls == "efficiency"):
        return bus * job.ranks / steps(function, job.ranks)
    return bus * (5.0 / 6.0 if algorithm in MULTICAST else 0.5)


def _channel(algorithm: str, graph: Graph, job: Job) -> float:
    return graph.within if job.nodes <= 2 or algorithm in COLLNET else graph.between


def _multicast(function: str, algorithm: str, job: Job) -> float:
    """Of a channel of NVLS or NVLSTree, by the rule of the version."""
    graph, rule = job.graphs[algorithm], job.numbers.nvls
    within, between = graph.within, graph.between
    others = (job.per_node - 1) / job.per_node
    if rule == "efficiency":
        within *= given.NVLS_EFFICIENCY[job.architecture] * (graph.channels - 1) / graph.channels
        within *= 2.0 if function == "AllReduce" else others
        if algorithm == "NVLS":
            return min(within, between)
        between *= 2 if job.nodes <= 2 else 1
        return min(within, between, job.numbers.nvls_tree_most[job.architecture][job.span])
    if algorithm == "NVLSTree":
        return min(within, between if job.nodes <= 2 else between / 2)
    if rule == "parts" and function != "AllReduce":
        return min(within * others, between * _NEAR_NETWORK)
    return min(within, between)


def _ll_most(job: Job) -> float:
    """By the GPU on one node, by the CPU on several."""
    several = "ampere" if job.cpu in ("amd", "mixed") else "volta"
    return job.numbers.ll_most[job.architecture if job.nodes == 1 else several][job.span]


def _ring(function: str, protocol: str, bus: float, job: Job) -> float:
    del function
    if protocol == "LL":
        return min(_ll_most(job), bus * given.RING_LL)
    if protocol == "LL128":
        most = job.numbers.ring_ll128[job.architecture][job.span]
        return min(bus * given.RING_LL128, job.graphs["Ring"].channels * most)
    return bus


def _tree(function: str, protocol: str, bus: float, job: Job) -> float:
    graph, known = job.graphs["Tree"], job.numbers
    if function == "AllReduce":
        bus = min(bus * given.TREE, graph.channels * known.tree_most[job.architecture][job.span])
    if protocol == "LL":
        bus = min(bus / given.TREE_LL, _ll_most(job))
    if protocol == "LL128":
        part = given.TREE_LL128[job.nodes > 1]
        bus = min(bus * part, graph.channels * known.tree_ll128[job.architecture][job.span])
    return bus * given.TREE_PLAIN if graph.plain_tree else bus


def _collnet_direct(function: str, protocol: str, bus: float, job: Job) -> float:
    graph, own = job.graphs["CollNetDirect"], job.per_node
    if protocol != "Simple":
        return 0.0
    if function in GATHERING:
        if job.numbers.nvls == "plain":
            weight = (own - 1) / 7
            return own * graph.within * (weight * _PARTS_OF_EIGHT + (1 - weight) * _PARTS_OF_ONE)
        return own * min(graph.within, graph.between * _NEAR_NETWORK)
    ratio = own / graph.channels if graph.channels else 1.0
    bus /= ratio - (ratio - 1) / 2
    return bus * given.COLLNET_HOPPER if job.capability >= 90 else bus


def _collnet_chain(function: str, protocol: str, bus: float, job: Job) -> float:
    del function, job
    return bus if protocol == "Simple" else 0.0


def _multicast_bus(function: str, protocol: str, bus: float, job: Job) -> float:
    del function, protocol, job
    return bus


def _pat(function: str, protocol: str, bus: float, job: Job) -> float:
    del function, protocol, job
    return bus * given.PAT


_FITTED = {
    "Tree": _tree, "Ring": _ring, "CollNetDirect": _collnet_direct, "CollNetChain": _collnet_chain, "NVLS": _multicast_bus,
    "NVLSTree": _multicast_bus, "PAT": _pat,
}  # fmt: skip
"""Algorithm -> what is left of the bandwidth of all channels."""
