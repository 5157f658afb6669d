"""What was so in a made step, worked out of its timeline and not of its traces.

What belongs here: exposed communication, last arrivals, transfers, the critical path and the makespan.
"""

from __future__ import annotations

from dataclasses import dataclass

from hopline.jobs.made.program import Joined, Program
from hopline.jobs.made.tracing import Profiling, kept, span_of
from hopline.records.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Met:
    """A collective: when each rank came and had done with it, in nanoseconds, by rank; who came last; the rest is transfer."""

    joined: Joined
    arrival: dict[int, int]
    end: dict[int, int]

    @property
    def last(self) -> int:
        """The rank that came last."""
        return max(self.arrival, key=self.arrival.__getitem__)

    @property
    def margin(self) -> int:
        """Nanoseconds between the last and the one before."""
        first, second = sorted(self.arrival.values())[-2:] if len(self.arrival) > 1 else (0, 0)
        return second - first

    @property
    def transfer(self) -> int:
        """Nanoseconds from the last arrival to the first end."""
        return max(0, min(self.end.values()) - max(self.arrival.values()))


@dataclass(frozen=True, slots=True)
class Truth:
    """What was so.

    Attributes
    ----------
    makespan
        Seconds from the beginning to the end of the last rank's step.
    finish
        Nanoseconds at which each rank's step ended.
    exposed
        Nanoseconds in which a rank communicated and ran no kernel beside, by rank.
    met
        The collectives, in the order of the program.
    path
        (row of the schedule, start, end) in picoseconds: ``Timeline.path``.
    ahead
        Nanoseconds that each rank's clock is ahead.
    """

    makespan: float
    finish: tuple[int, ...]
    exposed: tuple[int, ...]
    met: tuple[Met, ...]
    path: tuple[tuple[int, int, int], ...]
    ahead: tuple[int, ...]


def truth_of(program: Program, timeline: Timeline, profiling: Profiling) -> Truth:
    """Of a simulated program."""
    start, end = kept(timeline)
    met: dict[int, Met] = {}
    for launch in program.launches:
        if launch.joined is not None:
            begin, finish = span_of(launch, start, end)
            entry = met.setdefault(launch.joined.number, Met(launch.joined, {}, {}))
            entry.arrival[launch.rank], entry.end[launch.rank] = round(begin / 1000), round(finish / 1000)
    return Truth(
        timeline.time,
        tuple(round(int(time) / 1000) for time in timeline.finish),
        tuple(_exposed(program, rank, start, end) for rank in range(program.ranks)),
        tuple(met.values()),
        timeline.path,
        tuple(profiling.offsets(program.ranks)),
    )


def _exposed(program: Program, rank: int, start: list[int], end: list[int]) -> int:
    """Time in which communication is on and nothing else, by a sweep over all begins and ends."""
    marks: list[tuple[int, int, int]] = []
    for launch in program.launches:
        if launch.rank == rank:
            begin, finish = span_of(launch, start, end)
            talks = int(launch.joined is not None)
            marks += [(begin, talks, 1), (finish, talks, -1)]
    on, before, exposed = [0, 0], 0, 0
    for time, kind, step in sorted(marks):
        exposed += time - before if on[1] and not on[0] else 0
        before = time
        on[kind] += step
    return round(exposed / 1000)
