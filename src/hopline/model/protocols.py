"""NCCL's protocols as ``library`` reckons with them: what a hop, a launch and a byte cost by each.

What belongs here: NCCL's own numbers (``nccl.numbers``, their one home) by kind of algorithm and wires, in SI. What a
collective makes of them is ``library``; what NCCL itself makes of them is ``nccl``.
"""

from __future__ import annotations

from dataclasses import dataclass

from hopline.model.nccl import numbers as given
from hopline.records.nccl_names import PROTOCOLS as NAMES

_US = 1e-6
_KINDS = {"ring": "Ring", "tree": "Tree"}


@dataclass(frozen=True, slots=True)
class Protocol:
    """What NCCL's tuning says of one protocol: seconds and parts of the full bandwidth."""

    name: str
    base: dict[str, float]
    hop: dict[tuple[str, str], float]
    efficiency: dict[str, float]


_EFFICIENCY = {
    "LL": {"ring": given.RING_LL, "tree": given.TREE / given.TREE_LL},
    "LL128": {"ring": given.RING_LL128, "tree": given.TREE * given.RING_LL128},
    "Simple": {"ring": 1.0, "tree": given.TREE},
}
"""A tree by LL128 with the ring's part, whatever the number of nodes."""


def _protocol(name: str) -> Protocol:
    at = given.place(name)
    base = {kind: given.BASE[algorithm][at] * _US for kind, algorithm in _KINDS.items()}
    hops = given.numbers(given.LATEST).hop
    hop: dict[tuple[str, str], float] = {
        (kind, wires): hops[wires][own][at] * _US for wires in hops for kind, own in _KINDS.items()
    }
    return Protocol(name, base, hop, _EFFICIENCY[name])


PROTOCOLS = tuple(map(_protocol, NAMES))
FAR_RING = given.PLATEAU["ampere"]
"""Simple rings over several nodes pay their latency this many times."""
NET_OVERHEAD = given.NET_OVERHEAD["intel"] * _US
"""Over several nodes a ring's near hop takes at least as long."""
