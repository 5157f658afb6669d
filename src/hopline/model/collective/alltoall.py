"""Closed forms of all-to-all.

What belongs here: rounds of single blocks, of half of the blocks, and of the blocks for a part of the groups. What is packed
is copied first, and the own blocks in the last round.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hopline.model.collective.rounds import Form, Rounds
from hopline.schedule.collectives.bruck import distances
from hopline.schedule.pieces import Ints, bound
from hopline.schedule.shape import Shape


def pairwise(shape: Shape) -> Form:
    """N - 1 rounds of the largest piece; a rank sends all but its own."""
    return Form(_pairwise(shape, None), shape.size - shape.size // shape.ranks)


def bruck(shape: Shape) -> Form:
    """Round i: all blocks whose way has bit i; those of one rank are for ranks 2^i, 2^i + 2^(i + 1), ... further."""
    piece, loads = bound(shape.size, shape.ranks, 1), [_half(shape, distance) for distance in distances(shape.ranks)]
    if not loads:
        return Form((Rounds(1, None, copied=shape.size),), 0)
    largest = [int(load.max()) for load in loads]
    rounds = [Rounds(1, size, copied=size) for size in largest]
    rounds[-1] = Rounds(1, largest[-1], copied=largest[-1] + shape.ranks * piece)
    return Form(tuple(rounds), int(np.sum(loads, axis=0).max()))


def hierarchical(shape: Shape) -> Form:
    """On each level L - 1 rounds, each of the blocks for one place there, from all who share it inside."""
    several = [(level if shape.levels else None, members) for level, members in enumerate(shape.groups) if members > 1]
    if len(several) < 2:
        return Form(_pairwise(shape, several[0][0] if several else None), pairwise(shape).sent)
    rounds, inside = [], 1
    for level, members in several:
        size = inside * int(_share(shape, inside * members)[0])
        rounds += [Rounds(members - 1, size, copied=size, level=level)]
        inside *= members
    last, own = rounds.pop(), inside // several[-1][1] * bound(shape.size, shape.ranks, 1)
    rounds += [replace(last, count=last.count - 1), replace(last, count=1, copied=last.copied + own)]
    return Form(tuple(rounds), _sent(shape, [members for _, members in several]))


def _pairwise(shape: Shape, level: int | None) -> tuple[Rounds, ...]:
    piece = bound(shape.size, shape.ranks, 1)
    if shape.ranks == 1:
        return (Rounds(1, None, copied=piece),)
    return Rounds(1, piece, copied=piece, level=level), Rounds(shape.ranks - 2, piece, level=level)


def _half(shape: Shape, distance: int) -> Ints:
    """Bytes that each rank sends in the round of ``distance``, shape (ranks,)."""
    way = np.arange(shape.ranks)
    way = way[(way & distance) > 0]
    further, larger = way // distance * distance, shape.size % shape.ranks
    times = np.bincount(further, minlength=shape.ranks)
    many = np.concatenate([[0], np.cumsum([times, times])])
    first = shape.ranks - np.arange(shape.ranks)
    to_larger: Ints = many[first + larger] - many[first]
    return len(way) * (shape.size // shape.ranks) + to_larger


def _share(shape: Shape, apart: int) -> Ints:
    """Bytes of the pieces r, r + ``apart``, r + 2 ``apart``, ... of a rank, for each r < ``apart``."""
    each, larger = divmod(shape.size, shape.ranks)
    many: Ints = (larger - np.arange(apart) + apart - 1) // apart
    return shape.ranks // apart * each + many


def _sent(shape: Shape, levels: list[int]) -> int:
    """On each level a rank sends what is for the place that it shares with others there, but not what is for its own."""
    ranks, sent, inside = np.arange(shape.ranks), np.zeros(shape.ranks, np.int64), 1
    for members in levels:
        within = inside * members
        sent += inside * (_share(shape, inside)[ranks % inside] - _share(shape, within)[ranks % within])
        inside = within
    return int(sent.max())
