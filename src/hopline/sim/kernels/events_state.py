"""What the engine of events works on.

What belongs here: its arrays, and the chains of rows in them. A row is in one chain at a time, linked by ``link``: rows that
wait for the same row, rows that end in the same tick, rows that are to be looked at, messages that wait for the same port.
"""

from typing import NamedTuple

import numpy as np

from hopline.sim.kernels.compiled import part

SEND, RECV, FREE = 0, 1, 255
READY, PARKED = 1, 2
NOW, FLIGHTS, SPARE, FRESH, FREED, TURN, LEFT, LIMIT, ASK, BEGIN, MEET, GO, DONE = range(13)
RECENT = 64


class State(NamedTuple):
    """What the parts share; arrays by row unless it is said otherwise.

    Attributes
    ----------
    at
        NOW: the tick. FLIGHTS, FRESH, FREED: how many. SPARE: the first unused flight. TURN: of the next message that waits.
        LEFT, LIMIT: rows of this round that are not done, and where it ends. Then the first rows of chains: ASK: the row
        before on the lane is done; BEGIN: ready; MEET: messages that are ready; GO: begun and on the way; DONE: done.
    below
        The next row on the lane.
    for_done, for_begun
        The first of the rows that wait for this one.
    ticks, flights
        A heap: tick, and number of the flight (the rows that end together).
    first, final, tick
        By flight: its first and last row (of an unused one ``first`` is the next unused), its tick (-1: unused).
    recent
        Some flights, by bits of their tick.
    fresh
        Messages that became ready in this tick and may have to wait.
    shared
        By port: whether two messages may want it at once. Others are never taken.
    taken, last, root, hasty
        By port: whether it is, the Send that left it last, the first that waits, the first that waits and takes no time.
    freed
        Ports that came free in this tick and are waited for.
    keys, order
        A heap of what may begin in this tick.
    turn, child
        Of a message that waits: its place in the order, the first of those below it in the heap of its port.
    """

    at: np.ndarray
    kind: np.ndarray
    rank: np.ndarray
    after: np.ndarray
    mate: np.ndarray
    work: np.ndarray
    port: np.ndarray
    size: np.ndarray
    eager: int
    rounds: np.ndarray
    more: np.ndarray
    begun: np.ndarray
    end: np.ndarray
    ready: np.ndarray
    held: np.ndarray
    busy: np.ndarray
    finish: np.ndarray
    flag: np.ndarray
    link: np.ndarray
    below: np.ndarray
    for_done: np.ndarray
    for_begun: np.ndarray
    ticks: np.ndarray
    flights: np.ndarray
    first: np.ndarray
    final: np.ndarray
    tick: np.ndarray
    recent: np.ndarray
    fresh: np.ndarray
    shared: np.ndarray
    taken: np.ndarray
    last: np.ndarray
    root: np.ndarray
    hasty: np.ndarray
    freed: np.ndarray
    keys: np.ndarray
    order: np.ndarray
    turn: np.ndarray
    child: np.ndarray


@part
def put(at, link, chain, row):
    """A row into a chain, in front."""
    link[row] = at[chain]
    at[chain] = row


@part
def take(at, chain):
    """The first of all, which are then no longer in the chain."""
    row = at[chain]
    at[chain] = -1
    return row


@part
def arrive(s, send):
    """The message is there: its Send is done, and its Recv if it is ready."""
    recv = s.mate[send]
    s.end[send] = s.at[NOW]
    put(s.at, s.link, DONE, send)
    if s.flag[recv] & READY:
        s.end[recv] = s.at[NOW]
        put(s.at, s.link, DONE, recv)
