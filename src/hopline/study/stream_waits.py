"""Waits between streams: which work waited for which of another stream.

What belongs here: reading them from synchronisation events. Where a file has none they are inferred (``inferred_waits``), and
the basis says so.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hopline.records.trace import NONE, Codes, Index, Nanoseconds, Trace
from hopline.study.inferred_waits import TOLERANCE, inferred_waits
from hopline.study.streams import EVENTS, Calls, Streams

STREAM_WAIT = "Stream Wait Event"


def stream_waits(trace: Trace, calls: Calls, streams: Streams, launching: int) -> tuple[Index, Codes]:
    """Pairs (work, work on another stream that it waited for) and the basis of each, ordered by the first.

    Parameters
    ----------
    launching
        What a launch on an idle stream costs, in nanoseconds.
    """
    told = _told(trace, calls, streams)
    inferred, basis = inferred_waits(trace, streams, launching, has_events=len(trace.syncs.row) > 0)
    pairs = np.concatenate((told, inferred))
    bases = np.concatenate((np.full(len(told), EVENTS, np.uint8), basis))
    _, first = np.unique(pairs.astype(np.int64) @ np.array([len(trace.events) + 1, 1]), return_index=True)
    return pairs[first], bases[first]


def named(trace: Trace, name: str) -> int:
    """Number of a name, NONE where the trace has none such."""
    return trace.names.index(name) if name in trace.names else NONE


def lanes_on(trace: Trace, rows: Index, numbers: Nanoseconds) -> Index:
    """The lane with each stream number on the device of each row; NONE where the trace has none such."""
    where = {(lane.place, lane.number): at for at, lane in enumerate(trace.lanes) if lane.kind == "stream"}
    devices = [trace.lanes[lane].place for lane in trace.events.lane[rows].tolist()]
    return np.array(
        [where.get((device, number), NONE) for device, number in zip(devices, numbers.tolist(), strict=True)], np.int32
    )


def recorded(trace: Trace, calls: Calls, streams: Streams, at: NDArray[np.int64]) -> Index:
    """The last work before the record of the event of each sync (places in ``Trace.syncs``); NONE where it cannot be told."""
    syncs = trace.syncs
    record = calls.find(syncs.record[at])
    work = streams.last_before(lanes_on(trace, syncs.row[at], syncs.on[at]), trace.events.start[record])
    return np.where(record == NONE, NONE, work).astype(np.int32)


def _told(trace: Trace, calls: Calls, streams: Streams) -> Index:
    """Pairs from the file's own events: the next work that is launched into the stream waits for what was recorded.

    Work that began long before the other had ended did not wait for it, whatever the calls seem to say.
    """
    events, syncs = trace.events, trace.syncs
    at = np.flatnonzero(events.name[syncs.row] == named(trace, STREAM_WAIT))
    call = calls.find(events.correlation[syncs.row[at]])
    waiting = streams.first_after(events.lane[syncs.row[at]], events.start[call])
    awaited = recorded(trace, calls, streams, at)
    kept = (call != NONE) & (waiting != NONE) & (awaited != NONE)
    kept &= events.end[awaited] <= events.start[waiting] + TOLERANCE
    pairs = np.stack((waiting[kept], awaited[kept]), axis=1)
    across: Index = pairs[events.lane[pairs[:, 0]] != events.lane[pairs[:, 1]]]
    return across
