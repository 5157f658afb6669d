"""Rings: reduce-scatter, all-gather and all-reduce round a ring, as one block of rows for all rounds.

What belongs here: algorithms in which every rank sends to its neighbour, piece by piece (Patarasu and Yuan, JPDC 69, 2009).
"""

from __future__ import annotations

import numpy as np

from hopline.schedule import promises
from hopline.schedule.drafting import Draft
from hopline.schedule.operations import Buffer, Ints, Schedule, split
from hopline.schedule.promises import Promise
from hopline.schedule.shape import Shape


def all_reduce(shape: Shape) -> Schedule:
    """Reduce-scatter, then all-gather: 2(N - 1) rounds."""
    draft = _draft("all_reduce-ring", shape, promises.all_reduce(shape.ranks, shape.size), scratch=True)
    _round_about(draft, shape, reduce=True)
    _round_about(draft, shape, reduce=False)
    return draft.made()


def reduce_scatter(shape: Shape) -> Schedule:
    """N - 1 rounds; rank r ends with piece r."""
    draft = _draft("reduce_scatter-ring", shape, promises.reduce_scatter(shape.ranks, shape.size), scratch=True)
    _round_about(draft, shape, reduce=True)
    return draft.made()


def all_gather(shape: Shape) -> Schedule:
    """N - 1 rounds; rank r begins with piece r."""
    draft = _draft("all_gather-ring", shape, promises.all_gather(shape.ranks, shape.size), scratch=False)
    _round_about(draft, shape, reduce=False)
    return draft.made()


def _draft(name: str, shape: Shape, promise: Promise, scratch: bool) -> Draft:
    buffers = (Buffer("data", shape.size), Buffer("scratch", shape.size)) if scratch else (Buffer("data", shape.size),)
    return Draft(name, shape.ranks, buffers, promise)


def _round_about(draft: Draft, shape: Shape, reduce: bool) -> None:
    """Each rank sends to the next; in round s rank r sends piece r - s - 1 to be added up, or piece r - s to be kept."""
    ranks = np.arange(shape.ranks)
    rounds = np.arange(shape.ranks - 1)[:, None]
    bounds: Ints = split(shape.size, shape.ranks)
    piece = (ranks - rounds - (1 if reduce else 0)) % shape.ranks
    draft.steady(ranks, np.roll(ranks, -1), bounds[piece], np.diff(bounds)[piece], reduce=reduce)
