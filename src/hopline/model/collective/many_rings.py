"""Closed forms of rings on several channels, and of one ring over levels.

What belongs here: rounds of which every level, and on it every NIC, has its part to do at the same time.

A round lasts no longer than the busiest NIC is busy: it goes through those who wait in the order in which they came, at most
one message of each ring, and its messages all come from one rank and go to one. On one network with a NIC for each ring that
is exact: the largest piece is never waited for. Elsewhere ranks may be ahead of others, and no ring is faster than a piece
on its way, nor any NIC than all that it carries.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from hopline.model.collective.rounds import Abreast, Form, Rounds
from hopline.schedule.collectives.many_rings import order
from hopline.schedule.groups import spans
from hopline.schedule.pieces import Ints, bound
from hopline.schedule.shape import Shape

Load = tuple[int | None, tuple[int, ...]]
"""A level, and the channels on which a rank sends over it."""


def all_reduce(shape: Shape) -> Form:
    """2(N - 1) rounds of the largest piece of the largest share, on every channel."""
    return _rings(shape, shape.channels)


def flat_ring(shape: Shape) -> Form:
    """2(N - 1) rounds, each of which waits for its slowest message, on whichever level that is.

    Where pieces differ, not every round has a larger one on every level.
    """
    form, larger = _rings(shape, 1), shape.size % shape.ranks
    if not larger or len(form.least) == 0:
        return form
    adding, keeping = (_unequal(shape, early) for early in (1, 0))
    return replace(form, rounds=(*adding, *keeping))


def _rings(shape: Shape, count: int) -> Form:
    if shape.ranks == 1:
        return Form((), 0)
    piece, smallest = bound(bound(shape.size, count, 1), shape.ranks, 1), shape.size // count // shape.ranks
    half, loads = shape.ranks - 1, _loads(shape.groups, bool(shape.levels), count)
    added = Abreast(half, tuple((Rounds(half, piece, reduced=piece, level=at, channels=on),) for at, on in loads))
    kept = Abreast(half, tuple((Rounds(half, piece, level=at, channels=on),) for at, on in loads))
    carried = tuple((Rounds(2 * half, smallest, level=at, channels=on),) for at, on in loads)
    least = () if len(loads) == count == 1 else (_way(shape, piece), *carried)
    return Form((added, kept), _sent(shape, count), least)


def _unequal(shape: Shape, early: int) -> Iterator[Abreast]:
    """Rounds that are alike: the rank at place p of the ring sends piece p - s - ``early`` in round s; early ones add up."""
    smallest, larger = divmod(shape.size, shape.ranks)
    first, after = np.arange(shape.ranks - 1) + early, np.arange(1, shape.ranks + 1)
    several = [level for level, members in enumerate(shape.groups) if members > 1]
    over = np.max([np.where(after % spans(shape.groups)[level] == 0, level, 0) for level in several], axis=0)
    places = [np.concatenate([[0], np.cumsum([over == level] * 2)]) for level in several]
    shown = np.array([many[first + larger] > many[first] for many in places])
    for has, count in zip(*np.unique(shown.T, axis=0, return_counts=True), strict=True):
        yield Abreast(
            int(count),
            tuple(
                (Rounds(int(count), smallest + int(one), reduced=early * (smallest + 1), level=level),)
                for level, one in zip(several, has, strict=True)
            ),
        )


@lru_cache(maxsize=256)
def _loads(levels: tuple[int, ...], told: bool, count: int) -> tuple[Load, ...]:
    """Of each level the sets of rings that leave some rank over it, each once, the outermost level first."""
    top = max(level for level, members in enumerate(levels) if members > 1)
    found = dict[Load, None]()
    for level in reversed(range(top + 1)):
        span = int(spans(levels)[level])
        through: dict[int, list[int]] = defaultdict(list)
        for ring in range(count):
            through[ring % span].append(ring)
        for rings in through.values():
            for leaving in _beside(rings, span, levels[level]) if level < top else [tuple(rings)]:
                found[level if told else None, leaving] = None
    return tuple(found)


def _beside(rings: Sequence[int], span: int, members: int) -> Iterator[tuple[int, ...]]:
    """Those of ``rings`` that go on in the group; the others leave it at this rank: all that enter at the one after it."""
    entries = [ring // span % members for ring in rings]
    for entry in range(members if members > 1 else 0):
        leaving = tuple(ring for ring, at in zip(rings, entries, strict=True) if at != entry)
        if leaving:
            yield leaving


def _way(shape: Shape, piece: int) -> tuple[Rounds, ...]:
    """Of the first piece of ring 0: round the ring but for one step when it is added up, and again when it is kept."""
    levels = shape.groups
    several = [level for level, members in enumerate(levels) if members > 1]
    steps = {
        level: (levels[level] - 1) * (shape.ranks // int(spans(levels)[level]) // levels[level]) for level in several
    }
    steps[several[-1]] += 1
    added, kept = (
        [(level, many - (level == left)) for level, many in steps.items()] for left in (several[0], several[-1])
    )
    told = [
        (level if shape.levels else None, many, reduced)
        for part, reduced in ((added, piece), (kept, 0))
        for level, many in part
    ]
    return tuple(Rounds(many, piece, reduced=reduced, level=level) for level, many, reduced in told if many)


def _sent(shape: Shape, count: int) -> int:
    """A rank leaves out the piece of its place when it adds up, and that of the next when it keeps.

    The pieces of a ring are ``each`` bytes or one more, the first ``larger`` of them: what the rank at place p leaves out is
    (p < larger) + (p + 1 < larger, round the ring) bytes more than twice ``each``.
    """
    share, more = divmod(shape.size, count)
    total, extra = 0, np.zeros(shape.ranks, np.int64)
    for rings, size in ((range(more), share + 1), (range(more, count), share)):
        each, larger = divmod(size, shape.ranks)
        total += len(rings) * 2 * (size - each)
        if larger:
            place = np.arange(shape.ranks)
            left = (place < larger).astype(np.int64) + ((place + 1) % shape.ranks < larger)
            for ring in rings:
                extra += left[_places(shape.groups, ring)]
    return total - int(extra.min())


@lru_cache(maxsize=1024)
def _places(levels: tuple[int, ...], ring: int) -> Ints:
    """Place of each rank in a ring; read-only, since it is kept."""
    found: Ints = np.argsort(order(levels, ring))
    found.flags.writeable = False
    return found
