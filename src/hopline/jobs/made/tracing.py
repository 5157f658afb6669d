"""What profilers would have seen of a simulated step.

What belongs here: from launches and a timeline to one Trace a rank, with each rank's own clock. A collective is one kernel
from when its rank's inputs were ready to the end of its last row there, as NCCL's kernels are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from hopline.errors import InputError
from hopline.jobs.made.program import Joined, Launch, Program
from hopline.records.timeline import Timeline
from hopline.records.trace import CALL, KERNEL, NONE, NOTE, OP, SYNC, Collective, Events, Lane, Step, Syncs, Trace

BASE = 1_760_000_000_000_000_000
"""Nanoseconds since 1970 at which made steps begin."""
STREAMS = (7, 20, 24, 28, 32, 36)
"""Numbers of the streams, as PyTorch and NCCL often have them."""
_PROCESS = 4000
_EARLIEST = 50_000
"""Microseconds that a profiler may have begun before the step."""
_NANOSECOND = 1000
"""In picoseconds."""


@dataclass(frozen=True, slots=True)
class Profiling:
    """How the step is seen.

    Attributes
    ----------
    skew, seed
        Clocks of the ranks are off by up to so many seconds either way, and what draws it; that of rank 0 is right.
    jitter
        Stamps of the ends of collectives are late by up to so many seconds.
    missing
        Ranks without a trace.
    grain
        Nanoseconds that times are rounded to (1000: as traces before 2024).
    number
        Of the step.
    """

    skew: float = 0.0
    seed: int = 0
    jitter: float = 0.0
    missing: tuple[int, ...] = ()
    grain: int = 1
    number: int = 1

    def offsets(self, ranks: int) -> list[int]:
        """By how many nanoseconds each rank's clock is ahead."""
        draw = Random(self.seed)
        drawn = [round(draw.uniform(-self.skew, self.skew) * 1e9) for _ in range(ranks)]
        return [0, *drawn[1:]]

    def begins(self, ranks: int) -> list[int]:
        """Nanoseconds before the step at which each rank's profiler began: its times count from there."""
        draw = Random(self.seed + 1)
        return [1000 * draw.randrange(_EARLIEST) for _ in range(ranks)]

    def rounded(self, picoseconds: int) -> int:
        """Nanoseconds."""
        return round(picoseconds / (_NANOSECOND * self.grain)) * self.grain


def kept(timeline: Timeline) -> tuple[list[int], list[int]]:
    """Start and end of each row, picoseconds. Raises InputError where the timeline has not kept them."""
    if timeline.start is None or timeline.end is None:
        raise InputError(f"the timeline of {timeline.name} has no times of single operations: simulate with keep=True")
    return timeline.start.tolist(), timeline.end.tolist()


def span_of(launch: Launch, start: Sequence[int], end: Sequence[int]) -> tuple[int, int]:
    """Picoseconds from which to which a launch's kernel is there."""
    if launch.joined is None:
        return start[launch.rows[0]], end[launch.rows[0]]
    begin = max(end[row] for row in launch.gates)
    return begin, max(begin, *(end[row] for row in launch.rows))


def traces_of(program: Program, timeline: Timeline, profiling: Profiling) -> tuple[Trace, ...]:
    """One trace a rank, in order, those that are missing left out."""
    start, end = kept(timeline)
    offsets = profiling.offsets(program.ranks)
    return tuple(
        _Seen(program, rank, start, end, profiling).trace(offsets[rank])
        for rank in range(program.ranks)
        if rank not in profiling.missing
    )


class _Seen:
    """Events of one rank in the making."""

    def __init__(self, program: Program, rank: int, start: list[int], end: list[int], profiling: Profiling) -> None:
        self.program, self.rank, self.start, self.end, self.profiling = program, rank, start, end, profiling
        self.rows: list[tuple[int, str, int, int, int, int]] = []
        self.draw = Random(profiling.seed * program.ranks + rank)
        self.since = profiling.begins(program.ranks)[rank]
        self.correlation = 100
        self.collectives: dict[int, Joined] = {}
        self.syncs: dict[int, tuple[int, int]] = {}
        self.threads = sorted({launch.thread for launch in program.launches if launch.rank == rank})

    def trace(self, offset: int) -> Trace:
        """All of it, on a clock that is ``offset`` nanoseconds ahead."""
        for launch in self.program.launches:
            if launch.rank == self.rank:
                self._launched(launch)
        step = self._waited()
        order = sorted(range(len(self.rows)), key=lambda row: (self.rows[row][2], -self.rows[row][3]))
        names: dict[str, int] = {}
        table = np.array(
            [
                (kind, names.setdefault(name, len(names)), *rest)
                for kind, name, *rest in (self.rows[row] for row in order)
            ],
            np.int64,
        ).reshape(-1, 6)
        place = {row: number for number, row in enumerate(order)}
        kinds = (np.uint8, np.int32, np.int64, np.int64, np.int32, np.int64)
        events = Events(*(table[:, column].astype(kind) for column, kind in enumerate(kinds)))
        collectives = [_collective(place[row], joined, self.rank) for row, joined in self.collectives.items()]
        waits = sorted((place[row], *wait) for row, wait in self.syncs.items())
        syncs = np.array(waits, np.int64).reshape(-1, 3)
        streams = tuple(Lane("stream", self.rank, number) for number in STREAMS)
        lanes = (
            *streams,
            *(Lane("thread", _PROCESS + self.rank, _PROCESS + self.rank + 100 * thread) for thread in (0, 1)),
        )
        about = {"events": len(events)}, {"device": "made up", "backend": "nccl"}
        return Trace(
            f"rank{self.rank}.made.json", self.rank, self.program.ranks, BASE + offset - self.since, True, tuple(names), lanes,
            events, tuple(sorted(collectives, key=lambda each: each.row)), (step,),
            Syncs(syncs[:, 0].astype(np.int32), syncs[:, 1], syncs[:, 2]), *about,
        )  # fmt: skip

    def _add(self, kind: int, name: str, start: int, end: int, lane: int, correlation: int = NONE) -> int:
        first, last = self.profiling.rounded(start), self.profiling.rounded(end)
        self.rows.append((kind, name, first + self.since, last + self.since, lane, correlation))
        return len(self.rows) - 1

    def _call(self, name: str, start: int, end: int, thread: int) -> int:
        self.correlation += 1
        self._add(CALL, name, start, end, len(STREAMS) + thread, self.correlation)
        return self.correlation

    def _launched(self, launch: Launch) -> None:
        """The host's calls, and the kernel; calls take parts of the host's time between launches."""
        before, at = self.start[launch.call], self.end[launch.call]
        slot = at - before
        if launch.after != NONE:
            recorded = self._call("cudaEventRecord", before + slot * 6 // 10, before + slot * 7 // 10, launch.thread)
            self._call("cudaStreamWaitEvent", before + slot * 8 // 10, before + slot * 9 // 10, launch.thread)
            waited = before + slot * 8 // 10
            row = self._add(SYNC, "Stream Wait Event", waited, waited, launch.stream, self.correlation)
            self.syncs[row] = (STREAMS[launch.on], recorded)
        name = "ncclKernelLaunch" if launch.joined else launch.name
        took = min(slot // 2, round(self.program.lag * 1e12))
        self._add(OP, f"aten::{name}", before + slot // 2, at + took, len(STREAMS) + launch.thread)
        number = self._call(
            "cudaLaunchKernelExC" if launch.joined else "cudaLaunchKernel", at, at + took, launch.thread
        )
        begin, finish = span_of(launch, self.start, self.end)
        if launch.joined is not None:
            finish += round(self.draw.uniform(0.0, self.profiling.jitter) * 1e12)
        row = self._add(KERNEL, launch.name, begin, finish, launch.stream, number)
        if launch.joined is not None:
            self.collectives[row] = launch.joined

    def _waited(self) -> Step:
        """The wait for the GPU at the end of the step, and the step."""
        call, back = self.program.syncs[self.rank]
        at, ends = self.end[call], self.end[back]
        self._call("cudaDeviceSynchronize", at, ends, 0)
        begins = min(self.start[launch.call] for launch in self.program.launches if launch.rank == self.rank)
        number = self.profiling.number
        self._add(NOTE, f"ProfilerStep#{number}", begins, ends, len(STREAMS))
        first, last = self.profiling.rounded(begins), self.profiling.rounded(ends)
        return Step(number, first + self.since, last + self.since)


def _collective(row: int, joined: Joined, rank: int) -> Collective:
    if joined.op == "send":
        source, target = joined.ranks
        op, peer = ("send", target) if rank == source else ("recv", source)
        ranks = tuple(sorted(joined.ranks))
        return Collective(row, op, joined.size, "Float", joined.group, ranks, 2, joined.sequence, peer)
    return Collective(
        row, joined.op, joined.size, "Float", joined.group, joined.ranks, len(joined.ranks), joined.sequence,
        algorithm="RING", protocol="LL",
    )  # fmt: skip
