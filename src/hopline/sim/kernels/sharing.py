"""Shares worked out again where a change touches them, and nowhere else.

What belongs here: which resources and flows those are, their filling, and what it changes. The rule is ``sharing_reference``.

A flow that comes or goes touches the resources of its route. A touched resource touches the flows that it binds, and
those all other resources of theirs that bind flows. Flows outside keep their level, and what they take is taken off. If it
then shows that a flow outside has more than what a refilled resource now gives, what binds it is touched too, and all is
filled again. A resource that binds no flow is left alone while all its flows at the highest level among them fit into it.
"""

import numpy as np

from hopline.sim.kernels.compiled import part
from hopline.sim.kernels.heaps import pop, push
from hopline.sim.kernels.sharing_state import (
    FILL,
    NEARLY,
    NOW,
    PLACES,
    REGION,
    SOLVES,
    SPANS,
    STAMP,
    TIE,
    inside,
    move,
    near,
    plan,
)  # fmt: skip


@part
def _spread(s, low):
    """From the resources from number ``low`` of the list on to all that they touch; their number."""
    while low < s.at[PLACES]:
        place = s.places[low]
        low += 1
        move(s, place)
        if s.own[place] == 0:
            continue
        for slot in range(s.first[place], s.first[place] + s.length[place]):
            flow = s.users[slot]
            if s.bind[flow] == place and s.inside[flow] != s.at[STAMP]:
                inside(s, flow)
                for use in range(s.start[flow], s.start[flow + 1]):
                    other = s.resource[use]
                    if s.own[other] > 0:
                        near(s, other)
    return low


@part
def _measure(s):
    """What the flows outside leave of each resource, and what those of the region take; resources into the heap."""
    length = 0
    for number in range(s.at[PLACES]):
        place = s.places[number]
        left, rising, outside, many = s.capacity[place], 0.0, 0.0, 0
        for slot in range(s.first[place], s.first[place] + s.length[place]):
            flow = s.users[slot]
            if s.inside[flow] == s.at[STAMP]:
                rising += s.takes[slot]
                many += 1
            else:
                level = s.level[s.bind[flow]]
                left -= s.takes[slot] * level
                outside = max(outside, level)
        s.left[place], s.rising[place], s.outside[place], s.many[place] = left, rising, outside, many
        s.to_own[place] = 0
        if many > 0:
            push(s.keys, s.order, length, left / rising, place)
            length += 1
    return length


@part
def _fullest(s, length):
    """Without what stands too low in the heap, since some of its flows were frozen; the new length."""
    while length > 0:
        place = s.order[0]
        if s.many[place] > 0:
            level = s.left[place] / s.rising[place]
            if level <= s.keys[0] or length == 1:
                return length
            pop(s.keys, s.order, length)
            push(s.keys, s.order, length - 1, level, place)
            if s.order[0] == place:
                return length
        else:
            pop(s.keys, s.order, length)
            length -= 1
    return length


@part
def _freeze(s, place, level):
    """All flows that are not frozen yet stay at this level: the resource is full."""
    own = 0
    for slot in range(s.first[place], s.first[place] + s.length[place]):
        flow = s.users[slot]
        if s.inside[flow] != s.at[STAMP] or s.frozen[flow] == s.at[FILL]:
            continue
        s.frozen[flow], s.to_bind[flow] = s.at[FILL], place
        own += 1
        for use in range(s.start[flow], s.start[flow + 1]):
            other = s.resource[use]
            s.left[other] -= s.amount[use] * level
            s.rising[other] -= s.amount[use]
            s.many[other] -= 1
    s.to_level[place], s.to_own[place] = level, own


@part
def _fill(s):
    """All levels of the region, from the lowest up; resources that fill together by their numbers."""
    s.at[FILL] += 1
    length = _fullest(s, _measure(s))
    while length > 0:
        level = max(s.left[s.order[0]] / s.rising[s.order[0]], 0.0)
        count = 0
        while length > 0:
            place = s.order[0]
            if s.left[place] / s.rising[place] > level * (1 + TIE):
                break
            pop(s.keys, s.order, length)
            push(s.batch, s.batch, count, place, place)
            count += 1
            length = _fullest(s, length - 1)
        while count > 0:
            place = s.batch[0]
            pop(s.batch, s.batch, count)
            count -= 1
            if s.many[place] > 0:
                _freeze(s, place, level)
        length = _fullest(s, length)


@part
def _level(s, flow):
    """Of any flow, as this filling has it."""
    if s.inside[flow] == s.at[STAMP]:
        return s.to_level[s.to_bind[flow]]
    return s.level[s.bind[flow]]


@part
def _check_filled(s):
    """Flows outside that have more than a resource gives, or as much and it is the first of its kind: what binds them."""
    for number in range(s.at[PLACES]):
        place = s.places[number]
        level = s.to_level[place]
        if s.to_own[place] == 0:
            if s.outside[place] == 0.0 or s.left[place] > s.capacity[place] * TIE:
                continue
            level = s.outside[place]
        if s.outside[place] < level * (1 - TIE):
            continue
        for slot in range(s.first[place], s.first[place] + s.length[place]):
            flow = s.users[slot]
            if s.inside[flow] == s.at[STAMP]:
                continue
            has, bind = s.level[s.bind[flow]], s.bind[flow]
            if has > level * (1 + TIE) or (has >= level * (1 - TIE) and place < bind):
                near(s, bind)


@part
def _check_slack(s, place):
    """Whether a resource that binds no flow does so now; and the highest level of its flows."""
    s.seen[place] = s.at[FILL]
    taken, top = 0.0, 0.0
    for slot in range(s.first[place], s.first[place] + s.length[place]):
        level = _level(s, s.users[slot])
        taken += s.takes[slot] * level
        top = max(top, level)
    s.top[place] = top
    if taken > s.capacity[place] * (1 + TIE):
        near(s, place)
    elif taken >= s.capacity[place] * (1 - TIE):
        for slot in range(s.first[place], s.first[place] + s.length[place]):
            flow = s.users[slot]
            bind = s.to_bind[flow] if s.inside[flow] == s.at[STAMP] else s.bind[flow]
            if bind > place and _level(s, flow) >= top * (1 - TIE):
                near(s, place)


@part
def _check_others(s):
    """Resources that the region's flows go through and that bound none so far."""
    for number in range(s.at[REGION]):
        flow = s.region[number]
        level = s.to_level[s.to_bind[flow]]
        for use in range(s.start[flow], s.start[flow + 1]):
            place = s.resource[use]
            if s.near[place] == s.at[STAMP]:
                continue
            if level > s.top[place]:
                s.top[place] = level
            if s.seen[place] != s.at[FILL] and s.top[place] * s.all_takes[place] >= s.capacity[place] * (1 - NEARLY):
                _check_slack(s, place)


@part
def _rebind(s, flow):
    """A flow is bound by another resource than before: what is left of it, and what it lost."""
    old, new = s.bind[flow], s.to_bind[flow]
    if old >= 0:
        left = max(s.until[flow] - s.moved[old], 0.0)
        for use in range(s.start[flow], s.start[flow + 1]):
            if s.resource[use] == old:
                s.cost[use] += (s.at[NOW] - s.joined[flow]) - (s.todo[flow] - left) / s.alone[flow]
        s.todo[flow] = left
        s.own[old] -= 1
        if s.until[flow] <= s.least[old]:
            s.stale[old] = True
    if s.own[new] == 0:
        s.moved[new], s.least[new], s.stale[new] = 0.0, np.inf, False
    s.bind[flow], s.joined[flow] = new, s.at[NOW]
    s.until[flow] = s.moved[new] + s.todo[flow]
    s.least[new] = min(s.least[new], s.until[flow])
    s.own[new] += 1


@part
def find_least(s, place):
    """The first of those that a resource binds, and what it moved counted from now: so rounding cannot grow."""
    least = np.inf
    for slot in range(s.first[place], s.first[place] + s.length[place]):
        flow = s.users[slot]
        if s.bind[flow] == place:
            s.until[flow] -= s.moved[place]
            least = min(least, s.until[flow])
    s.least[place], s.moved[place], s.stale[place] = least, 0.0, False


@part
def _mark(s, place):
    """From when to when a resource binds flows."""
    if s.own[place] > 0:
        if s.binds[place] < 0:
            s.binds[place] = s.at[NOW]
    elif s.binds[place] >= 0:
        since = s.binds[place]
        s.binds[place] = -1
        s.bound[place] += s.at[NOW] - since
        if len(s.spans) > 0 and since < s.at[NOW]:
            row = s.at[SPANS]
            s.spans[row, 0], s.spans[row, 1], s.spans[row, 2] = place, since, s.at[NOW]
            s.at[SPANS] += 1


@part
def _keep(s):
    """What the filling found holds from now on."""
    for number in range(s.at[REGION]):
        flow = s.region[number]
        if s.bind[flow] != s.to_bind[flow]:
            _rebind(s, flow)
    for number in range(s.at[PLACES]):
        place = s.places[number]
        s.level[place], s.top[place] = s.to_level[place], np.inf
        if s.own[place] > 0 and s.stale[place]:
            find_least(s, place)
        _mark(s, place)
        plan(s, place)
    s.at[PLACES] = s.at[REGION] = 0
    s.at[STAMP] += 1
    s.at[SOLVES] += 1


@part
def share(s):
    """Shares for the flows there are now."""
    low = 0
    while low < s.at[PLACES]:
        low = _spread(s, low)
        _fill(s)
        _check_filled(s)
        _check_others(s)
    _keep(s)
