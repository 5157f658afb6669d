"""What the engine of LogGOPS works on.

What belongs here: its arrays, and the heap of events in them.
"""

from typing import NamedTuple

import numpy as np

from hopline.sim.kernels.compiled import part

SEND, RECV = 0, 1
BEGUN, MET = 1, 2
EVENTS, SERIAL, FREED = range(3)
OUT, IN, CPU = range(3)


class State(NamedTuple):
    """What the parts share; arrays by row unless it is said otherwise.

    Attributes
    ----------
    at
        EVENTS, FREED: how many; SERIAL: of the next event.
    pending
        How many rows it still waits for.
    to_done, done, to_begun, begun
        Row r is waited for by ``done[to_done[r] : to_done[r + 1]]``; likewise for its beginning.
    clock, owner
        By rank and OUT, IN or CPU: when it is free, and what made it so (twice the row, and one more for its later end).
    let_by
        Of a Recv: what made its processor free when it was freed.
    serial, link, child
        Of what waits: when it came up; its heap.
    times, serials, items
        The heap of events. An item is a row; rows + the Send of a message that has arrived; or -1 - 3 x rank - (OUT: Sends,
        IN: messages, CPU: work) for the first of those that wait.
    first, due
        By rank and OUT, IN or CPU: the first of those that wait, and when it is tried.
    freed
        Rows that this event frees.
    """

    at: np.ndarray
    kind: np.ndarray
    rank: np.ndarray
    mate: np.ndarray
    work: np.ndarray
    nic: np.ndarray
    late: np.ndarray
    travel: int
    pending: np.ndarray
    to_done: np.ndarray
    done: np.ndarray
    to_begun: np.ndarray
    begun: np.ndarray
    start: np.ndarray
    end: np.ndarray
    cause: np.ndarray
    late_cause: np.ndarray
    flag: np.ndarray
    let_by: np.ndarray
    clock: np.ndarray
    owner: np.ndarray
    busy: np.ndarray
    serial: np.ndarray
    link: np.ndarray
    child: np.ndarray
    times: np.ndarray
    serials: np.ndarray
    items: np.ndarray
    first: np.ndarray
    due: np.ndarray
    freed: np.ndarray


@part
def push(at, times, serials, items, time, serial, item):
    """One more event."""
    place = at[EVENTS]
    at[EVENTS] += 1
    while place > 0:
        above = (place - 1) >> 2
        if times[above] < time or (times[above] == time and serials[above] < serial):
            break
        times[place], serials[place], items[place] = times[above], serials[above], items[above]
        place = above
    times[place], serials[place], items[place] = time, serial, item


@part
def pop(at, times, serials, items):
    """Takes out the next event: of the earliest, the one that came up first."""
    at[EVENTS] -= 1
    length = at[EVENTS]
    time, serial, item = times[length], serials[length], items[length]
    place, below = 0, 1
    while below < length:
        least = below
        for other in range(below + 1, min(below + 4, length)):
            if times[other] < times[least] or (times[other] == times[least] and serials[other] < serials[least]):
                least = other
        if times[least] > time or (times[least] == time and serials[least] > serial):
            break
        times[place], serials[place], items[place] = times[least], serials[least], items[least]
        place = least
        below = 4 * place + 1
    times[place], serials[place], items[place] = time, serial, item
