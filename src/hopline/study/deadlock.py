"""Whether flows can come to wait for one another in a circle, and the smallest changes that exclude it.

What belongs here: from trails to what waits for what, and the answer. A packet that holds the buffer behind an edge waits for
the buffer behind the next; a deadlock needs a circle of such waits (Dally and Seitz 1987). A circle does not make one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hopline.records.deadlock import Answer, Bounds, Net, Trails, Wait
from hopline.study import deadlock_filling as filling
from hopline.study.deadlock_changes import Classify, Given
from hopline.study.deadlock_cuts import LIMIT, Arc, Bits, Cut, feedback, smallest
from hopline.study.deadlock_cycles import Budget, grouped, shortest_cycle
from hopline.study.deadlock_loops import loops
from hopline.study.deadlock_remedies import remedies
from hopline.study.deadlock_waits import Waits, waits

Numbers = NDArray[np.int64]
MOST_BITS = 1 << 28
"""Bits (dependencies times flows) of a search for the fewest flows; beyond it they are only bounded."""


def search(net: Net, trails: Trails, classify: Classify, ttl: int | None = None, limit: int = LIMIT) -> Answer:
    """Look for circles of waits, and for what breaks them.

    Parameters
    ----------
    classify
        Gives the classes of a flow that takes other edges.
    ttl
        Hops that a packet lives, for the threshold of loops.
    limit
        Arcs that each search may look at; what needs more is bounded.
    """
    found = waits(trails.start, trails.edge, trails.classes)
    over = filling.overloaded(net, trails)
    answer = Answer(
        len(trails), len(found.edge), len(found.origin), len(np.unique(trails.classes)),
        loops=loops(net, trails, ttl), overloaded=None if over is None else len(over),
    )  # fmt: skip
    knots = found.tangles()
    return _broken(net, trails, classify, found, knots, limit, answer) if knots else answer


def _broken(
    net: Net, trails: Trails, classify: Classify, found: Waits, knots: list[list[int]], limit: int, bare: Answer
) -> Answer:
    """The answer where there are cycles."""
    inside = _inside(found, knots)
    flow_of = np.repeat(np.arange(len(trails)), np.diff(trails.start))
    arcs = {(int(found.origin[d]), int(found.target[d])): d for d in np.flatnonzero(inside).tolist()}
    cycle, shortest = shortest_cycle(grouped(arcs), Budget(limit))
    closed = list(zip(cycle, [*cycle[1:], *cycle[:1]], strict=True))
    makers = [np.unique(flow_of[found.joint[found.made == arcs[arc]]]) for arc in closed]
    tangled = np.unique(flow_of[found.joint[inside[found.made]]])
    turns = smallest({arc: 1 << place for place, arc in enumerate(arcs)}, limit)
    cut, flows = _fewest_flows(arcs, found, flow_of, tangled, limit)
    given = Given(net, trails, classify, found, cut, flows, arcs, limit)
    cures, hopeless = remedies(given)
    forbidden = [arc for place, arc in enumerate(arcs) if turns.taken >> place & 1]
    return Answer(
        bare.flows, bare.buffers, bare.dependencies, bare.classes,
        tuple(sorted((len(knot) for knot in knots), reverse=True)), len(tangled),
        _told(net, trails, found, closed, makers), shortest,
        Bounds(turns.least, turns.most), Bounds(cut.least, min(len(flows), *(len(cure.changes) for cure in cures))),
        tuple((found.buffer(a), found.buffer(b)) for a, b in forbidden), cures, hopeless, bare.loops, bare.overloaded,
    )  # fmt: skip


def _inside(found: Waits, knots: list[list[int]]) -> NDArray[np.bool_]:
    """Dependencies of which both ends are in one tangle."""
    of = np.full(len(found.edge), -1)
    for number, knot in enumerate(knots):
        of[knot] = number
    inside: NDArray[np.bool_] = (of[found.origin] >= 0) & (of[found.origin] == of[found.target])
    return inside


def _told(net: Net, trails: Trails, found: Waits, closed: list[Arc], makers: list[Numbers]) -> tuple[Wait, ...]:
    told = []
    for (origin, target), flows in zip(closed, makers, strict=True):
        edge, buffer_class = found.buffer(origin)
        then = found.buffer(target)[0]
        told.append(Wait(edge, buffer_class, tuple(flows.tolist()), *filling.offered(net, trails, then)))
    return tuple(told)


def _fewest_flows(
    arcs: dict[Arc, int], found: Waits, flow_of: Numbers, tangled: Numbers, limit: int
) -> tuple[Cut, Numbers]:
    """Flows that have to change in whatever way: those that do not keep their waits, which must be free of cycles."""
    if len(arcs) * len(tangled) > MOST_BITS:
        return _bounded(arcs, found, flow_of, limit)
    number = {d: place for place, d in enumerate(arcs.values())}
    chosen = np.isin(found.made, list(number))
    place = np.array([number.get(d, 0) for d in range(len(found.origin))])[found.made[chosen]]
    bit = np.searchsorted(tangled, flow_of[found.joint[chosen]])
    table = np.zeros((len(arcs), len(tangled)), np.bool_)
    table[place, bit] = True
    packed = np.packbits(table, axis=1, bitorder="little")
    bits: Bits = {arc: int.from_bytes(packed[row].tobytes(), "little") for row, arc in enumerate(arcs)}
    cut = smallest(bits, limit)
    taken = np.frombuffer(cut.taken.to_bytes(packed.shape[1], "little"), np.uint8)
    return cut, tangled[np.unpackbits(taken, bitorder="little")[: len(tangled)].astype(bool)]


def _bounded(arcs: dict[Arc, int], found: Waits, flow_of: Numbers, limit: int) -> tuple[Cut, Numbers]:
    """The same where a search would be too large: those of a few dependencies that do, and at least those of one cycle."""
    count = np.bincount(found.made, minlength=len(found.origin))
    gone = feedback({arc: (1 << int(count[d])) - 1 for arc, d in arcs.items()})
    flows = np.unique(flow_of[found.joint[np.isin(found.made, [arcs[arc] for arc in gone])]])
    cycle, _ = shortest_cycle(grouped(arcs), Budget(limit))
    each = [
        len(np.unique(flow_of[found.joint[found.made == arcs[arc]]]))
        for arc in zip(cycle, [*cycle[1:], *cycle[:1]], strict=True)
    ]
    return Cut(0, min(each)), flows
