"""Dependencies: what each event of one rank had to wait for, read from its trace.

What belongs here: the constraints of a trace in columns, for all that replays it or walks it. Waits of streams are in
``stream_waits``, waits of the host in ``host_waits``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopline.records.trace import NONE, Codes, Index, Nanoseconds, Trace
from hopline.study.host_waits import host_waits
from hopline.study.stream_waits import stream_waits
from hopline.study.streams import EARLY, Streams, calls_of, streams_of

QUICK = 0.1
"""Share of launches, and of gaps, that are quicker than what counts as the cost of one."""
LONGEST = 20_000
"""Nanoseconds that a launch on an idle stream, or a succession on a busy one, costs at most; what took longer loaded code, or
waited for something that is not seen."""


@dataclass(frozen=True, slots=True, eq=False)
class Dependencies:
    """What the events of a trace waited for. Rows are those of ``Trace.events``.

    Attributes
    ----------
    launch
        The call that launched each row, NONE where unknown; shape (events,).
    before
        The work before on the row's stream, NONE where there is none; shape (events,).
    waits
        Pairs (work, work on another stream that it waited for), ordered by the first; shape (k, 2).
    waits_basis
        How each pair was found, a number of BASES; shape (k,).
    blocked
        Pairs (call, work whose end the call waited for), ordered by the first; shape (m, 2).
    blocked_basis
        The same for them; shape (m,).
    launching
        Nanoseconds from a call to the begin of its work on an idle stream, as the quickest tenth has it; 0 if none is seen.
    following
        Nanoseconds between two works of a stream of which the second was launched before, as the quickest tenth has it.
    repeated
        Works with a correlation that several calls have, one after the other: the first of these is taken for their launch.
    """

    launch: Index
    before: Index
    waits: Index
    waits_basis: Codes
    blocked: Index
    blocked_basis: Codes
    launching: int
    following: int
    repeated: int = 0


def depend(trace: Trace) -> Dependencies:
    """What the events of ``trace`` waited for.

    A call and its work have the same correlation; all kernels of a CUDA graph have that of the one call that started it.
    """
    calls = calls_of(trace.events)
    streams = streams_of(trace, calls)
    launching = _launching(streams)
    waits, waits_basis = stream_waits(trace, calls, streams, launching)
    following = _following(streams, trace.events.end, waits)
    blocked, blocked_basis = host_waits(trace, calls, streams)
    before = streams.before
    previous = np.where(before == NONE, NONE, streams.row[before]) if len(before) else streams.row
    return Dependencies(
        _spread(streams.launch, streams, len(trace.events)),
        _spread(previous.astype(np.int32), streams, len(trace.events)),
        waits,
        waits_basis,
        blocked,
        blocked_basis,
        launching,
        following,
        int(np.isin(trace.events.correlation[streams.row], calls.repeated).sum()),
    )


def _spread(column: Index, streams: Streams, events: int) -> Index:
    """A column of work as a column of all events, NONE elsewhere."""
    spread = np.full(events, NONE, np.int32)
    spread[streams.row] = column
    return spread


def _launching(streams: Streams) -> int:
    """What a launch on an idle stream costs, in nanoseconds."""
    later = _launched_after_another(streams)
    called = streams.launched[later]
    return min(_quick((streams.start[later] - called)[streams.end[later - 1] <= called]), LONGEST)


def _following(streams: Streams, event_end: Nanoseconds, waits: Index) -> int:
    """What a succession costs on a busy stream, in nanoseconds; works that waited for another stream show none."""
    later = _launched_after_another(streams)
    queued = event_end[streams.launch[later]] <= streams.start[later - 1]
    awaited = np.full(len(event_end), EARLY, np.int64)
    np.maximum.at(awaited, waits[:, 0], event_end[waits[:, 1]])
    alone = awaited[streams.row[later]] <= streams.end[later - 1]
    return min(_quick((streams.start[later] - streams.end[later - 1])[queued & alone]), LONGEST)


def _launched_after_another(streams: Streams) -> NDArray[np.intp]:
    """Places of works of which the launch is known, and which are not the first of their stream."""
    return np.flatnonzero((streams.before != NONE) & (streams.launch != NONE))


def _quick(times: Nanoseconds) -> int:
    """The time that a tenth is quicker than, not below 0; 0 of none."""
    return max(0, int(np.quantile(times, QUICK, method="lower"))) if len(times) else 0
