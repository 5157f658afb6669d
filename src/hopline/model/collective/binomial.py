"""Closed forms of binomial trees.

What belongs here: ceil(log2 N) rounds with root 0, which sends or receives the most in every one of them.
"""

from __future__ import annotations

from itertools import pairwise

from hopline.model.collective.rings import all_gather
from hopline.model.collective.rounds import Form, Rounds
from hopline.schedule.pieces import bound
from hopline.schedule.shape import Shape


def broadcast(shape: Shape) -> Form:
    """Everything in every round; the root sends in all of them."""
    return Form((Rounds(_log(shape), shape.size),), _log(shape) * shape.size)


def reduce(shape: Shape) -> Form:
    """Every rank but the root sends once."""
    return Form((Rounds(_log(shape), shape.size, reduced=shape.size),), shape.size if shape.ranks > 1 else 0)


def all_reduce(shape: Shape) -> Form:
    """``reduce``, then ``broadcast``."""
    down = broadcast(shape)
    return Form((*reduce(shape).rounds, *down.rounds), down.sent)


def scatter_all_gather(shape: Shape) -> Form:
    """Halves, quarters, ... of the message down a tree, then pieces round a ring; the root sends the most in both."""
    ring, starts = all_gather(shape), [bound(shape.size, shape.ranks, 1 << i) for i in range(_log(shape))]
    scattered = [Rounds(1, end - start) for start, end in reversed(list(pairwise((*starts, shape.size))))]
    largest = bound(shape.size, shape.ranks, min(2, shape.ranks))
    return Form((*scattered, *ring.rounds), 2 * shape.size - largest if shape.ranks > 1 else 0)


def _log(shape: Shape) -> int:
    """Rounded up."""
    return (shape.ranks - 1).bit_length()
