"""Gather to rank 0 and scatter from it: one by one, or along a binomial tree.

What belongs here: algorithms in which rank 0 has all pieces before or after, and every other rank its own.
"""

from __future__ import annotations

import numpy as np

from hopline.schedule import promises
from hopline.schedule.collectives.binomial import gather_up, scatter_down
from hopline.schedule.drafting import Draft
from hopline.schedule.operations import Buffer, Schedule
from hopline.schedule.pieces import split
from hopline.schedule.promises import Promise
from hopline.schedule.shape import Shape


def gather_direct(shape: Shape) -> Schedule:
    """Rank 0 takes the pieces in turn."""
    return _one_by_one("gather-direct", shape, promises.gather(shape.ranks, shape.size), to_root=True)


def scatter_direct(shape: Shape) -> Schedule:
    """Rank 0 hands out the pieces in turn."""
    return _one_by_one("scatter-direct", shape, promises.scatter(shape.ranks, shape.size), to_root=False)


def gather_binomial(shape: Shape) -> Schedule:
    """Neighbours first, then what they have gathered."""
    draft = _draft("gather-binomial", shape, promises.gather(shape.ranks, shape.size))
    gather_up(draft, np.arange(shape.ranks), split(shape.size, shape.ranks))
    return draft.made()


def scatter_binomial(shape: Shape) -> Schedule:
    """Half of the pieces to the rank halfway, and so on."""
    draft = _draft("scatter-binomial", shape, promises.scatter(shape.ranks, shape.size))
    scatter_down(draft, np.arange(shape.ranks), split(shape.size, shape.ranks))
    return draft.made()


def _one_by_one(name: str, shape: Shape, promise: Promise, *, to_root: bool) -> Schedule:
    draft, bounds = _draft(name, shape, promise), split(shape.size, shape.ranks)
    for rank in range(1, shape.ranks):
        sender, receiver = (rank, 0) if to_root else (0, rank)
        draft.begin_round()
        draft.messages(sender, receiver, bounds[rank], bounds[rank + 1] - bounds[rank], wait=False)
    return draft.made()


def _draft(name: str, shape: Shape, promise: Promise) -> Draft:
    return Draft(name, shape.ranks, (Buffer("data", shape.size),), promise)
