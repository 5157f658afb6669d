"""Distances that double: ceil(log2 N) rounds for any number of ranks (J. Bruck et al., IEEE TPDS 8, 1997).

What belongs here: all-gather in which rank r sends all that it has to r - 1, r - 2, r - 4, ...; its mirror, a reduce-scatter;
and the same pattern without data, a barrier. A rank keeps its blocks in its own order, which begins with its own piece, so
that what it sends is one range; the order is mended by copies.
"""

from __future__ import annotations

import numpy as np

from hopline.schedule import promises
from hopline.schedule.drafting import Draft
from hopline.schedule.operations import Buffer, Schedule
from hopline.schedule.pieces import Ints, split
from hopline.schedule.shape import Shape


def all_gather(shape: Shape) -> Schedule:
    """In the round of distance d, d blocks, or as many as are missing, go to the rank d below."""
    buffers = Buffer("data", shape.size), Buffer("scratch", shape.size)
    draft = Draft("all_gather-bruck", shape.ranks, buffers, promises.all_gather(shape.ranks, shape.size))
    bounds, ranks = split(shape.size, shape.ranks), np.arange(shape.ranks)
    for distance in distances(shape.ranks):
        draft.begin_round()
        if distance == 1:
            draft.copies(ranks, 0, np.diff(bounds), bounds[:-1], buffer=1, source=0)
        below, count = (ranks - distance) % shape.ranks, min(distance, shape.ranks - distance)
        there = window(bounds, below, distance)
        draft.messages(ranks, below, 0, window(bounds, ranks, count), to=there, buffer=1, wait=False)
    if shape.ranks > 1:
        _turned(draft, bounds, back=True)
    return draft.made()


def reduce_scatter(shape: Shape) -> Schedule:
    """The all-gather backwards: what came to rank r from r + d goes there, and is added up."""
    buffers = Buffer("data", shape.size), Buffer("scratch", shape.size), Buffer("turned", shape.size)
    draft = Draft("reduce_scatter-bruck", shape.ranks, buffers, promises.reduce_scatter(shape.ranks, shape.size))
    bounds, ranks = split(shape.size, shape.ranks), np.arange(shape.ranks)
    for number, distance in enumerate(reversed(distances(shape.ranks))):
        draft.begin_round()
        if not number:
            _turned(draft, bounds, back=False)
        above, count = (ranks + distance) % shape.ranks, min(distance, shape.ranks - distance)
        start, size = window(bounds, ranks, distance), window(bounds, above, count)
        draft.messages(ranks, above, start, size, to=0, buffer=2, into=1, reduce=True, wait=False)
    if shape.ranks > 1:
        draft.copies(ranks, bounds[:-1], np.diff(bounds), 0, buffer=0, source=2)
    return draft.made()


def barrier(shape: Shape) -> Schedule:
    """Zero bytes to r + 1, r + 2, r + 4, ...: after the last round everybody has heard of everybody (``size`` is not read)."""
    draft = Draft("barrier-dissemination", shape.ranks, (Buffer("data", 0),), promises.nothing("barrier"))
    ranks = np.arange(shape.ranks)
    for distance in distances(shape.ranks):
        draft.begin_round()
        draft.messages(ranks, (ranks + distance) % shape.ranks, 0, 0)
    return draft.made()


def distances(ranks: int) -> list[int]:
    """1, 2, 4, ... below ``ranks``."""
    return [1 << place for place in range((ranks - 1).bit_length())]


def window(bounds: Ints, first: Ints, count: int) -> Ints:
    """Bytes of ``count`` pieces from piece ``first`` on, round and round."""
    end = first + count
    beyond = end >= len(bounds)
    wrapped: Ints = bounds[end - beyond * (len(bounds) - 1)] + beyond * bounds[-1]
    return wrapped - bounds[first]


def _turned(draft: Draft, bounds: Ints, *, back: bool) -> None:
    """All blocks, in two parts, from the order of the pieces to the rank's own one in the last buffer, or back from it."""
    ranks, size, own = np.arange(len(bounds) - 1), bounds[-1], len(draft.buffers) - 1
    for first, turned, part in (
        (bounds[:-1], 0 * ranks, size - bounds[:-1]),
        (0 * ranks, size - bounds[:-1], bounds[:-1]),
    ):
        some = part > 0
        there, here = (first, turned) if back else (turned, first)
        draft.copies(
            ranks[some], there[some], part[some], here[some],
            buffer=0 if back else own, source=own if back else 0, wait=False,
        )  # fmt: skip
