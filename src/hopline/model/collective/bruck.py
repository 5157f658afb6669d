"""Closed forms of algorithms whose distances double.

What belongs here: ceil(log2 N) rounds, the largest of which send half of the ranks' pieces.
"""

from __future__ import annotations

from dataclasses import replace

from hopline.model.collective.rounds import Form, Rounds
from hopline.schedule.collectives.bruck import distances
from hopline.schedule.pieces import bound
from hopline.schedule.shape import Shape


def all_gather(shape: Shape) -> Form:
    """Round i sends min(2^i, N - 2^i) pieces; copies: the own piece before, all of them after."""
    rounds = [Rounds(1, size) for size in _windows(shape)]
    return Form(_copying(rounds, bound(shape.size, shape.ranks, 1), shape.size), sum(_windows(shape)))


def reduce_scatter(shape: Shape) -> Form:
    """The same backwards; copies: all pieces before, the own one after. A rank sends every piece but its own once."""
    rounds = [Rounds(1, size, reduced=size) for size in reversed(_windows(shape))]
    copying = _copying(rounds, shape.size, bound(shape.size, shape.ranks, 1))
    return Form(copying, shape.size - shape.size // shape.ranks)


def barrier(shape: Shape) -> Form:
    """Zero bytes in every round."""
    return Form((Rounds(len(distances(shape.ranks)), 0),), 0)


def _windows(shape: Shape) -> list[int]:
    """Bytes of the largest message of each round: the pieces from the first on."""
    counts = [min(distance, shape.ranks - distance) for distance in distances(shape.ranks)]
    return [bound(shape.size, shape.ranks, count) for count in counts]


def _copying(rounds: list[Rounds], before: int, after: int) -> tuple[Rounds, ...]:
    """Copies in the first and in the last round, where there are any."""
    for number, copied in ((0, before), (-1, after)) if rounds else ():
        rounds[number] = replace(rounds[number], copied=rounds[number].copied + copied)
    return tuple(rounds)
