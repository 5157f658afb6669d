"""Pipelines from and to rank 0: chunks along a chain, and along a binary tree.

What belongs here: trees with root 0 whose edges all carry chunks at once. The binary tree is a heap: rank i has the children
2i + 1 and 2i + 2, and sends each chunk to one and then to the other.
"""

from __future__ import annotations

import numpy as np

from hopline.schedule import promises
from hopline.schedule.collectives.flows import Flow, nothing_yet, run
from hopline.schedule.drafting import Draft
from hopline.schedule.operations import Buffer, Schedule
from hopline.schedule.pieces import Ints, cuts, split
from hopline.schedule.shape import Shape


def chain_broadcast(shape: Shape) -> Schedule:
    """Rank i passes each chunk on to i + 1 while it receives the next."""
    child = np.arange(1, shape.ranks)
    return _down("broadcast-chain", shape, child - 1, child - 1, 1)


def chain_reduce(shape: Shape) -> Schedule:
    """From the last rank to the first, each adds up its part."""
    child = np.arange(1, shape.ranks)
    return _up("reduce-chain", shape, child - 1, child - 1, 1)


def tree_broadcast(shape: Shape) -> Schedule:
    """Down the heap: the left child has a chunk one round before the right one."""
    parent, first, period = _heap(shape.ranks)
    return _down("broadcast-binary_tree", shape, parent, first, period)


def tree_reduce(shape: Shape) -> Schedule:
    """Up the heap, as the broadcast backwards: the right child first."""
    parent, first, period = _heap(shape.ranks)
    return _up("reduce-binary_tree", shape, parent, first, period)


def _heap(ranks: int) -> tuple[Ints, Ints, int]:
    """Parents of ranks 1 ..., the round in which each gets the first chunk, and the rounds between two chunks."""
    child = np.arange(1, ranks)
    parent = (child - 1) // 2
    reached = [0] * ranks
    for rank in range(1, ranks):
        reached[rank] = reached[(rank - 1) // 2] + (1 if rank % 2 else 2)
    return parent, np.array(reached[1:], np.int64) - 1, min(2, max(1, ranks - 1))


def _down(name: str, shape: Shape, parent: Ints, first: Ints, period: int) -> Schedule:
    """``parent``, ``first``: of ranks 1 ..., shape (ranks - 1,)."""
    draft = Draft(name, shape.ranks, (Buffer("data", shape.size),), promises.broadcast(shape.ranks, shape.size))
    bounds = split(shape.size, cuts(shape.size, shape.chunks))
    child = np.arange(1, shape.ranks)
    run(draft, [Flow(parent, child, first, bounds, False, nothing_yet(shape.ranks, bounds))], period)
    return draft.made()


def _up(name: str, shape: Shape, parent: Ints, first: Ints, period: int) -> Schedule:
    """The way of ``_down`` back, in the opposite order."""
    buffers = Buffer("data", shape.size), Buffer("scratch", shape.size)
    draft = Draft(name, shape.ranks, buffers, promises.reduce(shape.ranks, shape.size))
    bounds = split(shape.size, cuts(shape.size, shape.chunks))
    child = np.arange(1, shape.ranks)
    back = first.max(initial=0) - first
    run(draft, [Flow(child, parent, back, bounds, True, nothing_yet(shape.ranks, bounds))], period)
    return draft.made()
