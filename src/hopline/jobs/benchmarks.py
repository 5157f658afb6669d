"""What the name of a benchmark says: what it times, between whom, and what its tool calls the size.

What belongs here: the names that tools, MPI and users have for one benchmark, and what follows from a name alone.
"""

from __future__ import annotations

import re

from hopline.model.cuts import BENCHMARKS
from hopline.records.busbw import FACTORS

RING = "sendrecv"
"""nccl-tests' ring of sends: each rank sends to the next."""
SENDS = frozenset({"send", RING, "latency", "multi_lat"})
"""Benchmarks whose fitted curve is the cost of one send; others price an operation of many ranks as a whole."""
STREAMS = ("bw", "mbw_mr", "_bw")
"""Ends of the names of benchmarks that stream messages between two ranks."""
ROUND_TRIPS = frozenset(f"{verb}_latency" for verb in ("read", "atomic", "get", "fadd", "swap", "cswap"))
"""Latencies that hold the way there and the way back."""
_OSU_PARTS = frozenset({"all_gather", "alltoall", "gather", "scatter"})
PARTS = {"osu": _OSU_PARTS, "ucc_perftest": _OSU_PARTS - {"alltoall"}}
"""Tool -> collectives of which its size is one rank's part, and nccl-tests' the buffer of all."""
_SAME = {"bcast": "broadcast", "all_to_all": "alltoall"}
_NAMES = {re.sub("_", "", word): word for word in ("barrier", *BENCHMARKS, *FACTORS)}
_AFFIXES = re.compile(r"^(osu|mpi|nccl)_|_perf(_mpi)?$")


def benchmark_of(name: str) -> str:
    """A benchmark in hopline's words, from nccl-tests', OSU's or MPI's (``all_reduce_perf``, ``MPI_Allreduce``)."""
    bare = _AFFIXES.sub("", name.strip().lower().replace("-", "_"))
    return _NAMES.get(_SAME.get(bare, bare).replace("_", ""), bare)


def is_single(benchmark: str) -> bool:
    """Whether a benchmark's time is that of one send."""
    return benchmark in SENDS or (benchmark.endswith("_latency") and benchmark not in ROUND_TRIPS)


def is_stream(benchmark: str) -> bool:
    """Whether a benchmark streams messages between two ranks, so that its times are gaps."""
    return benchmark.endswith(STREAMS)


def is_between_two(benchmark: str) -> bool:
    """Whether one rank sends to one other, unless the log says that several pairs do."""
    return benchmark != RING and (is_single(benchmark) or is_stream(benchmark))


def parts(tool: str, benchmark: str, ranks: int | None) -> int:
    """What a size of ``tool`` is multiplied with to be counted as nccl-tests does; 1 where the ranks are not known."""
    return ranks if ranks and by_parts(tool, benchmark) else 1


def by_parts(tool: str, benchmark: str) -> bool:
    """Whether ``tool`` counts one rank's part as the size of ``benchmark``."""
    return benchmark in PARTS.get(tool, ())
