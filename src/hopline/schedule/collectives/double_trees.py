"""Two binary trees at once, each for half of the message, so that nearly every rank is a leaf in one of them.

What belongs here: NCCL's two trees, all_reduce along them, and the round in which each edge carries its first chunk.

P. Sanders, J. Speck and J. L. Träff (Parallel Computing 35, 2009): at most two edges of both trees leave a rank and at most
two enter it, so two colours suffice for all edges, no two of a colour leaving or entering the same rank. Hence in four
rounds (up, down, up, down, of either colour) every edge carries one chunk each way, and no rank ever sends or receives two
at once. Rounds in which nothing goes, while the trees fill and empty, are left out. A schedule is these rounds without
their borders: each rank sends in their order, and receives in their order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from hopline.schedule import promises
from hopline.schedule.collectives.flows import Flow, nothing_yet, run
from hopline.schedule.drafting import Draft
from hopline.schedule.operations import RECV, SEND, Buffer, Columns, Index, Schedule
from hopline.schedule.pieces import Ints, cuts, split
from hopline.schedule.shape import Shape

PERIOD = 4
"""Rounds from one chunk to the next: up and down, of either colour."""
_NONE = -1


@dataclass(frozen=True, slots=True)
class Plan:
    """When what goes where.

    Attributes
    ----------
    parents
        Of each rank in both trees, shape (2, ranks); -1 at the root.
    up, down
        Round in which the first chunk goes from a rank to its parent, and back, shape (2, ranks); -1 at the root.
    """

    parents: Ints
    up: Ints
    down: Ints


def all_reduce(shape: Shape) -> Schedule:
    """Chunks of each half go up a tree to be added up, and down the same tree; channel 0 has one tree, channel 1 the other.

    A rank takes turns between the trees: a message of one begins when the one before it, of the other, is done. So no order
    that ports find by themselves can make it slower than its rounds, and a second NIC cannot make it faster.
    """
    buffers = Buffer("data", shape.size), Buffer("scratch", shape.size)
    promise = promises.all_reduce(shape.ranks, shape.size)
    draft = Draft("all_reduce-double_binary_tree", shape.ranks, buffers, promise)
    if shape.ranks > 1:
        planned = plan(shape.ranks)
        run(draft, [flow for tree in (0, 1) for flow in _flows(shape, planned, tree)], PERIOD)
    schedule = draft.made()
    turns = [_turns(schedule.columns, kind) for kind in (SEND, RECV)]
    return replace(schedule, more=np.concatenate(turns))


def _flows(shape: Shape, planned: Plan, tree: int) -> tuple[Flow, Flow]:
    start, end = split(shape.size, 2)[tree : tree + 2].tolist()
    bounds = start + split(end - start, cuts(end - start, shape.chunks))
    done = nothing_yet(shape.ranks, bounds)
    child = np.flatnonzero(planned.parents[tree] != _NONE)
    parent, up, down = planned.parents[tree][child], planned.up[tree][child], planned.down[tree][child]
    return Flow(child, parent, up, bounds, True, done, tree), Flow(parent, child, down, bounds, False, done, tree)


def _turns(columns: Columns, kind: int) -> Index:
    """Pairs of rows of ``kind`` that follow one another at a rank, and are of different trees; the later one first."""
    rows = np.flatnonzero(columns.kind == kind)
    rows = rows[np.argsort(columns.rank[rows], kind="stable")]
    pairs = np.stack([rows[1:], rows[:-1]], axis=1).astype(np.int32)
    same_rank = columns.rank[pairs[:, 0]] == columns.rank[pairs[:, 1]]
    other_tree = columns.lane[pairs[:, 0]] != columns.lane[pairs[:, 1]]
    return np.compress(same_rank & other_tree, pairs, axis=0)


def trees(ranks: int) -> Ints:
    """Parents in both trees, shape (2, ranks), -1 at the root.

    As NCCL's ``ncclGetDtree``: in the first, the rank with lowest set bit b hangs under the one with that bit cleared and the
    next set, or only cleared where there is no such rank. The second is the mirror image for an even number of ranks, and
    shifted by one for an odd one.
    """
    rank = np.arange(ranks)
    bit = rank & -rank
    first = np.where((rank ^ bit | bit << 1) < ranks, rank ^ bit | bit << 1, rank ^ bit)
    second = ranks - 1 - first[::-1] if ranks % 2 == 0 else (np.roll(first, 1) + 1) % ranks
    first[0] = second[ranks - 1 if ranks % 2 == 0 else 1 % ranks] = _NONE
    return np.stack([first, second])


@lru_cache(maxsize=16)
def plan(ranks: int) -> Plan:
    """The rounds of two or more ranks; read-only, since it is kept."""
    parents = trees(ranks)
    tree, child = np.nonzero(parents != _NONE)
    parent = parents[tree, child]
    colour = _colours(parent, child)
    rounds = _rounds(_needs(parents, tree, child, parent), np.concatenate([2 * colour, 2 * colour + 1]))
    up, down = np.full_like(parents, _NONE), np.full_like(parents, _NONE)
    up[tree, child], down[tree, child] = np.split(rounds, 2)
    for column in (parents, up, down):
        column.flags.writeable = False
    return Plan(parents, up, down)


def _needs(parents: Ints, tree: Ints, child: Ints, parent: Ints) -> tuple[Ints, Ints]:
    """Pairs of messages of which the second waits for the first; message e goes up edge e, message edges + e goes down it."""
    edges = len(child)
    number = np.full_like(parents, _NONE)
    number[tree, child] = np.arange(edges)
    above = number[tree, parent]
    here = np.arange(edges)
    inner, top = here[above != _NONE], here[above == _NONE]
    above = above[inner]
    return np.concatenate([inner, above + edges, top]), np.concatenate([above, inner + edges, top + edges])


def _colours(parent: Ints, child: Ints) -> Ints:
    """0 or 1 for each edge: no two of a colour leave one rank or enter one."""
    mates: list[list[int]] = [[] for _ in parent]
    for ends in (parent, child):
        order = np.argsort(ends, kind="stable")
        for here, there in zip(order[:-1].tolist(), order[1:].tolist(), strict=True):
            if ends[here] == ends[there]:
                mates[here].append(there)
                mates[there].append(here)
    colour: Ints = np.full(len(parent), _NONE)
    for edge in range(len(parent)):
        waiting = [(edge, 0)] if colour[edge] == _NONE else []
        while waiting:
            here, own = waiting.pop()
            colour[here] = own
            waiting += [(there, 1 - own) for there in mates[here] if colour[there] == _NONE]
    return colour


def _rounds(needs: tuple[Ints, Ints], kind: Ints) -> Ints:
    """Round of each message's first chunk: round r is for messages of kind r mod 4."""
    before, after = needs
    rounds = kind
    while True:
        ready = np.zeros_like(rounds)
        np.maximum.at(ready, after, rounds[before] + 1)
        later = ready + (kind - ready) % PERIOD
        if (later == rounds).all():
            return rounds
        rounds = later
