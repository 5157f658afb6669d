"""Bus bandwidth: what benchmarks multiply algbw = size / time with, so that one number holds for any number of ranks.

What belongs here: the factors of nccl-tests (doc/PERFORMANCE.md), in its counting of sizes.
"""

from __future__ import annotations

from collections.abc import Callable


def _part(ranks: int) -> float:
    return (ranks - 1) / ranks


FACTORS: dict[str, Callable[[int], float]] = {
    "all_reduce": lambda n: 2 * _part(n), "all_gather": _part, "reduce_scatter": _part, "alltoall": _part,
    "gather": _part, "scatter": _part, "broadcast": lambda n: 1.0, "reduce": lambda n: 1.0, "sendrecv": lambda n: 1.0,
}  # fmt: skip
"""Benchmark -> busbw / algbw of n ranks."""
