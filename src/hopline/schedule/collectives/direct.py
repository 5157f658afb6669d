"""Straight to whom it concerns: every rank sends each piece to its owner, or its own piece to everybody.

What belongs here: algorithms in which data go over no other rank, in N - 1 rounds; in round s rank r sends to r + s.
"""

from __future__ import annotations

import numpy as np

from hopline.schedule import promises
from hopline.schedule.drafting import Draft
from hopline.schedule.operations import NONE, Buffer, Index, Schedule
from hopline.schedule.pieces import split
from hopline.schedule.promises import Promise
from hopline.schedule.shape import Shape


def reduce_scatter(shape: Shape) -> Schedule:
    """Each piece goes to its owner, who adds it up."""
    draft = _draft("reduce_scatter-direct", shape, promises.reduce_scatter(shape.ranks, shape.size), "scratch")
    _to_owners(draft, shape)
    return draft.made()


def all_gather(shape: Shape) -> Schedule:
    """Everybody's piece goes to everybody."""
    draft = _draft("all_gather-direct", shape, promises.all_gather(shape.ranks, shape.size))
    _to_everybody(draft, shape, nothing(shape), nothing(shape))
    return draft.made()


def all_reduce(shape: Shape) -> Schedule:
    """Pieces to their owners, and sums from there to everybody: 2(N - 1) rounds, as many bytes as a ring."""
    draft = _draft("all_reduce-direct", shape, promises.all_reduce(shape.ranks, shape.size), "scratch")
    _to_owners(draft, shape)
    _to_everybody(draft, shape, draft.received(), draft.sent())
    return draft.made()


def sendrecv(shape: Shape) -> Schedule:
    """Each rank to the next, in one round, as nccl-tests does it."""
    draft = _draft("sendrecv-ring", shape, promises.sendrecv(shape.ranks, shape.size), "out")
    ranks = np.arange(shape.ranks)
    draft.begin_round()
    if shape.ranks == 1:
        draft.copies(0, 0, shape.size, 0, buffer=1, source=0)
    else:
        draft.messages(ranks, np.roll(ranks, -1), 0, shape.size, into=1, wait=False)
    return draft.made()


def nothing(shape: Shape) -> Index:
    """Rows by rank for ends that wait for none."""
    return np.full(shape.ranks, NONE, np.int32)


def _to_owners(draft: Draft, shape: Shape) -> None:
    bounds, ranks = split(shape.size, shape.ranks), np.arange(shape.ranks)
    for step in range(1, shape.ranks):
        owner = (ranks + step) % shape.ranks
        draft.begin_round()
        draft.messages(
            ranks, owner, bounds[owner], np.diff(bounds)[owner], into=1, reduce=True, wait=False, after=nothing(shape)
        )


def _to_everybody(draft: Draft, shape: Shape, after: Index, wait: Index) -> None:
    """``after``, ``wait``: by rank, rows that its Sends and its Recvs wait for."""
    bounds, ranks = split(shape.size, shape.ranks), np.arange(shape.ranks)
    for step in range(1, shape.ranks):
        draft.begin_round()
        draft.messages(ranks, (ranks + step) % shape.ranks, bounds[:-1], np.diff(bounds), wait=wait, after=after)


def _draft(name: str, shape: Shape, promise: Promise, second: str = "") -> Draft:
    """``second``: name of a buffer beside the data, as large."""
    buffers = [Buffer(name, shape.size) for name in ("data", second) if name]
    return Draft(name, shape.ranks, tuple(buffers), promise)
