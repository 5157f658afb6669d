"""What breaks all cycles: classes that rise, other ways, an up-down order; each looked at again after the change.

What belongs here: the three kinds of remedy. Flows that do not change keep their waits, so those that do must include some
flow of each dependency that has to go: the fewest such flows (``deadlock_cuts``) bound every remedy from below, and raising
the class of just these, where they cross a dependency that goes, needs no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, islice, pairwise
from math import comb

import numpy as np
from numpy.typing import NDArray

from hopline.records.deadlock import Change, Net, Remedy, RemedyKind, Trails
from hopline.study.deadlock_cuts import Arc, Cut, Order
from hopline.study.deadlock_order import Tops, Ways, best_top
from hopline.study.deadlock_waits import Waits, running, waits

Numbers = NDArray[np.int64]
Classify = Callable[[int, list[int]], list[int]]
"""(flow, its edges) -> the classes of its hops."""
MOST_WAYS = 12
"""Shortest ways that a flow is offered."""
MOST_SETS = 3000
"""Sets of flows that are tried when the first one found cannot be rerouted."""
MOST_MOVED = 2000
"""Flows that are moved one by one."""
_HALVES = 24
"""Flows up to which choices of ways are taken back when a later flow finds none."""


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """What remedies start from.

    Attributes
    ----------
    waits
        Of the trails as they are.
    cut, flows
        Bounds on the flows that have to change, and a set of them that do.
    arcs
        Dependency of each arc (pair of buffers) that lies on a cycle.
    """

    net: Net
    trails: Trails
    classify: Classify
    waits: Waits
    cut: Cut
    flows: Numbers
    arcs: Mapping[Arc, int]
    limit: int

    @property
    def staying(self) -> NDArray[np.bool_]:
        """Dependencies that flows make which do not have to change, shape (dependencies,)."""
        flow = np.repeat(np.arange(len(self.trails)), np.diff(self.trails.start))[self.waits.joint]
        stay = np.zeros(len(self.waits.origin), np.bool_)
        stay[self.waits.made[~np.isin(flow, self.flows)]] = True
        return stay


def remedies(given: Given) -> tuple[tuple[Remedy, ...], tuple[tuple[RemedyKind, str], ...]]:
    """Those that were found, and kinds of which none was, with the reason."""
    ways = Ways(given.net)
    top = best_top(given.net, given.trails, ways)
    ways.under(top.place)
    ordered = _up_down(given, ways, top)
    moved = _reroute(given, ways, ordered)
    if moved is not None and len(moved.changes) < len(given.flows):
        given = replace(given, flows=np.array([change.flow for change in moved.changes]))
    found = [remedy for remedy in (_raise(given), moved, ordered) if remedy is not None]
    hopeless: list[tuple[RemedyKind, str]] = []
    if ordered is None:
        hopeless.append(("up-down", "some flow has no way up and then down through nodes that forward"))
    if moved is None:
        hopeless.append(("reroute", "the flows that would have to move have no other way that closes no cycle"))
    return tuple(found), tuple(hopeless)


def changed(trails: Trails, changes: Mapping[int, Change]) -> Trails:
    """The trails after the changes (by flow)."""
    parts = [
        (np.array(changes[f].edges, np.int32), np.array(changes[f].classes, np.int32))
        if f in changes
        else (trails.of(f), trails.classes_of(f))
        for f in range(len(trails))
    ]
    start = np.concatenate([[0], np.cumsum([len(edges) for edges, _ in parts])]).astype(np.int64)
    edge = np.concatenate([edges for edges, _ in parts]).astype(np.int32)
    classes = np.concatenate([classes for _, classes in parts]).astype(np.int32)
    return Trails(trails.flows, start, edge, classes, trails.rate)


def _remedy(
    given: Given, kind: RemedyKind, changes: list[Change], least: int,
    turns: tuple[tuple[int, int], ...] = (), root: int | None = None,
) -> Remedy:  # fmt: skip
    """The changes, applied and looked at again."""
    after = changed(given.trails, {change.flow: change for change in changes})
    free = not waits(after.start, after.edge, after.classes).tangles()
    ordered = tuple(sorted(changes, key=lambda change: change.flow))
    return Remedy(kind, ordered, min(least, len(changes)), len(np.unique(after.classes)), free, turns, root)


# --- classes that rise --------------------------------------------------------------------------------------------


def _raise(given: Given) -> Remedy:
    """A new set of classes after each dependency that goes: in each set the others are left, which close no cycle."""
    trails, found = given.trails, given.waits
    gone = _turns(given)
    marks = np.zeros(len(trails.edge), np.bool_)
    marks[found.joint[np.isin(found.made, gone)] + 1] = True
    span = int(trails.classes.max()) + 1
    classes = trails.classes + span * running(trails.start, marks)
    flow = np.repeat(np.arange(len(trails)), np.diff(trails.start))
    changes = [
        Change(f, tuple(trails.of(f).tolist()), tuple(classes[trails.start[f] : trails.start[f + 1]].tolist()))
        for f in np.unique(flow[marks]).tolist()
    ]
    turns = {(int(found.edge[found.origin[d]]), int(found.edge[found.target[d]])) for d in gone}
    return _remedy(given, "raise", changes, given.cut.least, tuple(sorted(turns)))


def _turns(given: Given) -> list[int]:
    """Dependencies where classes rise: of those that only changing flows make, the ones that close a cycle."""
    stay = given.staying
    order = Order(_places([arc for arc, d in given.arcs.items() if stay[d]]))
    order.add_all(arc for arc, d in given.arcs.items() if stay[d])
    count = np.bincount(given.waits.made, minlength=len(stay))
    movable = sorted(
        (arc for arc, d in given.arcs.items() if not stay[d]), key=lambda arc: (-count[given.arcs[arc]], arc)
    )
    return [given.arcs[arc] for arc in movable if not order.add(*arc)]


def _places(arcs: list[Arc]) -> dict[int, float]:
    """A place for each node so that all arcs lead forward, where they close no cycle (Kahn)."""
    out: dict[int, list[int]] = {}
    into: dict[int, int] = {}
    for origin, target in arcs:
        out.setdefault(origin, []).append(target)
        into[target] = into.get(target, 0) + 1
        into.setdefault(origin, 0)
    row = [node for node, count in into.items() if not count]
    for node in row:
        for target in out.get(node, ()):
            into[target] -= 1
            if not into[target]:
                row.append(target)
    return {node: float(place) for place, node in enumerate(row)}


# --- an up-down order ---------------------------------------------------------------------------------------------


def _up_down(given: Given, ways: Ways, top: Tops) -> Remedy | None:
    """All flows that break the order take a way that keeps it; None where one has none."""
    changes = []
    for flow in top.breaking.tolist():
        edges = ways.legal(*_ends(given, flow))
        if edges is None:
            return None
        changes.append(Change(flow, tuple(edges), tuple(given.classify(flow, edges))))
    return _remedy(given, "up-down", changes, given.cut.least, root=top.root)


def _ends(given: Given, flow: int) -> tuple[int, int]:
    edges = given.trails.of(flow)
    return int(given.net.origin[edges[0]]), int(given.net.target[edges[-1]])


# --- other ways ---------------------------------------------------------------------------------------------------


def _reroute(given: Given, ways: Ways, ordered: Remedy | None) -> Remedy | None:
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
    return None if found is None else _remedy(given, "reroute", found, least)


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
    order = Order(_places(arcs))
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
    origin, target = _ends(given, flow)
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
