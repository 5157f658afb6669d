"""The tuning table: latency and bandwidth of every function by every algorithm and protocol, as NCCL prints it.

What belongs here: latencies, and what is switched off by the system. What a user switches off is ``forcing``.
"""

from __future__ import annotations

from hopline.model.nccl import numbers as given
from hopline.model.nccl.job import Graph, Job
from hopline.model.nccl.numbers import place
from hopline.model.nccl.rates import COLLNET, GATHERING, MULTICAST, ROOTED, bandwidth, has, steps
from hopline.records.nccl_log import Cell
from hopline.records.nccl_names import ALGORITHMS, FUNCTIONS, PROTOCOLS

Key = tuple[str, str, str]
"""Function, algorithm, protocol."""
Table = dict[Key, Cell]
_US, _GBPS = 1e-6, 1e9
_OFF = Cell(0.0, 0.0)


def table(job: Job) -> Table:
    """(function, algorithm, protocol) -> seconds and byte/s; 0 byte/s where NCCL does not use it."""
    keys = [(function, name, protocol) for function in FUNCTIONS for name in ALGORITHMS for protocol in PROTOCOLS]
    return {key: cell(*key, job) for key in keys}


def cell(function: str, algorithm: str, protocol: str, job: Job) -> Cell:
    """One cell of the table."""
    if algorithm not in job.graphs or not has(function, algorithm, protocol, job):
        return _OFF
    rate = bandwidth(function, algorithm, protocol, job) if usable(function, algorithm, protocol, job) else 0.0
    return Cell(latency(function, algorithm, protocol, job) * _US, rate * _GBPS)


def usable(function: str, algorithm: str, protocol: str, job: Job) -> bool:
    """Whether the system allows it; users may still ask for LL128 where NCCL leaves it off (``forcing``)."""
    on = algorithm not in COLLNET or job.collnet
    if algorithm == "CollNetDirect":
        on = on and job.nvswitch
    if algorithm in MULTICAST:
        on = on and job.nvls and (algorithm == "NVLS" or job.nodes > 1)
    if algorithm == "NVLS":
        on = on and (job.nodes == 1 or job.collnet)
    if algorithm in ("NVLS", "CollNetDirect") and function in GATHERING and job.nodes > 1:
        on = on and job.collnet
    return on and (protocol != "LL128" or with_ll128(job, algorithm))


def with_ll128(job: Job, algorithm: str) -> bool:
    """Whether NCCL has LL128 on by itself: near paths only, since its stores must arrive whole."""
    return job.graphs[algorithm].nearer("PXN" if job.capability >= 90 else "PXB")


def latency(function: str, algorithm: str, protocol: str, job: Job) -> float:
    """µs of a call without bytes."""
    graph, hop, at = job.graphs[algorithm], job.numbers.hop, place(protocol)
    base = given.BASE[algorithm][at]
    within = hop[graph.hop][algorithm][at]
    between = hop["net"]["Tree" if job.per_node == 1 else algorithm][at]
    between += graph.latency * (2 if protocol == "Simple" else 1)
    others, levels = job.ranks // job.nodes - 1, job.nodes.bit_length() - 1
    if algorithm == "Ring":
        return base + _ring(function, protocol, job, within, between)
    if algorithm == "Tree":
        return base + 2 * (others * within + levels * between)
    if algorithm == "CollNetDirect":
        return base + 2 * (min(1, others) * within + others * given.ARITY) + between
    if algorithm == "CollNetChain":
        return base + 2 * others * within + between
    if algorithm == "NVLS":
        return within + (between if job.nodes > 1 else 0.0)
    if algorithm == "NVLSTree":
        return base + within + 2 * levels * between
    return base + levels * between / given.PAT_LOG + job.ranks * given.PAT_LINEAR


def _ring(function: str, protocol: str, job: Job, within: float, between: float) -> float:
    """µs of all steps of a ring."""
    graph = job.graphs["Ring"]
    if function in ROOTED:
        return _rooted(function, protocol, job, graph)
    far = 0
    if job.nodes > 1:
        posting = given.NET_OVERHEAD[job.cpu] * (3 if protocol == "Simple" else 1)
        within = max(within, posting)
        far = (2 if function == "AllReduce" else 1) * (job.nodes - 1)
    return (steps(function, job.ranks) - far) * within + far * between


def _rooted(function: str, protocol: str, job: Job, graph: Graph) -> float:
    """Broadcast and reduce: NCCL counts one hop where all channels go the same way, else one a rank."""
    hops = job.numbers.hop[graph.hop if job.nodes == 1 else "net"]
    if graph.same:
        return hops["Ring"][place(protocol)]
    return steps(function, job.ranks) * hops["Tree" if protocol == "Simple" else "Ring"][place(protocol)]
