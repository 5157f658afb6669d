"""Other ways for as few flows as may be.

What belongs here: which flows move, and where to. Offered are shortest ways and one up and down; ``least`` is over these.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice, pairwise
from math import comb

import numpy as np

from hopline.records.deadlock import Change, Remedy
from hopline.study.deadlock_changes import Given, ends, places, remedy
from hopline.study.deadlock_cuts import Arc, Order
from hopline.study.deadlock_order import Ways

MOST_WAYS = 12
"""Shortest ways that a flow is offered."""
MOST_SETS = 3000
"""Sets of flows that are tried when the first one found cannot be rerouted."""
MOST_MOVED = 2000
"""Flows that are moved one by one."""
_HALVES = 24
"""Flows up to which choices of ways are taken back when a later flow finds none."""


def reroute(given: Given, ways: Ways, ordered: Remedy | None) -> Remedy | None:
    """The fewest flows on other ways: those that have to change, other sets where they are few, else part of ``ordered``."""
    flows = given.flows.tolist()
    found = _moved(given, ways, flows)
    least = given.cut.least
    if found is None and ordered is not None:
        found = _put_back(given, ordered)
    most = len(given.trails) if found is None else len(found) - 1
    if found is None or len(found) > least:
        for size in range(least, most + 1):
            if comb(len(given.trails), size) > MOST_SETS:
                break
            sets = combinations(range(len(given.trails)), size)
            better = next((some for some in (_moved(given, ways, list(one)) for one in sets) if some is not None), None)
            if better is not None:
                found, least = better, size
                break
            least = size + 1
    return None if found is None else remedy(given, "reroute", found, least)


def _arcs(edges: list[int] | tuple[int, ...], classes: list[int] | tuple[int, ...]) -> list[Arc]:
    """Dependencies of one trail, between buffers numbered by edge and class."""
    buffers = [edge << 20 | buffer_class for edge, buffer_class in zip(edges, classes, strict=True)]
    return list(pairwise(buffers))


def _without(given: Given, flows: list[int]) -> Order | None:
    """The dependencies of all other flows; None where these close a cycle."""
    found = given.waits
    flow = np.repeat(np.arange(len(given.trails)), np.diff(given.trails.start))[found.joint]
    left = np.unique(found.made[~np.isin(flow, flows)])
    key = (found.edge.astype(np.int64) << 20) | found.classes
    arcs = list(zip(key[found.origin[left]].tolist(), key[found.target[left]].tolist(), strict=True))
    order = Order(places(arcs))
    return order if order.add_all(arcs) else None


def _moved(given: Given, ways: Ways, flows: list[int]) -> list[Change] | None:
    """Other ways for all ``flows`` that close no cycle; None: none were found."""
    order = _without(given, flows) if len(flows) <= MOST_MOVED else None
    if order is None:
        return None
    options = [list(_options(given, ways, flow)) for flow in flows]
    return _placed(order, options)


def _options(given: Given, ways: Ways, flow: int) -> Iterator[Change]:
    """Other ways of one flow: shortest ones, then one up and down."""
    now = tuple(given.trails.of(flow).tolist())
    origin, target = ends(given, flow)
    legal = ways.legal(origin, target)
    seen = {now}
    for edges in (*islice(ways.shortest(origin, target, MOST_WAYS), MOST_WAYS), *([] if legal is None else [legal])):
        if tuple(edges) not in seen:
            seen.add(tuple(edges))
            yield Change(flow, tuple(edges), tuple(given.classify(flow, edges)))


def _placed(order: Order, options: list[list[Change]]) -> list[Change] | None:
    """One option of each flow so that together they close no cycle; few flows go back on their choices."""
    chosen: list[Change] = []
    at = [0] * (len(options) + 1)
    tries = MOST_SETS if len(options) <= _HALVES else sum(map(len, options))
    while len(chosen) < len(options):
        place = len(chosen)
        rest = options[place][at[place] :]
        fits = None
        for option in rest:
            at[place] += 1
            tries -= 1
            if order.add_all(_arcs(option.edges, option.classes)):
                fits = option
                break
        if fits is not None:
            chosen.append(fits)
            at[place + 1] = 0
        elif not chosen or len(options) > _HALVES or tries < 0:
            return None
        else:
            last = chosen.pop()
            order.remove_all(_arcs(last.edges, last.classes))
    return chosen


def _put_back(given: Given, ordered: Remedy) -> list[Change]:
    """Changes of an up-down order that are needed: each flow goes back to its old way where that closes no cycle."""
    order = _without(given, [change.flow for change in ordered.changes])
    if order is None:
        return list(ordered.changes)
    for change in ordered.changes:
        order.add_all(_arcs(change.edges, change.classes))
    needed: list[Change] = []
    for place, change in enumerate(ordered.changes):
        if order.looked > given.limit:
            return [*needed, *ordered.changes[place:]]
        new = _arcs(change.edges, change.classes)
        old = _arcs(given.trails.of(change.flow).tolist(), given.trails.classes_of(change.flow).tolist())
        order.remove_all(new)
        if not order.add_all(old):
            order.add_all(new)
            needed.append(change)
    return needed
