"""Who gets a port, and what ends.

What belongs here: messages that begin or wait for a port that is taken, in a pairing heap by the order of waiting; when that
port comes free and the other one is not, they move to the other. So only what might begin is looked at.
"""

import numpy as np

from hopline.sim.kernels.compiled import part
from hopline.sim.kernels.events_state import (
    DONE,
    FLIGHTS,
    FREED,
    FRESH,
    GO,
    MEET,
    NOW,
    RECENT,
    SEND,
    SPARE,
    TURN,
    arrive,
    put,
    take,
)  # fmt: skip
from hopline.sim.kernels.heaps import meld, pop, push, without

ANEW = 1 << 32
"""Added to the row of a message that has not waited yet: those that have come first."""


@part
def _line_up(s):
    """Into one heap: by their turn, ports that came free and are waited for, then messages that are ready anew, by row."""
    length = 0
    for place in range(s.at[FREED]):
        port = s.freed[place]
        if s.root[port] >= 0:
            push(s.keys, s.order, length, np.int64(s.turn[s.root[port]]), port)
            length += 1
    for place in range(s.at[FRESH]):
        push(s.keys, s.order, length, ANEW + s.fresh[place], s.fresh[place])
        length += 1
    s.at[FREED] = s.at[FRESH] = 0
    return length


@part
def start(s):
    """Messages begin, in their order, whose ports are free; others wait for one that is taken."""
    length = _line_up(s)
    while length > 0:
        anew, port = s.keys[0] >= ANEW, s.order[0]
        pop(s.keys, s.order, length)
        length -= 1
        send = port
        if not anew:
            if s.taken[port]:
                continue
            send = s.root[port]
            s.root[port] = without(s.turn, s.child, s.link, send)
        out, into = s.port[send], s.port[s.mate[send]]
        if not (s.taken[out] or s.taken[into]):
            s.taken[out] = s.taken[into] = True
            if not anew:
                before = s.last[out]
                s.held[send] = before if before >= 0 and s.end[before] == s.at[NOW] else s.last[into]
            put(s.at, s.link, GO, send)
            continue
        if anew:
            s.turn[send] = s.at[TURN]
            s.at[TURN] += 1
        elif s.root[port] >= 0:
            push(s.keys, s.order, length, np.int64(s.turn[s.root[port]]), port)
            length += 1
        other = out if s.taken[out] else into
        s.root[other] = meld(s.turn, s.child, s.link, s.root[other], send)


@part
def depart(s):
    """Rows that are on their way: those that end in one tick fly together."""
    row = take(s.at, GO)
    while row >= 0:
        behind, work = s.link[row], s.work[row]
        if s.kind[row] == SEND:
            out, into = s.port[row], s.port[s.mate[row]]
            s.busy[out] += work
            s.busy[into] += work if into != out else 0
        tick = s.at[NOW] + work
        slot = ((tick * 0x9E3779B97F4A7C1) >> 40) & (RECENT - 1)
        flight = s.recent[slot]
        if flight >= 0 and s.tick[flight] == tick:
            s.link[s.final[flight]] = row
        else:
            flight = s.at[SPARE]
            s.at[SPARE] = s.first[flight]
            s.first[flight], s.tick[flight], s.recent[slot] = row, tick, flight
            push(s.ticks, s.flights, s.at[FLIGHTS], tick, flight)
            s.at[FLIGHTS] += 1
        s.final[flight] = row
        s.link[row] = -1
        row = behind


@part
def _release(s, port, send):
    s.taken[port], s.last[port] = False, send
    if s.root[port] >= 0:
        s.freed[s.at[FREED]] = port
        s.at[FREED] += 1
    waits = s.hasty[port]
    s.hasty[port] = -1
    while waits >= 0:
        behind = s.link[waits]
        put(s.at, s.link, MEET, waits)
        waits = behind


@part
def land(s):
    """All rows that end in the next tick."""
    s.at[NOW] = s.ticks[0]
    while s.at[FLIGHTS] > 0 and s.ticks[0] == s.at[NOW]:
        flight = s.flights[0]
        pop(s.ticks, s.flights, s.at[FLIGHTS])
        s.at[FLIGHTS] -= 1
        row = s.first[flight]
        s.first[flight], s.tick[flight] = s.at[SPARE], -1
        s.at[SPARE] = flight
        while row >= 0:
            behind = s.link[row]
            if s.kind[row] == SEND:
                arrive(s, row)
                for port in (s.port[row], s.port[s.mate[row]]):
                    if s.taken[port]:
                        _release(s, port, row)
            else:
                s.end[row] = s.at[NOW]
                put(s.at, s.link, DONE, row)
            row = behind
