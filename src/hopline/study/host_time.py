"""Host time: when the threads of a rank are seen to run, and when a call hands its work over.

What belongs here: what of a trace's time is the host's and what is idle, for the path through what was measured and for its
replay alike. Threads are seen to run in operators, calls and what the program named; the mark of a step is a moment, since it
encloses all that happens. Between two of them the host runs the program, unless nothing is seen for SILENCE.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hopline.records.trace import NONE, NOTE, Nanoseconds, Trace
from hopline.study.busy import union
from hopline.study.dependencies import LONGEST, Dependencies
from hopline.study.threads import active, counted_threads

SILENCE = 10_000_000
"""Nanoseconds without an event of any thread from which on the host is not seen. Programs are silent for up to 3 ms between
operators of training steps (published traces of HTA, PARAM and TraceLens), and for 33 ms and more where they wait for what no
trace shows."""
_MOMENT = 1
"""Nanoseconds of a mark."""


@dataclass(frozen=True, slots=True, eq=False)
class HostTime:
    """Intervals in which the host is seen to run, in order, none touching the next; nanoseconds."""

    start: Nanoseconds
    end: Nanoseconds

    def within(self, start: Nanoseconds, end: Nanoseconds) -> Nanoseconds:
        """How much of each interval is the host's, shape of ``start``."""
        return self._until(end) - self._until(start)

    def back(self, now: int, until: int) -> Iterator[tuple[bool, int]]:
        """From ``now`` back to ``until``: (whether the host is seen, since when), one stretch after the other."""
        low, high = np.searchsorted(self.end, until, side="right"), np.searchsorted(self.start, now)
        for begin, end in zip(self.start[low:high][::-1].tolist(), self.end[low:high][::-1].tolist(), strict=True):
            if end < now:
                yield False, end
            now = max(begin, until)
            yield True, now
        if now > until:
            yield False, until

    def _until(self, time: Nanoseconds) -> Nanoseconds:
        """Host time from the first interval to each moment."""
        if not len(self.start):
            return np.zeros_like(time)
        whole = np.concatenate([[0], np.cumsum(self.end - self.start)])
        place = np.searchsorted(self.start, time, side="right")
        into = np.minimum(time, np.append(0, self.end)[place]) - np.append(0, self.start)[place]
        return np.asarray(np.where(place > 0, whole[np.maximum(place - 1, 0)] + into, 0))


def host_time(trace: Trace, dependencies: Dependencies) -> HostTime:
    """When the host of ``trace`` is seen to run, on the trace's clock."""
    events = trace.events
    rows = np.concatenate([active(trace, dependencies), _notes(trace, dependencies)])
    marks = np.array([edge for step in trace.steps for edge in (step.start, step.end)], np.int64)
    start, end = union(np.append(events.start[rows], marks), np.append(events.end[rows], marks + _MOMENT))
    if not len(start):
        return HostTime(start, end)
    apart = start[1:] - end[:-1] >= SILENCE
    start, end = start[np.append(True, apart)], end[np.append(apart, True)]
    more = end - start > _MOMENT
    return HostTime(start[more], end[more])


def submitted(trace: Trace, dependencies: Dependencies) -> Nanoseconds:
    """When each call handed its work over, shape (events,): at its begin; of one that took LONGEST and waited for nothing, as
    long before its end, or before its work began, as launches take: until then the host was busy in it (loading code, say).
    """
    events, time = trace.events, trace.events.start.copy()
    work = np.flatnonzero(dependencies.launch != NONE)
    call = dependencies.launch[work]
    slow = (events.end[call] - events.start[call] > LONGEST) & ~np.isin(call, dependencies.blocked[:, 0])
    call, began = call[slow], events.start[work[slow]]
    until = events.end.copy()
    np.minimum.at(until, call, began)
    time[call] = np.maximum(events.start[call], until[call] - dependencies.launching)
    return time


def _notes(trace: Trace, dependencies: Dependencies) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Rows of what the program named on threads that count, without the marks of steps."""
    events = trace.events
    rows = np.flatnonzero((events.kind == NOTE) & counted_threads(trace, dependencies)[events.lane])
    marks = {(step.start, step.end) for step in trace.steps}
    spans = zip(events.start[rows].tolist(), events.end[rows].tolist(), strict=True)
    return rows[[span not in marks for span in spans]]
