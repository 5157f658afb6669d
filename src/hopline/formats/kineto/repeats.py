"""Events that a file has more than once: a profiler that writes events twice, a file that was put together with itself.

What belongs here: which rows repeat others. Rows may rightly be equal: operators of one name and time within one another, or
work without a length. Such rows are repetitions only where a file has each of its events equally often.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hopline.records.trace import CALL, Events

REPEATED = "equal to another in name, place, times and correlation: counted once"
"""What is told of events that are left out."""
_Marks = NDArray[np.bool_]


def repeats(events: Events) -> _Marks | None:
    """Which rows to leave out, shape (events,); None: no such. Of equal rows the first is kept."""
    bound = np.flatnonzero((events.start[1:] == events.start[:-1]) & (events.end[1:] == events.end[:-1]))
    if not len(bound):
        return None
    tied = np.zeros(len(events), np.bool_)
    tied[bound] = tied[bound + 1] = True
    rows = np.flatnonzero(tied)
    columns = [
        column[rows] for column in (events.correlation, events.name, events.lane, events.kind, events.end, events.start)
    ]
    order = np.lexsort(columns)
    new = np.ones(len(rows), np.bool_)
    new[1:] = np.any([column[order[1:]] != column[order[:-1]] for column in columns], axis=0)
    if new.all():
        return None
    rows, first = rows[order], np.flatnonzero(new)
    sizes = np.diff(np.append(first, len(rows)))
    times = int(np.gcd.reduce(sizes)) if len(rows) == len(events) else 1
    keep = np.where(_cannot_be_twice(events, rows[first]), 1, sizes // times)
    place = np.arange(len(rows)) - np.repeat(first, sizes)
    found = np.zeros(len(events), np.bool_)
    found[rows[place >= np.repeat(keep, sizes)]] = True
    return found if found.any() else None


def _cannot_be_twice(events: Events, rows: NDArray[np.int64]) -> _Marks:
    """Calls, which have a number each, and work of one with a length; without one, kernels of a graph may share all."""
    kind, long = events.kind[rows], events.end[rows] > events.start[rows]
    marks: _Marks = (events.correlation[rows] > 0) & ((kind == CALL) | ((kind < CALL) & long))
    return marks
