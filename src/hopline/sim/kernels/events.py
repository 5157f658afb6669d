"""Tick by tick, with ports that several messages want.

What belongs here: the rules of ``reference`` over arrays. A row is in one chain at a time, linked by ``link``: rows that wait for a
row to be done or ready, rows that end in one tick, rows to be looked at, messages that wait for a port.

A row asks one of the things it waits for at a time, and stands in the chain of the first that is missing. A message that
finds a port taken waits there, in a pairing heap in the order of waiting; when that port is free and the other one is not, it
moves over to the other. So what is looked at when a port comes free is what might begin.
"""

from typing import NamedTuple

import numpy as np

from hopline.sim.kernels.compiled import kernel, part

SEND, RECV, FREE = 0, 1, 255
READY, PARKED = 1, 2
NOW, AGAIN, DONE, FLIGHTS, SPARE, FRESH, FREED, TURN, LEFT, LIMIT = range(10)
RECENT = 64


class State(NamedTuple):
    """What the parts share. Capacity: as many as can be under way at once."""

    at: np.ndarray
    """NOW: the tick; AGAIN, DONE: first rows to be looked at, and that are done; FLIGHTS, FRESH, FREED: lengths; SPARE: first unused
    flight; TURN: of the next message that waits; LEFT, LIMIT: rows of this round not yet done, and where it ends."""
    kind: np.ndarray
    lane: np.ndarray
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
    busy: np.ndarray
    finish: np.ndarray
    flag: np.ndarray
    link: np.ndarray
    below: np.ndarray
    """Next row on the lane."""
    for_done: np.ndarray
    for_begun: np.ndarray
    """First of the rows that wait for a row."""
    ticks: np.ndarray
    flights: np.ndarray
    """Heap: tick, and the number of the flight (rows that end together)."""
    first: np.ndarray
    final: np.ndarray
    tick: np.ndarray
    """Of a flight: its first row (of an unused one: the next unused), its last row, its tick (-1: unused)."""
    recent: np.ndarray
    """Flights by a few bits of their tick."""
    fresh: np.ndarray
    """Messages that became ready in this tick and may have to wait."""
    shared: np.ndarray
    """By port: whether two messages may want it at once. The others are never taken."""
    taken: np.ndarray
    freed: np.ndarray
    last: np.ndarray
    root: np.ndarray
    hasty: np.ndarray
    """By port: the Send that left it last, the first that waits, the first that waits and takes no time."""
    keys: np.ndarray
    order: np.ndarray
    """Heap of what may begin in this tick."""
    turn: np.ndarray
    child: np.ndarray
    held: np.ndarray


@part
def _push(keys, values, length, key, value):
    """Into a heap with four children each."""
    place = length
    while place > 0:
        above = (place - 1) >> 2
        if keys[above] <= key:
            break
        keys[place], values[place] = keys[above], values[above]
        place = above
    keys[place], values[place] = key, value


@part
def _pop(keys, values, length):
    """Takes the least from a heap of ``length``."""
    length -= 1
    key, value = keys[length], values[length]
    place, below = 0, 1
    while below < length:
        least = below
        for other in range(below + 1, min(below + 4, length)):
            if keys[other] < keys[least]:
                least = other
        if keys[least] >= key:
            break
        keys[place], values[place] = keys[least], values[least]
        place = least
        below = 4 * place + 1
    keys[place], values[place] = key, value


@part
def _fly(s, row, tick):
    """``row`` ends at ``tick``."""
    slot = (tick * 0x9E3779B97F4A7C1 >> 40) & (RECENT - 1)
    flight = s.recent[slot]
    if flight >= 0 and s.tick[flight] == tick:
        s.link[s.final[flight]] = row
    else:
        flight = s.at[SPARE]
        s.at[SPARE] = s.first[flight]
        s.first[flight], s.tick[flight], s.recent[slot] = row, tick, flight
        _push(s.ticks, s.flights, s.at[FLIGHTS], tick, flight)
        s.at[FLIGHTS] += 1
    s.final[flight] = row
    s.link[row] = -1


@part
def _done(s, row):
    s.end[row] = s.at[NOW]
    s.link[row] = s.at[DONE]
    s.at[DONE] = row


@part
def _look(s, row):
    s.link[row] = s.at[AGAIN]
    s.at[AGAIN] = row


@part
def _look_all(s, row):
    while row >= 0:
        behind = s.link[row]
        _look(s, row)
        row = behind


@part
def _arrived(s, send):
    _done(s, send)
    recv = s.mate[send]
    if s.flag[recv] & READY:
        _done(s, recv)


@part
def _both_free(s, send):
    return not (s.taken[s.port[send]] or s.taken[s.port[s.mate[send]]])


@part
def _begin(s, send):
    out, into, work = s.port[send], s.port[s.mate[send]], s.work[send]
    s.busy[out] += work
    if into != out:
        s.busy[into] += work
    _fly(s, send, s.at[NOW] + work)


@part
def _hasten(s, send):
    """A message that takes no time: it has arrived, or waits at a port that is taken."""
    out, into = s.port[send], s.port[s.mate[send]]
    if s.taken[out] or s.taken[into]:
        port = out if s.taken[out] else into
        s.link[send] = s.hasty[port]
        s.hasty[port] = send
    else:
        _arrived(s, send)


@part
def _met(s, row):
    """One end of a message is ready."""
    other = s.mate[row]
    send, recv = (row, other) if s.kind[row] == SEND else (other, row)
    if s.eager == 0 or s.size[send] > s.eager:
        if not s.flag[other] & READY:
            return
    elif row == recv:
        if s.end[send] >= 0:
            _done(s, recv)
        return
    if s.work[send] == 0:
        _hasten(s, send)
    elif s.shared[s.port[send]] or s.shared[s.port[recv]]:
        s.fresh[s.at[FRESH]] = send
        s.at[FRESH] += 1
    else:
        _begin(s, send)


@part
def _missing(s, row, pairs, times, chain):
    """Whether a row that ``row`` is paired with is not there yet; then ``row`` waits in its chain."""
    place = np.searchsorted(pairs[:, 0], row)
    while place < len(pairs) and pairs[place, 0] == row:
        other = pairs[place, 1]
        if times[other] < 0:
            s.link[row] = chain[other]
            chain[other] = row
            return True
        place += 1
    return False


@part
def _ask(s, row):
    """The row before on its lane is done. Whether all else is there as well: then it is ready."""
    if row >= s.at[LIMIT]:
        s.flag[row] |= PARKED
        return
    other = s.after[row]
    if other >= 0 and s.end[other] < 0:
        s.link[row] = s.for_done[other]
        s.for_done[other] = row
        return
    if len(s.more) and _missing(s, row, s.more, s.end, s.for_done):
        return
    if len(s.begun) and _missing(s, row, s.begun, s.ready, s.for_begun):
        return
    s.flag[row] |= READY
    if len(s.ready):
        s.ready[row] = s.at[NOW]
    if len(s.begun):
        _look_all(s, s.for_begun[row])
    if s.kind[row] <= RECV:
        _met(s, row)
    elif s.work[row]:
        _fly(s, row, s.at[NOW] + s.work[row])
    else:
        _done(s, row)


@part
def _next_round(s):
    """Whether there is one; its rows that have waited for it are looked at."""
    low, rows = s.at[LIMIT], len(s.kind)
    if low == rows:
        return False
    number = np.searchsorted(s.rounds, low, side="right")
    high = s.rounds[number] if number < len(s.rounds) else rows
    s.at[LIMIT], s.at[LEFT] = high, high - low
    for row in range(low, high):
        if s.flag[row] & PARKED:
            _look(s, row)
    return True


@part
def _settle(s):
    """All that follows in this tick, and takes no time."""
    while True:
        if s.at[AGAIN] >= 0:
            row = s.at[AGAIN]
            s.at[AGAIN] = s.link[row]
            _ask(s, row)
        elif s.at[DONE] >= 0:
            row = s.at[DONE]
            s.at[DONE] = s.link[row]
            s.finish[s.rank[row]] = s.at[NOW]
            s.at[LEFT] -= 1
            _look_all(s, s.for_done[row])
            if s.below[row] >= 0:
                _look(s, s.below[row])
        elif s.at[LEFT] > 0 or not _next_round(s):
            return


@part
def _release(s, port, row):
    s.taken[port] = False
    s.last[port] = row
    if s.root[port] >= 0:
        s.freed[s.at[FREED]] = port
        s.at[FREED] += 1
    send = s.hasty[port]
    s.hasty[port] = -1
    while send >= 0:
        behind = s.link[send]
        _hasten(s, send)
        send = behind


@part
def _land(s):
    """All rows that end in the next tick."""
    now = s.ticks[0]
    s.at[NOW] = now
    while s.at[FLIGHTS] > 0 and s.ticks[0] == now:
        flight = s.flights[0]
        _pop(s.ticks, s.flights, s.at[FLIGHTS])
        s.at[FLIGHTS] -= 1
        row = s.first[flight]
        s.first[flight], s.tick[flight] = s.at[SPARE], -1
        s.at[SPARE] = flight
        while row >= 0:
            behind = s.link[row]
            if s.kind[row] == SEND:
                _arrived(s, row)
                out, into = s.port[row], s.port[s.mate[row]]
                if s.shared[out] or s.shared[into]:
                    _release(s, out, row)
                    if into != out:
                        _release(s, into, row)
            else:
                _done(s, row)
            row = behind


@part
def _meld(s, one, two):
    """Two heaps of messages become one; -1: none."""
    if one < 0 or two < 0:
        return max(one, two)
    if s.turn[two] < s.turn[one]:
        one, two = two, one
    s.link[two] = s.child[one]
    s.child[one] = two
    return one


@part
def _without(s, top):
    """A heap without its first: its children melded two by two, then from the back."""
    pairs, row = -1, s.child[top]
    while row >= 0:
        second = s.link[row]
        behind = s.link[second] if second >= 0 else -1
        both = _meld(s, row, second)
        s.link[both] = pairs
        pairs, row = both, behind
    whole = -1
    while pairs >= 0:
        behind = s.link[pairs]
        whole = _meld(s, whole, pairs)
        pairs = behind
    s.child[top] = -1
    return whole


@part
def _take(s, send, waited):
    out, into = s.port[send], s.port[s.mate[send]]
    s.taken[out] = s.taken[into] = True
    if waited:
        before = s.last[out]
        s.held[send] = before if before >= 0 and s.end[before] == s.at[NOW] else s.last[into]
    _begin(s, send)


@part
def _line_up(s, length, port):
    """The first that waits at ``port``, if one does, into the heap of what may begin."""
    if s.root[port] < 0:
        return length
    _push(s.keys, s.order, length, np.int64(s.turn[s.root[port]]), port)
    return length + 1


@part
def _begin_waiting(s):
    """Messages that wait where a port came free, in the order in which they have waited."""
    length = 0
    for place in range(s.at[FREED]):
        length = _line_up(s, length, s.freed[place])
    s.at[FREED] = 0
    while length > 0:
        port = s.order[0]
        _pop(s.keys, s.order, length)
        length -= 1
        if s.taken[port]:
            continue
        send = s.root[port]
        s.root[port] = _without(s, send)
        out, into = s.port[send], s.port[s.mate[send]]
        other = into if port == out else out
        if s.taken[other]:
            s.root[other] = _meld(s, s.root[other], send)
            length = _line_up(s, length, port)
        else:
            _take(s, send, True)


@part
def _begin_fresh(s):
    """Messages that became ready in this tick, in the order of rows."""
    length = s.at[FRESH]
    for place in range(length):
        _push(s.keys, s.order, place, np.int64(s.fresh[place]), s.fresh[place])
    s.at[FRESH] = 0
    for left in range(length, 0, -1):
        send = s.order[0]
        _pop(s.keys, s.order, left)
        out, into = s.port[send], s.port[s.mate[send]]
        if s.taken[out] or s.taken[into]:
            port = out if s.taken[out] else into
            s.turn[send] = s.at[TURN]
            s.at[TURN] += 1
            s.child[send] = -1
            s.root[port] = _meld(s, s.root[port], send)
        else:
            _take(s, send, False)


@kernel
def go(s):
    """From the rows that nothing stands above (chained from AGAIN) to the end."""
    _settle(s)
    _begin_fresh(s)
    while s.at[FLIGHTS] > 0:
        _land(s)
        _settle(s)
        if s.at[FREED] > 0:
            _begin_waiting(s)
        if s.at[FRESH] > 0:
            _begin_fresh(s)


@kernel
def below(lane, rank, last, link):
    """For each row the next one on its lane; ``link`` then chains those that nothing stands above. And the first, and how many."""
    following = np.full(len(lane), -1, np.int32)
    first, count = -1, 0
    for row in range(len(lane)):
        if lane[row] != FREE:
            before = last[rank[row], lane[row]]
            last[rank[row], lane[row]] = row
            if before >= 0:
                following[before] = row
                continue
        link[row] = first
        first = row
        count += 1
    return following, first, count


@part
def _claim(owner, shared, port, who):
    if owner[port] == -1:
        owner[port] = who
    elif owner[port] != who:
        shared[port] = True


@kernel
def shared_ports(kind, lane, rank, mate, port, size, eager, ports, lanes):
    """By port, whether two lanes' messages may want it at once."""
    owner = np.full(ports, -1, np.int64)
    shared = np.zeros(ports, np.bool_)
    for send in range(len(kind)):
        if kind[send] == SEND:
            recv = mate[send]
            sender = -2 - send if lane[send] == FREE else rank[send] * lanes + lane[send]
            receiver = -2 - recv if lane[recv] == FREE else rank[recv] * lanes + lane[recv]
            _claim(owner, shared, port[send], sender)
            _claim(owner, shared, port[recv], sender if 0 < eager and size[send] <= eager else receiver)
    return shared
