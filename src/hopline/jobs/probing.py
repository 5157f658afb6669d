"""Measure what single steps of schedules cost when hopline's executor takes them, and keep that in a machine.

What belongs here: which probes run how often, their samples, and the operations that are made of them. How real ranks
carry a schedule out is ``run.executing``.

All probes are visited in turn, several times, so that a disturbance of some milliseconds does not fall on all repeats of
one of them.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path as File

import numpy as np

from hopline.curve import Curve
from hopline.errors import FitError, OutputError
from hopline.formats import samples as samples_file
from hopline.jobs import machines
from hopline.jobs.executing import Watcher, silent
from hopline.machine.executor import OPERATION, SMALL, STEPS, TWICE, Executor, benchmark, executor_of, is_executors
from hopline.machine.parts import Fitted, Operation
from hopline.machine.topology import Machine
from hopline.quantity import show
from hopline.records.sample import Sample
from hopline.run.executing.given import Given
from hopline.run.executing.launching import executing
from hopline.run.executing.repeating import Finished, Job
from hopline.run.launch import ending_on_sigterm
from hopline.run.mpi import Started
from hopline.schedule.probes import PROBES, RANKS

SIZES = (8, 64, 512, 4096, *(2**power for power in range(14, 25)))
"""Bytes of a step where nobody says: to 16 MiB."""
SECONDS = 30.0
VISITS, REPEATS = 8, 8
"""Of each probe: how often it is come back to, and repeats of a visit."""
FEWEST = 2
"""Visits that are made whatever the time."""
_LARGE = 1 << 22
"""Bytes from which a visit has half of the repeats."""
_DIGITS = 6


@dataclass(slots=True)
class Probed:
    """What a run left.

    ``started``: the ranks that ran, None: an earlier run had done all. ``wanted``, ``done``: visits of all probes.
    """

    transport: str
    file: File
    cells: dict[tuple[object, ...], Sample] = field(default_factory=dict)
    started: Started | None = None
    interrupted: bool = False
    trouble: Exception | None = None
    wanted: int = 0
    done: int = 0

    @property
    def samples(self) -> list[Sample]:
        """One a cell, in order."""
        return [self.cells[cell] for cell in sorted(self.cells)]

    def keep(self, sample: Sample) -> None:
        """Add to what is there."""
        self.cells[sample.cell] = self.cells[sample.cell] + sample if sample.cell in self.cells else sample


@dataclass(frozen=True, slots=True)
class _Visit:
    """A probe of a size, taken once or twice."""

    step: str
    size: int
    times: int

    @property
    def what(self) -> str:
        """How it is called."""
        return self.step if self.times == 1 else self.step + TWICE

    @property
    def repeats(self) -> int:
        """Of one visit."""
        return REPEATS if self.size < _LARGE else REPEATS // 2

    def job(self) -> Job:
        """To be carried out."""
        return Job(PROBES[self.step].build(self.size, self.times), self.repeats)


def measure(
    file: File, transport: str = "mpi", sizes: Sequence[int] = SIZES, seconds: float = SECONDS, watch: Watcher = silent,
    given: Given | None = None,
) -> Probed:  # fmt: skip
    """Carry the probes out on two ranks for about ``seconds``, FEWEST visits of each at least; append samples to ``file``.

    ``given``: two ranks that somebody else started. What ``file`` holds of the probes counts as done. Ctrl-C and SIGTERM
    end it and keep what was timed. Raises InputError for sizes that cannot be, RunError, DataMismatchError, OutputError.
    """
    label = given.transport.label if given else transport
    found = Probed(label, file)
    hosts = given.started.hosts if given else (platform.node(),) * RANKS
    there = {sample.cell: sample for sample in samples_file.begun(str(file)).merged()}
    visits = [
        _Visit(step, size, times)
        for size in sorted(set(sizes))
        for times in (1, 2)
        for step in STEPS
        if times == 1 or size <= SMALL
    ]
    blank = {visit: _sample(label, hosts, visit.what, visit.size, (0.0,)) for visit in visits}
    earlier = {visit: there.get(blank[visit].cell) for visit in visits}
    for sample in there.values():
        if is_executors(sample.benchmark, label) and sample.host == hosts[0]:
            found.keep(sample)
    turns = [
        (turn, visit)
        for turn in range(VISITS)
        for visit in visits
        if (known := earlier[visit]) is None or len(known.times) < (turn + 1) * visit.repeats
    ]
    left = [visit for _, visit in turns]
    found.wanted, found.done = VISITS * len(visits), VISITS * len(visits) - len(left)
    if left:
        jobs = [visit.job() for visit in left]
        source = given.executing(jobs) if given else executing(jobs, transport, RANKS)
        fewest = sum(turn < FEWEST for turn, _ in turns)
        _follow(source, found, left, hosts, fewest, seconds, watch)
    return found


def _follow(
    source: AbstractContextManager[Iterator[object]], found: Probed, left: Sequence[_Visit], hosts: tuple[str, ...],
    fewest: int, seconds: float, watch: Watcher,
) -> None:  # fmt: skip
    """Keep what comes until the time is used."""
    begin = time.monotonic()
    try:
        with ending_on_sigterm(), source as events:
            for event in events:
                if isinstance(event, Started):
                    found.started = event
                if not isinstance(event, Finished):
                    continue
                visit = left[event.job]
                clock = event.executed.clock.error
                _keep(found, _sample(found.transport, hosts, visit.what, visit.size, event.executed.times, clock))
                _keep(found, _sample(found.transport, hosts, OPERATION, 0, (event.executed.cost,), clock))
                found.done += 1
                used = (time.monotonic() - begin) / seconds
                watch(max(min(used, 1.0), (event.job + 1) / len(left)), f"{visit.what} {show(visit.size, 'size')}")
                if used >= 1.0 and event.job + 1 >= fewest:
                    return
    except KeyboardInterrupt:
        found.interrupted = True
    except OutputError:
        raise
    except Exception as error:
        if found.started is None:
            raise
        found.trouble = error


def _keep(found: Probed, sample: Sample) -> None:
    found.keep(sample)
    samples_file.make_folder(found.file)
    samples_file.append(str(found.file), sample)


def _sample(
    label: str, hosts: tuple[str, ...], what: str, size: int, times: tuple[float, ...], clock: float = 0.0
) -> Sample:
    several = hosts if len(set(hosts)) > 1 else ()
    return Sample(benchmark(label, what), label, hosts[0], RANKS, size, times, clock, hosts=several)


def operations(samples: Sequence[Sample], origin: str) -> dict[str, Operation]:
    """A machine's operations of the samples of probes: medians, read between sizes as they are.

    ``origin`` says where they are from. Raises FitError for a size whose median is 0.
    """
    tables: dict[str, list[Sample]] = {}
    for sample in sorted(samples, key=lambda one: one.size):
        tables.setdefault(sample.benchmark, []).append(sample)
    found = {}
    for name, rows in tables.items():
        points = tuple((float(row.size), float(f"{row.median:.{_DIGITS}g}")) for row in rows)
        if min(time for _, time in points) <= 0:
            raise FitError(f"{name}: a median of 0 s is too short to be one: measure it again")
        largest = points[-1]
        curve = Curve.line(points[0][1], _rate(points[0], largest))
        evidence = Fitted(origin, points[0][0], largest[0], 0.0, 0.0)
        made = Operation(name, RANKS, "time", curve, evidence, points, (), "hopline")
        found[made.name] = made
    return found


def _rate(first: tuple[float, float], last: tuple[float, float]) -> float:
    (small, quick), (large, slow) = first, last
    return (large - small) / (slow - quick) if slow > quick and large > small else float(np.inf)


def check_target(name: str) -> None:
    """Raise what ``save`` would for a name or a file that cannot be added to, before anything is measured."""
    _saved(machines.target(name))


def save(probed: Probed, name: str) -> tuple[File, File | None, Executor]:
    """Add the probes' operations to the machine of that name, a new one where there is none.

    The file, what stood there under another name, and the executor. Raises MachineError, OutputError; FitError where too
    little was measured to go by.
    """
    file = machines.target(name)
    made = operations(probed.samples, f"hopline probes over {probed.transport}, {probed.file.name}")
    executor = executor_of(made, probed.transport)
    if executor is None:
        raise FitError("nothing was measured of the executor")
    before = _saved(file) or Machine(file.stem, "the executor's steps", {}, {}, (), {}, {})
    kept = {key: one for key, one in before.operations.items() if not is_executors(one.benchmark, probed.transport)}
    machine = replace(before, operations={**kept, **made})
    return file, machines.save(machine, file, replace=True), executor


def _saved(file: File) -> Machine | None:
    return machines.find(str(file)) if file.exists() else None
