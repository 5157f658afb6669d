"""Time per size of each way, the way that NCCL takes, and the sizes at which it changes.

What belongs here: what follows from a tuning table, ours or one out of a log. The table is ``tables``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hopline.curve import Floats
from hopline.errors import InputError
from hopline.model.nccl import numbers as given
from hopline.model.nccl.job import Job
from hopline.records.nccl_log import Cell, Way
from hopline.records.nccl_names import ALGORITHMS, PROTOCOLS

Cells = Mapping[tuple[str, str, str], Cell]
_FIRST, _LAST = 3, 36
"""Crossovers are looked for from 2^FIRST to 2^LAST bytes."""
_GRID = 8
"""Sizes a power of two, before a crossover is narrowed down."""


@dataclass(frozen=True, slots=True)
class Crossover:
    """From ``size`` bytes on ``after`` is taken, up to there ``before``."""

    size: int
    before: Way
    after: Way


def ways(cells: Cells, function: str) -> tuple[Way, ...]:
    """What may be chosen for a function, in NCCL's order: of equally fast ones the first is taken."""
    return tuple(
        (algorithm, protocol)
        for algorithm in ALGORITHMS
        for protocol in PROTOCOLS
        if cells.get((function, algorithm, protocol), Cell(0.0, 0.0)).usable
    )


def times(cells: Cells, function: str, way: Way, size: ArrayLike, job: Job) -> Floats:
    """Seconds for sizes (bytes as nccl-tests counts them, any shape)."""
    cell = cells[function, *way]
    sizes = np.asarray(size, dtype=float)
    latency = np.where(_on_plateau(function, way, sizes, job), given.PLATEAU[job.architecture], 1.0) * cell.latency
    return np.asarray(latency + sizes / (cell.bandwidth * _corrected(function, way, sizes, job)))


def _on_plateau(function: str, way: Way, size: Floats, job: Job) -> np.ndarray:
    """Whether a Simple ring over several nodes pays its latency more than once."""
    if way != ("Ring", "Simple") or function != "AllReduce" or job.nodes == 1:
        return np.zeros(size.shape, bool)
    return np.asarray(size // (job.all_channels * job.ranks) >= given.PLATEAU_BYTES)


def _corrected(function: str, way: Way, size: Floats, job: Job) -> Floats:
    """Part of a tree's bandwidth that is reached at each size."""
    algorithm, protocol = way
    entries = 0
    if function == "AllReduce" and algorithm == "Tree":
        entries = given.TREE_CORRECTED
    if function == "AllReduce" and algorithm == "NVLSTree" and job.numbers.nvls_tree_corrected:
        entries = len(given.CORRECTION[protocol]) if job.capability >= 100 and job.x86 else 0
    table = np.array(given.CORRECTION[protocol])
    units = np.asarray(size // given.SMALLEST_CORRECTED)
    power = np.frexp(np.maximum(units, 1.0))[1] - 1
    return np.where((units >= 1) & (power < entries), table[np.minimum(power, len(table) - 1)], 1.0)


def choose(cells: Cells, function: str, size: ArrayLike, job: Job) -> tuple[list[Way], Floats]:
    """The fastest way for each size and its seconds; both as long as ``size``.

    Raises InputError where nothing is left to choose.
    """
    known = ways(cells, function)
    if not known:
        raise InputError(
            f"nothing is left for {function}: NCCL would refuse to run ('No algorithm/protocol available'); expected "
            "NCCL_ALGO and NCCL_PROTO that leave one on"
        )
    sizes = np.atleast_1d(np.asarray(size, dtype=float))
    every = np.array([times(cells, function, way, sizes, job) for way in known])
    best = every.argmin(axis=0)
    return [known[i] for i in best], every[best, np.arange(len(sizes))]


def crossovers(
    cells: Cells, function: str, job: Job, smallest: int = 1 << _FIRST, largest: int = 1 << _LAST
) -> tuple[Crossover, ...]:
    """Where the choice changes between two sizes, to the byte.

    A way that is best only between two of eight sizes a power of two is not seen.
    """
    count = max(2, math.ceil(_GRID * math.log2(largest / smallest)) + 1)
    sizes = np.unique(np.floor(np.geomspace(smallest, largest, count)).astype(np.int64))
    return _between(cells, function, job, sizes.tolist())


def _between(cells: Cells, function: str, job: Job, sizes: Sequence[int]) -> tuple[Crossover, ...]:
    taken, _ = choose(cells, function, sizes, job)
    found = []
    for i in range(1, len(sizes)):
        low, high, before = sizes[i - 1], sizes[i], taken[i - 1]
        if before == taken[i]:
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if choose(cells, function, middle, job)[0][0] == before else (low, middle)
        found.append(Crossover(high, before, choose(cells, function, high, job)[0][0]))
    return tuple(found)
