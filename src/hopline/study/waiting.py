"""How much of a rank's exposed communication is waiting for the last to come.

What belongs here: waits of meetings held against what else the rank's GPU did meanwhile. Busy time itself is ``study/busy``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hopline.records.meeting import Clocks, Meeting
from hopline.records.trace import MEMSET, Nanoseconds, Trace
from hopline.study.busy import length


def waited(
    traces: Sequence[Trace], clocks: Clocks, meetings: Sequence[Meeting], span: tuple[int, int]
) -> tuple[int, ...]:
    """Nanoseconds of ``span`` in which each trace waited in a collective and did no other work, one for each trace.

    A collective of unknown transfer counts as no waiting.
    """
    edges: dict[int, list[tuple[int, int]]] = {number: [] for number in range(len(traces))}
    for meeting in meetings:
        if meeting.transfer is None:
            continue
        begins, ends = meeting.start.tolist(), (meeting.start + meeting.waits).tolist()
        for trace, start, end in zip(meeting.traces.tolist(), begins, ends, strict=True):
            edges[trace].append((start, end))
    return tuple(_alone(traces[t], t, clocks, np.array(found, np.int64), span) for t, found in edges.items())


def _alone(trace: Trace, number: int, clocks: Clocks, waits: Nanoseconds, span: tuple[int, int]) -> int:
    """Length of those ``waits``, shape (k, 2), in the span that no other work of the trace covers."""
    if not len(waits):
        return 0
    events = trace.events
    work = (events.kind <= MEMSET) & ~trace.is_communication()
    start, end = (clocks.common(number, times[work]).clip(*span) for times in (events.start, events.end))
    waits = waits.clip(*span)
    covered = length(start, end)
    return length(np.concatenate([start, waits[:, 0]]), np.concatenate([end, waits[:, 1]])) - covered
