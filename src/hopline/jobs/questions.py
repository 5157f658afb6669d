"""What is asked of a machine: a benchmark, its ranks and their places, sizes; and what was measured of it there.

What belongs here: the question, and finding what a machine has measured of it. What names of benchmarks say is
``benchmarks``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from hopline.jobs import layout
from hopline.jobs.benchmarks import is_between_two, parts
from hopline.machine.parts import Operation
from hopline.machine.topology import Machine
from hopline.study.points import Points


def points_of(operation: Operation) -> Points:
    """The measured points, sizes as nccl-tests counts them where the ranks are known. Raises FitError for too few."""
    sizes, times = zip(*operation.points, strict=True)
    points = Points.of(sizes, times)
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
        return self.ranks in (None, 2) and is_between_two(self.benchmark)

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
