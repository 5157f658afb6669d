"""NCCL's protocols: what a hop, a launch and a byte cost by each, as NCCL's own tuning has it.

What belongs here: the numbers of src/graph/tuning.cc (as of 5067397). What a collective makes of them is ``library``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Protocol:
    """What NCCL's tuning says of one protocol: seconds and parts of the full bandwidth."""

    name: str
    base: dict[str, float]
    hop: dict[tuple[str, str], float]
    efficiency: dict[str, float]


def _protocol(name: str, bases: str, nvlink: str, pci: str, net: str, efficiencies: str) -> Protocol:
    """Each text: the ring's and the tree's number, latencies in µs."""
    kinds = ("ring", "tree")
    hops = {(kind, wires): float(us) * 1e-6 for wires, row in (("nvlink", nvlink), ("pci", pci), ("net", net))
            for kind, us in zip(kinds, row.split(), strict=True)}  # fmt: skip
    base = {kind: float(us) * 1e-6 for kind, us in zip(kinds, bases.split(), strict=True)}
    return Protocol(name, base, hops, dict(zip(kinds, map(float, efficiencies.split()), strict=True)))


PROTOCOLS = (
    _protocol("LL", "6.6 6.8", "0.6 0.6", "1.0 1.0", "2.7 5.0", f"0.5 {0.92 / 3.8}"),
    _protocol("LL128", "14 14", "1.9 1.25", "2.5 1.9", "4.0 8.5", f"0.92 {0.92 * 0.92}"),
    _protocol("Simple", "8.4 8.4", "3.4 4.0", "5.7 4.0", "14 14", "1 0.92"),
)
FAR_RING = 1.4
"""Simple rings over several nodes pay their latency this many times."""
NET_OVERHEAD = 1e-6
"""Over several nodes a ring's near hop takes at least as long."""
