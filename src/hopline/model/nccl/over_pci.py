"""The graphs that NCCL's search is likely to find where GPUs have no NVLink and reach one another through a CPU.

What belongs here: a plain rule in place of the search (src/graph/search.cc, v2.30.7-1), for GPUs and NICs in x16 slots of
one CPU. Where there are two, the link between them may bind, and where PCIe switches join GPUs, Intel's part is not paid.
"""

from __future__ import annotations

from hopline.model.nccl.job import Graph
from hopline.model.nccl.tried import BETWEEN, WITHIN, best, doubled, fitting, reached

GENERATION = {"volta": 3, "ampere": 4, "hopper": 5, "blackwell": 5}
"""Of PCIe."""
SLOT = {3: 12.0, 4: 24.0, 5: 48.0}
"""Generation -> GB/s that NCCL reckons x16 carries (src/graph/topo.cc)."""
MOST = 32
"""GPUs that any machine joins by PCIe."""
_THROUGH_INTEL = 6 / 5
"""What passes from GPU to GPU through an Intel CPU takes so much of PCIe."""
_PATH = "PHB"


def slot(architecture: str, intel: bool) -> float:
    """GB/s between two GPUs through the CPU."""
    return SLOT[GENERATION[architecture]] / (_THROUGH_INTEL if intel else 1.0)


def graphs(architecture: str, gpus: int, total: float, nic: float | None) -> tuple[Graph, Graph]:
    """The ring's and the tree's; ``total``: GB/s of a GPU's slot, ``nic``: of each GPU's NIC, None on one node.

    Raises InputError where no bandwidth that is tried fits.
    """
    if nic is None:
        speed, channels = best(total, WITHIN[architecture], total)
        ring = doubled(_graph(channels, speed, speed), architecture)
        return ring, ring
    tried = BETWEEN[architecture]
    speed, channels = best(total, tried, min(nic, total), gpus)
    ring = doubled(_graph(channels, speed, speed), architecture)
    return ring, _tree(ring.channels, gpus, total, nic, tried)


def _tree(channels: int, gpus: int, total: float, nic: float, tried: tuple[float, ...]) -> Graph:
    """A tree has as many channels as the ring; two of its GPUs send half to the network beside all to the next GPU."""
    half = 0.5 if gpus > 1 else 0.0
    rail = nic / -(-channels // gpus)
    between = fitting(tried, min(rail, total / (channels + half)))
    limit = (total - half * between) / channels
    return _graph(channels, reached(between, [one for one in tried if between < one <= limit]), between)


def _graph(channels: int, within: float, between: float) -> Graph:
    return Graph(channels, within, between, _PATH, _PATH)
