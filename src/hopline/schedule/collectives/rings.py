"""Rings: reduce-scatter, all-gather and all-reduce round a ring, as one block of rows for all rounds.

What belongs here: algorithms in which every rank sends to its neighbour, piece by piece (Patarasu and Yuan, JPDC 69, 2009).
"""

from __future__ import annotations

import numpy as np

from hopline.schedule import promises
from hopline.schedule.drafting import Draft
from hopline.schedule.operations import Buffer, Schedule
from hopline.schedule.pieces import Ints, split
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
    bounds: Ints = split(shape.size, shape.ranks)
    first = shape.ranks - (1 if reduce else 0)
    start, size = (_turned(pieces, first) for pieces in (bounds[:-1], np.diff(bounds)))
    draft.steady(ranks, np.roll(ranks, -1), start, size, reduce=reduce)


def _turned(pieces: Ints, first: int) -> Ints:
    """For each round those from ``first`` on, one place further back in each, shape (rounds, ranks); a view."""
    windows = np.lib.stride_tricks.sliding_window_view(np.concatenate([pieces, pieces]), len(pieces))
    return windows[first : first - len(pieces) + 1 : -1]
