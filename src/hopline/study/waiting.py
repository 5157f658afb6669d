"""How much of a rank's exposed communication is waiting for the last to come, and of how much that is not known.

What belongs here: waits of meetings held against what else the rank's GPU did meanwhile. Busy time itself is ``study/busy``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hopline.records.breakdown import Breakdown
from hopline.records.meeting import Meeting
from hopline.records.trace import MEMSET, Nanoseconds, Trace
from hopline.study.busy import length


def waited(traces: Sequence[Trace], meetings: Sequence[Meeting], parts: Sequence[Breakdown | None]) -> tuple[int, ...]:
    """Nanoseconds in which each trace waited in a collective and did no other work, as far as that is known.

    Parameters
    ----------
    parts
        Of each trace, which say in what span; of those without one it is 0.
    """
    return tuple(
        _added(trace, part, _edges(trace, known, waits=True)) if part is not None else 0
        for trace, part, known in zip(traces, parts, _known(traces, meetings), strict=True)
    )


def untold(traces: Sequence[Trace], meetings: Sequence[Meeting], parts: Sequence[Breakdown | None]) -> tuple[int, ...]:
    """Nanoseconds of each trace's exposed communication that are in no collective of known transfer: waiting or transfer."""
    return tuple(
        part.exposed - _added(trace, part, _edges(trace, known, waits=False)) if part is not None else 0
        for trace, part, known in zip(traces, parts, _known(traces, meetings), strict=True)
    )


Known = list[tuple[int, int]]
"""(row, nanoseconds of waiting) of a trace's collectives of known transfer."""


def _known(traces: Sequence[Trace], meetings: Sequence[Meeting]) -> Iterator[Known]:
    """Of each trace."""
    found: list[Known] = [[] for _ in traces]
    for meeting in meetings:
        if meeting.transfer is None:
            continue
        for trace, row, wait in zip(meeting.traces.tolist(), meeting.row.tolist(), meeting.waits.tolist(), strict=True):
            found[trace].append((row, wait))
    return iter(found)


def _edges(trace: Trace, known: Known, waits: bool) -> Nanoseconds:
    """Begin and end of these collectives, or of the waiting in them, on the trace's clock, shape (k, 2)."""
    rows, lengths = np.array(known, np.int64).reshape(-1, 2).T
    start = trace.events.start[rows]
    return np.stack([start, start + lengths if waits else trace.events.end[rows]], axis=1)


def _added(trace: Trace, part: Breakdown, edges: Nanoseconds) -> int:
    """Length of ``edges`` in the span of ``part`` that no work of the trace but communication covers."""
    events = trace.events
    work = (events.kind <= MEMSET) & ~trace.is_communication()
    start, end = (times[work].clip(part.start, part.end) for times in (events.start, events.end))
    inside = edges.clip(part.start, part.end)
    covered = length(start, end)
    return length(np.concatenate([start, inside[:, 0]]), np.concatenate([end, inside[:, 1]])) - covered
