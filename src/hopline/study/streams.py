"""Streams: the work of a trace by stream, in the order in which the host handed it over.

What belongs here: finding work by stream and by the time of its launch. A stream does its work in the order of launches, so
both orders are one, and what a wait of a stream or of the host refers to is found by the time of a call.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hopline.records.trace import CALL, NONE, Events, Index, Nanoseconds, Trace

EARLY = np.iinfo(np.int64).min // 4
"""When work of which no launch is known counts as launched: before anything."""

BASES = ("events", "calls", "times")
"""How a wait was found: from a synchronisation event of the file; from the order of calls (for streams: together with times);
from times alone."""
EVENTS, BY_CALLS, BY_TIMES = range(3)


@dataclass(frozen=True, slots=True, eq=False)
class Calls:
    """Rows of calls by correlation; ``repeated``: correlations that several calls have, one after the other."""

    correlation: Nanoseconds
    row: Index
    repeated: Nanoseconds

    def find(self, correlation: Nanoseconds) -> Index:
        """Row of the call with each correlation, NONE where there is none."""
        if not len(self.correlation):
            return np.full(len(correlation), NONE, np.int32)
        at = np.searchsorted(self.correlation, correlation).clip(max=len(self.correlation) - 1)
        return np.where(self.correlation[at] == correlation, self.row[at], NONE).astype(np.int32)


def calls_of(events: Events) -> Calls:
    """The calls that have a correlation: of several with the same the outermost; 0 is none where more than one call has it."""
    rows = np.flatnonzero((events.kind == CALL) & (events.correlation >= 0)).astype(np.int32)
    own = events.correlation[rows]
    correlation, first, count = np.unique(own, return_index=True, return_counts=True)
    kept = (correlation > 0) | (count == 1)
    calls = Calls(correlation[kept], rows[first[kept]], np.empty(0, np.int64))
    outer = calls.find(own) if (count > 1).any() else rows
    again = (outer != NONE) & (outer != rows) & (events.start[rows] > events.end[outer])
    return replace(calls, repeated=np.unique(own[again]))


@dataclass(frozen=True, slots=True, eq=False)
class Streams:
    """Work of a GPU, ordered by stream and in it by start; one entry a row of work.

    Attributes
    ----------
    row, lane, start, end
        Of the work.
    launch
        Row of the call that launched it, NONE where unknown.
    launched
        Latest start of a launch up to here on the stream; EARLY before the first that is known.
    begins
        Where each stream begins in these columns, with their length at the end; shape (streams + 1,).
    """

    row: Index
    lane: Index
    start: Nanoseconds
    end: Nanoseconds
    launch: Index
    launched: Nanoseconds
    begins: NDArray[np.int64]

    @property
    def lanes(self) -> Index:
        """The streams that have work."""
        return self.lane[self.begins[:-1]]

    @property
    def before(self) -> NDArray[np.int64]:
        """Place of the work before on the same stream, NONE for the first."""
        places = np.arange(len(self.row)) - 1
        places[self.begins[:-1]] = NONE
        return places

    def last_before(self, lane: Index, time: Nanoseconds) -> Index:
        """Row of the last work on each lane that was launched before each time, NONE where there is none."""
        return self._beside(lane, time, -1)

    def first_after(self, lane: Index, time: Nanoseconds) -> Index:
        """Row of the first work on each lane that was launched at each time or later, NONE where there is none."""
        return self._beside(lane, time, 0)

    def _beside(self, lane: Index, time: Nanoseconds, step: int) -> Index:
        """Row at the place where each time would stand among the launches of each lane, moved by ``step``."""
        found = np.full(len(lane), NONE, np.int32)
        for low, high in pairwise(self.begins.tolist()):
            asked = np.flatnonzero(lane == self.lane[low])
            at = low + np.searchsorted(self.launched[low:high], time[asked]) + step
            inside = (low <= at) & (at < high)
            found[asked[inside]] = self.row[at[inside]]
        return found


def streams_of(trace: Trace, calls: Calls) -> Streams:
    """The work of ``trace`` by stream."""
    events, work = trace.events, trace.work
    row = work[np.lexsort((events.start[work], events.lane[work]))]
    lane, start = events.lane[row], events.start[row]
    launch = calls.find(events.correlation[row])
    launched = np.where(launch == NONE, EARLY, events.start[launch])
    begins = np.append(np.flatnonzero(np.diff(lane, prepend=NONE)), len(row)).astype(np.int64)
    for low, high in pairwise(begins.tolist()):
        launched[low:high] = np.maximum.accumulate(launched[low:high])
    return Streams(row, lane, start, events.end[row], launch, launched, begins)


def devices_of(trace: Trace) -> Index:
    """A number of the device (or process) of each lane."""
    numbers = {place: at for at, place in enumerate({lane.place for lane in trace.lanes})}
    return np.array([numbers[lane.place] for lane in trace.lanes], np.int32)
