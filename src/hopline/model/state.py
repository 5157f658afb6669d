"""Connection state: contexts and bytes that each way of connecting needs, and the cost of those that leave the NIC's cache.

What belongs here: counting, and closed forms of caches. Bytes of a context are parameters; the defaults name their sources.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

from hopline.errors import InputError
from hopline.quantity import NON_NEGATIVE, POSITIVE


@dataclass(frozen=True, slots=True)
class Cluster:
    """Who talks to whom.

    Attributes
    ----------
    nodes, processes
        Nodes, and processes on each.
    peers
        Processes on other nodes that each process talks to; None: all of them.
    connections
        Queue pairs for each pair of processes (NCCL_IB_QPS_PER_CONNECTION and the like).
    nics
        NICs of a node, among which its contexts are spread evenly.
    initiators, endpoints, channels
        DC initiators and jetties of a process; transport channels of a pair of nodes.
    """

    nodes: int
    processes: int
    peers: int | None = None
    connections: int = 1
    nics: int = 1
    initiators: int = 8
    endpoints: int = 1
    channels: int = 1

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and value < (0 if field.name == "peers" else 1):
                raise InputError(f"{field.name} is {value}: expected at least {0 if field.name == 'peers' else 1}")
        if self.peers is not None and self.peers > self.others:
            raise InputError(f"{self.peers} peers: expected at most the {self.others} processes on other nodes")

    @property
    def others(self) -> int:
        """Processes on other nodes."""
        return (self.nodes - 1) * self.processes

    @property
    def talks_to(self) -> int:
        """Processes that each process talks to."""
        return self.others if self.peers is None else self.peers

    @property
    def nodes_met(self) -> int:
        """Nodes that a node talks to, where the processes of a node have peers on the same ones and fill whole nodes first."""
        return -(-self.talks_to // self.processes)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of each thing; all but ``buffer`` and ``depth`` are what drivers of public kernels give the hardware.

    ``queue_pair``: 512 (Linux hns_roce, HNS_ROCE_V3_QPC_SZ; 256 in V2; the mlx5 command's layout has 232, the rest is the
    device's own). ``shared_queue``, ``completion_queue``: 64 (HNS_ROCE_V2_SRQC_ENTRY_SZ, CQC_ENTRY_SZ). ``target``: 64 (mlx5
    dctc). ``endpoint``: 256 (openEuler udma, udma_jetty_ctx). ``channel``: as a queue pair; the UB transport's is not public.
    ``depth``, ``buffer``: receives posted to a queue and bytes of each; UCX posts 4096 to a shared queue and segments of
    8 KiB and some, a queue pair of its own gets fewer: 128 here is a choice. All approximate for another device.
    """

    queue_pair: float = 512
    shared_queue: float = 64
    completion_queue: float = 64
    target: float = 64
    endpoint: float = 256
    channel: float = 512
    depth: float = 128
    shared_depth: float = 4096
    buffer: float = 8192

    def __post_init__(self) -> None:
        for field in fields(self):
            NON_NEGATIVE.check(field.name.replace("_", " "), getattr(self, field.name))


@dataclass(frozen=True, slots=True)
class State:
    """What a way of connecting needs.

    Attributes
    ----------
    contexts
        Contexts of a node that its NICs look up for messages: queue pairs, initiators and targets, jetties and channels.
    context_bytes
        Bytes of these and of the shared and completion queues, on a node.
    receive_bytes
        Bytes of host memory of a node for receives that are posted.
    """

    contexts: int
    context_bytes: float
    receive_bytes: float


def reliable(cluster: Cluster, sizes: Sizes) -> State:
    """RC: a queue pair with its own receive queue for each pair of processes, a completion queue for each process."""
    pairs = cluster.processes * cluster.talks_to * cluster.connections
    held = pairs * sizes.queue_pair + cluster.processes * sizes.completion_queue
    return State(pairs, held, pairs * sizes.depth * sizes.buffer)


def shared(cluster: Cluster, sizes: Sizes) -> State:
    """RC with a shared receive queue for each process: as many queue pairs, but receives are posted once."""
    plain = reliable(cluster, sizes)
    held = plain.context_bytes + cluster.processes * sizes.shared_queue
    return State(plain.contexts, held, cluster.processes * sizes.shared_depth * sizes.buffer)


def dynamic(cluster: Cluster, sizes: Sizes) -> State:
    """DC: initiators that connect to one target after another, one target with a shared receive queue for each process.

    What a target keeps for those connected at the moment is not counted: it comes and goes.
    """
    each = cluster.initiators * sizes.queue_pair + sizes.target + sizes.shared_queue + sizes.completion_queue
    contexts = cluster.processes * (cluster.initiators + 1)
    return State(contexts, cluster.processes * each, cluster.processes * sizes.shared_depth * sizes.buffer)


def connectionless(cluster: Cluster, sizes: Sizes) -> State:
    """Jetties (UB): a process's transactions go through its own endpoints, their transport through channels of node pairs."""
    channels = cluster.nodes_met * cluster.channels
    endpoints = cluster.processes * cluster.endpoints
    each = cluster.endpoints * sizes.endpoint + sizes.shared_queue + sizes.completion_queue
    held = cluster.processes * each + channels * sizes.channel
    return State(endpoints + channels, held, cluster.processes * sizes.shared_depth * sizes.buffer)


CONNECTIONS: dict[str, Callable[[Cluster, Sizes], State]] = {
    "RC": reliable,
    "RC+SRQ": shared,
    "DC": dynamic,
    "jetty": connectionless,
}
"""Way of connecting -> what a node needs for it."""


def uniform(contexts: float, held: float) -> float:
    """Part of the look-ups that miss where each goes to any context alike: 1 - held/contexts, of LRU and any other rule."""
    return max(0.0, 1 - held / contexts) if contexts else 0.0


def cyclic(contexts: float, held: float) -> float:
    """The same where contexts are used in turn, over and over, as in an all-to-all: LRU misses all once one has no room."""
    return 1.0 if contexts > held else 0.0


ACCESS: dict[str, Callable[[float, float], float]] = {"uniform": uniform, "cyclic": cyclic}
"""In which order contexts are used -> (contexts, contexts that the cache holds) -> part that misses."""


@dataclass(frozen=True, slots=True)
class Cache:
    """A NIC's cache for contexts.

    ``size`` in bytes (about 2 MB: Kalia, Kaminsky, Andersen, NSDI 2019, approximate); ``fetch``: s to read a context from
    host memory (about 0.5 µs for a PCIe read: Neugebauer et al., SIGCOMM 2018, approximate); ``overlap``: fetches at
    a time; ``rate``: messages per second of the NIC when all hit.
    """

    size: float = 2e6
    fetch: float = 5e-7
    overlap: int = 1
    rate: float = 100e6

    def __post_init__(self) -> None:
        NON_NEGATIVE.check("cache size", self.size)
        NON_NEGATIVE.check("fetch time", self.fetch)
        POSITIVE.check("message rate", self.rate)
        if self.overlap < 1:
            raise InputError(f"{self.overlap} fetches at a time: expected at least 1")


def miss(state: State, cluster: Cluster, cache: Cache, access: str = "uniform") -> float:
    """Part of the look-ups that miss in the cache of one NIC: its contexts against those that fit, of their mean size."""
    if not state.contexts:
        return 0.0
    mean = state.context_bytes / state.contexts
    held = cache.size // mean if mean else float("inf")
    return ACCESS[access](state.contexts / cluster.nics, held)


def message_rate(cache: Cache, missing: float) -> float:
    """Messages per second of a NIC, 1 / (1/rate + missing x fetch / overlap): nothing else moves meanwhile."""
    return 1 / (1 / cache.rate + missing * cache.fetch / cache.overlap)


def fits(connections: str, cluster: Cluster, sizes: Sizes, cache: Cache) -> int:
    """Most nodes of a cluster with as many processes a node, all talking to all, whose contexts fit a NIC's cache; 0: none.

    Searched to 2^20 nodes, which is the answer where those fit too.
    """
    low, high = 0, 1 << 20
    while low < high:
        nodes = (low + high + 1) // 2
        grown = replace(cluster, nodes=nodes, peers=None)
        if CONNECTIONS[connections](grown, sizes).context_bytes <= cache.size * cluster.nics:
            low = nodes
        else:
            high = nodes - 1
    return low
