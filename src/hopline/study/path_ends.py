"""Where a critical path ends and begins: the span of traces, and the last event in it.

What belongs here: choosing among ranks whose clocks are joined.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hopline.errors import FormatError, InputError
from hopline.records.meeting import Clocks
from hopline.records.trace import NONE, Index, Trace
from hopline.study.path_sources import Sources
from hopline.study.threads import active


def joined(traces: Sequence[Trace], clocks: Clocks) -> tuple[list[int], tuple[str, ...]]:
    """Numbers of the traces in the largest part that shares a clock, and a sentence about the others."""
    parts, count = np.unique(clocks.part, return_counts=True)
    if len(parts) == 1:
        return list(range(len(traces))), ()
    largest = parts[np.argmax(count)]
    numbers = np.flatnonzero(clocks.part == largest).tolist()
    others = ", ".join(trace.label for at, trace in enumerate(traces) if at not in set(numbers))
    return numbers, (
        f"The path is through {len(numbers)} of {len(traces)} traces: no collective joins their clocks to {others}.",
    )


def reach(sources: Sources, numbers: Sequence[int]) -> tuple[int, int]:
    """Begin of the first event and end of the last: of work, operators and calls."""
    low, high = [], []
    for number in numbers:
        events = sources.traces[number].events
        rows = _counted(sources, number)
        if len(rows):
            low.append(int(events.start[rows].min()))
            high.append(int(events.end[rows].max()))
    if not low:
        raise FormatError("the traces show no work of a GPU, no operators and no calls: there is no path to find")
    return min(low), max(high)


def last_end(sources: Sources, numbers: Sequence[int], start: int, end: int) -> tuple[int, int, int, int]:
    """(trace, row, thread, time) of what ended last in the span: work of a GPU where two are equal, else an event of the host.

    What goes on at the end of the span ends with it, and of several such the one that began last is taken.
    """
    best = None
    for number in numbers:
        trace = sources.traces[number]
        for rank, rows in ((1, trace.work), (0, active(trace, sources.dependencies(number)))):
            rows = rows[trace.events.start[rows] < end]
            if not len(rows):
                continue
            ends = np.minimum(trace.events.end[rows], end)
            at = len(rows) - 1 - int(np.argmax(ends[::-1]))
            row = int(rows[at])
            found = (int(ends[at]), rank, int(trace.events.start[row]), number, row)
            best = found if best is None else max(best, found)
    if best is None or best[0] <= start:
        low, high = reach(sources, numbers)
        raise InputError(
            f"nothing ends between {start} and {end} ns of the traces' common clock: expected a span in {low} to {high} ns"
        )
    time, rank, _, number, row = best
    return number, row, NONE if rank else int(sources.traces[number].events.lane[row]), time


def _counted(sources: Sources, number: int) -> Index:
    """Rows that a path can go through."""
    trace = sources.traces[number]
    return np.concatenate((trace.work, active(trace, sources.dependencies(number))))
