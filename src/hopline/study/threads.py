"""Threads of the host: what each was held by, and which other thread had the word before it.

What belongs here: going back in time along a thread. A thread shows what it does by its operators and calls; between them it
runs the program, or it waits for another thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopline.records.trace import CALL, NONE, OP, Index, Nanoseconds, Trace
from hopline.study.busy import union
from hopline.study.dependencies import Dependencies
from hopline.study.host_waits import SKEW
from hopline.study.streams import EARLY


@dataclass(frozen=True, slots=True, eq=False)
class Holds:
    """Calls of a thread that were held by the GPU, ordered by their end.

    Attributes
    ----------
    until
        End of each call.
    call, work
        Its row, and that of the work that held it.
    """

    until: Nanoseconds
    call: Index
    work: Index


@dataclass(frozen=True, slots=True, eq=False)
class Turns:
    """When a thread got the word from another, in order of time.

    Attributes
    ----------
    at
        When it went on.
    thread
        Lane of the other.
    since
        When the other had fallen silent.
    """

    at: Nanoseconds
    thread: Index
    since: Nanoseconds


@dataclass(frozen=True, slots=True, eq=False)
class Thread:
    """A thread that launches work or runs operators."""

    holds: Holds
    turns: Turns


class Busy(NamedTuple):
    """When a thread shows something, in merged intervals."""

    start: Nanoseconds
    end: Nanoseconds


def threads_of(trace: Trace, dependencies: Dependencies) -> dict[int, Thread]:
    """The threads of ``trace`` by lane.

    Threads that only ask whether events have come (NCCL's watchdog) are left out: nobody waits for them.
    """
    busy = _busy(trace, dependencies)
    return {lane: Thread(_holds(trace, dependencies, lane), _turns(lane, busy)) for lane in busy}


def active(trace: Trace, dependencies: Dependencies) -> Index:
    """Rows of operators and calls on threads that count, in order of start."""
    kind = trace.events.kind
    counts = counted_threads(trace, dependencies)
    return np.flatnonzero(((kind == OP) | (kind == CALL)) & counts[trace.events.lane]).astype(np.int32)


def counted_threads(trace: Trace, dependencies: Dependencies) -> NDArray[np.bool_]:
    """Whether each lane is a thread that runs operators, launches work or waits for it, shape (lanes,)."""
    lane = trace.events.lane
    counts = np.zeros(len(trace.lanes), np.bool_)
    counts[lane[trace.events.kind == OP]] = True
    counts[lane[dependencies.launch[dependencies.launch != NONE]]] = True
    counts[lane[dependencies.blocked[:, 0]]] = True
    return counts


def _busy(trace: Trace, dependencies: Dependencies) -> dict[int, Busy]:
    """When each thread shows something."""
    events, rows = trace.events, active(trace, dependencies)
    lanes = events.lane[rows]
    order = np.argsort(lanes, kind="stable")
    rows, lanes = rows[order], lanes[order]
    bounds = np.append(np.flatnonzero(np.diff(lanes, prepend=NONE)), len(rows))
    return {
        int(lanes[low]): Busy(*union(events.start[rows[low:high]], events.end[rows[low:high]]))
        for low, high in pairwise(bounds.tolist())
    }


def _holds(trace: Trace, dependencies: Dependencies, lane: int) -> Holds:
    """Calls on the thread ``lane`` during which the work that they wait for ended; of several works the last."""
    events = trace.events
    call, work = dependencies.blocked.T
    held = (
        (events.lane[call] == lane)
        & (events.end[work] > events.start[call])
        & (events.end[work] <= events.end[call] + SKEW)
    )
    call, work = call[held], work[held]
    order = np.lexsort((events.end[work], call))
    call, work = call[order], work[order]
    last = np.append(call[1:] != call[:-1], True)[: len(call)]
    call, work = call[last], work[last]
    order = np.argsort(events.end[call], kind="stable")
    return Holds(events.end[call[order]], call[order], work[order])


def _turns(lane: int, busy: dict[int, Busy]) -> Turns:
    """Gaps of a thread in which another worked that was silent before and after: one had the word, then the other.

    Threads that work at the same time do not wait for one another, so nothing is taken for a turn then.
    """
    start, end = busy[lane]
    silent = np.append(EARLY, end[:-1])[: len(start)]
    since = np.full(len(start), EARLY, np.int64)
    thread = np.full(len(start), NONE, np.int32)
    for other, (begun, ended) in busy.items():
        if other == lane or not len(begun):
            continue
        first, last = np.searchsorted(begun, silent), np.searchsorted(begun, start) - 1
        quiet = (first == 0) | (ended[first - 1] <= silent)
        fell = ended[last.clip(min=0)]
        turn = quiet & (last >= first) & (fell <= start) & (fell > since)
        since, thread = np.where(turn, fell, since), np.where(turn, other, thread).astype(np.int32)
    got = np.flatnonzero(thread != NONE)
    return Turns(start[got], thread[got], since[got])
