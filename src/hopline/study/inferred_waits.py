"""Waits between streams that no event of a file tells, inferred from the order of calls and from times.

What belongs here: evidence, and how much of it is enough. It is weighed so that what is inferred explains when work began that
nothing else explains. A wait that held nothing up shows in no time: it is taken from the calls alone, where the call to wait
is the last before the launch, and is one for what had been launched last into another stream.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hopline.records.trace import CALL, NONE, Codes, Index, Nanoseconds, Trace
from hopline.study.streams import BY_CALLS, BY_TIMES, EARLY, Streams, devices_of

WAIT_CALL = "StreamWaitEvent"
TOLERANCE = 10_000
"""Nanoseconds within which work begins after what it waited for, where only times tell; less is no gap worth explaining."""
CALLED = 25_000
"""The same where a call to wait is there: kernels of collectives take longer to begin."""
LONG = 100_000
"""Nanoseconds of a gap that must have a reason even if no call to wait is there."""

Places = NDArray[np.int64]


def inferred_waits(trace: Trace, streams: Streams, launching: int, *, has_events: bool) -> tuple[Index, Codes]:
    """Pairs (work, work on another stream that had ended right before it began), where nothing else explains the begin; bases.

    Evidence is a call to wait, on the thread that launched the work and since the launch of the work before it on its stream.
    Without it, times are enough where there can be none (a graph orders its kernels itself, the launch is unknown, the file
    has no such calls), and where the work began LONG after all that would explain it.

    Parameters
    ----------
    launching
        What a launch on an idle stream costs, in nanoseconds.
    has_events
        Whether the file tells waits by events: then it tells all but those inside of graphs.
    """
    if len(streams.lanes) < 2:
        return np.empty((0, 2), np.int32), np.empty(0, np.uint8)
    called, any_calls = _wait_calls(trace, streams)
    shown = called != EARLY
    other = _awaited(streams, devices_of(trace)[streams.lane], np.where(shown, called, streams.launched))
    graph = (streams.launch != NONE) & (streams.launch == streams.launch[other])
    ended = np.where(other == NONE, EARLY, streams.end[other])
    explained = _explained(streams, launching)
    since, gap = streams.start - ended, streams.start - explained
    sufficient = np.where(graph | (streams.launch == NONE) | (not any_calls), TOLERANCE, LONG)
    later = (ended > explained) & (graph | (not has_events))
    by_calls = later & shown & (since <= CALLED) & ~graph
    by_times = later & (gap > sufficient) & (since <= TOLERANCE) & ~by_calls
    other = np.where(by_calls | by_times, other, NONE if has_events else _handed_over(trace, streams, called))
    found = np.flatnonzero(other != NONE)
    basis = np.where(by_times[found], BY_TIMES, BY_CALLS).astype(np.uint8)
    return np.stack((streams.row[found], streams.row[other[found]]), axis=1), basis


def _handed_over(trace: Trace, streams: Streams, called: Nanoseconds) -> Places:
    """Place of the work launched last into another stream before the call to wait of each work, if it had ended before that
    began; NONE without such, and where the thread launched something else between the call and the work.
    """
    launches, lane = np.unique(streams.launch[streams.launch != NONE]), trace.events.lane
    before = np.full(len(streams.row), EARLY, np.int64)
    for thread in np.unique(lane[launches]):
        mine = launches[lane[launches] == thread]
        own = (streams.launch != NONE) & (lane[streams.launch] == thread)
        at = np.searchsorted(mine, streams.launch[own]) - 1
        before[own] = np.where(at >= 0, trace.events.start[mine[at]], EARLY)
    device, last = devices_of(trace)[streams.lane], np.full(len(streams.row), NONE, np.int64)
    for low, high in pairwise(streams.begins.tolist()):
        at = low + np.searchsorted(streams.launched[low:high], called) - 1
        there = (at >= low) & _beside(streams, device, at) & (streams.launched[at] > EARLY)
        last = np.where(there & ((last == NONE) | (streams.launched[at] > streams.launched[last])), at, last)
    alone = (called > before) & (last != NONE) & (streams.end[last] <= streams.start)
    return np.where(alone, last, NONE)


def _awaited(streams: Streams, device: Index, asked: Nanoseconds) -> Places:
    """Place of the work on another stream of its device that each work may have waited for, NONE where there is none.

    By the order of calls: of the last works that each stream had got when it was ``asked`` for, the one that ended last before
    the begin. Where the launch is unknown, or another kernel of the same graph ended later: what ended last before the begin.
    """
    best = np.full(len(streams.row), NONE, np.int64)
    for low, high in pairwise(streams.begins.tolist()):
        at = low + np.searchsorted(streams.launched[low:high], asked) - 1
        usable = (
            (at >= low) & (streams.launch != NONE) & _beside(streams, device, at) & (streams.end[at] <= streams.start)
        )
        best = np.where(usable & _later(streams, at, best), at, best)
    by_end = np.argsort(streams.end, kind="stable")
    at = by_end[(np.searchsorted(streams.end[by_end], streams.start, side="right") - 1).clip(min=0)]
    graph = (streams.launch == streams.launch[at]) & _later(streams, at, best)
    usable = (streams.end[at] <= streams.start) & _beside(streams, device, at) & ((streams.launch == NONE) | graph)
    return np.where(usable, at, best)


def _beside(streams: Streams, device: Index, at: Places) -> NDArray[np.bool_]:
    """Whether each work and the one at a place are on different streams of one device."""
    different: NDArray[np.bool_] = (streams.lane != streams.lane[at]) & (device == device[at])
    return different


def _later(streams: Streams, at: Places, best: Places) -> NDArray[np.bool_]:
    """Whether the work at each place ended later than the best so far."""
    later: NDArray[np.bool_] = (best == NONE) | (streams.end[at] > streams.end[best])
    return later


def _explained(streams: Streams, launching: int) -> Nanoseconds:
    """When each work could begin as far as its launch and the work before on its stream go; EARLY where both are unknown."""
    before = streams.before
    ended = np.where(before == NONE, EARLY, streams.end[before])
    return np.maximum(ended, np.where(streams.launch == NONE, EARLY, streams.launched + launching))


def _wait_calls(trace: Trace, streams: Streams) -> tuple[Nanoseconds, bool]:
    """When the last call to wait was made, and whether the file has any such calls.

    It counts for work if it stands before the launch, on the same thread, and after the launch of the work before on the
    stream; EARLY where none does.
    """
    events = trace.events
    wanted = np.array([name.endswith(WAIT_CALL) for name in trace.names], np.bool_)
    waits = np.flatnonzero((events.kind == CALL) & wanted[events.name])
    called = np.full(len(streams.row), EARLY, np.int64)
    before, launch = streams.before, streams.launch
    previous = np.where(before == NONE, NONE, launch[before])
    for thread in np.unique(events.lane[waits]):
        rows = waits[events.lane[waits] == thread]
        at = np.searchsorted(rows, launch) - 1
        shown = (launch != NONE) & (events.lane[launch] == thread) & (at >= 0) & (rows[at] > previous)
        called[shown] = events.start[rows[at[shown]]]
    return called, len(waits) > 0
