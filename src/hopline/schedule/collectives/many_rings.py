"""All-reduce on several rings at once, and on one that knows of levels.

What belongs here: rings on channels of their own, each with its share of the message. On levels every ring goes through a
group before it leaves it, and each enters and leaves a group at ranks of its own, so that all of the ports outwards work.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from hopline.schedule import promises
from hopline.schedule.drafting import Draft
from hopline.schedule.groups import places, spans
from hopline.schedule.operations import Buffer, Schedule
from hopline.schedule.pieces import Ints, split
from hopline.schedule.shape import Shape


def all_reduce(shape: Shape) -> Schedule:
    """Ring c adds up and hands round the c-th share on channel c."""
    return _rings("all_reduce-rings", shape, shape.channels)


def flat_ring(shape: Shape) -> Schedule:
    """One ring, group by group: the order of the ranks."""
    return _rings("all_reduce-flat_ring", shape, 1)


def order(levels: Sequence[int], ring: int) -> Ints:
    """Ranks as ring number ``ring`` goes through them: inside of each group it begins as many places further on."""
    shifted = places(levels)
    for level, span in enumerate(spans(levels)[:-1]):
        shifted[level] = (shifted[level] + ring // span) % levels[level]
    return spans(levels) @ shifted


def _rings(name: str, shape: Shape, count: int) -> Schedule:
    buffers = Buffer("data", shape.size), Buffer("scratch", shape.size)
    draft = Draft(name, shape.ranks, buffers, promises.all_reduce(shape.ranks, shape.size))
    rings = np.array([order(shape.groups, ring) for ring in range(count)])
    shares = split(shape.size, count)
    bounds = np.array([low + split(high - low, shape.ranks) for low, high in pairwise(shares.tolist())])
    for reduce in (True, False):
        _round_about(draft, rings, bounds, reduce)
    return draft.made()


def _round_about(draft: Draft, rings: Ints, bounds: Ints, reduce: bool) -> None:
    """As one ring does (``rings``), on all of them; ``rings``: shape (rings, ranks), ``bounds``: (rings, ranks + 1)."""
    count, ranks = rings.shape
    ring = np.repeat(np.arange(count), ranks)
    rounds = np.arange(ranks - 1)[:, None]
    piece = (np.tile(np.arange(ranks), count) - rounds - (1 if reduce else 0)) % ranks
    start = bounds[ring, piece]
    size = bounds[ring, piece + 1] - start
    draft.steady(rings.ravel(), np.roll(rings, -1, axis=1).ravel(), start, size, reduce=reduce, channel=ring)
