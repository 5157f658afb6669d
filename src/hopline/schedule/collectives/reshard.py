"""From M holders to N others: a cache that one group of ranks holds in equal pieces, and another wants in equal pieces.

What belongs here: which parts go from whom to whom, and in what order. It is what happens to a KV cache between prefill and
decode workers of different tensor-parallel sizes.
"""

from __future__ import annotations

import numpy as np

from hopline.errors import InputError
from hopline.schedule import promises
from hopline.schedule.drafting import Draft
from hopline.schedule.operations import Buffer, Schedule
from hopline.schedule.pieces import Ints, overlaps, split
from hopline.schedule.shape import Shape

FIRST, BETWEEN, LAST = range(3)


def direct(shape: Shape) -> Schedule:
    """One message for each two pieces that overlap, all in one round, in an order that keeps the busiest port busy.

    Raises InputError where all ranks would receive; a single rank has what it wants.
    """
    parts = parts_of(shape)
    promise = promises.reshard(shape.ranks, shape.size, shape.targets)
    draft = Draft("reshard-direct", shape.ranks, (Buffer("data", shape.size),), promise)
    if len(parts[0]):
        start, size, origin, target = (column[turns(*parts[2:]).argsort(kind="stable")] for column in parts)
        draft.begin_round()
        draft.messages(origin, shape.ranks - shape.targets + target, start, size, wait=False)
    return draft.made()


def parts_of(shape: Shape) -> tuple[Ints, Ints, Ints, Ints]:
    """First byte, size, holder and target of each message, both numbered from 0, in order of bytes."""
    holders, targets = shape.ranks - shape.targets, shape.targets
    if shape.ranks == targets == 1:
        return overlaps(split(0, 1), split(0, 1))
    if holders < 1:
        raise InputError(f"targets is {targets}: expected fewer than the {shape.ranks} ranks, so that others hold")
    return overlaps(split(shape.size, holders), split(shape.size, targets))


def turns(holder: Ints, target: Ints) -> Ints:
    """FIRST, BETWEEN or LAST, for each message: no port is idle that has most to do, whatever messages take.

    Messages in order of bytes form a path of those whose two ends have others too; neighbours on it share an end. Every other
    one goes first and the rest last: neighbours together take no longer than their common port is busy, so they do not meet
    even if the last ones end when the busiest port does. Messages that are all that one of their ends has fill the gaps.
    """
    path = (np.bincount(holder)[holder] > 1) & (np.bincount(target)[target] > 1)
    return np.where(path, np.where(path.cumsum() % 2, FIRST, LAST), BETWEEN)
