"""Training steps: from a job and a network to a simulated schedule, traces of its ranks, and the truth.

What belongs here: what a step is made of, and the order of it all. Layers run forwards, then backwards, in stages for one
micro-batch after another; each bucket of gradients is all-reduced when the layers that it is of are through for the last one;
the update waits for all buckets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from hopline.curve import Curve
from hopline.errors import InputError
from hopline.jobs.made.job import Job
from hopline.jobs.made.program import Program
from hopline.jobs.made.tracing import Profiling, traces_of
from hopline.jobs.made.truth import Truth, truth_of
from hopline.machine.fabric import Fabric, Level, Levels
from hopline.records.timeline import Timeline
from hopline.records.trace import Trace
from hopline.schedule.operations import NONE, Schedule
from hopline.schedule.pieces import split
from hopline.sim.engine import simulate

COMMUNICATION = 1
"""Number of the stream that gradients are reduced on; kernels are on stream 0."""
_MESSAGES = 2
"""Number of the stream that activations are received on; those of sending, and of gradients, follow."""
CHANNELS = 2
"""Channels of messages between stages begin here: those before are of collectives on either stream."""
PARTS = (("gemm", 0.8), ("elementwise", 0.2))
"""Kernels of a layer, and their share of its time."""
UPDATE = "adam_update"
_TAIL = 4e-6
NETWORK = Curve.line(8e-6, 20e9)
INSIDE = Curve.line(3e-6, 200e9)
"""What a message takes between data-parallel ranks, and inside of a tensor-parallel group, where nothing else is told."""


@dataclass(frozen=True, slots=True)
class Made:
    """A step that was made up: what it was made of, what happened, what profilers saw of it, and what was so."""

    job: Job
    schedule: Schedule
    timeline: Timeline
    traces: tuple[Trace, ...]
    truth: Truth


def network(job: Job, outer: Curve = NETWORK, inner: Curve = INSIDE) -> Levels:
    """Ranks of ``job``, each with its own ports inside of its tensor-parallel group and between groups."""
    groups = job.ranks // job.tensor
    if job.tensor == 1:
        return Levels.uniform(job.ranks, outer)
    return Levels([Level(job.tensor, inner), Level(groups, outer)] if groups > 1 else [Level(job.tensor, inner)])


def make(
    job: Job,
    fabric: Fabric | None = None,
    profiling: Profiling | None = None,
    *,
    watch: Callable[[str], None] | None = None,
) -> Made:
    """A step of ``job`` on ``fabric`` (None: ``network(job)``), as ``profiling`` sees it.

    Raises InputError where the fabric has too few ranks.
    """
    fabric = network(job) if fabric is None else fabric
    if fabric.ranks < job.ranks:
        raise InputError(f"a job of {job.ranks} ranks on {fabric.name} with {fabric.ranks}: expected at least as many")
    say = watch or (lambda _: None)
    program = _program(job)
    schedule = program.schedule(f"training step of {job.ranks} ranks")
    say(f"simulating {len(schedule)} operations")
    timeline = simulate(schedule, fabric, keep=True)
    seen = profiling or Profiling()
    return Made(job, schedule, timeline, traces_of(program, timeline, seen), truth_of(program, timeline, seen))


def _program(job: Job) -> Program:
    program = Program(job.ranks, job.host, job.lag, job.noise, Random(job.seed), dict(job.slow_host))
    for stage in range(job.stages):
        _Stage(program, job, stage).go()
    return program


def order(stages: int, stage: int, batches: int) -> list[tuple[bool, int]]:
    """(whether backwards, micro-batch) of a stage, one after another: 1F1B (Narayanan et al., SC 2021, figure 3)."""
    ahead = min(stages - stage - 1, batches)
    passes = [(False, batch) for batch in range(ahead)]
    for batch in range(batches):
        passes += [(False, ahead + batch)] if ahead + batch < batches else []
        passes.append((True, batch))
    return passes


class _Stage:
    """What the ranks of one stage launch."""

    def __init__(self, program: Program, job: Job, stage: int) -> None:
        self.program, self.job, self.stage = program, job, stage
        self.ranks = range(stage * job.block, (stage + 1) * job.block)
        self.layers = job.layers // job.stages
        self.reduced = job.block > job.tensor

    def go(self) -> None:
        """All passes, then the update."""
        for backward, batch in order(self.job.stages, self.stage, self.job.batches):
            self._pass(backward, batch == self.job.batches - 1)
        for rank in self.ranks:
            seconds = self.job.update * self.job.slowness(rank, UPDATE)
            self.program.kernel(rank, UPDATE, seconds, on=COMMUNICATION if self.reduced else NONE)
            self.program.sync(rank, _TAIL)

    def _pass(self, backward: bool, last: bool) -> None:
        step = -1 if backward else 1
        before, after = self.stage - step, self.stage + step
        waits = self._messages(before, backward, False) if 0 <= before < self.job.stages else NONE
        bounds = split(self.layers, self.job.buckets).tolist()
        sizes = split(self.job.gradients, self.job.buckets).tolist()
        for done in range(1, self.layers + 1):
            self._layer(backward, waits if done == 1 else NONE)
            if backward and last and done in bounds[1:]:
                bucket = bounds.index(done) - 1
                self._reduce_gradients(sizes[bucket + 1] - sizes[bucket])
        if 0 <= after < self.job.stages:
            self._messages(after, backward, True)

    def _messages(self, other: int, backward: bool, sends: bool) -> int:
        """Each rank sends to, or receives from, its fellow of another stage; on which stream."""
        stream = _MESSAGES + 2 * backward + sends
        for rank in self.ranks:
            peer = rank + (other - self.stage) * self.job.block
            self.program.message(
                rank,
                peer,
                self.job.boundary,
                sends,
                stream,
                CHANNELS + backward,
                thread=int(backward),
                on=0 if sends else NONE,
            )
        return stream

    def _layer(self, backward: bool, on: int) -> None:
        job, way = self.job, "backward" if backward else "forward"
        seconds = (job.backward if backward else job.forward) / job.batches
        for rank in self.ranks:
            for number, (name, share) in enumerate(PARTS):
                kernel = f"{name}_{way}"
                taken = seconds * share * job.slowness(rank, kernel)
                self.program.kernel(rank, kernel, taken, thread=int(backward), on=on if not number else NONE)
        if job.tensor > 1:
            for first in self.ranks[:: job.tensor]:
                members = tuple(range(first, first + job.tensor))
                group = f"tp{first // job.tensor}"
                size = job.activations // job.batches
                self.program.collective("all_reduce-ring", group, members, size, 0, 0, thread=int(backward))

    def _reduce_gradients(self, size: int) -> None:
        if not self.reduced:
            return
        for place in range(self.job.tensor):
            members = tuple(self.ranks[place :: self.job.tensor])
            key, group = f"all_reduce-{self.job.algorithm}", f"dp{members[0]}"
            self.program.collective(key, group, members, size, COMMUNICATION, COMMUNICATION, thread=1, on=0)
