"""Measure this machine: real ranks, samples kept as they come, a machine fitted to them.

What belongs here: what happens to the samples of a run: kept, gone on with, fitted. How they are taken is ``run``; what all
pairs say is ``measured_pairs``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path as File

from hopline.errors import FitError, MachineError, OutputError
from hopline.formats import samples as samples_file
from hopline.jobs import fitting, machines
from hopline.jobs.fitting import TableFit
from hopline.machine.executor import is_executors
from hopline.machine.parts import Operation
from hopline.quantity import show
from hopline.records.sample import Sample, Series
from hopline.run import world as worlds
from hopline.run.cells import Earlier, Place, blank
from hopline.run.ends import Cell
from hopline.run.kinds import ALL, BY_NAME, KINDS, kinds_of
from hopline.run.launch import ending_on_sigterm
from hopline.run.launcher import launched as launched
from hopline.run.mpi import Event, Progress, Started, measuring, places
from hopline.run.mpirun import cores_here
from hopline.run.plan import Plan
from hopline.run.world import World as World

Watcher = Callable[[Event], None]
_FEWEST_SHOWN, _MOST_STARTED = 4, 8
LOCAL = "local"
"""Name of this machine."""


def told(bar: Callable[[float, str], None]) -> Watcher:
    """A watcher that moves a progress bar: it is called with (fraction, what is going on)."""

    def watch(event: Event) -> None:
        if isinstance(event, Progress):
            bar(max(event.used, (event.turn - 1) / event.turns), f"{_timed(event)} {show(event.size, 'size')}")

    return watch


def _timed(event: Progress) -> str:
    """What is being timed, in a word or two."""
    return f"{event.kind} {'→'.join(map(str, event.ranks))}" if BY_NAME[event.kind].paired else event.kind


@dataclass(slots=True)
class Measured:
    """What a run left: its samples, one for each cell, and how it went.

    Attributes
    ----------
    cells, turns
        Samples by cell; as they came, a visit each, those of an earlier run first.
    interrupted
        Whether it was ended early.
    planned, finished, begun
        Cells that were asked for; of these, those that an earlier run had finished, and had begun.
    started
        The ranks that ran, for each of the runs that were needed.
    """

    cells: dict[tuple[object, ...], Sample] = field(default_factory=dict)
    turns: list[Sample] = field(default_factory=list)
    interrupted: bool = False
    planned: int = 0
    finished: int = 0
    begun: int = 0
    started: list[Started] = field(default_factory=list)

    def add(self, sample: Sample) -> None:
        """Take a sample in; those of one cell add up."""
        self.turns.append(sample)
        self.cells[sample.cell] = self.cells[sample.cell] + sample if sample.cell in self.cells else sample

    @property
    def samples(self) -> list[Sample]:
        """One sample for each cell, in order of what, between whom, and size."""
        return [self.cells[cell] for cell in sorted(self.cells)]

    @property
    def series(self) -> list[list[Sample]]:
        """The samples of each table, those of single pairs aside, in the order of the kinds."""
        found: dict[Series, list[Sample]] = defaultdict(list)
        for sample in self.samples:
            if sample.pair is None:
                found[sample.series].append(sample)
        names = [kind.benchmark for kind in KINDS]
        return sorted(found.values(), key=lambda series: (names.index(series[0].benchmark), series[0].ranks))

    @property
    def nothing_new(self) -> bool:
        """Whether an earlier run had finished all that was asked for."""
        return 0 < self.planned == self.finished

    @property
    def latencies(self) -> list[Sample]:
        """The ping-pong's samples, which a machine is fitted to."""
        return [s for s in self.samples if s.benchmark == BY_NAME["latency"].benchmark and s.pair is None]

    @property
    def crowded(self) -> list[tuple[str, int, int]]:
        """(host, ranks, cores) where more ranks ran than there are cores."""
        return list(dict.fromkeys(entry for started in self.started for entry in started.crowded))


def new_file() -> File:
    """A samples file of its own for a run that was given none."""
    return machines.folder() / "samples" / f"{datetime.now():%Y%m%d-%H%M%S-%f}.jsonl"


def kinds(words: Sequence[str], ranks: int) -> tuple[tuple[str, ...], list[str]]:
    """Kinds that the words stand for, and those that ``all`` leaves out since there are too few ranks."""
    named = kinds_of(words)
    if ALL not in words:
        return named, []
    short = [name for name in named if BY_NAME[name].needs > ranks and name not in words]
    return tuple(name for name in named if name not in short), short


def usual_ranks(names: Sequence[str]) -> int:
    """Ranks to start where the user does not say: two, or a few where a kind is about as many as there are."""
    if any(BY_NAME[name].scales for name in names):
        return max(_FEWEST_SHOWN, min(cores_here(), _MOST_STARTED))
    return 2


def join() -> World | None:
    """The ranks that this process was started with as one of several; None where it was started alone."""
    return worlds.joined()


def measure(plan: Plan, file: File, watch: Watcher, world: World | None = None) -> Measured:
    """Measure, append each sample to ``file`` as it comes, and tell ``watch`` of every event.

    Cells that ``file`` holds already are not measured again. Ctrl-C and SIGTERM end the run and keep what was measured.
    Raises RunError, DataMismatchError; OutputError where the file cannot be written or holds samples of the same
    benchmark that were taken in another way.
    """
    where = world.places(plan) if world else places(plan)
    measured = Measured(planned=len(where))
    earlier = _gone_before(plan, file, where, measured)
    if measured.nothing_new:
        return measured
    samples_file.make_folder(file)
    try:
        with ending_on_sigterm(), (world.measuring if world else measuring)(plan, earlier) as events:
            for event in events:
                if isinstance(event, Sample):
                    samples_file.append(str(file), event)
                    measured.add(event)
                elif isinstance(event, Started):
                    measured.started.append(event)
                watch(event)
    except KeyboardInterrupt:
        measured.interrupted = True
    return measured


def _gone_before(plan: Plan, file: File, where: Mapping[Cell, Place], measured: Measured) -> dict[Cell, Earlier]:
    """What ``file`` holds of the plan's cells; taken into ``measured``."""
    turns = [line.sample for line in samples_file.begun(str(file)).lines]
    blanks = {blank(cell, place).cell: cell for cell, place in where.items()}
    _refuse_mixing(file, {sample.cell: sample for sample in turns}, [blank(c, p) for c, p in where.items()])
    found: dict[Cell, Earlier] = {}
    for sample in turns:
        cell = blanks.get(sample.cell)
        if cell is not None:
            measured.add(sample)
            known = found.get(cell, Earlier(0, ()))
            found[cell] = Earlier(known.turns + 1, known.times + sample.times)
    measured.finished = sum(known.is_done(plan) for known in found.values())
    measured.begun = len(found) - measured.finished
    return found


def _refuse_mixing(file: File, there: Mapping[object, Sample], planned: Sequence[Sample]) -> None:
    """Refuse to add to samples of the same kind of measurement that were taken in another way."""
    ways: dict[object, set[tuple[object, ...]]] = defaultdict(set)
    for sample in planned:
        ways[_kind(sample)].add(_way(sample))
    for sample in there.values():
        wanted = ways.get(_kind(sample), set())
        if wanted and _way(sample) not in wanted:
            raise OutputError(
                f"{file}: holds {sample.benchmark} of {_told(sample)}, this run has {_told_all(planned, sample)}: "
                "choose another file, or join files afterwards with cat"
            )


def _kind(sample: Sample) -> tuple[object, ...]:
    return sample.benchmark, sample.pair


def _way(sample: Sample) -> tuple[object, ...]:
    return sample.transport, sample.host, sample.hosts, sample.started_ranks, sample.pairs, sample.window


def _told(sample: Sample) -> str:
    hosts = ", ".join(dict.fromkeys(sample.hosts)) or sample.host
    return f"{sample.started_ranks} ranks, window {sample.window}, {sample.transport} on {hosts}"


def _told_all(planned: Sequence[Sample], there: Sample) -> str:
    return " and ".join(dict.fromkeys(_told(sample) for sample in planned if _kind(sample) == _kind(there)))


def fitted(samples: Sequence[Sample], file: File) -> TableFit:
    """The fit of one run's samples."""
    table = samples_file.table_of(list(samples))
    return fitting.fit_table(1, str(file), table, in_place=False, most_pieces=fitting.MOST_PIECES)


def save_local(fit: TableFit, name: str) -> tuple[File, File | None]:
    """Save the machine under ``name``; what stood there is kept and returned beside the file. Steps of the executor stay."""
    file = machines.target(name)
    machine = fitting.machine_of(fit, file.stem)
    kept = {key: one for key, one in _operations_of(file).items() if is_executors(one.benchmark)}
    machine = replace(machine, operations={**machine.operations, **kept})
    return file, machines.save(machine, file, replace=True)


def _operations_of(file: File) -> Mapping[str, Operation]:
    """Of the machine that stands there; none where there is none, or one that cannot be read."""
    try:
        return machines.find(str(file)).operations if file.exists() else {}
    except MachineError:
        return {}


def save_measured(measured: Measured, fit: TableFit, name: str | None) -> tuple[File, File | None]:
    """Save the machine of a run, under 'local' where no name is given. Raises FitError where that would not be true."""
    hosts = list(dict.fromkeys(host for sample in measured.latencies for host in sample.hosts))
    if name is None and hosts:
        raise FitError(
            f"ranks 0 and 1 are on {' and '.join(hosts)}, which is not this machine: give it a name with --save"
        )
    return save_local(fit, LOCAL if name is None else name)
