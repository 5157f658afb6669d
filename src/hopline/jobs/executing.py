"""Schedules on real ranks: carried out, verified, their times kept as they come.

What belongs here: what happens to what ranks tell: kept in a samples file, gone on with, put beside the schedule. How
schedules are carried out is ``run``.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path as File

from hopline.errors import InputError, OutputError
from hopline.formats import samples as samples_file
from hopline.jobs.schedule_labels import label, size_is, size_of
from hopline.jobs.schedules import Found
from hopline.jobs.simulating import Simulated, said
from hopline.quantity import show
from hopline.records.executed import Executed
from hopline.records.sample import Sample
from hopline.run.executing import given as given_ranks
from hopline.run.executing.dressed import dressed
from hopline.run.executing.given import Given as Given
from hopline.run.executing.given import rank_told as rank_told
from hopline.run.executing.launching import executing
from hopline.run.executing.repeating import Event, Finished, Job, Repeated
from hopline.run.launch import ending_on_sigterm
from hopline.run.mpi import Started

Watcher = Callable[[float, str], None]
REPEATS = 20
"""Where nobody says."""
KEEP_EVERY = 0.5
"""Seconds between two visits to the file while a schedule is repeated: what a killed run loses at most."""


def silent(_fraction: float, _text: str) -> None:
    """Nobody watches."""


@dataclass(slots=True)
class Cell:
    """One schedule: what became of it.

    Attributes
    ----------
    found, label
        The schedule, and what samples call it.
    size
        Bytes, which count what ``size_is`` says.
    sample
        All its repeats, those of an earlier run too; None: there is none.
    executed
        What this run left of it; None where it had nothing left to do, or ended before that.
    earlier
        Repeats of an earlier run.
    """

    found: Found
    label: str
    size: int
    sample: Sample | None = None
    executed: Executed | None = None
    earlier: int = 0

    @property
    def size_is(self) -> str:
        """What the size counts: OF_COLLECTIVE, or of a file MOST_SENT."""
        return size_is(self.found)

    @property
    def simulated(self) -> Simulated | None:
        """What the timeline of the middle repeat says in numbers."""
        return None if self.executed is None else said(self.found, self.executed.timeline, None, None)


@dataclass(slots=True)
class Ran:
    """A whole run.

    ``unwritten``: why samples could not be kept; what they hold is in the cells all the same.
    """

    cells: list[Cell]
    file: File | None
    repeats: int
    started: Started | None = None
    interrupted: bool = False
    unwritten: OutputError | None = None
    trouble: Exception | None = None

    @property
    def remarks(self) -> tuple[str, ...]:
        """What should be known of the schedules' files, each once."""
        return tuple(dict.fromkeys(remark for cell in self.cells for remark in cell.found.remarks))

    @property
    def crowded(self) -> tuple[tuple[str, int, int], ...]:
        """(host, ranks, cores) where more ranks ran than there are cores."""
        return self.started.crowded if self.started else ()

    @property
    def nothing_new(self) -> bool:
        """Whether an earlier run had done all that was asked for."""
        return self.started is None and all(cell.earlier >= self.repeats for cell in self.cells)


def join(transport: str) -> Given | None:
    """The ranks that this process was started with as one of several; None where it was started alone."""
    return given_ranks.joined(transport)


def execute(
    founds: Sequence[Found],
    transport: str,
    *,
    repeats: int = REPEATS,
    warmups: int = 2,
    file: File | None = None,
    watch: Watcher = silent,
    given: Given | None = None,
) -> Ran:
    """Carry out schedules of equally many ranks, each ``repeats`` times; append what was timed to ``file`` as it comes.

    Parameters
    ----------
    transport
        A key of ``run.executing.transports.TRANSPORTS``.
    file
        A samples file to begin or go on with: repeats that it has are not made again. None: nothing is kept.
    watch
        Is told how far it is.
    given
        Ranks that somebody else started; None: they are started here.

    Returns
    -------
    The run. Where it was interrupted, ranks failed (``trouble``) or the file could not be written, with what there was before.

    Raises
    ------
    InputError
        Where the ranks cannot carry out one of the schedules.
    RunError
        Where ranks cannot be started.
    OutputError
        Where ``file`` is somebody else's.
    """
    ranks = {found.schedule.ranks for found in founds}
    if len(ranks) != 1:
        raise InputError(f"schedules of {sorted(ranks)} ranks: expected one number of ranks for all of a run")
    if given is not None and given.ranks != min(ranks):
        raise InputError(f"the launcher started {given.ranks} ranks: expected {min(ranks)}, as the schedule has")
    run = _Run(Ran([Cell(found, label(found), size_of(found)) for found in founds], file, repeats), watch, given)
    run.place(transport, min(ranks))
    run.take_earlier()
    left = [(cell, repeats - cell.earlier) for cell in run.ran.cells if cell.earlier < repeats]
    jobs = [Job(dressed(cell.found.schedule), count, warmups) for cell, count in left]
    if jobs:
        source = given.executing(jobs) if given else executing(jobs, transport, min(ranks))
        run.follow(source, [cell for cell, _ in left], jobs)
    return run.ran


@dataclass(slots=True)
class _Run:
    ran: Ran
    watch: Watcher
    given: Given | None
    label: str = ""
    hosts: tuple[str, ...] = ()
    open: list[Repeated] = field(default_factory=list)
    kept: int = 0
    kept_at: float = 0.0

    def place(self, transport: str, ranks: int) -> None:
        """Where the ranks are, and what samples call what carries their messages."""
        if self.given is not None:
            self.label, self.hosts = self.given.transport.label, self.given.started.hosts
        else:
            self.label, self.hosts = transport, (platform.node(),) * ranks

    def take_earlier(self) -> None:
        """What the file holds of the cells."""
        if self.ran.file is None:
            return
        there = {sample.cell: sample for sample in samples_file.begun(str(self.ran.file)).merged()}
        for cell in self.ran.cells:
            known = there.get(self._sample(cell, (0.0,), 0.0, "").cell)
            if known is not None:
                cell.sample, cell.earlier = known, len(known.times)

    def _sample(self, cell: Cell, times: tuple[float, ...], clock: float, started: str) -> Sample:
        hosts = self.hosts if len(set(self.hosts)) > 1 else ()
        return Sample(
            cell.label, self.label, self.hosts[0], len(self.hosts), cell.size, times, clock, started, hosts=hosts
        )

    def follow(
        self, source: AbstractContextManager[object], cells: Sequence[Cell], jobs: Sequence[Job]
    ) -> None:  # fmt: skip
        """Keep what comes; what is left over where it ends early is kept too."""
        try:
            with ending_on_sigterm(), source as events:
                for event in events:  # type: ignore[attr-defined]
                    self._take(event, cells, jobs)
        except KeyboardInterrupt:
            self.ran.interrupted = True
        except OutputError as error:
            self.ran.unwritten = error
        except Exception as error:
            if self.ran.started is None:
                raise
            self.ran.trouble = error
        try:
            self._keep_open(cells)
        except OutputError as error:
            self.ran.unwritten = error

    def _take(self, event: Started | Event, cells: Sequence[Cell], jobs: Sequence[Job]) -> None:
        if isinstance(event, Started):
            self.ran.started = event
        elif isinstance(event, Finished):
            cell = cells[event.job]
            cell.executed = event.executed
            started, left = self.open[0].started if self.open else "", event.executed.times[self.kept :]
            self.open, self.kept = [], 0
            if left:
                self._keep(cell, self._sample(cell, left, event.executed.clock.error, started))
        else:
            self.kept_at = self.kept_at if self.open else time.monotonic()
            self.open.append(event)
            if time.monotonic() - self.kept_at >= KEEP_EVERY:
                self._keep_open(cells)
            job = jobs[event.job]
            done = (event.job + (event.repeat + 1) / job.repeats) / len(jobs)
            self.watch(done, f"{job.schedule.name} {show(cells[event.job].size, 'size')}")

    def _keep_open(self, cells: Sequence[Cell]) -> None:
        """Keep the repeats of a schedule that has not come to its end, those aside that are kept already."""
        new, self.kept = self.open[self.kept :], len(self.open)
        if new:
            cell = cells[new[0].job]
            self._keep(cell, self._sample(cell, tuple(event.time for event in new), 0.0, new[0].started))

    def _keep(self, cell: Cell, sample: Sample) -> None:
        self.kept_at = time.monotonic()
        cell.sample = sample if cell.sample is None else cell.sample + sample
        if self.ran.file is not None:
            samples_file.make_folder(self.ran.file)
            samples_file.append(str(self.ran.file), sample)
