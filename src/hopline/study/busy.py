"""Busy time: unions of intervals, and what they say of a rank's GPU.

What belongs here: lengths of what lies on streams. Who waited for whom is ``study/meetings``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hopline.records.breakdown import Breakdown
from hopline.records.trace import CALL, KERNEL, MEMSET, OP, Nanoseconds, Trace


def union(start: Nanoseconds, end: Nanoseconds) -> tuple[Nanoseconds, Nanoseconds]:
    """Merge intervals: starts and ends of their union, in order; those that touch are one, those without length are dropped.

    >>> [part.tolist() for part in union(np.array([0, 2, 9, 20]), np.array([5, 4, 12, 20]))]
    [[0, 9], [5, 12]]
    """
    real = end > start
    start, end = start[real], end[real]
    if not len(start):
        return start, end
    if np.any(start[1:] < start[:-1]):
        order = np.argsort(start, kind="stable")
        start, end = start[order], end[order]
    reach = np.maximum.accumulate(end)
    first = np.flatnonzero(np.concatenate([[True], start[1:] > reach[:-1]]))
    last = np.append(first[1:], len(start)) - 1
    return start[first], reach[last]


def length(start: Nanoseconds, end: Nanoseconds) -> int:
    """Length of the union of intervals.

    >>> length(np.array([0, 2, 9]), np.array([5, 4, 12]))
    8
    """
    starts, ends = union(start, end)
    return int((ends - starts).sum())


def breakdown(trace: Trace, start: int | None = None, end: int | None = None) -> Breakdown | None:
    """What the GPU did from ``start`` to ``end``, on the trace's clock; None: the trace has no work on a GPU, so that what the
    GPU did is unknown, not 0.

    Without ``start`` or ``end`` it is from the begin of the first work, or to the end of the last. Work that reaches over an
    edge counts as far as it lies inside.
    """
    return breakdowns(trace, [(start, end)])[0]


def extent(trace: Trace) -> tuple[int, int] | None:
    """Begin of the first work, operator or call and end of the last; None where there is none."""
    events = trace.events
    rows = np.flatnonzero((events.kind <= MEMSET) | (events.kind == CALL) | (events.kind == OP))
    return (int(events.start[rows].min()), int(events.end[rows].max())) if len(rows) else None


def breakdowns(trace: Trace, spans: list[tuple[int | None, int | None]]) -> list[Breakdown | None]:
    """``breakdown`` of several spans (start, end)."""
    events, work = trace.events, trace.work
    if not len(work):
        return [None] * len(spans)
    begin, finish = events.start[work], events.end[work]
    talks = trace.is_communication()[work]
    computes = ~talks
    kernels = computes & (events.kind[work] == KERNEL)
    whole = union(begin, finish)
    unions = [whole, *(union(begin[rows], finish[rows]) for rows in (computes, kernels, talks))]
    lone = begin[talks], finish[talks]
    total = _inside(*whole, int(begin.min()), int(finish.max()))
    found: list[Breakdown | None] = []
    for start, end in spans:
        low = int(begin.min()) if start is None else start
        high = max(int(finish.max()) if end is None else end, low)
        busy, compute, kernel, communication = (_inside(*part, low, high) for part in unions)
        found.append(
            Breakdown(low, high, busy, compute, kernel, _inside(*lone, low, high), communication, total - busy)
        )
    return found


def _inside(start: Nanoseconds, end: Nanoseconds, low: int, high: int) -> int:
    """Sum of the lengths of intervals, cut to [low, high]."""
    cut: NDArray[np.int64] = np.minimum(end, high) - np.maximum(start, low)
    return int(cut.clip(min=0).sum())
