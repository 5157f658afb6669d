"""All that follows in one tick and takes no time.

What belongs here: what rows wait for, who is let go by what, and messages that meet. A row asks one of the things it waits for
at a time, and waits for the first that is missing.
"""

import numpy as np

from hopline.sim.kernels.compiled import part
from hopline.sim.kernels.events_state import (
    ASK,
    BEGIN,
    DONE,
    FRESH,
    GO,
    LEFT,
    LIMIT,
    MEET,
    NOW,
    PARKED,
    READY,
    RECV,
    SEND,
    arrive,
    put,
    take,
)  # fmt: skip


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
    row = take(s.at, ASK)
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
            put(s.at, s.link, BEGIN, row)
        row = behind


@part
def _begin(s):
    """Rows that are ready begin; a message meets where both ends are."""
    row = take(s.at, BEGIN)
    while row >= 0:
        behind, other = s.link[row], s.mate[row]
        s.flag[row] |= READY
        if len(s.ready) > 0:
            s.ready[row] = s.at[NOW]
        if len(s.begun) > 0:
            waits = s.for_begun[row]
            while waits >= 0:
                next_one = s.link[waits]
                put(s.at, s.link, ASK, waits)
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
            put(s.at, s.link, chain, row)
        row = behind


@part
def _meet(s):
    """Messages that are ready begin, or may have to wait."""
    send = take(s.at, MEET)
    while send >= 0:
        behind, out, into = s.link[send], s.port[send], s.port[s.mate[send]]
        if s.work[send] > 0:
            if s.shared[out] or s.shared[into]:
                s.fresh[s.at[FRESH]] = send
                s.at[FRESH] += 1
            else:
                put(s.at, s.link, GO, send)
        elif s.taken[out] or s.taken[into]:
            port = out if s.taken[out] else into
            s.link[send] = s.hasty[port]
            s.hasty[port] = send
        else:
            arrive(s, send)
        send = behind


@part
def _follow(s):
    """What waits for rows that are done is to be looked at."""
    row = take(s.at, DONE)
    while row >= 0:
        behind, waits = s.link[row], s.for_done[row]
        s.finish[s.rank[row]] = s.at[NOW]
        s.at[LEFT] -= 1
        while waits >= 0:
            next_one = s.link[waits]
            put(s.at, s.link, ASK, waits)
            waits = next_one
        if s.below[row] >= 0:
            put(s.at, s.link, ASK, s.below[row])
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
            put(s.at, s.link, ASK, row)
    return True


@part
def settle(s):
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
