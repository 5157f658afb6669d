"""NCCL's names of functions, algorithms and protocols, in the order of its numbers.

What belongs here: names and nothing of what they cost. Source: src/include/plugin/nccl_tuner.h and src/init.cc of NCCL.
"""

from __future__ import annotations

FUNCTIONS = ("Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce")
"""Those that NCCL's tuner chooses for; sends and all-to-alls have no choice."""
ALGORITHMS = ("Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT")
PROTOCOLS = ("LL", "LL128", "Simple")
BENCHMARKS = {
    "broadcast": "Broadcast", "reduce": "Reduce", "all_gather": "AllGather", "reduce_scatter": "ReduceScatter",
    "all_reduce": "AllReduce",
}  # fmt: skip
"""Benchmark -> NCCL's name of the function it times."""
DATATYPES = (
    ("int8", 1), ("uint8", 1), ("int32", 4), ("uint32", 4), ("int64", 8), ("uint64", 8), ("float16", 2), ("float32", 4),
    ("float64", 8), ("bfloat16", 2), ("float8e4m3", 1), ("float8e5m2", 1),
)  # fmt: skip
"""Name and bytes of an element, by the number that logs print (src/nccl.h.in)."""

_LOWER = {name.lower(): name for name in (*FUNCTIONS, *ALGORITHMS, *PROTOCOLS)}


def spelled(name: str) -> str:
    """A name as NCCL's tables spell it, whatever its case (``TREE`` -> ``Tree``); others as they are."""
    return _LOWER.get(name.lower(), name)
