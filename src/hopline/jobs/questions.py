"""What a benchmark is asked: its name, its ranks and their places, and how its tool counts sizes.

What belongs here: from the words of tools and users to one question, and what a machine has measured of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property

from hopline.jobs import layout, predictions
from hopline.machine.parts import Operation
from hopline.machine.topology import Machine
from hopline.model.cuts import BENCHMARKS
from hopline.records.busbw import FACTORS
from hopline.study.points import Points

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


def parts(tool: str, benchmark: str, ranks: int | None) -> int:
    """What a size of ``tool`` is multiplied with to be counted as nccl-tests does; 1 where the ranks are not known."""
    return ranks if ranks and by_parts(tool, benchmark) else 1


def by_parts(tool: str, benchmark: str) -> bool:
    """Whether ``tool`` counts one rank's part as the size of ``benchmark``."""
    return benchmark in PARTS.get(tool, ())


def points_of(operation: Operation) -> Points:
    """The measured points, sizes as nccl-tests counts them where the ranks are known. Raises FitError for too few."""
    points = predictions.points_of(operation)
    return replace(points, size=points.size * parts(operation.tool, operation.benchmark, operation.ranks))


@dataclass(frozen=True)
class Question:
    """What is asked: a benchmark (in nccl-tests' words and counting of sizes) of ``ranks`` ranks (None: not known).

    ``places`` are the devices of the ranks, none: the machine's first ones. ``sizes`` in bytes, none: those measured.
    """

    machine: Machine
    benchmark: str
    ranks: int | None
    sizes: tuple[float, ...] = ()
    places: tuple[str, ...] = ()
    extrapolate: bool = False

    @cached_property
    def devices(self) -> tuple[str, ...]:
        """The device of each rank. Raises InputError where their number is not known or another than that of places."""
        ranks = 2 if self.paired and not self.places else self.ranks
        return layout.devices(self.machine, ranks, self.places)

    def with_ranks(self) -> Question:
        """The question with the ranks that its places say, where nothing else does."""
        known = self.ranks or not self.places or self.paired
        return self if known else replace(self, ranks=len(self.devices))

    @property
    def paired(self) -> bool:
        """Whether the benchmark is of one sender and one receiver, as far as is known."""
        return self.ranks in (None, 2) and predictions.is_between_two(self.benchmark)

    @property
    def placed(self) -> bool:
        """Whether it is told, or does not matter, between which devices one sender and one receiver ran."""
        machine, have = self.machine, [name for name, node in self.machine.nodes.items() if node.kind == "device"]
        if self.places or self.measured or not self.paired or not machine.connections or len(have) < 3:
            return True
        return layout.send(machine, have[0], have[1]) == layout.send(machine, have[0], have[-1])

    @property
    def measured(self) -> Operation | None:
        """What was measured of this very operation."""
        counts = (2, None) if self.paired else (self.ranks,)
        names = [self.benchmark if count is None else f"{self.benchmark}.{count}" for count in counts]
        return next((self.machine.operations[name] for name in names if name in self.machine.operations), None)

    @cached_property
    def others(self) -> dict[int, Points]:
        """The same benchmark measured with other numbers of ranks."""
        return {
            operation.ranks: points_of(operation)
            for operation in self.machine.operations.values()
            if operation.benchmark == self.benchmark and operation.ranks not in (None, 1, self.ranks)
        }

    def __str__(self) -> str:
        """What is asked in a few words."""
        return (self.benchmark or "an unnamed benchmark") + (f" on {self.ranks} ranks" if self.ranks else "")
