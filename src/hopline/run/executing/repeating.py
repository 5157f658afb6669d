"""Rank 0 of an executed schedule: sends the others off together, repeat after repeat, and puts together what they say.

What belongs here: the course of a job. What a rank does in it is ``playing``.

All ranks set out at one moment of the common clock, announced far enough ahead for everybody to hear of it; a barrier would
let them go one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import median

import numpy as np

from hopline.errors import DataMismatchError, InputError
from hopline.records.executed import ClockError, Executed
from hopline.records.timeline import Timeline
from hopline.run.executing import clocks
from hopline.run.executing.clocks import Aligned, Reading
from hopline.run.executing.line import gathered, tell, tell_all
from hopline.run.executing.part import Part, parts_of
from hopline.run.executing.paths import critical
from hopline.run.executing.playing import Left, Order, Player, Said
from hopline.run.executing.transport import CONTROL_TAGS, Transport
from hopline.run.executing.walk import NANO, now
from hopline.run.leading import never
from hopline.schedule.operations import SEND, Schedule

_AHEAD, _MOST_AHEAD = 200_000, 10_000_000
"""Nanoseconds between announcing a start and the start; doubled up to the second while ranks come too late."""
_LATE = 5_000
_PICO = 1000


@dataclass(frozen=True, slots=True)
class Job:
    """A schedule with buffers, and how often it is carried out: ``warmups`` untold times, then ``repeats`` times."""

    schedule: Schedule
    repeats: int
    warmups: int = 2
    seed: int = 1

    def __post_init__(self) -> None:
        if self.repeats < 1 or self.warmups < 0:
            raise InputError(f"{self.repeats} repeats after {self.warmups} warm-ups: expected at least 1 and 0")


@dataclass(frozen=True, slots=True)
class Repeated:
    """A repeat that was verified: of which job, the how manieth, seconds, and when the job's first began."""

    job: int
    repeat: int
    time: float
    started: str


@dataclass(frozen=True, slots=True)
class Finished:
    """A job that has ended, with all its repeats; fewer than asked for where it was ended early."""

    job: int
    executed: Executed


Event = Repeated | Finished


def lead(
    transport: Transport, jobs: Sequence[Job], hosts: Sequence[str], crowded: bool, stop: Callable[[], bool] = never
) -> Generator[Event]:
    """Rank 0's part of jobs. Raises DataMismatchError; KeyboardInterrupt where it was asked to stop, after what it has."""
    read: list[Reading] = []
    for number, job in enumerate(jobs):
        course = _Course(transport, job, number, tuple(hosts), crowded, stop, read)
        yield from course.run()
        read = course.read


def leave(transport: Transport) -> None:
    """Let the other ranks go."""
    tell_all(transport.line, None)


def check(job: Job, ranks: int, transport: Transport) -> list[Part]:
    """The parts of a job's schedule. Raises InputError where these ranks cannot carry it out."""
    schedule = job.schedule
    if schedule.ranks != ranks:
        raise InputError(f"{schedule.name} is for {schedule.ranks} ranks: expected as many, this run has {ranks}")
    parts = parts_of(schedule, grouped=transport.batches)
    most = max((int(part.message.max(initial=0)) for part in parts), default=0) + CONTROL_TAGS
    if most > transport.most_tag:
        raise InputError(
            f"{schedule.name} has {most} messages from one rank to another: expected at most {transport.most_tag}"
        )
    return parts


@dataclass(slots=True)
class _Course:
    """A job. ``read``: what the clocks showed last; the job before leaves it to the next."""

    transport: Transport
    job: Job
    number: int
    hosts: tuple[str, ...]
    crowded: bool
    stop: Callable[[], bool]
    read: list[Reading]
    said: list[list[Said]] = field(default_factory=list)
    ahead: int = _AHEAD

    def run(self) -> Generator[Event]:
        line, job = self.transport.line, self.job
        parts = check(job, self.transport.size, self.transport)
        for rank in range(1, self.transport.size):
            tell(line, rank, Order(parts[rank], job.seed, self.crowded, not self.read))
        player = Player(self.transport, Order(parts[0], job.seed, self.crowded))
        before, wrong, ended = self.read or clocks.read_all(line), "", False
        started = datetime.now(UTC).isoformat()
        try:
            for repeat in range(-job.warmups, job.repeats):
                ended = self.stop()
                if ended:
                    break
                said = self._repeat(player, repeat, before)
                wrong = self._wrong(said, repeat)
                if wrong:
                    break
                if repeat >= 0:
                    self.said.append(said)
                    yield Repeated(self.number, repeat, _span(parts, said, [_still(b) for b in before])[0], started)
        except GeneratorExit:
            self._end(player, before, parts, None)
            raise
        finished = self._end(player, before, parts, None if wrong else len(self.said))
        if finished is not None:
            yield finished
        if wrong:
            raise DataMismatchError(wrong)
        if ended:
            raise KeyboardInterrupt

    def _repeat(self, player: Player, repeat: int, before: list[Reading]) -> list[Said]:
        line = self.transport.line
        tell_all(line, repeat)
        player.fill(repeat)
        gathered(line, None)
        at = now() + self.ahead
        for rank in range(1, line.size):
            tell(line, rank, at + round(before[rank].ahead))
        said: list[Said] = gathered(line, player.go(at, repeat))
        if any(one.begin - at - reading.ahead > _LATE for one, reading in zip(said, before, strict=True)):
            self.ahead = min(2 * self.ahead, _MOST_AHEAD)
        return said

    def _wrong(self, said: list[Said], repeat: int) -> str:
        found = [one.difference for one in said if one.difference is not None]
        if not found:
            return ""
        others = f"; {len(found)} ranks hold wrong bytes" if len(found) > 1 else ""
        which = f"repeat {repeat + 1}" if repeat >= 0 else "a warm-up"
        return (
            f"{self.job.schedule.name} over {self.transport.label}, {which}: {found[0]}{others}; check the memory of this "
            "machine and the transport before trusting its data"
        )

    def _end(self, player: Player, before: list[Reading], parts: list[Part], repeats: int | None) -> Finished | None:
        """Let the others leave the job; put together what there is."""
        line = self.transport.line
        tell_all(line, None)
        self.read = clocks.read_all(line)
        aligned = [Aligned(*readings) for readings in zip(before, self.read, strict=True)]
        if not repeats:
            tell_all(line, None)
            return None
        spans = [_span(parts, said, aligned) for said in self.said]
        times = [time for time, _ in spans]
        chosen = times.index(sorted(times)[(len(times) - 1) // 2])
        tell_all(line, chosen)
        left: list[Left] = gathered(line, player.left(chosen))
        return Finished(self.number, self._executed(parts, aligned, left, spans))

    def _executed(
        self, parts: list[Part], aligned: list[Aligned], left: list[Left], spans: list[tuple[float, float]]
    ) -> Executed:
        costs = [one.cost for one in left if not np.isnan(one.cost)]
        return Executed(
            name=self.job.schedule.name,
            ranks=self.transport.size,
            transport=self.transport.label,
            hosts=self.hosts,
            times=tuple(time for time, _ in spans),
            late=tuple(late for _, late in spans),
            clock=_worst(aligned),
            cost=median(costs) if costs else 0.0,
            checked=sum(one.checked for one in left),
            timeline=_timeline(self.job.schedule, self.transport.label, parts, aligned, left),
        )


def _still(reading: Reading) -> Aligned:
    return Aligned(reading, reading)


def _span(parts: list[Part], said: list[Said], aligned: list[Aligned]) -> tuple[float, float]:
    """Seconds from the first begin to the last end of the ranks that have something to do, and between their begins."""
    busy = [rank for rank, part in enumerate(parts) if len(part)] or [0]
    at = np.array([[said[rank].begin, said[rank].finish] for rank in busy], np.int64)
    common = np.array([aligned[rank].on_rank_0(row) for rank, row in zip(busy, at, strict=True)])
    begin, finish = common[:, 0], common[:, 1]
    return float(finish.max() - begin.min()) * NANO, float(begin.max() - begin.min()) * NANO


def _worst(aligned: list[Aligned]) -> ClockError:
    worst = max(aligned, key=lambda one: one.error)
    drifting = max(aligned, key=lambda one: abs(one.drift))
    return ClockError(
        worst.error, max((one.before.ahead for one in aligned), key=abs) * NANO, drifting.drift, drifting.drift_error
    )


def _timeline(
    schedule: Schedule, label: str, parts: list[Part], aligned: list[Aligned], left: list[Left]
) -> Timeline:  # fmt: skip
    zero = min(int(one.on_rank_0(np.array([said.stamps.begin]))[0]) for one, said in zip(aligned, left, strict=True))
    start, end = np.zeros(len(schedule), np.int64), np.zeros(len(schedule), np.int64)
    finish = np.zeros(schedule.ranks, np.int64)
    for part, clock, one in zip(parts, aligned, left, strict=True):
        start[part.rows] = (clock.on_rank_0(one.stamps.start) - zero) * _PICO
        end[part.rows] = (clock.on_rank_0(one.stamps.end) - zero) * _PICO
        finish[part.rank] = end[part.rows].max(initial=0)
    sends = schedule.columns.kind == SEND
    return Timeline(
        schedule.name, f"{schedule.ranks} real ranks", label, finish, np.empty(0, np.int64), (),
        critical(schedule, parts, start, end), schedule.messages, int(schedule.columns.size[sends].sum()), start, end,
    )  # fmt: skip
