"""The host of one rank as a chain of activities: its time between calls that matter, and its waits for the GPU.

What belongs here: points in the time of the host and what each came after. A call matters that launched work, or waited for
it. Where one thread goes on while another is silent, it was handed over to: so the chain goes through all threads of a rank. A
thread that called while the other one stood in a wait goes on by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopline.records.trace import NONE, Index, Nanoseconds

LAUNCH, BLOCK, BACK = range(3)
"""A point is a call that launched work, a call that begins to wait, or one that is back from a wait."""


@dataclass(frozen=True, slots=True, eq=False)
class Host:
    """Points in order of time, shape (points,).

    Attributes
    ----------
    time
        Nanoseconds.
    what, call
        LAUNCH, BLOCK or BACK, and row of the call.
    after
        The point that it came after; NONE for the first.
    """

    time: Nanoseconds
    what: Index
    call: Index
    after: Index

    def __len__(self) -> int:
        return len(self.time)

    def of(self, what: int, calls: Index) -> Index:
        """Number of the point of each of ``calls``, NONE where it is none, shape (calls,)."""
        mine = np.flatnonzero(self.what == what)
        order = mine[np.argsort(self.call[mine], kind="stable")]
        keys = self.call[order]
        place = np.minimum(np.searchsorted(keys, calls), max(len(keys) - 1, 0))
        if not len(keys):
            return np.full(len(calls), NONE, np.int32)
        return np.where(keys[place] == calls, order[place], NONE).astype(np.int32)


def host(
    start: Nanoseconds,
    end: Nanoseconds,
    thread: Index,
    launching: Index,
    blocking: Index,
    submitted: Nanoseconds | None = None,
) -> Host:
    """Points of the host.

    Parameters
    ----------
    start, end, thread
        Of each event of the trace.
    submitted
        When each call handed its work over; None: at its start.
    launching, blocking
        Rows of the calls that launched work, and of those that waited.
    """
    call = np.concatenate([launching, blocking, blocking]).astype(np.int32)
    what = np.repeat([LAUNCH, BLOCK, BACK], [len(launching), len(blocking), len(blocking)]).astype(np.int32)
    handed = start if submitted is None else submitted
    time = np.choose(what, (handed[call], start[call], end[call]))
    order = _order(time, what, call, start, end)
    time, what, call = time[order], what[order], call[order]
    return Host(time, what, call, _chain(what.tolist(), call.tolist(), thread[call].tolist()))


def _order(time: Nanoseconds, what: Index, call: Index, start: Nanoseconds, end: Nanoseconds) -> NDArray[np.intp]:
    """Points by time. Of those with one time stamp what returns comes first (a call in another before that), then what begins:
    the call that ends first before one that goes on; of calls without length (whole microseconds!) all of the one that the
    file has first.
    """
    begins = (what != BACK) | (start[call] == time)
    return np.lexsort((what, call, np.where(begins, end[call], -call.astype(np.int64)), begins, time))


def _chain(what: list[int], call: list[int], thread: list[int]) -> Index:
    """What each point came after."""
    after = np.full(len(what), NONE, np.int32)
    own: dict[int, int] = {}
    began: dict[int, int] = {}
    for point in range(len(what)):
        mine = thread[point]
        if point:
            before = point - 1
            stood = what[before] == BACK and thread[before] != mine
            after[point] = own[mine] if stood and own.get(mine, NONE) > began[call[before]] else before
        if what[point] == BLOCK:
            began[call[point]] = point
        own[mine] = point
    return after
