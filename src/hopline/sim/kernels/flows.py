"""Tick by tick, with flows that share resources.

What belongs here: the loop of ``flows_reference`` over arrays, and what it begins with. What rows wait for is settled as for
messages with ports.
"""

import numpy as np

from hopline.sim.kernels.compiled import kernel, part
from hopline.sim.kernels.events import lanes
from hopline.sim.kernels.events_settling import settle
from hopline.sim.kernels.events_state import DONE, GO, LEFT, LIMIT, NOW, SEND, State, arrive, put, take
from hopline.sim.kernels.heaps import pop, push
from hopline.sim.kernels.sharing import BLOCK, CHANGED, NEVER, SOLVES, SPANS, Net, earliest, join, leave, solve


@part
def _depart(s, n, latency, flow, keys, values, length):
    """Rows that begin: a message waits for its latency and then flows, others for their time."""
    row = take(s.at, GO)
    now = s.at[NOW]
    while row >= 0:
        behind = s.link[row]
        wait = latency[row] if s.kind[row] == SEND else s.work[row]
        if wait > 0:
            push(keys, values, length, now + wait, row)
            length += 1
        else:
            join(n, flow[row], now)
        row = behind
    return length


@part
def _land(s, n, flow, keys, values, length):
    """Waits that end in this tick."""
    now = s.at[NOW]
    while length > 0 and keys[0] == now:
        row = values[0]
        pop(keys, values, length)
        length -= 1
        if s.kind[row] != SEND:
            s.end[row] = now
            put(s.at, s.link, DONE, row)
        elif flow[row] >= 0:
            join(n, flow[row], now)
        else:
            arrive(s, row)
    return length


@part
def _through(s, n, send):
    """Flows that are through in this tick."""
    now = s.at[NOW]
    for block in range(len(n.low)):
        if n.low[block] == now:
            for f in range(block * BLOCK, min((block + 1) * BLOCK, len(n.finish))):
                if n.finish[f] == now:
                    leave(n, f, now)
                    arrive(s, send[f])


@kernel
def go(s, n, latency, flow, send, keys, values):
    """From the rows in ASK to the end."""
    length = 0
    while True:
        settle(s)
        length = _depart(s, n, latency, flow, keys, values, length)
        if n.count[CHANGED] > 0:
            solve(n, s.at[NOW])
        now = earliest(n)
        if length > 0:
            now = min(now, keys[0])
        if now == NEVER:
            return
        s.at[NOW] = now
        _through(s, n, send)
        length = _land(s, n, flow, keys, values, length)


def _index(length):
    return np.full(length, -1, np.int32)


def _net(first, resource, weight, coefficient, alone, size, capacity, most_spans):
    flows, uses, many = len(alone), len(resource), len(capacity)
    order = np.argsort(resource, kind="stable").astype(np.int64)
    place = np.empty(uses, np.int64)
    place[order] = np.arange(uses)
    begin = np.concatenate([[0], np.cumsum(np.bincount(resource, minlength=many))]).astype(np.int64)
    blocks = -(-flows // BLOCK)
    return Net(
        np.zeros(7, np.int64), first, resource, weight, np.repeat(np.arange(flows, dtype=np.int32), np.diff(first)),
        coefficient, alone, capacity, begin, order, place, np.zeros(many, np.int64), np.zeros(many),
        np.zeros(many, np.int64), np.full(many, np.inf), np.zeros(flows), size.astype(float), np.zeros(flows, np.int64),
        np.full(flows, NEVER, np.int64), np.full(flows, -1, np.int64), np.zeros(flows, np.uint8), np.zeros(flows),
        np.full(flows, -1, np.int64), _index(flows), _index(many), _index(many), np.zeros(many, np.uint8), np.zeros(many),
        np.zeros(many), np.zeros(many, np.int64), np.empty(many + 1), _index(many + 1), np.full(blocks, NEVER, np.int64),
        _index(blocks), np.zeros(blocks, np.bool_), np.zeros(uses), np.zeros(many, np.int64), np.zeros(many, np.int64),
        np.empty((most_spans, 3), np.int64),
    )  # fmt: skip


def _state(tasks):
    """``tasks``: what ``Tasks.arrays`` gives."""
    kind, lane, rank, after, size, mate, work, port, rounds, more, begun, _, ranks, eager = tasks
    rows, none = len(kind), np.empty(0, np.int32)
    at, link, below = np.full(13, -1, np.int64), _index(rows), _index(rows)
    lanes(lane, rank, np.full((ranks, int(lane.max(initial=0)) + 1), -1, np.int32), at, link, below)
    at[NOW : LIMIT + 1] = 0
    at[LEFT] = at[LIMIT] = rounds[0] if len(rounds) else rows
    free = np.zeros(1, np.bool_)
    return State(
        at, kind, rank, after, mate, work, port, size, eager, rounds, more, begun,
        np.full(rows, -1, np.int64), np.full(rows, -1, np.int64), none, np.zeros(1, np.int64),
        np.zeros(ranks, np.int64), np.zeros(rows, np.uint8), link, below, _index(rows), _index(rows if len(begun) else 0),
        np.empty(0, np.int64), none, none, none, np.empty(0, np.int64), none, none, free, free, none, none, none, none,
        np.empty(0, np.int64), none, none, none,
    )  # fmt: skip


def run(tasks, latency, flow, send, uses, coefficient, alone, capacity, most_spans):
    """End, readiness and finish; then of the flows: ticks lost by use, ticks with a level by resource, spans, solves.

    ``latency``: ticks by row; ``flow``: of each row, -1: none; ``send``: row of each flow; ``uses``: first, resource, weight.
    """
    s = _state(tasks)
    rows = len(s.kind)
    n = _net(*uses, coefficient, alone, s.size[send], capacity, most_spans)
    go(s, n, latency, flow, send, np.empty(rows + 1, np.int64), _index(rows + 1))
    kept = min(int(n.count[SPANS]), most_spans)
    return s.end, s.ready, s.finish, n.cost, n.held, n.spans[:kept], int(n.count[SOLVES])
