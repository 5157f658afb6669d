"""Binomial trees: in each round those who have it send to those who have it not, or the other way round.

What belongs here: algorithms of ceil(log2 N) rounds with root 0, and the trees for what is cut into pieces.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hopline.schedule import promises
from hopline.schedule.drafting import Draft
from hopline.schedule.operations import Buffer, Schedule
from hopline.schedule.pieces import Ints, split
from hopline.schedule.promises import Promise
from hopline.schedule.shape import Shape


def broadcast(shape: Shape) -> Schedule:
    """The farthest first, so that what a rank passes on stays near it."""
    draft = _draft("broadcast-binomial", shape, promises.broadcast(shape.ranks, shape.size), scratch=False)
    _down(draft, shape)
    return draft.made()


def reduce(shape: Shape) -> Schedule:
    """The broadcast backwards: neighbours first."""
    draft = _draft("reduce-binomial", shape, promises.reduce(shape.ranks, shape.size), scratch=True)
    _up(draft, shape)
    return draft.made()


def all_reduce(shape: Shape) -> Schedule:
    """Reduce to rank 0, then broadcast from it."""
    draft = _draft("all_reduce-binomial", shape, promises.all_reduce(shape.ranks, shape.size), scratch=True)
    _up(draft, shape)
    _down(draft, shape)
    return draft.made()


def scatter_all_gather(shape: Shape) -> Schedule:
    """Broadcast of large messages: pieces down a binomial tree, then round a ring (M. Barnett et al., SHPCC 1994)."""
    draft = _draft("broadcast-scatter_allgather", shape, promises.broadcast(shape.ranks, shape.size), scratch=False)
    bounds, ranks = split(shape.size, shape.ranks), np.arange(shape.ranks)
    scatter_down(draft, ranks, bounds)
    piece = (ranks - np.arange(shape.ranks - 1)[:, None]) % shape.ranks
    draft.steady(ranks, np.roll(ranks, -1), bounds[piece], np.diff(bounds)[piece])
    return draft.made()


def scatter_down(draft: Draft, members: Ints, bounds: Ints) -> None:
    """Pieces of member 0 to all members, piece i (``bounds``) to the i-th; the farthest first."""
    count = len(members)
    for distance, head in _branches(count):
        start, end = bounds[head + distance], bounds[np.minimum(head + 2 * distance, count)]
        draft.begin_round()
        draft.messages(members[head], members[head + distance], start, end - start)


def gather_up(draft: Draft, members: Ints, bounds: Ints) -> None:
    """The way back: the i-th member has piece i, and member 0 gets all of them; neighbours first."""
    count = len(members)
    for distance, head in reversed(list(_branches(count))):
        start, end = bounds[head + distance], bounds[np.minimum(head + 2 * distance, count)]
        draft.begin_round()
        draft.messages(members[head + distance], members[head], start, end - start)


def _down(draft: Draft, shape: Shape) -> None:
    for distance, head in _branches(shape.ranks):
        draft.begin_round()
        draft.messages(head, head + distance, 0, shape.size)


def _up(draft: Draft, shape: Shape) -> None:
    for distance, head in reversed(list(_branches(shape.ranks))):
        draft.begin_round()
        draft.messages(head + distance, head, 0, shape.size, into=1, reduce=True)


def _branches(count: int) -> Iterator[tuple[int, Ints]]:
    """(distance, those that have a branch so long), the longest first."""
    for place in reversed(range((count - 1).bit_length())):
        distance = 1 << place
        yield distance, np.arange(0, count - distance, 2 * distance)


def _draft(name: str, shape: Shape, promise: Promise, scratch: bool) -> Draft:
    buffers = (Buffer("data", shape.size), Buffer("scratch", shape.size)) if scratch else (Buffer("data", shape.size),)
    return Draft(name, shape.ranks, buffers, promise)
