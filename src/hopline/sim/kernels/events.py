"""Tick by tick, with ports that several messages want.

What belongs here: the loop of ``reference`` over arrays, and what it begins with.
"""

import numpy as np

from hopline.sim.kernels.compiled import kernel, part
from hopline.sim.kernels.events_ports import depart, land, start
from hopline.sim.kernels.events_settling import settle
from hopline.sim.kernels.events_state import (
    ASK,
    FLIGHTS,
    FREE,
    FREED,
    FRESH,
    LEFT,
    LIMIT,
    NOW,
    RECENT,
    SEND,
    State,
    put,
)


@kernel
def go(s):
    """From the rows in ASK to the end."""
    while True:
        settle(s)
        if s.at[FREED] + s.at[FRESH] > 0:
            start(s)
        depart(s)
        if s.at[FLIGHTS] == 0:
            return
        land(s)


@kernel
def lanes(lane, rank, last, at, link, below):
    """Fills ``below``, chains rows that nothing stands above from ASK, and counts them."""
    count = 0
    for row in range(len(lane)):
        if lane[row] != FREE:
            before = last[rank[row], lane[row]]
            last[rank[row], lane[row]] = row
            if before >= 0:
                below[before] = row
                continue
        put(at, link, ASK, row)
        count += 1
    return count


@part
def _claim(owner, shared, port, who):
    if owner[port] == -1:
        owner[port] = who
    elif owner[port] != who:
        shared[port] = True


@kernel
def share(kind, lane, rank, mate, port, size, eager, width, owner, shared):
    """Fills ``shared``: ports that messages of two lanes go by. ``width``: lanes of a rank."""
    for send in range(len(kind)):
        if kind[send] == SEND:
            recv = mate[send]
            sender = -2 - send if lane[send] == FREE else rank[send] * width + lane[send]
            receiver = -2 - recv if lane[recv] == FREE else rank[recv] * width + lane[recv]
            _claim(owner, shared, port[send], sender)
            _claim(owner, shared, port[recv], sender if eager > 0 and size[send] <= eager else receiver)


def _index(length):
    return np.full(length, -1, np.int32)


def run(kind, lane, rank, after, size, mate, work, port, rounds, more, begun, ports, ranks, eager):
    """End, readiness (of none where it is not asked for), what held each message (of none where no port is shared); busy by
    port, finish by rank.
    """
    rows, width = len(kind), int(lane.max(initial=0)) + 1
    at, link, below = np.full(13, -1, np.int64), _index(rows), _index(rows)
    under_way = max(lanes(lane, rank, np.full((ranks, width), -1, np.int32), at, link, below), 1)
    shared = np.zeros(ports, np.bool_)
    share(kind, lane, rank, mate, port, size, eager, width, np.full(ports, -1, np.int64), shared)
    at[NOW : LIMIT + 1] = 0
    at[LEFT] = at[LIMIT] = rounds[0] if len(rounds) else rows
    spare = np.arange(1, under_way + 1, dtype=np.int32)
    contended, timed = rows if shared.any() else 0, rows if len(begun) or eager else 0
    s = State(
        at, kind, rank, after, mate, work, port, size, eager, rounds, more, begun,
        np.full(rows, -1, np.int64), np.full(timed, -1, np.int64), _index(contended), np.zeros(ports, np.int64),
        np.zeros(ranks, np.int64), np.zeros(rows, np.uint8), link, below, _index(rows), _index(rows if len(begun) else 0),
        np.empty(under_way, np.int64), _index(under_way), spare, _index(under_way), np.full(under_way, -1, np.int64),
        _index(RECENT), _index(under_way), shared, np.zeros(ports, np.bool_), _index(ports), _index(ports), _index(ports),
        _index(ports), np.empty(ports + under_way, np.int64), _index(ports + under_way), _index(contended), _index(contended),
    )  # fmt: skip
    go(s)
    return s.end, s.ready, s.held, s.busy, s.finish
