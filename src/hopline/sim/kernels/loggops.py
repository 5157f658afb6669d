"""LogGOPS, event by event.

What belongs here: the rules of ``loggops_reference`` over arrays.

What finds its rank busy is not tried again and again: all Sends, all messages and all work that wait at a rank stand in one
pairing heap each, by the order in which they came up, and only the first of each heap is tried. The others could not begin
before it, since all of a heap need the same clocks.
"""

import numpy as np

from hopline.sim.kernels.compiled import kernel, part
from hopline.sim.kernels.heaps import meld, without
from hopline.sim.kernels.loggops_state import (
    BEGUN,
    CPU,
    EVENTS,
    FREED,
    IN,
    MET,
    OUT,
    RECV,
    SEND,
    SERIAL,
    State,
    pop,
    push,
)  # fmt: skip
from hopline.sim.kernels.waits import above, count, fill


@part
def _release(at, pending, freed, to, waits, row):
    for place in range(to[row], to[row + 1]):
        pending[waits[place]] -= 1
        if pending[waits[place]] == 0:
            freed[at[FREED]] = waits[place]
            at[FREED] += 1


@part
def _needs(clock, rank, group):
    """When a rank can do a Send, take a message, or work."""
    return clock[rank, CPU] if group == CPU else max(clock[rank, CPU], clock[rank, group])


@part
def _keep(s, row, time, group, nic):
    """The row has the processor, and the NIC where it needs it."""
    rank = s.rank[row]
    s.start[row] = time
    s.cause[row] = s.owner[rank, CPU] if s.clock[rank, CPU] == time else s.owner[rank, group] if group != CPU else -1
    s.clock[rank, CPU], s.owner[rank, CPU] = time + s.work[row], 2 * row
    s.busy[rank, CPU] += s.work[row]
    if group != CPU:
        s.clock[rank, group], s.owner[rank, group] = time + nic, 2 * row
        s.busy[rank, group] += nic


@part
def _finish(s, row, time, cause):
    """Its own work is done, or will be; if that was before ``time``, because of ``cause``."""
    own = s.start[row] + s.work[row]
    s.end[row] = max(own, time)
    if time > own:
        s.late_cause[row] = cause
    _release(s.at, s.pending, s.freed, s.to_done, s.done, row)


@part
def _meet(s, send, time, cause):
    """A message of more than S bytes and its Recv: only now the Send is done."""
    rank = s.rank[send]
    for group in (CPU, OUT):
        if s.clock[rank, group] < time:
            s.clock[rank, group], s.owner[rank, group] = time, 2 * send + 1
    _finish(s, send, time, cause)


@part
def _begin(s, row, time):
    """A Send or work gets what it needs."""
    group = OUT if s.kind[row] == SEND else CPU
    _keep(s, row, time, group, s.nic[row])
    _release(s.at, s.pending, s.freed, s.to_begun, s.begun, row)
    if group == OUT:
        s.serial[row] = s.at[SERIAL]
        s.at[SERIAL] += 1
        push(s.at, s.times, s.serials, s.items, time + s.travel, s.serial[row], np.int64(len(s.kind) + row))
    if not s.late[row]:
        _finish(s, row, time, -1)


@part
def _match(s, send, recv, time, late_cause, recv_cause):
    if s.late[send]:
        _meet(s, send, time, late_cause)
    _finish(s, recv, time, recv_cause)


@part
def _take(s, send, time):
    """A message gets what it needs."""
    recv = s.mate[send]
    _keep(s, recv, time, IN, s.nic[send])
    own = time == s.start[send] + s.travel
    if own:
        s.cause[recv] = 2 * send
    s.flag[recv] |= MET
    if s.flag[recv] & BEGUN:
        _match(s, send, recv, time, -1 if s.cause[recv] == 2 * send else s.cause[recv], -1)


@part
def _post(s, recv, time):
    """A Recv begins."""
    s.flag[recv] |= BEGUN
    _release(s.at, s.pending, s.freed, s.to_begun, s.begun, recv)
    if s.flag[recv] & MET:
        _match(s, s.mate[recv], recv, time, s.let_by[recv], s.let_by[recv])


@part
def _come_up(s, row):
    """A row that was freed, for when its rank is free."""
    rank = s.rank[row]
    s.let_by[row] = s.owner[rank, CPU]
    s.serial[row] = s.at[SERIAL]
    s.at[SERIAL] += 1
    group = OUT if s.kind[row] == SEND else CPU
    push(s.at, s.times, s.serials, s.items, _needs(s.clock, rank, group), s.serial[row], np.int64(row))


@part
def _come_up_all(s):
    """Rows that were freed, of at most two ranks: by rank, then Sends, Recvs and the rest, then as they were freed."""
    length = s.at[FREED]
    s.at[FREED] = 0
    least, most = len(s.clock), -1
    for place in range(length):
        rank = s.rank[s.freed[place]]
        least, most = min(least, rank), max(most, rank)
    for turn in range(6 if most > least else 3):
        for place in range(length):
            row = s.freed[place]
            if s.rank[row] == (least if turn < 3 else most) and min(s.kind[row], 2) == turn % 3:
                _come_up(s, row)


@part
def _await(s, serial, link, child, row, rank, group, time):
    """It waits with the others of its group; if it came up before them, it is the one to be tried."""
    child[row] = -1
    s.first[rank, group] = meld(serial, child, link, s.first[rank, group], row)
    if s.first[rank, group] == row:
        s.due[rank, group] = time
        push(s.at, s.times, s.serials, s.items, time, serial[row], np.int64(-1 - 3 * rank - group))


@part
def _next(s, rank, group, time):
    """The first that waits, if it can begin (else -1); then the one behind it is the one to be tried."""
    row, needs = s.first[rank, group], _needs(s.clock, rank, group)
    if needs > time:
        s.due[rank, group] = needs
        push(s.at, s.times, s.serials, s.items, needs, s.serial[row], np.int64(-1 - 3 * rank - group))
        return -1
    s.first[rank, group] = without(s.serial, s.child, s.link, row)
    return row


@part
def _due(s, item, time, serial):
    """Row and group of an event if it can begin, and row -1 if it cannot."""
    rows = len(s.kind)
    if item < 0:
        rank, group = (-1 - item) // 3, (-1 - item) % 3
        row = s.first[rank, group]
        if row < 0 or s.due[rank, group] != time or s.serial[row] != serial:
            return -1, group
        return _next(s, rank, group, time), group
    row = item if item < rows else item - rows
    group = IN if item >= rows else OUT if s.kind[row] == SEND else CPU
    if group == CPU and s.kind[row] == RECV:
        return row, group
    rank = s.rank[s.mate[row]] if group == IN else s.rank[row]
    needs = _needs(s.clock, rank, group)
    if needs <= time:
        return row, group
    _await(s, s.serial, s.link, s.child, row, rank, group, needs)
    return -1, group


@part
def _try_on(s, item, rank, group, time):
    """After one of a group has begun, the next one is to be tried."""
    row = s.first[rank, group]
    if item < 0 and row >= 0:
        s.due[rank, group] = max(time, _needs(s.clock, rank, group))
        push(s.at, s.times, s.serials, s.items, s.due[rank, group], s.serial[row], np.int64(-1 - 3 * rank - group))


@kernel
def go(s):
    """From the rows that come up first to the end."""
    while s.at[EVENTS] > 0:
        time, serial, item = s.times[0], s.serials[0], s.items[0]
        pop(s.at, s.times, s.serials, s.items)
        row, group = _due(s, item, time, serial)
        if row < 0:
            continue
        rank = s.rank[s.mate[row]] if group == IN else s.rank[row]
        if group == IN:
            _take(s, row, time)
        elif s.kind[row] == RECV:
            _post(s, row, time)
        else:
            _begin(s, row, time)
        _try_on(s, item, rank, group, time)
        _come_up_all(s)


@kernel
def first_rows(s, head):
    """Rows that wait for nothing come up, by rank. ``head``: -1 for each rank."""
    for row in range(len(s.kind) - 1, -1, -1):
        if s.pending[row] == 0:
            s.link[row] = head[s.rank[row]]
            head[s.rank[row]] = row
    for rank in range(len(head)):
        for sort in range(3):
            row = head[rank]
            while row >= 0:
                if min(s.kind[row], 2) == sort:
                    _come_up(s, row)
                row = s.link[row]


def _waits(before, after, pairs, pending):
    to = np.zeros(len(pending) + 1, np.int32)
    count(before, after, pairs, pending, to)
    waiting = np.empty(to[-1], np.int32)
    if len(waiting):
        fill(before, after, pairs, to[:-1].copy(), waiting)
    return to, waiting


def run(ranks, kind, lane, rank, after, mate, work, nic, late, more, begun, travel):
    """Start, end, cause, cause of a later end by row; when each processor is free; how long processor and NIC worked."""
    rows, none = len(kind), np.empty(0, np.int32)
    before, pending = np.full(rows, -1, np.int32), np.zeros(rows, np.int32)
    above(lane, rank, np.full((ranks, int(lane.max(initial=0)) + 1), -1, np.int32), before)
    to_done, waiting = _waits(before, after, more, pending)
    to_begun, waiting_begun = _waits(none, none, begun, pending)
    start, end = np.full(rows, -1, np.int64), np.full(rows, -1, np.int64)
    cause, late_cause, let_by = (np.full(rows, -1, np.int32) for _ in range(3))
    busy, events = np.zeros((ranks, 3), np.int64), 4 * rows + 3 * ranks
    serial, link, child = np.zeros(rows, np.int64), np.empty(rows, np.int32), np.empty(rows, np.int32)
    times, serials, items = (np.empty(events, np.int64) for _ in range(3))
    s = State(
        np.zeros(3, np.int64), kind, rank, mate, work, nic, late, travel, pending, to_done, waiting, to_begun, waiting_begun,
        start, end, cause, late_cause, np.zeros(rows, np.uint8), let_by, np.zeros((ranks, 3), np.int64),
        np.full((ranks, 3), -1, np.int32), busy, serial, link, child, times, serials, items,
        np.full((ranks, 3), -1, np.int32), np.zeros((ranks, 3), np.int64), np.empty(rows, np.int32),
    )  # fmt: skip
    first_rows(s, np.full(ranks, -1, np.int32))
    go(s)
    return start, end, cause, late_cause, s.clock[:, CPU].copy(), busy[:, [CPU, OUT, IN]].ravel()
