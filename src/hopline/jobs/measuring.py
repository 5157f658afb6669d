"""Measure this machine: real ranks, samples kept as they come, a machine fitted to them.

What belongs here: what happens to the samples of a run. How they are taken is ``run``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path as File

from hopline.errors import OutputError
from hopline.formats import samples as samples_file
from hopline.jobs import fitting, machines
from hopline.jobs.fitting import TableFit
from hopline.quantity import show
from hopline.records.sample import Sample
from hopline.run.mpi import Event, measuring
from hopline.run.plan import Plan

Watcher = Callable[[Event], None]


def told(bar: Callable[[float, str], None]) -> Watcher:
    """A watcher that moves a progress bar: it is called with (fraction, what is going on)."""

    def watch(event: Event) -> None:
        if not isinstance(event, Sample):
            bar(max(event.used, (event.turn - 1) / event.turns), show(event.size, "size"))

    return watch


@dataclass(slots=True)
class Measured:
    """What a run left: its samples, one for each size, and whether it was interrupted."""

    cells: dict[tuple[object, ...], Sample] = field(default_factory=dict)
    interrupted: bool = False

    def add(self, sample: Sample) -> None:
        """Take a sample in; those of one cell add up."""
        self.cells[sample.cell] = self.cells[sample.cell] + sample if sample.cell in self.cells else sample

    @property
    def samples(self) -> list[Sample]:
        """One sample for each size, in order of size."""
        return sorted(self.cells.values(), key=lambda sample: sample.size)


def new_file() -> File:
    """A samples file of its own for a run that was given none."""
    return machines.folder() / "samples" / f"{datetime.now():%Y%m%d-%H%M%S-%f}.jsonl"


def measure(plan: Plan, file: File, watch: Watcher) -> Measured:
    """Measure, append each sample to ``file`` as it comes, and tell ``watch`` of every event.

    Ctrl-C ends the run and keeps what was measured. Raises RunError, DataMismatchError, OutputError.
    """
    measured = Measured()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{file.parent} cannot be made: {error.strerror}") from None
    try:
        with measuring(plan) as events:
            for event in events:
                if isinstance(event, Sample):
                    samples_file.append(str(file), event)
                    measured.add(event)
                watch(event)
    except KeyboardInterrupt:
        measured.interrupted = True
    return measured


def fitted(samples: Sequence[Sample], file: File) -> TableFit:
    """The fit of one run's samples."""
    table = samples_file.table_of(list(samples))
    return fitting.fit_table(1, str(file), table, in_place=False, most_pieces=fitting.MOST_PIECES)


def save_local(fit: TableFit, name: str) -> tuple[File, File | None]:
    """Save the machine under ``name``; what stood there is kept and returned beside the file."""
    file = machines.target(name)
    return file, machines.save(fitting.machine_of(fit, file.stem), file, replace=True)
