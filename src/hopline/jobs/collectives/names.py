"""Names of collectives and their algorithms, as they stand in the table.

What belongs here: what there is, and what a user's name means.
"""

from __future__ import annotations

from dataclasses import dataclass

from hopline.errors import UnknownNameError
from hopline.jobs.benchmarks import benchmark_of
from hopline.schedule.collectives.table import COLLECTIVES


@dataclass(frozen=True, slots=True)
class Asked:
    """A collective in hopline's words, and the algorithm of it that is in use; "": none was named."""

    benchmark: str
    algorithm: str = ""


def benchmarks() -> tuple[str, ...]:
    """All collectives of the table, in its order."""
    return tuple(dict.fromkeys(entry.benchmark for entry in COLLECTIVES.values()))


def listed() -> dict[str, tuple[tuple[str, str], ...]]:
    """Collective -> (algorithm, what it does)."""
    return {
        benchmark: tuple((e.algorithm, e.about) for e in COLLECTIVES.values() if e.benchmark == benchmark)
        for benchmark in benchmarks()
    }


def asked(name: str, algorithm: str | None = None) -> Asked:
    """What ``name`` means: ``allreduce``, ``MPI_Allreduce``, or with its algorithm ``all_reduce-ring``.

    Raises UnknownNameError for a collective or an algorithm that is not in the table.
    """
    known = benchmarks()
    benchmark = benchmark_of(name)
    if benchmark not in known and "-" in name:
        first, _, second = name.partition("-")
        benchmark, algorithm = benchmark_of(first), algorithm or second
    if benchmark not in known:
        raise UnknownNameError("collective", name, known)
    algorithms = [entry.algorithm for entry in COLLECTIVES.values() if entry.benchmark == benchmark]
    if algorithm is not None and algorithm not in algorithms:
        raise UnknownNameError(f"algorithm of {benchmark}", algorithm, algorithms)
    return Asked(benchmark, algorithm or "")
