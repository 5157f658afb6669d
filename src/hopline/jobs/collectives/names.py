"""Names of collectives and their algorithms, as they stand in the table.

What belongs here: what there is, and what a user's name means, however it is spelled.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hopline.errors import InputError, UnknownNameError
from hopline.jobs.benchmarks import benchmark_of
from hopline.schedule.collectives.table import COLLECTIVES, Collective

_BETWEEN = re.compile(r"[-_\s]+")


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
    return {benchmark: tuple((e.algorithm, e.about) for e in _of(benchmark)) for benchmark in benchmarks()}


def meant(name: str) -> tuple[Collective, ...]:
    """All entries that ``name`` may mean: of a collective with its algorithm one, of either alone all that have it.

    Capitals and what stands between words do not matter, and the collective may be named as other tools do:
    ``AllReduce-Ring``, ``allreduce_ring``, ``MPI_Bcast chain``. Empty: it is no such name.
    """
    whole = _of(_benchmark(name))
    pairs = [entry for first, second in _cut(name) for entry in _of(_benchmark(first)) if _same(entry, second)]
    alone = [entry for entry in COLLECTIVES.values() if _same(entry, name)]
    return tuple(dict.fromkeys(whole or pairs or alone))


def entry_of(name: str) -> Collective | None:
    """The one entry that ``name`` means; None: it is no such name.

    Raises InputError with all that it may mean, where those are several.
    """
    entries = meant(name)
    if len(entries) > 1:
        raise InputError(several(name, entries))
    return entries[0] if entries else None


def several(name: str, entries: Iterable[Collective]) -> str:
    """What is wrong with a name that means several entries."""
    names = [entry.name for entry in entries]
    what = f"{name} has several algorithms" if _benchmark(name) in benchmarks() else f"several collectives have {name}"
    return f"{what}: expected one of {', '.join(names)}"


def asked(name: str, algorithm: str | None = None) -> Asked:
    """What ``name`` means: ``allreduce``, ``MPI_Allreduce``, or with its algorithm ``all_reduce-ring``.

    Raises UnknownNameError for a collective or an algorithm that is not in the table, InputError for an algorithm's name
    that several collectives have, and for two algorithms.
    """
    benchmark = _benchmark(name)
    if benchmark in benchmarks():
        return Asked(benchmark, "" if algorithm is None else _algorithm(benchmark, algorithm))
    entry = entry_of(name)
    if entry is None:
        raise _unknown(name)
    if algorithm is not None and _algorithm(entry.benchmark, algorithm) != entry.algorithm:
        raise InputError(f"{name} and --algorithm {algorithm} are two algorithms: expected one of them")
    return Asked(entry.benchmark, entry.algorithm)


def _algorithm(benchmark: str, name: str) -> str:
    """An algorithm of ``benchmark``, named alone or with it. Raises UnknownNameError."""
    for entry in _of(benchmark):
        if _same(entry, name) or meant(name) == (entry,):
            return entry.algorithm
    raise UnknownNameError(f"algorithm of {benchmark}", name, [entry.algorithm for entry in _of(benchmark)])


def _unknown(name: str) -> UnknownNameError:
    """The part of ``name`` that is not in the table."""
    for first, second in _cut(name):
        benchmark = _benchmark(first)
        if _of(benchmark):
            return UnknownNameError(f"algorithm of {benchmark}", second, [entry.algorithm for entry in _of(benchmark)])
    return UnknownNameError("collective", name, benchmarks())


def _benchmark(name: str) -> str:
    return benchmark_of("_".join(name.split()))


def _of(benchmark: str) -> list[Collective]:
    return [entry for entry in COLLECTIVES.values() if entry.benchmark == benchmark]


def _cut(name: str) -> Iterator[tuple[str, str]]:
    """Both parts of ``name`` at each place between words, the longest first part first."""
    for border in reversed(list(_BETWEEN.finditer(name))):
        yield name[: border.start()], name[border.end() :]


def _same(entry: Collective, algorithm: str) -> bool:
    return _BETWEEN.sub("", algorithm).lower() == _BETWEEN.sub("", entry.algorithm)
