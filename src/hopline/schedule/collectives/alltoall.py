"""All-to-all: straight to everybody, over distances that double (Bruck), and level by level.

What belongs here: which blocks go together, and where they lie meanwhile. Block (s, d) is piece d of rank s. Blocks that go
together are packed into a range of the scratch buffer, and arrive in another; no byte of it is used twice.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hopline.schedule import promises
from hopline.schedule.collectives.bruck import distances
from hopline.schedule.collectives.direct import nothing
from hopline.schedule.drafting import Draft
from hopline.schedule.groups import neighbours, places, spans
from hopline.schedule.operations import Buffer, Schedule
from hopline.schedule.pieces import Ints, split
from hopline.schedule.shape import Shape

DATA, OUT, SCRATCH = range(3)


def pairwise(shape: Shape) -> Schedule:
    """N - 1 rounds: in round s a block goes to the rank s further; the own one is copied."""
    return _pairwise("alltoall-pairwise", shape)


def bruck(shape: Shape) -> Schedule:
    """ceil(log2 N) rounds: in round i all blocks whose way, d - s, has bit i go 2^i ranks further (J. Bruck et al., 1997)."""
    blocks = Blocks("alltoall-bruck", shape)
    every, way = blocks.ranks[:, None], np.arange(shape.ranks)
    where = blocks.bounds[(every + way) % shape.ranks]
    for distance in distances(shape.ranks):
        blocks.draft.begin_round()
        going = way[(way & distance) > 0]
        size = blocks.size[(every + going // distance * distance) % shape.ranks]
        there = blocks.send((blocks.ranks + distance) % shape.ranks, where[:, going], size, going % distance == 0)
        where[:, going] = there[(blocks.ranks - distance) % shape.ranks]
    blocks.keep((every - way) % shape.ranks, where, way == 0)
    return blocks.made()


def hierarchical(shape: Shape) -> Schedule:
    """Inside of the innermost groups first, to the rank with the receiver's place there; then level by level outwards."""
    levels = [level for level in shape.groups if level > 1]
    if len(levels) < 2:
        return _pairwise("alltoall-hierarchical", shape)
    blocks = Blocks("alltoall-hierarchical", shape)
    where = np.repeat(blocks.bounds[None, None, :-1], shape.ranks, axis=0)
    for level in range(len(levels)):
        where = _through(blocks, levels, level, where)
    return blocks.made()


class Blocks:
    """A draft of blocks that are packed, sent and kept; ``ranks``, ``bounds`` and ``size`` of the pieces."""

    def __init__(self, name: str, shape: Shape) -> None:
        buffers = Buffer("data", shape.size), Buffer("out", int(split(shape.size, shape.ranks)[1]) * shape.ranks)
        self.draft = Draft(name, shape.ranks, buffers, promises.alltoall(shape.ranks, shape.size))
        self.ranks, self.bounds = np.arange(shape.ranks), split(shape.size, shape.ranks)
        self.size: Ints = np.diff(self.bounds)
        self.used = 0

    def send(self, receiver: Ints, where: Ints, size: Ints, unmoved: Ints, to: Ints | None = None) -> Ints:
        """A message of several blocks from each rank; where they lie at the receiver, by sender, shape (ranks, blocks).

        ``where``, ``size``, ``unmoved``: first bytes and bytes of the blocks of each rank, and whether they are still in the
        data. ``to``: first byte of ``out`` for all, None: they arrive in the scratch buffer.
        """
        ends = size.cumsum(axis=1)
        first, total = ends - size, ends[:, -1]
        packed, room = self.used, int(total.max())
        self._copy(SCRATCH, packed + first, where, size, unmoved)
        into, arrives = (SCRATCH, np.full(len(total), packed + room)) if to is None else (OUT, to)
        self.used += room if to is not None else 2 * room
        self.draft.messages(self.ranks, receiver, packed, total, to=arrives, buffer=SCRATCH, into=into, wait=False)
        return arrives[:, None] + first

    def keep(self, origin: Ints, where: Ints, unmoved: Ints) -> None:
        """Blocks for the rank itself to their places in ``out``; ``origin``: the rank each is from, shape (ranks, blocks)."""
        if len(self.ranks) == 1:
            self.draft.begin_round()
        own = np.broadcast_to(self.size[:, None], origin.shape)
        self._copy(OUT, origin * own, where, own, unmoved)

    def made(self) -> Schedule:
        """The schedule."""
        self.draft.buffers += (Buffer("scratch", self.used),)
        return self.draft.made()

    def _copy(self, buffer: int, start: Ints, where: Ints, size: Ints, unmoved: Ints) -> None:
        rank, moved = np.broadcast_to(self.ranks[:, None], size.shape), ~np.broadcast_to(unmoved, size.shape)
        for source, some in ((DATA, ~moved & (size > 0)), (SCRATCH, moved & (size > 0))):
            self.draft.copies(
                rank[some], start[some], size[some], where[some], buffer=buffer, source=source, wait=False
            )


def _pairwise(name: str, shape: Shape) -> Schedule:
    blocks = Blocks(name, shape)
    ranks = blocks.ranks
    for step in range(1, shape.ranks):
        to = (ranks + step) % shape.ranks
        blocks.draft.begin_round()
        if step == 1:
            blocks.keep(ranks[:, None], blocks.bounds[:-1, None], np.array([True]))
        there = ranks * blocks.size[to]
        blocks.draft.messages(
            ranks, to, blocks.bounds[to], blocks.size[to], to=there, into=OUT, wait=False, after=nothing(shape)
        )
    if shape.ranks == 1:
        blocks.keep(ranks[:, None], blocks.bounds[:-1, None], np.array([True]))
    return blocks.made()


def _through(blocks: Blocks, levels: Sequence[int], level: int, where: Ints) -> Ints:
    """Every block gets to a rank that has its receiver's place on this level.

    ``where``: at which byte a rank has the block from the rank with the low digits a to the one with the high digits h, shape
    (ranks, a, h): those of the levels inside, which the blocks have been through, and of this and those outside. The same is
    handed back, with a digit more in a and one less in h; after the last level the blocks are in ``out``.
    """
    members, span, place = levels[level], int(spans(levels)[level]), places(levels)[level]
    onward, ranks, low = np.arange(where.shape[2] // members), blocks.ranks, np.arange(span)
    moved = np.empty((len(ranks), members * span, len(onward)), np.int64)
    unmoved = np.tile(low == (ranks % span)[:, None], len(onward))
    for step in [*range(1, members), 0]:
        high = ((place + step) % members)[:, None] + members * onward
        there = where[ranks[:, None], :, high]
        sender = neighbours(levels, level, -step)
        if step:
            receiver = neighbours(levels, level, step)
            size = np.repeat(blocks.size[(ranks % span)[:, None] + span * high], span, axis=1)
            to = span * place * blocks.size[receiver] if level == len(levels) - 1 else None
            blocks.draft.begin_round()
            there = blocks.send(receiver, there.reshape(size.shape), size, unmoved, to).reshape(there.shape)
        elif level == len(levels) - 1:
            blocks.keep(span * place[:, None] + low, there[:, 0], unmoved)
        origin = (span * place[sender])[:, None, None] + low
        moved[ranks[:, None, None], origin, onward[:, None]] = there[sender]
    return moved
