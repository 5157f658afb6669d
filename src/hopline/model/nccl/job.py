"""A job as NCCL's tuner sees it: how many ranks on what, and the graphs that its search found.

What belongs here: the question, checked. Graphs that nobody told are worked out by ``searched``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from hopline.errors import InputError, UnknownNameError
from hopline.model.nccl.numbers import ARCHITECTURES, CAPABILITY, NET_OVERHEAD, Numbers, Wires, numbers
from hopline.quantity import POSITIVE, counted
from hopline.records.nccl_names import ALGORITHMS

PATHS = ("LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS", "NET", "DIS")
"""Kinds of paths, from near to far."""


@dataclass(frozen=True, slots=True)
class Graph:
    """What NCCL's search found for an algorithm (GRAPH lines of a log, NCCL_GRAPH_DUMP_FILE).

    Attributes
    ----------
    channels
        How many.
    within, between
        GB/s of each channel inside of a node, and between nodes.
    wires, net
        Farthest path between GPUs, and from a GPU to its NIC (see PATHS).
    latency
        µs that the network adds (latencyinter).
    same
        Whether all channels go the same way.
    plain_tree
        A tree whose whole traffic of a node goes through one GPU (pattern 3).
    """

    channels: int
    within: float
    between: float
    wires: str = "NVL"
    net: str = "PIX"
    latency: float = 0.0
    same: bool = True
    plain_tree: bool = False

    def __post_init__(self) -> None:
        if self.channels < 0:
            raise InputError(f"{counted(self.channels, 'channel')}: expected at least 0")
        for name, rate in (
            ("bandwidth of a channel", self.within),
            ("bandwidth of a channel between nodes", self.between),
        ):
            if not rate >= 0:
                raise InputError(f"{name} {rate}: expected 0 or more GB/s")
        for path in (self.wires, self.net):
            if path not in PATHS:
                raise UnknownNameError("kind of path", path, PATHS)

    @property
    def hop(self) -> Wires:
        """Whose hop latency holds inside of a node."""
        return "nvlink" if self.wires == "NVL" else "pci"

    def nearer(self, net: str, wires: str = "NVB") -> bool:
        """Whether its paths are no farther than these."""
        return PATHS.index(self.net) <= PATHS.index(net) and PATHS.index(self.wires) <= PATHS.index(wires)


@dataclass(frozen=True, slots=True)
class Job:
    """A communicator.

    Attributes
    ----------
    ranks, nodes
        Nodes hold equally many ranks.
    architecture
        Of ARCHITECTURES.
    graphs
        Algorithm -> Graph; what is not there cannot be used.
    version
        Of NCCL.
    cpu
        Vendor: intel, amd, mixed or other (Arm).
    x86
        Whether the CPU is one.
    nvls, collnet
        Whether the system can multicast over NVLink, and sum in the network.
    nvswitch
        Whether GPUs meet in switches.
    pat
        NCCL_PAT_ENABLE: 0, 1, or 2 for what NCCL decides.
    channels
        Of the communicator, for the plateau of rings; None: twice those of the ring's graph, as NCCL sets up.
    """

    ranks: int
    nodes: int
    architecture: str
    graphs: Mapping[str, Graph]
    version: str
    cpu: str = "intel"
    x86: bool = True
    nvls: bool = True
    collnet: bool = False
    nvswitch: bool = True
    pat: Literal[0, 1, 2] = 2
    channels: int | None = None
    numbers: Numbers = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.ranks < 2 or self.nodes < 1 or self.ranks % self.nodes:
            raise InputError(
                f"{counted(self.ranks, 'rank')} on {counted(self.nodes, 'node')}: expected at least 2 ranks, on nodes that "
                "hold equally many"
            )
        if self.architecture not in ARCHITECTURES:
            raise UnknownNameError("GPU architecture", self.architecture, ARCHITECTURES)
        if self.cpu not in NET_OVERHEAD:
            raise UnknownNameError("CPU vendor", self.cpu, NET_OVERHEAD)
        for name in self.graphs:
            if name not in ALGORITHMS:
                raise UnknownNameError("algorithm of NCCL", name, ALGORITHMS)
        if self.channels is not None:
            POSITIVE.check("channels", self.channels)
        object.__setattr__(self, "numbers", numbers(self.version))

    @property
    def per_node(self) -> float:
        """Ranks of a node."""
        return self.ranks / self.nodes

    @property
    def span(self) -> int:
        """Which of Three holds: one node, two, more."""
        return min(self.nodes, 3) - 1

    @property
    def capability(self) -> int:
        """Compute capability x 10."""
        return CAPABILITY[self.architecture]

    @property
    def all_channels(self) -> int:
        """Channels of the communicator."""
        found = self.graphs["Ring"].channels if "Ring" in self.graphs else 1
        return self.channels or min(self.numbers.most_channels, 2 * max(1, found))
