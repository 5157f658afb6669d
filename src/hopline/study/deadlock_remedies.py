"""What breaks all cycles: classes that rise, other ways, an up-down order; each looked at again after the change.

What belongs here: the three kinds of remedy. Flows that do not change keep their waits, so those that do must include some
flow of each dependency that has to go: the fewest such flows (``deadlock_cuts``) bound every remedy from below, and raising
the class of just these, where they cross a dependency that goes, needs no more.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hopline.records.deadlock import Change, Remedy, RemedyKind
from hopline.study.deadlock_changes import Given, ends, places, remedy
from hopline.study.deadlock_cuts import Order
from hopline.study.deadlock_order import Tops, Ways, best_top
from hopline.study.deadlock_reroute import reroute
from hopline.study.deadlock_waits import running


def remedies(given: Given) -> tuple[tuple[Remedy, ...], tuple[tuple[RemedyKind, str], ...]]:
    """Those that were found, and kinds of which none was, with the reason."""
    ways = Ways(given.net)
    top = best_top(given.net, given.trails, ways)
    ways.under(top.place)
    ordered = _up_down(given, ways, top)
    moved = reroute(given, ways, ordered)
    if moved is not None and len(moved.changes) < len(given.flows):
        given = replace(given, flows=np.array([change.flow for change in moved.changes]))
    found = [cure for cure in (_raise(given), moved, ordered) if cure is not None]
    hopeless: list[tuple[RemedyKind, str]] = []
    if ordered is None:
        hopeless.append(("up-down", "some flow has no way up and then down through nodes that forward"))
    if moved is None:
        hopeless.append(("reroute", "the flows that would have to move have no other way that closes no cycle"))
    return tuple(found), tuple(hopeless)


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
    return remedy(given, "raise", changes, given.cut.least, tuple(sorted(turns)))


def _turns(given: Given) -> list[int]:
    """Dependencies where classes rise: of those that only changing flows make, the ones that close a cycle."""
    stay = given.staying
    order = Order(places([arc for arc, d in given.arcs.items() if stay[d]]))
    order.add_all(arc for arc, d in given.arcs.items() if stay[d])
    count = np.bincount(given.waits.made, minlength=len(stay))
    movable = sorted(
        (arc for arc, d in given.arcs.items() if not stay[d]), key=lambda arc: (-count[given.arcs[arc]], arc)
    )
    return [given.arcs[arc] for arc in movable if not order.add(*arc)]


# --- an up-down order ---------------------------------------------------------------------------------------------


def _up_down(given: Given, ways: Ways, top: Tops) -> Remedy | None:
    """All flows that break the order take a way that keeps it; None where one has none."""
    changes = []
    for flow in top.breaking.tolist():
        edges = ways.legal(*ends(given, flow))
        if edges is None:
            return None
        changes.append(Change(flow, tuple(edges), tuple(given.classify(flow, edges))))
    return remedy(given, "up-down", changes, given.cut.least, root=top.root)
