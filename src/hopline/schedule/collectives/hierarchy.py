"""All-reduce by levels: rings inside of groups first, so that only a part of the message goes outwards.

What belongs here: reduce-scatter from the innermost level to the outermost, then all-gather back; whole, or cut into chunks
that are on different levels at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hopline.schedule import promises
from hopline.schedule.drafting import Draft
from hopline.schedule.groups import neighbours, places
from hopline.schedule.operations import NONE, Buffer, Index, Schedule
from hopline.schedule.pieces import Ints, cuts, split
from hopline.schedule.shape import Shape


@dataclass(frozen=True, slots=True)
class Phase:
    """Rings in all groups of a level at once: who sends to whom, shape (ranks,), and what, shape (rounds, ranks)."""

    level: int
    reduce: bool
    receiver: Ints
    start: Ints
    size: Ints


def all_reduce(shape: Shape) -> Schedule:
    """One phase after the other; on each level every rank works for a shard of its own."""
    draft, ranks = _draft("all_reduce-hierarchical", shape), np.arange(shape.ranks)
    for phase in phases(shape.groups, shape.size):
        draft.steady(ranks, phase.receiver, phase.start, phase.size, reduce=phase.reduce)
    return draft.made()


def all_reduce_chunked(shape: Shape) -> Schedule:
    """Chunk j does its phase p in wave j + p; on each level, which has a channel, the phases of a wave take turns.

    The turns are fixed, so that a wave lasts no longer than what its busiest level has to do.
    """
    draft = _draft("all_reduce-hierarchical_chunked", shape)
    levels = [level for level in shape.groups if level > 1]
    bounds = split(shape.size, cuts(shape.size, shape.chunks))
    sizes = np.diff(bounds).tolist()
    plans = {size: phases(levels, size) for size in set(sizes)}
    last = np.full((len(sizes), shape.ranks), NONE, np.int32)
    for wave in range(len(sizes) + 2 * len(levels) - 1 if levels else 0):
        draft.begin_round()
        begun = range(max(0, wave - 2 * len(levels) + 1), min(wave, len(sizes) - 1) + 1)
        active = {chunk: plans[sizes[chunk]][wave - chunk] for chunk in begun}
        for level, members in enumerate(levels):
            here = {chunk: phase for chunk, phase in active.items() if phase.level == level}
            for turn in range(members - 1):
                for chunk, phase in here.items():
                    _take(draft, phase, turn, int(bounds[chunk]), last[chunk])
                    last[chunk] = draft.received(level)
    return draft.made()


def phases(levels: Sequence[int], size: int) -> list[Phase]:
    """Reduce-scatter on all levels, the innermost first, then all-gather on all, the outermost first."""
    down, up = list[Phase](), list[Phase]()
    start, held = np.zeros(int(np.prod(levels)), np.int64), np.full(int(np.prod(levels)), size)
    for level, (members, place) in enumerate(zip(levels, places(levels), strict=True)):
        receiver, piece = neighbours(levels, level), place - np.arange(members - 1)[:, None]
        for way, number in ((down, piece - 1), (up, piece)):
            first, sent = part(held, members, number % members)
            way.append(Phase(level, way is down, receiver, start + first, sent))
        first, held = part(held, members, place)
        start = start + first
    return down + up[::-1]


def part(size: Ints, parts: int, piece: Ints) -> tuple[Ints, Ints]:
    """First byte and size of a ``piece`` of ranges of ``size`` bytes, as ``split`` cuts them."""
    each, larger = np.divmod(size, parts)
    return piece * each + np.minimum(piece, larger), each + (piece < larger)


def _take(draft: Draft, phase: Phase, turn: int, base: int, last: Index) -> None:
    """One round of a phase of the chunk that begins at ``base`` and of which each rank has received ``last``.

    Channels do not wait for one another, so each phase of a rank waits for its phase before.
    """
    draft.messages(
        np.arange(len(last)),
        phase.receiver,
        base + phase.start[turn],
        phase.size[turn],
        into=1 if phase.reduce else 0,
        reduce=phase.reduce,
        channel=phase.level,
        after=last,
        wait=last,
    )


def _draft(name: str, shape: Shape) -> Draft:
    buffers = Buffer("data", shape.size), Buffer("scratch", shape.size)
    return Draft(name, shape.ranks, buffers, promises.all_reduce(shape.ranks, shape.size))
