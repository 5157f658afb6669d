"""Critical paths through all ranks: from the last end back to what each event waited for, until the span begins.

What belongs here: the walk. What could have been waited for is ``dependencies`` (one rank) and meetings (several); which of
them was binding is decided here: the one that was ready last. Waiting is never on the path: what was waited for is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hopline.records.critical import CriticalPath, Stretch
from hopline.records.meeting import Clocks, Meeting
from hopline.records.trace import KERNEL, NONE, Trace
from hopline.study.dependencies import Dependencies
from hopline.study.inferred_waits import TOLERANCE
from hopline.study.path_ends import joined, last_end, reach
from hopline.study.path_sources import Source, Sources

MESSAGE = "send"


@dataclass(slots=True)
class Place:
    """Where the walk is.

    Attributes
    ----------
    trace
        Number of the trace.
    row
        The work that ended or begins here, or the event on a thread where the host went on.
    thread
        Lane of the thread; NONE on the GPU.
    time
        When, on the common clock.
    """

    trace: int
    row: int
    thread: int
    time: int


def critical_path(
    traces: Sequence[Trace],
    clocks: Clocks,
    meetings: Sequence[Meeting],
    span: tuple[int, int] | None = None,
    dependencies: Sequence[Dependencies | None] = (),
    last: int | None = None,
) -> CriticalPath:
    """Why ``span`` was as long as it was.

    Parameters
    ----------
    meetings
        On the clock of ``clocks``.
    span
        Begin and end on the common clock, nanoseconds; None: from the first event to the last end.
    dependencies
        Of each trace where they are known already; the others are worked out when the path comes to them.
    last
        Number of the trace that ends the span: others may be at the next step by then. None: whichever ends last.

    Raises
    ------
    InputError
        If nothing ends in the span.
    FormatError
        If the traces show nothing that a path could go through.

    Notes
    -----
    Where no meeting joins the clocks of all traces, the largest part of them is walked, and ``told`` says so.
    """
    numbers, told = joined(traces, clocks)
    sources = Sources(traces, clocks, dependencies)
    start, end = span if span is not None else reach(sources, numbers)
    walk = _Walk(sources, meetings, start, end)
    walk.go(Place(*last_end(sources, [last] if last in numbers else numbers, start, end)))
    if walk.doubtful:
        told += (
            f"Of {walk.changes} changes of rank on the path {walk.doubtful} could be to another: the clocks leave open "
            "who came last.",
        )
    return CriticalPath(start, end, tuple(reversed(walk.stretches)), walk.skew, walk.inferred, told)


class _Walk:
    """The walk from ``end`` back to ``start``; ``now`` is how far it has come."""

    def __init__(self, sources: Sources, meetings: Sequence[Meeting], start: int, end: int) -> None:
        self.sources, self.start, self.now = sources, start, end
        self.meeting = {
            (int(trace), int(row)): meeting
            for meeting in meetings
            for trace, row in zip(meeting.traces.tolist(), meeting.row.tolist(), strict=True)
        }
        self.stretches: list[Stretch] = []
        self.seen: set[tuple[int, int]] = set()
        self.skew = self.inferred = self.changes = self.doubtful = 0

    def go(self, place: Place) -> None:
        """Walk until the span begins; what is left then shows nothing."""
        self.back("idle", place.trace, NONE, place.time)
        step: Place | None = place
        while step and self.now > self.start:
            place = step
            step = self.work(place) if place.thread == NONE else self.host(place)
        self.back("idle", place.trace, NONE, self.start)

    def back(self, part: str, trace: int, row: int, until: int) -> None:
        """Put a stretch on the path from ``until`` to now; what would lie in the future is taken as now."""
        until = max(min(until, self.now), self.start)
        if until < self.now:
            self.stretches.append(Stretch(part, trace, row, until, self.now))
            self.now = until

    def work(self, place: Place) -> Place | None:
        """Through work on a GPU, to what it waited for."""
        trace, row = place.trace, place.row
        self.seen.add((trace, row))
        meeting = self.meeting.get((trace, row))
        held = _held_by(meeting, trace) if meeting else None
        self.back(
            self.part(trace, row, meeting), trace, row, self.sources.start(trace, row) if held is None else held[2]
        )
        if held is None or held[:2] == (trace, row):
            return self.cause(trace, row)
        self.seen.add(held[:2])
        self.changes += 1
        self.skew += held[2] > self.sources.end(trace, row)
        self.doubtful += meeting is not None and bool(meeting.rivals)
        return self.cause(*held[:2])

    def part(self, trace: int, row: int, meeting: Meeting | None) -> str:
        """What kind of stretch the work is."""
        if meeting is not None and meeting.last is not None:
            return "transfer"
        if self.sources.communicates(trace, row):
            return "communication"
        return "compute" if self.sources.traces[trace].events.kind[row] == KERNEL else "copy"

    def cause(self, trace: int, row: int) -> Place | None:
        """What was ready last of all that the work waited for; None where the trace shows nothing."""
        found = [
            source
            for source in self.sources.of(trace, row)
            if (trace, source.row) not in self.seen or source.part == "launch"
        ]
        if not found:
            return None
        source = max(found, key=lambda source: source.ready)
        self.inferred += source.inferred
        self.between(trace, row, source)
        if source.part != "launch":
            return Place(trace, source.row, NONE, source.time)
        thread = int(self.sources.traces[trace].events.lane[source.row])
        return Place(trace, source.row, thread, source.time)

    def between(self, trace: int, row: int, source: Source) -> None:
        """From the begin of the work back to the source; a delay that is no cost of launching or following shows nothing."""
        if self.now - source.through > TOLERANCE:
            self.back("idle", trace, NONE, source.through)
        self.skew += source.time > self.sources.start(trace, row)
        self.back(source.part, trace, row, source.time)

    def host(self, place: Place) -> Place | None:
        """Along a thread, to the call that the GPU held or to the thread that had the word before."""
        trace, thread, row = place.trace, place.thread, place.row
        hold, turn = self.sources.hold(trace, thread, place.time), self.sources.turn(trace, thread, place.time)
        while hold is not None and (trace, hold[2]) in self.seen:
            hold = self.sources.hold(trace, thread, hold[0] - 1)
        if hold is not None and (turn is None or hold[0] >= turn[0]):
            until, call, work = hold
            ended = self.sources.end(trace, work)
            self.skew += ended > until
            self.back_host(trace, row, until)
            self.back("sync", trace, call, ended)
            return Place(trace, work, NONE, ended)
        if turn is not None:
            _, other, since = turn
            self.back_host(trace, row, since)
            return Place(trace, self.sources.latest(trace, other, since), other, since)
        self.back_host(trace, row, self.start)
        return None

    def back_host(self, trace: int, row: int, until: int) -> None:
        """Along a thread: the host where it is seen to run, else nothing that shows."""
        for seen, since in self.sources.host(trace).back(self.now, until):
            self.back("host" if seen else "idle", trace, row if seen else NONE, since)


def _held_by(meeting: Meeting, trace: int) -> tuple[int, int, int] | None:
    """(trace, row, begin) of the member that all waited for; None where that cannot be told.

    The last to come, of a collective that waits for all; of a message, for the one that receives, the sender if it came later.
    """
    numbers = meeting.traces.tolist()
    if meeting.last is not None:
        at = numbers.index(meeting.last)
    elif meeting.op == MESSAGE and len(numbers) == 2 and numbers[1] == trace and meeting.start[0] > meeting.start[1]:
        at = 0
    else:
        return None
    return numbers[at], int(meeting.row[at]), int(meeting.start[at])
