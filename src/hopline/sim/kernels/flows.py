"""Tick by tick, with flows that share.

What belongs here: the loop of ``flows_reference`` over arrays, and what it begins with.
"""

import numpy as np

from hopline.sim.kernels.compiled import kernel, part
from hopline.sim.kernels.heaps import pop, push
from hopline.sim.kernels.sharing import share
from hopline.sim.kernels.sharing_state import (
    ASKED,
    EARLY,
    LEAVES,
    NEVER,
    NOW,
    PAUSE,
    PLACES,
    SOLVES,
    SPANS,
    STAMP,
    TIMED,
    State,
    enter,
    first_due,
    leave,
    move,
    near,
    plan,
)  # fmt: skip
from hopline.sim.kernels.waits import above, count, fill

SEND, RECV = 0, 1


@part
def _release(s, to, waiting, row):
    for place in range(to[row], to[row + 1]):
        other = waiting[place]
        s.pending[other] -= 1
        if s.pending[other] == 0:
            s.asked[s.at[ASKED]] = other
            s.at[ASKED] += 1


@part
def _done(s, row):
    s.end[row] = s.finish[s.rank[row]] = s.at[NOW]
    _release(s, s.to_done, s.done, row)


@part
def _arrived(s, send):
    _done(s, send)
    recv = s.mate[send]
    if s.ready[recv] >= 0:
        _done(s, recv)


@part
def _due(s, row):
    """A row has worked, or the latency of a message is over."""
    if s.kind[row] != SEND:
        _done(s, row)
        return
    flow = s.flow[row]
    if s.todo[flow] > 0 and s.start[flow + 1] > s.start[flow]:
        enter(s, flow)
    else:
        _arrived(s, row)


@part
def _begins(s, row):
    """The row that begins now that this one is ready: of a message its Send; -1: none does."""
    if s.kind[row] > RECV:
        return row
    send = row if s.kind[row] == SEND else s.mate[row]
    if s.eager[send]:
        if row == send:
            return send
        if s.end[send] >= 0:
            _done(s, row)
        return -1
    return send if s.ready[s.mate[row]] >= 0 else -1


@part
def _settle(s):
    """All that follows in this tick from rows that became ready."""
    while s.at[ASKED] > 0:
        s.at[ASKED] -= 1
        row = s.asked[s.at[ASKED]]
        s.ready[row] = s.at[NOW]
        _release(s, s.to_begun, s.begun, row)
        row = _begins(s, row)
        if row < 0:
            continue
        if s.kind[row] == SEND:
            s.began[s.flow[row]] = s.at[NOW]
        if s.work[row] > 0:
            push(s.times, s.items, s.at[TIMED], s.at[NOW] + s.work[row], row)
            s.at[TIMED] += 1
        else:
            _due(s, row)


@part
def _land(s, place):
    """Flows that a resource binds and that are through end; what it moved is counted from now."""
    move(s, place)
    least, moved = np.inf, s.moved[place]
    s.moved[place], s.stale[place] = 0.0, False
    level, ended = s.level[place], False
    slot = s.first[place] + s.length[place] - 1
    while slot >= s.first[place]:
        flow = s.users[slot]
        if s.bind[flow] == place:
            s.until[flow] -= moved
            if s.until[flow] / level < EARLY:
                leave(s, flow)
                ended = True
                _arrived(s, s.row[flow])
            else:
                least = min(least, s.until[flow])
        slot -= 1
    s.least[place] = least
    if ended:
        near(s, place)
    plan(s, place)


@part
def _next(s):
    """The next tick at which anything ends."""
    return min(s.times[0] if s.at[TIMED] > 0 else NEVER, s.tree[1])


ENDED, FULL, PAUSED = range(3)
BETWEEN = 1000
"""Solvings from one look up to the next."""


@kernel
def go(s):
    """From the rows that are asked for to the end (ENDED), or until no more spans can be kept (FULL), or it is time to look
    up (PAUSED); it then goes on when it is called again.
    """
    while True:
        _settle(s)
        if len(s.spans) > 0 and s.at[SPANS] + len(s.capacity) > len(s.spans):
            return FULL
        if s.at[SOLVES] >= s.at[PAUSE]:
            s.at[PAUSE] += BETWEEN
            return PAUSED
        if s.at[PLACES] > 0:
            share(s)
        now = _next(s)
        if now >= NEVER - 1:
            return ENDED
        s.at[NOW] = now
        while s.at[TIMED] > 0 and s.times[0] == now:
            row = s.items[0]
            pop(s.times, s.items, s.at[TIMED])
            s.at[TIMED] -= 1
            _due(s, row)
        while s.tree[1] == now:
            place = first_due(s)
            _land(s, place)
            if s.tree[s.at[LEAVES] + place] == now:
                return ENDED


@kernel
def lists(resource, first):
    """Where the list of each resource begins, for all that ever go through it."""
    for use in range(len(resource)):
        first[resource[use] + 1] += 1
    for place in range(len(first) - 1):
        first[place + 1] += first[place]


def _waits(before, after, pairs, pending):
    to = np.zeros(len(pending) + 1, np.int32)
    count(before, after, pairs, pending, to)
    waiting = np.empty(to[-1], np.int32)
    if len(waiting):
        fill(before, after, pairs, to[:-1].copy(), waiting)
    return to, waiting


def _order(ranks, lane, rank, after, more, begun):
    """Who waits for whom: how many each row waits for, and who waits for it to be done and to have begun."""
    rows, none = len(lane), np.empty(0, np.int32)
    before, pending = np.full(rows, -1, np.int32), np.zeros(rows, np.int32)
    above(lane, rank, np.full((ranks, int(lane.max(initial=0)) + 1), -1, np.int32), before)
    return (pending, *_waits(before, after, more, pending), *_waits(none, none, begun, pending))


def _zeros(dtype):
    """Makes arrays of zeros of one kind."""
    return lambda length: np.zeros(length, dtype)


def run(
    ranks, kind, lane, rank, after, mate, work, more, begun, eager, row, flow, start, resource, amount, todo, alone, capacity,
    keep, watch,
):  # fmt: skip
    """End and readiness by row, begin by flow, finish by rank, cost by use, ticks bound by resource, spans, solvings.

    ``watch`` is called now and then with the part of the flows that are through, and words; None: nobody looks.
    """
    rows, flows, uses, places = len(kind), len(row), len(resource), len(capacity)
    leaves = 1
    while leaves < places:
        leaves *= 2
    pending, to_done, done, to_begun, begins = _order(ranks, lane, rank, after, more, begun)
    asked = np.empty(rows, np.int32)
    ready = np.flatnonzero(pending == 0)
    asked[: len(ready)] = ready
    at = np.zeros(PAUSE + 1, np.int64)
    at[ASKED], at[STAMP], at[LEAVES], at[PAUSE] = len(ready), 1, leaves, BETWEEN
    first = np.zeros(places + 1, np.int64)
    lists(resource, first)
    ints, longs, floats = _zeros(np.int32), _zeros(np.int64), _zeros(np.float64)
    s = State(
        at, kind, rank, mate, work, eager, flow, pending, to_done, done, to_begun, begins,
        longs(rows) - 1, longs(rows) - 1, asked, longs(ranks), longs(rows), ints(rows), row, longs(flows) - 1,
        start, resource, amount, ints(uses), floats(uses), todo.copy(), alone, ints(flows) - 1, floats(flows), longs(flows),
        capacity, floats(places), floats(places), longs(places), ints(places), floats(places), np.zeros(places, np.bool_),
        first, ints(places), ints(uses), ints(uses), floats(uses), floats(places), floats(places),
        longs(places) - 1, longs(places), np.full(2 * leaves, NEVER), longs(places), ints(places), longs(flows), ints(flows),
        floats(places), floats(places), ints(places), floats(places),
        longs(flows), ints(flows), floats(places), ints(places), longs(places), floats(places), ints(places), ints(places),
        np.empty((2 * places if keep else 0, 3), np.int64),
    )  # fmt: skip
    while (now := go(s)) != ENDED:
        if now == FULL:
            s = s._replace(spans=np.concatenate([s.spans, np.empty_like(s.spans)]))
        elif watch is not None:
            done = int(np.count_nonzero(s.end[row] >= 0))
            watch(done / max(flows, 1), f"{done:,} of {flows:,} flows are through")
    return s.end, s.ready, s.began, s.finish, s.cost, s.bound, s.spans[: at[SPANS]], int(at[SOLVES])
