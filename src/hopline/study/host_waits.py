"""Waits of the host: which call was held until which work of the GPU had ended.

What belongs here: the calls that wait, and what they wait for, from synchronisation events or from the order of calls.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from hopline.records.trace import CALL, MEMCPY, NONE, Codes, Index, Trace
from hopline.study.stream_waits import named, recorded
from hopline.study.streams import BY_CALLS, BY_TIMES, EVENTS, Calls, Streams, devices_of

SYNCS = {"Stream Sync": "stream", "Context Sync": "all", "Event Sync": "event"}
"""What each synchronisation event waits for."""

CALLS = (
    ("all", re.compile(r"(cuda|hip)DeviceSynchronize|(cu|hip)CtxSynchronize|cudaThreadSynchronize")),
    ("ended", re.compile(r"(cuda|hip|cu)(Stream|Event)Synchronize|(cuda|hip)Free|cuMemFree")),
    ("own", re.compile(r"(cuda|hip|cu)Memcpy(?!.*Async)")),
    ("pageable", re.compile(r"(cuda|hip|cu)Memcpy.*Async")),
)
"""What each call waits for where no event of the file tells: all work, the work that ended while it ran, its own copy, or its
own copy where that is of pageable memory. The first that matches counts."""

SKEW = 1_000
"""Nanoseconds by which the clocks of host and GPU may disagree: what ends so much after a call may still have held it."""

Pairs = tuple[Index, Codes]


def host_waits(trace: Trace, calls: Calls, streams: Streams) -> Pairs:
    """Pairs (call, work whose end it waited for) and the basis of each, ordered by the first.

    A call that waits for several streams has a pair for each. Work that had ended before the call stands here too: it would
    hold the call if it took longer.
    """
    told = _told(trace, calls, streams)
    rest = _rows(trace, "all", told[0]), _rows(trace, "ended", told[0])
    found = (told, _all(trace, streams, rest[0], BY_CALLS), _ended(trace, streams, rest[1]), _own(trace, streams))
    pairs = np.concatenate([pairs for pairs, _ in found])
    bases = np.concatenate([bases for _, bases in found])
    _, first = np.unique(pairs.astype(np.int64) @ np.array([len(trace.events) + 1, 1]), return_index=True)
    return pairs[first], bases[first]


def _told(trace: Trace, calls: Calls, streams: Streams) -> Pairs:
    """What the file's own events say; asking whether an event has come (cudaEventQuery) is no wait."""
    events, syncs = trace.events, trace.syncs
    call = calls.find(events.correlation[syncs.row])
    asks = np.array(["Query" in name for name in trace.names], np.bool_)
    parts = []
    for name, what in SYNCS.items():
        at = np.flatnonzero((events.name[syncs.row] == named(trace, name)) & (call != NONE))
        at = at[~asks[events.name[call[at]]]]
        if what == "all":
            parts.append(_all(trace, streams, call[at], EVENTS, events.lane[syncs.row[at]])[0])
            continue
        lane = events.lane[syncs.row[at]]
        work = (
            streams.last_before(lane, events.start[call[at]])
            if what == "stream"
            else recorded(trace, calls, streams, at)
        )
        parts.append(np.stack((call[at], work), axis=1))
    pairs = np.concatenate(parts)
    pairs = pairs[pairs[:, 1] != NONE]
    return pairs, np.full(len(pairs), EVENTS, np.uint8)


def _rows(trace: Trace, what: str, told: Index) -> Index:
    """Calls that wait for ``what``, without those of which something is told."""
    wanted = np.array([_kind(name) == what for name in trace.names], np.bool_)
    rows = np.flatnonzero((trace.events.kind == CALL) & wanted[trace.events.name]).astype(np.int32)
    return rows[~np.isin(rows, told[:, 0])]


def _kind(name: str) -> str:
    """What a call of this name waits for, '' for nothing."""
    return next((what for what, pattern in CALLS if pattern.match(name)), "")


def _all(trace: Trace, streams: Streams, call: Index, basis: int, on: Index | None = None) -> Pairs:
    """Each call waits for the last work of every stream; ``on``: of those on the device of a lane."""
    lanes, device = streams.lanes, devices_of(trace)
    every, lane = np.repeat(call, len(lanes)), np.tile(lanes, len(call))
    work = streams.last_before(lane, trace.events.start[every])
    here = np.ones(len(lane), np.bool_) if on is None else device[lane] == np.repeat(device[on], len(lanes))
    pairs = np.stack((every, work), axis=1)[here & (work != NONE)]
    return pairs, np.full(len(pairs), basis, np.uint8)


def _ended(trace: Trace, streams: Streams, call: Index) -> Pairs:
    """Each call waited for the work that ended last while it ran, if that was launched before."""
    events = trace.events
    by_end = np.argsort(streams.end, kind="stable")
    at = np.searchsorted(streams.end[by_end], events.end[call] + SKEW, side="right") - 1
    call, at = call[at >= 0], by_end[at[at >= 0]]
    held = (streams.end[at] > events.start[call]) & (streams.launched[at] < events.start[call])
    return _paired(call[held], streams.row[at[held]], BY_TIMES)


def _own(trace: Trace, streams: Streams) -> Pairs:
    """A blocking copy waits for itself, and so does one of pageable memory that ended before its call did."""
    events = trace.events
    kinds = [_kind(name) for name in trace.names]
    always, maybe = (np.array([kind == what for kind in kinds], np.bool_) for what in ("own", "pageable"))
    pageable = np.array(["Pageable" in name for name in trace.names], np.bool_)
    at: NDArray[np.int64] = np.flatnonzero((events.kind[streams.row] == MEMCPY) & (streams.launch != NONE))
    call, row = streams.launch[at], streams.row[at]
    kept = always[events.name[call]] | (maybe[events.name[call]] & pageable[events.name[row]])
    kept &= streams.end[at] <= events.end[call] + SKEW
    return _paired(call[kept], row[kept], BY_CALLS)


def _paired(call: Index, row: Index, basis: int) -> Pairs:
    return np.stack((call, row), axis=1), np.full(len(call), basis, np.uint8)
