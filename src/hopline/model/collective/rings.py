"""Closed forms of the rings.

What belongs here: rounds of algorithms in which every rank sends one piece to its neighbour.
"""

from __future__ import annotations

from hopline.model.collective.rounds import Form, Rounds
from hopline.schedule.shape import Shape


def all_reduce(shape: Shape) -> Form:
    """2(N - 1) rounds of the largest piece; the first half adds up."""
    half, piece = shape.ranks - 1, _piece(shape)
    return Form((Rounds(half, piece, reduced=piece), Rounds(half, piece)), _sent_twice(shape))


def reduce_scatter(shape: Shape) -> Form:
    """N - 1 rounds that add up."""
    piece = _piece(shape)
    return Form((Rounds(shape.ranks - 1, piece, reduced=piece),), _sent(shape))


def all_gather(shape: Shape) -> Form:
    """N - 1 rounds."""
    return Form((Rounds(shape.ranks - 1, _piece(shape)),), _sent(shape))


def _piece(shape: Shape) -> int:
    return -(-shape.size // shape.ranks)


def _sent(shape: Shape) -> int:
    """All pieces but one of the smallest."""
    return shape.size - shape.size // shape.ranks


def _sent_twice(shape: Shape) -> int:
    """A rank leaves out its own piece and then the next one: of those that follow one another, two of the smallest."""
    smallest, larger = divmod(shape.size, shape.ranks)
    one_small = larger == shape.ranks - 1
    return 2 * (shape.size - smallest) - one_small if shape.ranks > 1 else 0
