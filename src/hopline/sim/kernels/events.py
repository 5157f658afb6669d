"""Tick by tick, with ports that several messages want.

What belongs here: the rules of ``reference`` over arrays.

A row is in one chain at a time, linked by ``link``: rows that wait for the same row, rows that end in the same tick, rows that
are to be looked at, messages that wait for the same port. A row asks one of the things it waits for at a time, and waits for
the first that is missing. A message that finds a port taken waits there, in a pairing heap by the order of waiting; when that
port comes free and the other one is not, it moves to the other. So only what might begin is looked at.
"""

from typing import NamedTuple

import numpy as np

from hopline.sim.kernels.compiled import kernel, part
from hopline.sim.kernels.heaps import meld, pop, push, without

SEND, RECV, FREE = 0, 1, 255
READY, PARKED = 1, 2
NOW, FLIGHTS, SPARE, FRESH, FREED, TURN, LEFT, LIMIT, ASK, BEGIN, MEET, GO, DONE = range(13)
RECENT = 64
ANEW = 1 << 32


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
def _put(at, link, chain, row):
    link[row] = at[chain]
    at[chain] = row


@part
def _take(at, chain):
    """The first of all, which are then no longer in the chain."""
    row = at[chain]
    at[chain] = -1
    return row


@part
def _missing(row, pairs, times, chain, link):
    """Whether a row that ``row`` is paired with is not there yet; then ``row`` waits in its chain."""
    place = np.searchsorted(pairs[:, 0], row)
    while place < len(pairs) and pairs[place, 0] == row:
        other = pairs[place, 1]
        if times[other] < 0:
            link[row] = chain[other]
            chain[other] = row
            return True
        place += 1
    return False


@part
def _ask(s):
    """What of these rows is ready, and what the others wait for."""
    row = _take(s.at, ASK)
    while row >= 0:
        behind, other = s.link[row], s.after[row]
        if row >= s.at[LIMIT]:
            s.flag[row] |= PARKED
        elif other >= 0 and s.end[other] < 0:
            s.link[row] = s.for_done[other]
            s.for_done[other] = row
        elif not (len(s.more) > 0 and _missing(row, s.more, s.end, s.for_done, s.link)) and not (
            len(s.begun) > 0 and _missing(row, s.begun, s.ready, s.for_begun, s.link)
        ):
            _put(s.at, s.link, BEGIN, row)
        row = behind


@part
def _begin(s):
    """Rows that are ready begin; a message meets where both ends are."""
    row = _take(s.at, BEGIN)
    while row >= 0:
        behind, other = s.link[row], s.mate[row]
        s.flag[row] |= READY
        if len(s.ready) > 0:
            s.ready[row] = s.at[NOW]
        if len(s.begun) > 0:
            waits = s.for_begun[row]
            while waits >= 0:
                next_one = s.link[waits]
                _put(s.at, s.link, ASK, waits)
                waits = next_one
        chain = -1
        if s.kind[row] > RECV:
            chain = GO if s.work[row] > 0 else DONE
        else:
            send = row if s.kind[row] == SEND else other
            if s.eager == 0 or s.size[send] > s.eager:
                chain = MEET if s.flag[other] & READY else -1
            elif row == send:
                chain = MEET
            elif s.end[send] >= 0:
                chain = DONE
            if chain == MEET:
                row = send
        if chain == DONE:
            s.end[row] = s.at[NOW]
        if chain >= 0:
            _put(s.at, s.link, chain, row)
        row = behind


@part
def _arrive(s, send):
    recv = s.mate[send]
    s.end[send] = s.at[NOW]
    _put(s.at, s.link, DONE, send)
    if s.flag[recv] & READY:
        s.end[recv] = s.at[NOW]
        _put(s.at, s.link, DONE, recv)


@part
def _meet(s):
    """Messages that are ready begin, or may have to wait."""
    send = _take(s.at, MEET)
    while send >= 0:
        behind, out, into = s.link[send], s.port[send], s.port[s.mate[send]]
        if s.work[send] > 0:
            if s.shared[out] or s.shared[into]:
                s.fresh[s.at[FRESH]] = send
                s.at[FRESH] += 1
            else:
                _put(s.at, s.link, GO, send)
        elif s.taken[out] or s.taken[into]:
            port = out if s.taken[out] else into
            s.link[send] = s.hasty[port]
            s.hasty[port] = send
        else:
            _arrive(s, send)
        send = behind


@part
def _follow(s):
    """What waits for rows that are done is to be looked at."""
    row = _take(s.at, DONE)
    while row >= 0:
        behind, waits = s.link[row], s.for_done[row]
        s.finish[s.rank[row]] = s.at[NOW]
        s.at[LEFT] -= 1
        while waits >= 0:
            next_one = s.link[waits]
            _put(s.at, s.link, ASK, waits)
            waits = next_one
        if s.below[row] >= 0:
            _put(s.at, s.link, ASK, s.below[row])
        row = behind


@part
def _next_round(s):
    """Whether there is one; its rows that are held up by nothing else are looked at."""
    low, rows = s.at[LIMIT], len(s.kind)
    if low == rows:
        return False
    number = np.searchsorted(s.rounds, low, side="right")
    high = s.rounds[number] if number < len(s.rounds) else rows
    s.at[LIMIT], s.at[LEFT] = high, high - low
    for row in range(low, high):
        if s.flag[row] & PARKED:
            _put(s.at, s.link, ASK, row)
    return True


@part
def _settle(s):
    """All that follows in this tick and takes no time."""
    while True:
        if s.at[ASK] >= 0:
            _ask(s)
        elif s.at[BEGIN] >= 0:
            _begin(s)
        elif s.at[MEET] >= 0:
            _meet(s)
        elif s.at[DONE] >= 0:
            _follow(s)
        elif s.at[LEFT] > 0 or not _next_round(s):
            return


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
def _start(s):
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
            _put(s.at, s.link, GO, send)
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
def _depart(s):
    """Rows that are on their way: those that end in one tick fly together."""
    row = _take(s.at, GO)
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
        _put(s.at, s.link, MEET, waits)
        waits = behind


@part
def _land(s):
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
                _arrive(s, row)
                for port in (s.port[row], s.port[s.mate[row]]):
                    if s.taken[port]:
                        _release(s, port, row)
            else:
                s.end[row] = s.at[NOW]
                _put(s.at, s.link, DONE, row)
            row = behind


@kernel
def go(s):
    """From the rows in ASK to the end."""
    while True:
        _settle(s)
        if s.at[FREED] + s.at[FRESH] > 0:
            _start(s)
        _depart(s)
        if s.at[FLIGHTS] == 0:
            return
        _land(s)


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
        _put(at, link, ASK, row)
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
