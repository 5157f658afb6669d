"""Schedules on real ranks against what single steps say of them: python validation/executed.py [LAUNCHES]

Seven times in turn, each with ranks of its own: ``hopline measure --what executor``, then all-reduces by ring, recursive
doubling and binomial trees on two ranks. Each measure predicts all cells; no run does. A cell is one algorithm at one size,
its range the 5 to 95 % of its repeats in all launches. Beside it stands the range of only those repeats that came right
after the measure that predicts, which is narrower than the machine is steady.

Leaves with code 1 where fewer than INSIDE of the predictions lie in the range of their cell, or where the median error from
FROM on is more than MEDIAN. Meant for an idle machine with two cores or more; on fewer it is skipped.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from hopline.curve import Floats
from hopline.jobs import executing, probing, schedules
from hopline.jobs.schedules import Found
from hopline.machine.executor import Executor, executor_of
from hopline.quantity import show
from hopline.run.mpirun import cores_here
from hopline.schedule.shape import Shape
from hopline.sim.executing import simulate_executor

ALGORITHMS = ("ring", "recursive_doubling", "binomial")
SIZES = (8, 64, 1024, 8192, *(2**power for power in range(14, 25)))
LAUNCHES, RANKS = 7, 2
INSIDE, MEDIAN, FROM = 0.70, 0.25, 1 << 16


@dataclass(slots=True, eq=False)
class Cell:
    """One algorithm at one size: repeats of each launch, and what each measure predicted, in seconds."""

    found: Found
    runs: list[Floats] = field(default_factory=list)
    predicted: list[float] = field(default_factory=list)

    @property
    def all(self) -> Floats:
        """All repeats."""
        return np.concatenate(self.runs)

    @property
    def inside(self) -> list[bool]:
        """By launch: whether its prediction lies in the range of all repeats."""
        return [within(time, self.all) for time in self.predicted]

    @property
    def own(self) -> list[bool]:
        """The same for the range of the launch's own repeats."""
        return [within(time, run) for time, run in zip(self.predicted, self.runs, strict=True)]

    @property
    def errors(self) -> Floats:
        """Relative, by launch, against the median of all repeats."""
        return np.array(self.predicted) / float(np.median(self.all)) - 1.0


def within(time: float, repeats: Floats) -> bool:
    """In the range from 5 to 95 %."""
    low, high = np.quantile(repeats, (0.05, 0.95))
    return bool(low <= time <= high)


def launch(number: int, cells: list[Cell], folder: Path) -> Executor:
    """Measure, predict, run."""
    probed = probing.measure(folder / f"measured-{number}.jsonl")
    executor = executor_of(probing.operations(probed.samples, "validation"), "mpi")
    assert executor is not None
    ran = executing.execute([cell.found for cell in cells], "mpi", file=folder / f"run-{number}.jsonl")
    for cell, run in zip(cells, ran.cells, strict=True):
        assert run.sample is not None
        cell.runs.append(np.array(run.sample.times))
        cell.predicted.append(simulate_executor(cell.found.schedule, executor).time)
    return executor


def told(cell: Cell) -> str:
    """A cell in a line."""
    low, middle, high = (show(time, "time", 3) for time in np.quantile(cell.all, (0.05, 0.5, 0.95)))
    assert cell.found.shape is not None
    return (
        f"{cell.found.schedule.name:30} {show(cell.found.shape.size, 'size'):>8}  {middle:>8} ({low} .. {high})  predicted "
        f"{show(float(np.median(cell.predicted)), 'time', 3):>8}  {100 * float(np.median(cell.errors)):+6.1f} %  in range "
        f"{sum(cell.inside)} of {len(cell.inside)}"
    )


def main() -> int:
    """Measure, run and print; the exit code."""
    if cores_here() < RANKS:
        print(f"skipped: {cores_here()} core here, {RANKS} ranks need one each")
        return 0
    entries = [schedules.entry_of(f"all_reduce-{algorithm}") for algorithm in ALGORITHMS]
    cells = [Cell(schedules.built(entry, Shape(RANKS, size))) for entry in entries if entry for size in SIZES]
    launches = int(sys.argv[1]) if len(sys.argv) > 1 else LAUNCHES
    with tempfile.TemporaryDirectory() as folder:
        for number in range(launches):
            executor = launch(number, cells, Path(folder))
            own, first = show(executor.operation, "time", 3), show(executor.first, "time", 3)
            print(f"launch {number + 1}: an operation of the executor {own}, the first message {first}", flush=True)
    print("\n".join(map(told, cells)))
    inside = float(np.mean([one for cell in cells for one in cell.inside]))
    own_range = float(np.mean([one for cell in cells for one in cell.own]))
    large = [cell for cell in cells if cell.found.shape is not None and cell.found.shape.size >= FROM]
    median = float(np.median(np.abs(np.concatenate([cell.errors for cell in large]))))
    small = float(np.median(np.abs(np.concatenate([cell.errors for cell in cells if cell not in large]))))
    print(f"\nin the range of their cell: {inside:.0%} of {launches * len(cells)} predictions; in that of their own launch: "
          f"{own_range:.0%}")  # fmt: skip
    print(f"median error from {show(FROM, 'size')} on: {median:.1%}; below: {small:.1%}")
    wrong = [f"in range: {inside:.0%}, expected {INSIDE:.0%}"] if inside < INSIDE else []
    wrong += [f"median error: {median:.0%}, expected {MEDIAN:.0%} at most"] if median > MEDIAN else []
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
