"""The graphs that NCCL's search is likely to find on a machine whose nodes are all alike, where nobody told them.

What belongs here: a plain rule in place of the search (src/graph/search.cc, v2.30.7-1), for GPUs that all reach one another
over NVSwitch at the same rate, and one NIC a GPU; those without NVLink are ``over_pci``. A log's GRAPH lines are the better
source.
"""

from __future__ import annotations

from dataclasses import dataclass

from hopline.errors import InputError, UnknownNameError
from hopline.model.nccl import over_pci
from hopline.model.nccl.job import Graph
from hopline.model.nccl.numbers import ARCHITECTURES, CAPABILITY
from hopline.model.nccl.tried import BETWEEN, WITHIN, best, doubled, fitting, reached
from hopline.quantity import counted

NVLINK = {"volta": 6 * 20.0, "ampere": 12 * 20.0, "hopper": 18 * 20.6, "blackwell": 18 * 40.1}
"""GB/s that NCCL reckons a GPU has over all its links (src/graph/topo.h; links of V100, A100, H100, B200)."""
NIC = {"volta": 12.5, "ampere": 25.0, "hopper": 50.0, "blackwell": 50.0}
"""GB/s of the NIC of each GPU, taken where none is told: 100, 200, 400 and 400 Gb/s."""
MOST_HEADS = 32
USUAL = 8
"""GPUs of a usual node."""
DOMAINS = {
    "volta": (16, "the DGX-2"), "ampere": (16, "an HGX A100 of two boards"), "hopper": (256, "the DGX GH200"),
    "blackwell": (576, "NVLink 5"),
}  # fmt: skip
"""Most GPUs in one NVLink domain, and which has so many."""


@dataclass(frozen=True, slots=True)
class Node:
    """What a node is made of: GPUs of an architecture; rates in GB/s of each GPU.

    ``nvlink`` is 0 without NVLink; ``slot`` is then what its PCIe slot carries.
    """

    architecture: str
    gpus: int
    nvlink: float
    nic: float
    slot: float = 0.0


def graphs(node: Node, nodes: int) -> dict[str, Graph]:
    """Algorithm -> Graph. Raises InputError where no bandwidth that is tried fits."""
    if not node.nvlink:
        ring, tree = over_pci.graphs(node.architecture, node.gpus, node.slot, node.nic if nodes > 1 else None)
        multicast = None
    else:
        ring, tree, multicast = _alone(node) if nodes == 1 else _over_network(node)
    found = {"Ring": ring, "Tree": tree, "CollNetDirect": tree, "CollNetChain": tree, "PAT": tree}
    return found | ({"NVLS": multicast, "NVLSTree": multicast} if multicast is not None else {})


def assumed(
    architecture: str, per_node: int, nic: float | None = None, nvlink: float | None = None, pci: bool = False,
    intel: bool = False,
) -> Node:  # fmt: skip
    """A node of ``architecture`` with the rates of its usual machines where none are told.

    ``pci``: GPUs without NVLink, that reach one another through a CPU, of Intel or not. Raises InputError for more GPUs
    than any machine has in a node.
    """
    if architecture not in ARCHITECTURES:
        raise UnknownNameError("GPU architecture", architecture, ARCHITECTURES)
    most, of = (over_pci.MOST, "PCIe") if pci else DOMAINS[architecture]
    if per_node > most:
        raise InputError(
            f"{counted(per_node, 'GPU')} ({architecture}) in one node: expected at most {most}, as many as {of} joins; "
            "--nodes says how many nodes hold the ranks, --channels and --within what NCCL's search found"
        )
    if pci:
        return Node(architecture, per_node, 0.0, nic or NIC[architecture], over_pci.slot(architecture, intel))
    return Node(architecture, per_node, nvlink or NVLINK[architecture], nic or NIC[architecture])


def _alone(node: Node) -> tuple[Graph, Graph, Graph | None]:
    """On one node rings and trees find the same channels; NVLS takes one a GPU."""
    tried = WITHIN[node.architecture]
    speed, channels = best(node.nvlink, tried, node.nvlink)
    ring = doubled(Graph(channels, speed, speed), node.architecture)
    if not _multicasts(node):
        return ring, ring, None
    heads = min(MOST_HEADS, node.gpus)
    pulled = fitting(tried, node.nvlink / heads)
    faster = [speed for speed in tried if pulled <= speed < 4 * pulled]
    return ring, ring, Graph(heads, pulled, max(reached(pulled, faster), pulled))


def _over_network(node: Node) -> tuple[Graph, Graph, Graph | None]:
    """A channel a NIC; trees need not come back to where they began and find a little more, inside of nodes."""
    tried = BETWEEN[node.architecture]
    share = node.nvlink / node.gpus if node.gpus > 1 else node.nic
    speed = fitting(tried, min(node.nic, share))
    ring = doubled(Graph(node.gpus, speed, speed), node.architecture)
    wider = share * node.gpus / (node.gpus - 1) if node.gpus > 1 else node.nic
    lower = fitting(tried, min(node.nic, wider))
    split = doubled(Graph(node.gpus, lower, lower), node.architecture)
    limit = wider * node.gpus / split.channels
    inside = reached(split.within, [one for one in tried if split.within < one <= limit])
    tree = Graph(split.channels, inside, split.between)
    if not _multicasts(node):
        return ring, tree, None
    return ring, tree, Graph(node.gpus, fitting(tried, share), fitting(tried, node.nic))


def _multicasts(node: Node) -> bool:
    return CAPABILITY[node.architecture] >= 90 and node.gpus > 1
