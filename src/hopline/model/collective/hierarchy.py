"""Closed forms of all-reduce by levels.

What belongs here: phases of rings, one after the other, or those of several chunks at the same time on different levels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from hopline.model.collective.rounds import Abreast, Form, Rounds
from hopline.schedule.collectives.hierarchy import part
from hopline.schedule.groups import places
from hopline.schedule.pieces import Ints, bound, cuts
from hopline.schedule.shape import Shape


def all_reduce(shape: Shape) -> Form:
    """On each level L - 1 rounds of the largest piece of the largest shard that add up, and as many on the way back."""
    return Form(tuple(phases(shape, shape.size)), int(_sent(shape.groups, shape.size).max()))


def all_reduce_chunked(shape: Shape) -> Form:
    """Bounds, for a network with these levels.

    Not more than wave after wave, each as long as its busiest level needs: the turns on a level are fixed, so nobody waits for
    more. Not less than what the ports of a level carry, after the first chunk has come there and until the last is back, and
    not less than all phases of one chunk. They are the same where one level is the busiest in every wave of the two.
    """
    chunks = cuts(shape.size, shape.chunks)
    sizes = -(-shape.size // chunks), shape.size // chunks
    large = shape.size % chunks or chunks
    plans = [list(phases(shape, size)) for size in sizes]
    if not plans[0]:
        return Form((), 0)
    waves = tuple(_waves(plans, chunks, large))
    sent = np.array([_sent(shape.groups, size) for size in sizes])
    most = int((np.array([[large], [chunks - large]]) * sent).sum(axis=0).max())
    return Form(waves, most, (tuple(plans[0]), *_ports(shape, chunks)))


def phases(shape: Shape, size: int) -> Iterator[Rounds]:
    """Of ``size`` bytes: reduce-scatter on each level of several members, then all-gather backwards."""
    down = list[Rounds]()
    for level, members in enumerate(shape.groups):
        size = bound(size, members, 1)
        if members > 1:
            told = level if shape.levels else None
            down.append(Rounds(members - 1, size, reduced=size, level=told, channels=(len(down),)))
    yield from down
    yield from (replace(phase, reduced=0.0) for phase in reversed(down))


def _waves(plans: Sequence[Sequence[Rounds]], chunks: int, large: int) -> Iterator[Abreast]:
    """Waves that are alike together: what is done on each level; the first ``large`` chunks follow the first of ``plans``."""
    depth = len(plans[0])
    changes = {phase + at for phase in range(depth) for at in (0, large, chunks)}
    for wave, following in pairwise(sorted(changes)):
        done: dict[object, list[Rounds]] = {}
        for phase in range(depth):
            if 0 <= wave - phase < chunks:
                once = plans[wave - phase >= large][phase]
                done.setdefault(once.level, []).append(replace(once, count=once.count * (following - wave)))
        yield Abreast(following - wave, tuple(tuple(parts) for parts in done.values()))


def _ports(shape: Shape, chunks: int) -> Iterator[tuple[Rounds, ...]]:
    """What the ports of each level carry at least, and what comes before it and after it on the levels inside."""
    size, inside = shape.size // chunks, list[Rounds]()
    for level, members in enumerate(shape.groups):
        size //= members
        if members > 1:
            once = Rounds(members - 1, size, level=level if shape.levels else None)
            yield (*inside, replace(once, count=2 * chunks * once.count))
            inside += [replace(once, reduced=size), once]


def _sent(levels: Sequence[int], size: int) -> Ints:
    """Bytes that each rank sends, shape (ranks,): a ring leaves out the own piece on the way in, the next on the way out."""
    held: Ints = np.full(int(np.prod(levels)), size)
    sent: Ints = np.zeros_like(held)
    for members, place in zip(levels, places(levels), strict=True):
        own, following = (part(held, members, piece)[1] for piece in (place, (place + 1) % members))
        sent, held = sent + 2 * held - own - following, own
    return sent
