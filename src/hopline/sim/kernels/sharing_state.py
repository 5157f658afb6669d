"""What the engine of flows works on.

What belongs here: its arrays, which flows are in which resource, and the tree of ticks at which resources are to be looked at.

A flow is worked off in **levels**: bytes by its coefficient. All flows that a resource binds have its level, so how much it
has **moved** says for all of them at once how much is through; a change of its level touches none of them.
"""

from typing import NamedTuple

import numpy as np

from hopline.sim.kernels.compiled import part

NOW, TIMED, ASKED, PLACES, REGION, STAMP, FILL, SOLVES, SPANS, LEAVES, PAUSE = range(11)
NEVER, FAR = np.int64(2**62), 2.0**61
TIE, NEARLY = 1e-12, 1e-9
EARLY = 0.5 - 2.0**-10


class State(NamedTuple):
    """What the parts share.

    Attributes
    ----------
    at
        NOW: the tick. TIMED, ASKED, PLACES, REGION, SPANS: how many. STAMP, FILL: of this solving, of this filling. SOLVES.
        LEAVES: of the tree. PAUSE: at which number of solvings it looks up.
    kind .. asked
        By row; ``asked`` are rows that are ready. Row r is waited for by ``done[to_done[r] : to_done[r + 1]]``; so begun.
    times, items
        A heap of rows by tick: work and latencies that end.
    start, resource, amount
        Uses of each flow, as ``flows_arrays`` has them. ``slot``: by use, where the flow stands in the list of the resource.
        ``cost``: by use, ticks that were lost.
    todo, alone, bind, until, joined
        By flow: level that is to be worked off from ``joined`` on; level alone; the resource that binds it (-1: none); what
        that one has moved when it is through; the tick since when it binds.
    capacity, level, moved, since, own, least, stale
        By resource; ``moved`` at tick ``since``; ``own``: how many it binds; ``least``: the first of their ``until``;
        ``stale``: it must be looked for anew.
    first, length, users, uses, takes
        Flows in resource r, their uses, and what they take, from ``first[r]`` on, ``length[r]`` many.
    all_takes, top
        By resource: what its flows take together, and a bound of their levels.
    binds, bound
        By resource: since when it binds a flow (-1: it does not), and for how many ticks it did before.
    tree
        At ``LEAVES + r`` the tick at which the first flow that r binds is through; above, the least of the two below.
    near, places
        Resources that are filled again, stamped and listed; ``inside``, ``region``: flows likewise.
    left, rising, many, outside
        By such a resource: capacity that is left, what unfrozen flows take of it, how many they are, and the highest level of
        the flows outside of the region.
    frozen, to_bind, to_level, to_own, seen
        By flow and by resource: what this filling found, and in which filling a resource was looked at.
    keys, order, batch
        A heap of resources by the level at which they are full, and those that fill together.
    spans
        (resource, begin, end) where they are kept.
    """

    at: np.ndarray
    kind: np.ndarray
    rank: np.ndarray
    mate: np.ndarray
    work: np.ndarray
    eager: np.ndarray
    flow: np.ndarray
    pending: np.ndarray
    to_done: np.ndarray
    done: np.ndarray
    to_begun: np.ndarray
    begun: np.ndarray
    end: np.ndarray
    ready: np.ndarray
    asked: np.ndarray
    finish: np.ndarray
    times: np.ndarray
    items: np.ndarray
    row: np.ndarray
    began: np.ndarray
    start: np.ndarray
    resource: np.ndarray
    amount: np.ndarray
    slot: np.ndarray
    cost: np.ndarray
    todo: np.ndarray
    alone: np.ndarray
    bind: np.ndarray
    until: np.ndarray
    joined: np.ndarray
    capacity: np.ndarray
    level: np.ndarray
    moved: np.ndarray
    since: np.ndarray
    own: np.ndarray
    least: np.ndarray
    stale: np.ndarray
    first: np.ndarray
    length: np.ndarray
    users: np.ndarray
    uses: np.ndarray
    takes: np.ndarray
    all_takes: np.ndarray
    top: np.ndarray
    binds: np.ndarray
    bound: np.ndarray
    tree: np.ndarray
    near: np.ndarray
    places: np.ndarray
    inside: np.ndarray
    region: np.ndarray
    left: np.ndarray
    rising: np.ndarray
    many: np.ndarray
    outside: np.ndarray
    frozen: np.ndarray
    to_bind: np.ndarray
    to_level: np.ndarray
    to_own: np.ndarray
    seen: np.ndarray
    keys: np.ndarray
    order: np.ndarray
    batch: np.ndarray
    spans: np.ndarray


@part
def put(s, place, tick):
    """The tick of a resource."""
    node = s.at[LEAVES] + place
    s.tree[node] = tick
    node >>= 1
    while node >= 1:
        least = min(s.tree[2 * node], s.tree[2 * node + 1])
        if s.tree[node] == least:
            return
        s.tree[node] = least
        node >>= 1


@part
def first_due(s):
    """The resource of the least tick; of several the one with the lowest number."""
    node = 1
    while node < s.at[LEAVES]:
        node *= 2
        if s.tree[node] > s.tree[node + 1]:
            node += 1
    return node - s.at[LEAVES]


@part
def near(s, place):
    """A resource is to be filled again."""
    if s.near[place] != s.at[STAMP]:
        s.near[place] = s.at[STAMP]
        s.places[s.at[PLACES]] = place
        s.at[PLACES] += 1


@part
def inside(s, flow):
    """A flow's share is to be worked out again."""
    if s.inside[flow] != s.at[STAMP]:
        s.inside[flow] = s.at[STAMP]
        s.region[s.at[REGION]] = flow
        s.at[REGION] += 1


@part
def enter(s, flow):
    """A flow begins to share."""
    for use in range(s.start[flow], s.start[flow + 1]):
        place = s.resource[use]
        slot = s.first[place] + s.length[place]
        s.length[place] += 1
        s.slot[use] = slot
        s.users[slot], s.uses[slot], s.takes[slot] = flow, use, s.amount[use]
        s.all_takes[place] += s.amount[use]
        near(s, place)
    inside(s, flow)


@part
def leave(s, flow):
    """A flow is through; what it shared with others is to be filled again where it bound any."""
    bind = s.bind[flow]
    for use in range(s.start[flow], s.start[flow + 1]):
        place = s.resource[use]
        s.length[place] -= 1
        last, slot = s.first[place] + s.length[place], s.slot[use]
        s.users[slot], s.uses[slot], s.takes[slot] = s.users[last], s.uses[last], s.takes[last]
        s.slot[s.uses[last]] = slot
        s.all_takes[place] = s.all_takes[place] - s.amount[use] if s.length[place] > 0 else 0.0
        if place == bind:
            s.cost[use] += (s.at[NOW] - s.joined[flow]) - s.todo[flow] / s.alone[flow]
        if s.own[place] > 0:
            near(s, place)
    s.own[bind] -= 1
    s.bind[flow] = -1


@part
def move(s, place):
    """What a resource has moved until now."""
    if s.own[place] > 0:
        s.moved[place] += s.level[place] * (s.at[NOW] - s.since[place])
    s.since[place] = s.at[NOW]


@part
def plan(s, place):
    """When the first of those that a resource binds is through."""
    tick = NEVER
    if s.own[place] > 0:
        ticks = (s.least[place] - s.moved[place]) / s.level[place] - EARLY
        tick = min(NEVER - 1, s.at[NOW] + max(np.int64(0), np.int64(np.floor(min(ticks, FAR))) + 1))
    put(s, place, tick)
