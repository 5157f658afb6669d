"""From traces to activities: what the ranks did as who does what after what, to be played again after a change.

What belongs here: ranks put together, their collectives joined. A collective whose ranks wait for all is arrivals that join
and then each rank's transfer, from the last arrival to its end; a collective of which that cannot be told keeps its duration.
What of a rank belongs to the span is ``replay_span``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hopline.errors import InputError
from hopline.quantity import counted
from hopline.records.meeting import Clocks, Meeting
from hopline.records.trace import NONE, WAITS_FOR_ALL, Index, Nanoseconds, Trace
from hopline.schedule.activities import COMMUNICATION, TRANSFER, Activities, Picoseconds
from hopline.study.dependencies import Dependencies
from hopline.study.replay_doubts import doubt, left_out, vague
from hopline.study.replay_rank import RankPart, rank_part
from hopline.study.replay_span import edges

TICKS = 1000
"""Picoseconds of a nanosecond."""


@dataclass(frozen=True, slots=True, eq=False)
class Inferred:
    """Activities, and what they are of.

    Attributes
    ----------
    activities
        To be played.
    traces
        By the number that ``activities.rank`` gives.
    event
        Row of each in its trace; NONE: the host, shape (activities,).
    start, end
        As measured, nanoseconds from the begin of the span, shape (activities,).
    meetings
        By the number that ``activities.meeting`` gives.
    thread
        Lane of the thread that launched each; NONE where unknown, shape (activities,).
    span
        Nanoseconds on the common clock.
    usual
        The lags of ``activities`` without what no launch and no known wait explains, picoseconds, shape (k,).
    quick
        What a launch on an idle stream and a succession take, picoseconds, shape (traces, 2).
    premises
        What the replay takes to be so, a sentence each.
    doubt
        Why nothing may be concluded from it; "" where it may.
    """

    activities: Activities
    traces: tuple[Trace, ...]
    event: Index
    start: Nanoseconds
    end: Nanoseconds
    meetings: tuple[Meeting, ...]
    thread: Index
    span: tuple[int, int]
    usual: Picoseconds
    quick: Picoseconds
    premises: tuple[str, ...]
    doubt: str = ""

    @property
    def finish(self) -> Nanoseconds:
        """When each rank's last activity ended as measured, shape (traces,)."""
        finish = np.zeros(len(self.traces), np.int64)
        np.maximum.at(finish, self.activities.rank, self.end)
        return finish

    @property
    def lane(self) -> Index:
        """Number of the lane in its trace of each activity, NONE of the host."""
        lanes = np.full(len(self.event), NONE, np.int32)
        for number, trace in enumerate(self.traces):
            mine = (self.activities.rank == number) & (self.event != NONE)
            lanes[mine] = trace.events.lane[self.event[mine]]
        return lanes


def activities(
    traces: Sequence[Trace],
    clocks: Clocks,
    meetings: Sequence[Meeting],
    dependencies: Sequence[Dependencies],
    span: tuple[int, int] | None = None,
    step: int | None = None,
) -> Inferred:
    """What the traces show as activities.

    Parameters
    ----------
    span
        Nanoseconds on the common clock; None: all steps that are marked, or everything.
    step
        Number of the step that the span is: each rank is done with it at its own mark (``replay_span``). None: it is no
        single one.

    Raises
    ------
    InputError
        Where nothing is in the span, or where nothing joins the clocks of the traces.
    """
    if len(traces) > 1 and len(np.unique(clocks.part)) > 1:
        raise InputError("no collective joins the clocks of all traces: expected traces of ranks that communicate")
    span = span or whole_span(traces, clocks)
    parts = [
        rank_part(trace, depend, each)
        for trace, depend, each in zip(traces, dependencies, edges(traces, clocks, span, step), strict=True)
    ]
    if not sum(map(len, (part.kind for part in parts))):
        raise InputError(f"nothing happens from {span[0]} to {span[1]} ns: expected a span with work on a GPU")
    base = np.cumsum([0, *(len(part.kind) for part in parts)])
    start, end = (np.concatenate([getattr(part, name) for part in parts]) for name in ("start", "end"))
    length = span[1] - span[0]
    joined = _join(parts, base, [trace.is_communication() for trace in traces], meetings, start, end, span[1])
    pairs = np.concatenate([part.pairs + first for part, first in zip(parts, base, strict=False)]).astype(np.int32)
    usual = np.concatenate([part.usual for part in parts])
    quick = np.array([(depend.launching, depend.following) for depend in dependencies], np.int64)
    made = Activities(
        len(traces),
        joined.kind,
        np.repeat(np.arange(len(traces), dtype=np.int32), np.diff(base)),
        joined.work * TICKS,
        np.concatenate([part.begin for part in parts]) * TICKS,
        joined.meeting,
        pairs,
        np.concatenate([part.lag for part in parts]) * TICKS,
    )
    return Inferred(
        made, tuple(traces), np.concatenate([part.event for part in parts]), start, end, tuple(meetings),
        _threads(parts, traces, dependencies), span, usual * TICKS, quick * TICKS,
        (*joined.premises, *vague(clocks, length), *left_out(parts, traces, length)), doubt(traces, dependencies),
    )  # fmt: skip


def whole_span(traces: Sequence[Trace], clocks: Clocks) -> tuple[int, int]:
    """From the begin of the first marked step to the end of the last, or of all events where none is marked."""
    edges = []
    for trace, offset in zip(traces, clocks.offset.tolist(), strict=True):
        steps, events = trace.steps, trace.events
        if steps:
            edges += [step.start + offset for step in steps] + [step.end + offset for step in steps]
        elif len(events):
            edges += [int(events.start.min()) + offset, int(events.end.max()) + offset]
    if not edges:
        raise InputError("the traces have no events: expected traces of a training step")
    return min(edges), max(edges) + 1


@dataclass(slots=True, eq=False)
class _Joined:
    kind: np.ndarray[tuple[int], np.dtype[np.uint8]]
    work: Nanoseconds
    meeting: Index
    premises: list[str]


def _join(
    parts: Sequence[RankPart],
    base: np.ndarray[tuple[int], np.dtype[np.int64]],
    communicates: Sequence[np.ndarray[tuple[int], np.dtype[np.bool_]]],
    meetings: Sequence[Meeting],
    start: Nanoseconds,
    end: Nanoseconds,
    until: int,
) -> _Joined:
    """Kinds, work and meetings of all activities; what only waits for a rank that comes after ``until`` ends as it begins."""
    kind = np.concatenate([part.kind for part in parts])
    work = np.concatenate([part.work for part in parts])
    meeting = np.full(len(kind), NONE, np.int32)
    places = []
    for part, first, talks in zip(parts, base.tolist(), communicates, strict=False):
        mine = np.flatnonzero(part.event != NONE)
        kind[first + mine[talks[part.event[mine]]]] = COMMUNICATION
        place = np.full(len(talks), NONE, np.int64)
        place[part.event[mine]] = first + mine
        places.append(place)
    alone = missing = 0
    for number, met in enumerate(meetings):
        rows = np.array([places[trace][row] for trace, row in zip(met.traces.tolist(), met.row.tolist(), strict=True)])
        absent = rows == NONE
        if absent.any() and met.op in WAITS_FOR_ALL and (met.start[absent] >= until).any():
            work[rows[~absent]], end[rows[~absent]] = 0, start[rows[~absent]]
        if absent.any() or len(rows) < 2 or (meeting[rows] != NONE).any():
            continue
        last = start[rows].max()
        if met.op not in WAITS_FOR_ALL and (end[rows] < last).any():
            alone += 1
            continue
        missing += bool(met.missing)
        kind[rows], meeting[rows] = COMMUNICATION if met.missing else TRANSFER, number
        work[rows] = np.maximum(end[rows] - last, 0)
    told = (
        (alone, "kept the time that its ranks measured, since one had done with it before another came"),
        (
            missing,
            "of which a rank has no trace: time that was waited for that rank counts as transfer, and where others come "
            "earlier that rank is taken to do so, too",
        ),
    )
    return _Joined(kind, work, meeting, [f"{counted(n, 'collective')} {text}" for n, text in told if n])


def _threads(parts: Sequence[RankPart], traces: Sequence[Trace], dependencies: Sequence[Dependencies]) -> Index:
    """Lane of the thread that launched each activity."""
    found = []
    for part, trace, depend in zip(parts, traces, dependencies, strict=True):
        call = np.where(part.event == NONE, NONE, depend.launch[part.event])
        found.append(np.where(call == NONE, NONE, trace.events.lane[call]).astype(np.int32))
    return np.concatenate(found)
