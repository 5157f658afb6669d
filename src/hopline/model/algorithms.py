"""What the algorithms of a collective do: steps that come one after the other, and the bytes that each rank and node sends.

What belongs here: counts that follow from an algorithm alone. What a step and a byte cost is ``library``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Steps:
    """What one algorithm does.

    ``near`` and ``far`` steps come one after the other; ``out`` sizes leave each rank, ``across`` sizes leave each node
    over all its NICs. ``together``: both go on at once.
    """

    near: int
    far: int
    out: float
    across: float
    together: bool = True


def _log(count: int) -> int:
    return math.ceil(math.log2(count))


def _round(rounds: int, out: float | None = None) -> Callable[[int, int], Steps]:
    """Once or twice round a ring of all ranks in which each node is entered once."""

    def steps(ranks: int, nodes: int) -> Steps:
        far = rounds * (nodes - 1)
        sizes = rounds * (ranks - 1) / ranks if out is None else out
        return Steps(rounds * (ranks - 1) - far, far, sizes, sizes if nodes > 1 else 0.0)

    return steps


def _tree(n: int, nodes: int) -> Steps:
    """Up and down two binary trees between nodes, chains inside them; half of the bytes over each tree.

    A rank that is inner in one tree and a leaf in the other sends half a size up in both and half a size down to two.
    """
    return Steps(2 * (n // nodes - 1), 2 * _log(nodes), 2.0, 2.0 if nodes > 1 else 0.0)


def _doubling(n: int, nodes: int) -> Steps:
    """Partners at distance 1, 2, 4, ... exchange all they have; ranks beyond a power of two fold in before and after.

    Which steps leave the node is exact where ranks and nodes are powers of two.
    """
    levels, fold = int(math.log2(n)), n & (n - 1) != 0
    far = min(_log(nodes), levels)
    near = levels - far
    return Steps(near + 2 * fold, far, near + float(fold), float(far * (n // nodes)), together=False)


def _binomial(n: int, nodes: int) -> Steps:
    """Whole messages from all that have it to as many that have not; the root sends in each step."""
    far = _log(nodes)
    near = _log(n) - far
    return Steps(near, far, float(near), float(far), together=False)


def _at_once(steps: int, share: Callable[[int], float]) -> Callable[[int, int], Steps]:
    """Each rank sends to all others at once: ``share`` sizes to each."""

    def made(n: int, nodes: int) -> Steps:
        own = n // nodes
        away = (n - own) * share(n) * steps
        near = 0 if nodes > 1 else steps
        return Steps(near, steps - near, (own - 1) * share(n) * steps, own * away)

    return made


ALGORITHMS: dict[str, dict[str, Callable[[int, int], Steps]]] = {
    "all_reduce": {
        "ring": _round(2), "tree": _tree, "doubling": _doubling,
        "one shot": _at_once(1, lambda n: 1.0), "two shots": _at_once(2, lambda n: 1 / n),
    },
    "all_gather": {"ring": _round(1), "one shot": _at_once(1, lambda n: 1 / n)},
    "reduce_scatter": {"ring": _round(1), "one shot": _at_once(1, lambda n: 1 / n)},
    "alltoall": {"one shot": _at_once(1, lambda n: 1 / n)},
    "broadcast": {"ring": _round(1, 1.0), "binomial": _binomial},
    "reduce": {"ring": _round(1, 1.0), "binomial": _binomial},
    "sendrecv": {"one shot": lambda n, nodes: Steps(int(nodes == 1), int(nodes > 1), 1.0, float(nodes > 1))},
}  # fmt: skip
"""Benchmark -> algorithm -> steps of (ranks, nodes). Rings and the tree work in chunks, so all their steps go on at once."""
NCCL = ("ring", "tree")
"""What NCCL has; where a benchmark has none of them (alltoall) all of its own are meant."""
