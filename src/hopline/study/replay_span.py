"""What of a rank belongs to the span that is played again, and on which clock.

What belongs here: the edges of a span on each rank. The rule:

A span begins when the first rank begins it and ends when the last rank does. A rank whose own step has ended earlier is at
the next one by then, and nothing of that belongs to the span: of its host what comes before its own mark does, of its GPU
what was launched before that mark. What straddles an edge is cut there, at begin and end alike; what is on at the begin is
taken as it stands, of a rank that is still at the step before, too.

Where the host runs ahead, the mark of a step ends before its work does. The span is that of the marks: what earlier steps
launched and the GPU does in it belongs to it, what this one launched and the GPU does after it does not. Such a span is as
long as its host and its GPU have to do in it, whichever is longer, and a change of one of them may shorten nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hopline.records.meeting import Clocks
from hopline.records.trace import CALL, MEMSET, NONE, OP, Index, Nanoseconds, Trace

Marks = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """The span on one rank; all times are nanoseconds from its begin.

    Attributes
    ----------
    at
        Times of the trace -> from the begin of the span, on the common clock.
    length
        Of the span.
    end
        When this rank ends it, at most ``length``.
    """

    at: Callable[[Nanoseconds], Nanoseconds]
    length: int
    end: int

    def work(self, trace: Trace, launch: Index, start: Nanoseconds, end: Nanoseconds) -> Index:
        """Rows of work on the GPU that belong to the span, in order of start.

        Work of which no launch is known belongs by its begin, and where later work of its stream does: streams do their work
        in the order of launches.
        """
        rows = np.flatnonzero(trace.events.kind <= MEMSET)
        known = launch[rows] != NONE
        mine = np.where(known, start[launch[rows]], start[rows]) < self.end
        for lane in np.unique(trace.events.lane[rows[~known]]):
            own = np.flatnonzero(trace.events.lane[rows] == lane)
            mine[own] |= np.logical_or.accumulate((mine & known)[own][::-1])[::-1] & ~known[own]
        return rows[mine & (end[rows] > 0) & (start[rows] < self.length)].astype(np.int32)

    def beyond(self, trace: Trace, launch: Index, start: Nanoseconds, end: Nanoseconds) -> int:
        """For how long after the span work runs that was launched in it."""
        rows = np.flatnonzero((trace.events.kind <= MEMSET) & (launch != NONE))
        called = start[launch[rows]]
        last = end[rows[(called >= 0) & (called < self.end)]].max(initial=self.length)
        return int(last) - self.length

    def host(self, trace: Trace, start: Nanoseconds, end: Nanoseconds) -> tuple[int, int] | None:
        """Begin of the first that the host shows in the span, end of the last operator, call or step; None: nothing."""
        kind = trace.events.kind
        rows = np.flatnonzero((kind >= CALL) & (end >= 0) & (start < self.end))
        if not len(rows):
            return None
        begins = int(max(start[rows].min(), 0))
        lasts = end[rows[(kind[rows] == CALL) | (kind[rows] == OP)]].clip(max=self.end).tolist()
        return begins, max([*lasts, *self._steps(trace)], default=begins)

    def _steps(self, trace: Trace) -> Iterator[int]:
        ends: list[int] = self.at(np.array([step.end for step in trace.steps], np.int64)).tolist()
        return (end for end in ends if 0 < end <= self.end)


def edges(traces: Sequence[Trace], clocks: Clocks, span: tuple[int, int], step: int | None = None) -> tuple[Edges, ...]:
    """The edges of ``span`` on each rank; ``step``: the number of the step that it is, None where it is no single one.

    A rank that has no such step is done with it where it begins a later one.
    """
    return tuple(
        Edges(partial(_since, clocks, number, span[0]), span[1] - span[0], _end(trace, clocks, number, span, step))
        for number, trace in enumerate(traces)
    )


def _since(clocks: Clocks, number: int, begin: int, times: Nanoseconds) -> Nanoseconds:
    return np.asarray(clocks.common(number, times) - begin)


def _end(trace: Trace, clocks: Clocks, number: int, span: tuple[int, int], step: int | None) -> int:
    length = span[1] - span[0]
    if step is None:
        return length
    own = max((each.end for each in trace.steps if each.number == step), default=None)
    own = own if own is not None else min((each.start for each in trace.steps if each.number > step), default=None)
    if own is None:
        return length
    return min(max(int(_since(clocks, number, span[0], np.array([own]))[0]), 0), length)
