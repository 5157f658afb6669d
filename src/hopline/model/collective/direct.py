"""Closed forms of what goes straight to whom it concerns.

What belongs here: N - 1 rounds, in each of which every rank sends a piece, and the one round of a sendrecv.
"""

from __future__ import annotations

from hopline.model.collective.rounds import Form, Rounds
from hopline.schedule.pieces import bound
from hopline.schedule.shape import Shape


def reduce_scatter(shape: Shape) -> Form:
    """N - 1 rounds of the largest piece, which its owner adds up."""
    piece = bound(shape.size, shape.ranks, 1)
    return Form((Rounds(shape.ranks - 1, piece, reduced=piece),), _others(shape))


def all_gather(shape: Shape) -> Form:
    """N - 1 rounds of the largest piece."""
    piece = bound(shape.size, shape.ranks, 1)
    return Form((Rounds(shape.ranks - 1, piece),), (shape.ranks - 1) * piece)


def all_reduce(shape: Shape) -> Form:
    """Both: rank r sends all pieces but r, and then piece r to everybody."""
    piece = bound(shape.size, shape.ranks, 1)
    rounds = reduce_scatter(shape).rounds + all_gather(shape).rounds
    return Form(rounds, shape.size + (shape.ranks - 2) * piece if shape.ranks > 1 else 0)


def sendrecv(shape: Shape) -> Form:
    """One round; one rank copies."""
    if shape.ranks == 1:
        return Form((Rounds(1, None, copied=shape.size),), 0)
    return Form((Rounds(1, shape.size),), shape.size)


def _others(shape: Shape) -> int:
    """All pieces but the smallest."""
    return shape.size - shape.size // shape.ranks
