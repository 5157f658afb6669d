"""Shares of flows, kept from one change to the next: only what a change can touch is solved again.

What belongs here: the arrays of flows and resources, and how they are solved.

The level of a resource is what a flow of coefficient 1 gets where the resource holds it back: infinite where it holds back
none. The rate of a flow is its coefficient times the least level on its route, and its bottleneck is there. A change opens
the resources with a level on the routes of the flows concerned; an open resource frees the flows it holds back; a free flow
opens what else has a level on its route, and watches the rest. Free flows are filled up together from 0 while all others keep
their rates. Where a resource then comes to a level below that of a flow which was not free, that flow is freed too, and all
are filled again.
"""

from typing import NamedTuple

import numpy as np

from hopline.sim.kernels.compiled import part
from hopline.sim.kernels.heaps import pop, push

GONE, FIXED, OPEN, FILLED = 0, 1, 2, 3
WATCHED, OPENED = 1, 2
NEVER = np.int64(2**63 - 1)
BLOCK = 64
"""Flows whose earliest end is kept together."""
FRESH = 1024
"""Changes of a resource's load after which it is added up anew."""
SLACK = 1e-12
"""By how much a rate may be above a level before it counts as above."""
FREED, INVOLVED, QUEUE, DIRTY, CHANGED, SOLVES, SPANS = range(7)


class Net(NamedTuple):
    """Arrays by flow, by use (a resource on the route of a flow) and by resource.

    Attributes
    ----------
    count
        FREED, INVOLVED, QUEUE, DIRTY: entries of the lists. CHANGED: whether shares are old. SOLVES: how often they were
        worked out. SPANS: rows of ``spans`` that there are.
    first, resource, weight, flow
        Uses of flow f are ``first[f] .. first[f + 1]``; of each use its resource, weight and flow.
    coefficient, alone
        By flow; ``alone``: byte/s where nothing else moves.
    capacity, begin, order, place, active
        Uses of resource r are ``order[begin[r] : ...]``, the first ``active[r]`` of them those of flows that move; ``place``
        of each use in ``order``.
    used, age, level
        By resource: byte/s that it carries, changes since that was added up, its level.
    rate, left, since, finish, bound
        By flow: byte/s, bytes left at tick ``since``, tick of the end, the use that holds it back.
    state, found, bottleneck
        By flow: GONE, FIXED, OPEN or FILLED; rate and bottleneck of one that is FILLED.
    freed, involved, queue, open
        Lists of flows and resources that are solved; by resource how (0: not).
    room, sum, number
        By resource: byte/s for free flows, the sum of their weights times coefficients, how many they are.
    keys, values
        A heap of resources by level.
    low, dirty, is_dirty
        By block of flows: the earliest end; those to be looked at.
    cost, tight, held
        By use: ticks lost to it. By resource: since when it has a level, how long it had one.
    spans
        Resource, begin and end of each time that a resource had a level; no rows: not asked for.
    """

    count: np.ndarray
    first: np.ndarray
    resource: np.ndarray
    weight: np.ndarray
    flow: np.ndarray
    coefficient: np.ndarray
    alone: np.ndarray
    capacity: np.ndarray
    begin: np.ndarray
    order: np.ndarray
    place: np.ndarray
    active: np.ndarray
    used: np.ndarray
    age: np.ndarray
    level: np.ndarray
    rate: np.ndarray
    left: np.ndarray
    since: np.ndarray
    finish: np.ndarray
    bound: np.ndarray
    state: np.ndarray
    found: np.ndarray
    bottleneck: np.ndarray
    freed: np.ndarray
    involved: np.ndarray
    queue: np.ndarray
    open: np.ndarray
    room: np.ndarray
    sum: np.ndarray
    number: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    low: np.ndarray
    dirty: np.ndarray
    is_dirty: np.ndarray
    cost: np.ndarray
    tight: np.ndarray
    held: np.ndarray
    spans: np.ndarray


@part
def _involve(n, r):
    """A resource with a level is opened, another one watched."""
    if n.open[r] == 0:
        n.involved[n.count[INVOLVED]] = r
        n.count[INVOLVED] += 1
        n.open[r] = WATCHED
    if n.open[r] == WATCHED and n.level[r] < np.inf:
        n.open[r] = OPENED
        n.queue[n.count[QUEUE]] = r
        n.count[QUEUE] += 1


@part
def _free(n, f):
    n.state[f] = OPEN
    n.freed[n.count[FREED]] = f
    n.count[FREED] += 1
    for use in range(n.first[f], n.first[f + 1]):
        _involve(n, n.resource[use])


@part
def _mark(n, f):
    block = f // BLOCK
    if not n.is_dirty[block]:
        n.is_dirty[block] = True
        n.dirty[n.count[DIRTY]] = block
        n.count[DIRTY] += 1


@part
def _swap(n, use, place):
    """A use to another place among those of its resource."""
    other, was = n.order[place], n.place[use]
    n.order[place], n.order[was] = use, other
    n.place[use], n.place[other] = place, was


@part
def _settle_flow(n, f, now):
    """What it moved since it was last looked at, and what that cost it."""
    passed = now - n.since[f]
    if passed > 0 and n.bound[f] >= 0:
        n.left[f] -= n.rate[f] * (passed * 1e-12)
        n.cost[n.bound[f]] += (1.0 - n.rate[f] / n.alone[f]) * passed
    n.since[f] = now


@part
def join(n, f, now):
    """A flow begins to move."""
    for use in range(n.first[f], n.first[f + 1]):
        r = n.resource[use]
        _swap(n, use, n.begin[r] + n.active[r])
        n.active[r] += 1
    n.since[f], n.rate[f], n.bound[f] = now, 0.0, -1
    n.count[CHANGED] = 1
    _free(n, f)


@part
def leave(n, f, now):
    """A flow is through."""
    _settle_flow(n, f, now)
    for use in range(n.first[f], n.first[f + 1]):
        r = n.resource[use]
        n.active[r] -= 1
        _swap(n, use, n.begin[r] + n.active[r])
        n.used[r] = n.used[r] - n.weight[use] * n.rate[f] if n.active[r] > 0 else 0.0
        _involve(n, r)
    n.state[f], n.finish[f], n.rate[f] = GONE, NEVER, 0.0
    n.count[CHANGED] = 1
    _mark(n, f)


@part
def _expand(n):
    """Frees what open resources hold back, and opens what that touches."""
    while n.count[QUEUE] > 0:
        n.count[QUEUE] -= 1
        r = n.queue[n.count[QUEUE]]
        for place in range(n.begin[r], n.begin[r] + n.active[r]):
            use = n.order[place]
            f = n.flow[use]
            if n.state[f] == FIXED and n.bound[f] == use:
                _free(n, f)


@part
def _prepare(n):
    """Room and weights of free flows on what is involved, and the heap of it: its length."""
    for i in range(n.count[INVOLVED]):
        r = n.involved[i]
        n.room[r], n.sum[r], n.number[r] = n.capacity[r] - n.used[r], 0.0, 0
    for i in range(n.count[FREED]):
        f = n.freed[i]
        n.state[f] = OPEN
        for use in range(n.first[f], n.first[f + 1]):
            r = n.resource[use]
            n.room[r] += n.weight[use] * n.rate[f]
            n.sum[r] += n.weight[use] * n.coefficient[f]
            n.number[r] += 1
    length = 0
    for i in range(n.count[INVOLVED]):
        r = n.involved[i]
        if n.number[r] > 0:
            push(n.keys, n.values, length, max(n.room[r], 0.0) / n.sum[r], r)
            length += 1
    return length


@part
def _fill_one(n, r, level):
    """Free flows on a resource that is full get their rates; whether one that is not free has more than that."""
    over = False
    for place in range(n.begin[r], n.begin[r] + n.active[r]):
        use = n.order[place]
        f = n.flow[use]
        if n.state[f] == OPEN:
            n.state[f], n.found[f], n.bottleneck[f] = FILLED, n.coefficient[f] * level, use
            for other in range(n.first[f], n.first[f + 1]):
                s = n.resource[other]
                n.room[s] -= n.weight[other] * n.found[f]
                n.sum[s] -= n.weight[other] * n.coefficient[f]
                n.number[s] -= 1
        elif n.state[f] == FIXED and n.rate[f] > n.coefficient[f] * level * (1.0 + SLACK):
            over = True
    return over


@part
def _free_over(n, r, level):
    for place in range(n.begin[r], n.begin[r] + n.active[r]):
        f = n.flow[n.order[place]]
        if n.state[f] == FIXED and n.rate[f] > n.coefficient[f] * level * (1.0 + SLACK):
            _free(n, f)


@part
def _fill(n):
    """Fills all free flows up; whether nothing that is not free is in the way. If not, it is freed."""
    length, clear = _prepare(n), True
    while length > 0:
        key, r = n.keys[0], n.values[0]
        pop(n.keys, n.values, length)
        length -= 1
        if n.number[r] == 0:
            continue
        level = max(n.room[r], 0.0) / n.sum[r]
        if level > key:
            push(n.keys, n.values, length, level, r)
            length += 1
            continue
        n.number[r] = 0
        if _fill_one(n, r, level):
            clear = False
            _free_over(n, r, level)
        n.number[r] = -1
        n.room[r] = level
    return clear


@part
def _load(n, r):
    """What a resource carries, added up."""
    n.used[r], n.age[r] = 0.0, 0
    for place in range(n.begin[r], n.begin[r] + n.active[r]):
        use = n.order[place]
        n.used[r] += n.weight[use] * n.rate[n.flow[use]]


@part
def _keep_level(n, r, level, now):
    """The new level of a resource; notes when it came to have one and when it ceased to."""
    if level < np.inf and n.level[r] == np.inf:
        n.tight[r] = now
    elif level == np.inf and n.level[r] < np.inf:
        n.held[r] += now - n.tight[r]
        if len(n.spans) > 0 and now > n.tight[r]:
            row = n.count[SPANS]
            if row < len(n.spans):
                n.spans[row, 0], n.spans[row, 1], n.spans[row, 2] = r, n.tight[r], now
            n.count[SPANS] += 1
    n.level[r] = level


@part
def _commit(n, now):
    """Free flows take their new rates."""
    for i in range(n.count[FREED]):
        f = n.freed[i]
        n.state[f] = FIXED
        if n.found[f] != n.rate[f] or n.bottleneck[f] != n.bound[f]:
            _settle_flow(n, f, now)
            for use in range(n.first[f], n.first[f + 1]):
                r = n.resource[use]
                n.used[r] += n.weight[use] * (n.found[f] - n.rate[f])
                n.age[r] += 1
            n.rate[f], n.bound[f] = n.found[f], n.bottleneck[f]
            n.finish[f] = now + np.int64(np.rint(max(n.left[f], 0.0) / n.rate[f] * 1e12))
            _mark(n, f)
    for i in range(n.count[INVOLVED]):
        r = n.involved[i]
        _keep_level(n, r, n.room[r] if n.number[r] == -1 else np.inf, now)
        n.open[r] = 0
        if n.age[r] > FRESH:
            _load(n, r)
    n.count[FREED] = n.count[INVOLVED] = n.count[CHANGED] = 0


@part
def solve(n, now):
    """Shares after all that changed at ``now``."""
    n.count[SOLVES] += 1
    while True:
        _expand(n)
        if _fill(n):
            break
    _commit(n, now)


@part
def earliest(n):
    """The tick at which the next flow is through."""
    for i in range(n.count[DIRTY]):
        block = n.dirty[i]
        low = NEVER
        for f in range(block * BLOCK, min((block + 1) * BLOCK, len(n.finish))):
            low = min(low, n.finish[f])
        n.low[block] = low
        n.is_dirty[block] = False
    n.count[DIRTY] = 0
    low = NEVER
    for block in range(len(n.low)):
        low = min(low, n.low[block])
    return low
