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
    """The latest of ``ready`` and the times of the rows that ``row`` is paired with; -1: one is not known. And the next place."""
    while place < len(pairs) and pairs[place, 0] == row:
        time = times[pairs[place, 1]]
        ready = -1 if time < 0 or ready < 0 else max(ready, time)
        place += 1
    return ready, place


@kernel
def run(kind, lane, rank, after, mate, work, port, rounds, more, begun, ports, ranks, lanes):
    """End and readiness of each row (of none, where nothing is ``begun``), busy by port, finish by rank; and how many rows
    were done in this way: unless all, the rest is void.
    """
    rows = len(kind)
    end = np.full(rows, -1, np.int64)
    ready = np.full(rows if len(begun) else 0, -1, np.int64)
    free = np.zeros(ranks * lanes, np.int64)
    owner = np.full(ports, -1, np.int64)
    busy, finish = np.zeros(ports, np.int64), np.zeros(ranks, np.int64)
    floor = latest = np.int64(0)
    open_sends = number = at_more = at_begun = 0
    for row in range(rows):
        mine = _number(rank, lane, row, lanes)
        time = floor
        if mine >= 0:
            if free[mine] < 0:
                return end, ready, busy, finish, row
            time = max(time, free[mine])
        if after[row] >= 0:
            if end[after[row]] < 0:
                return end, ready, busy, finish, row
            time = max(time, end[after[row]])
        if number < len(rounds) and row == rounds[number]:
            if open_sends:
                return end, ready, busy, finish, row
            number += 1
            floor = time = latest
        time, at_more = _latest(row, time, more, at_more, end)
        time, at_begun = _latest(row, time, begun, at_begun, ready)
        if time < 0:
            return end, ready, busy, finish, row
        if len(begun):
            ready[row] = time
        if kind[row] == SEND:
            end[row] = -2 - time
            open_sends += 1
            if mine >= 0:
                free[mine] = -1
            continue
        if kind[row] == RECV:
            send = mate[row]
            if send > row:
                return end, ready, busy, finish, row
            theirs = _number(rank, lane, send, lanes)
            out, into = port[send], port[row]
            if owner[out] == -1:
                owner[out] = theirs
            if owner[into] == -1:
                owner[into] = mine
            if owner[out] != theirs or owner[into] != mine:
                return end, ready, busy, finish, row
            time = max(time, -2 - end[send]) + work[send]
            busy[out] += work[send]
            busy[into] += work[send]
            end[send] = time
            open_sends -= 1
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
    return end, ready, busy, finish, rows if open_sends == 0 else 0
