"""One pass over the rows, where all that a row waits for stands above it and no two messages ever want one port.

What belongs here: the pass, and the place where it finds that it may not be taken.
"""

import numpy as np

from hopline.sim.kernels.compiled import kernel, part

SEND, RECV, FREE = 0, 1, 255


@part
def _number(rank, lane, row, lanes):
    """Of a lane of a rank; of each row on the lane FREE its own."""
    return -2 - row if lane[row] == FREE else rank[row] * lanes + lane[row]


@part
def _latest(row, ready, pairs, place, times):
    """The latest of ``ready`` and the times of rows that ``row`` is paired with (-1: one is not known), and the next place."""
    while place < len(pairs) and pairs[place, 0] == row:
        time = times[pairs[place, 1]]
        ready = -1 if time < 0 or ready < 0 else max(ready, time)
        place += 1
    return ready, place


@part
def _met(row, rank, lane, mate, port, lanes, owner):
    """Whether the Send of a Recv stands above, and both ports were only used by their two lanes so far."""
    send = mate[row]
    if send > row:
        return False
    out, into = port[send], port[row]
    theirs, mine = _number(rank, lane, send, lanes), _number(rank, lane, row, lanes)
    if owner[out] == -1:
        owner[out] = theirs
    if owner[into] == -1:
        owner[into] = mine
    return owner[out] == theirs and owner[into] == mine


@kernel
def go(kind, lane, rank, after, mate, work, port, rounds, more, begun, lanes, owner, free, end, ready, busy, finish):
    """Whether all rows could be done in this way; if not, what was filled in is void.

    Until its Recv comes, a Send's ``end`` is -2 - (when it was ready), and its lane is free at -1.
    """
    floor = latest = 0
    sent = number = at_more = at_begun = 0
    for row in range(len(kind)):
        mine = _number(rank, lane, row, lanes)
        if number < len(rounds) and row == rounds[number]:
            if sent > 0:
                return False
            number += 1
            floor = latest
        time = floor
        if mine >= 0:
            time = -1 if free[mine] < 0 else max(time, free[mine])
        if after[row] >= 0:
            time = -1 if end[after[row]] < 0 or time < 0 else max(time, end[after[row]])
        time, at_more = _latest(row, time, more, at_more, end)
        time, at_begun = _latest(row, time, begun, at_begun, ready)
        if time < 0:
            return False
        if len(ready) > 0:
            ready[row] = time
        if kind[row] == SEND:
            end[row] = -2 - time
            sent += 1
            if mine >= 0:
                free[mine] = -1
            continue
        if kind[row] == RECV:
            if not _met(row, rank, lane, mate, port, lanes, owner):
                return False
            send = mate[row]
            time = max(time, -2 - end[send]) + work[send]
            busy[port[send]] += work[send]
            busy[port[row]] += work[send]
            end[send] = time
            sent -= 1
            theirs = _number(rank, lane, send, lanes)
            if theirs >= 0:
                free[theirs] = time
            finish[rank[send]] = max(finish[rank[send]], time)
        else:
            time += work[row]
        end[row] = time
        if mine >= 0:
            free[mine] = time
        finish[rank[row]] = max(finish[rank[row]], time)
        latest = max(latest, time)
    return sent == 0


def run(kind, lane, rank, after, size, mate, work, port, rounds, more, begun, ports, ranks, eager):
    """Whether it could be done; end, readiness (of none where nothing is ``begun``); busy by port, finish by rank."""
    rows, lanes = len(kind), int(lane.max(initial=0)) + 1
    end, ready = np.full(rows, -1, np.int64), np.full(rows if len(begun) else 0, -1, np.int64)
    busy, finish = np.zeros(ports, np.int64), np.zeros(ranks, np.int64)
    owner, free = np.full(ports, -1, np.int64), np.zeros(ranks * lanes, np.int64)
    early = eager > 0 and bool(np.any((kind == SEND) & (size <= eager)))
    done = not early and go(
        kind, lane, rank, after, mate, work, port, rounds, more, begun, lanes, owner, free, end, ready, busy, finish
    )
    return done, end, ready, busy, finish
