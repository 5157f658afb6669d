"""Closed forms of gathers to rank 0 and scatters from it.

What belongs here: what goes through the port of rank 0, which every message or the largest of every round goes through.
"""

from __future__ import annotations

from hopline.model.collective.rounds import Form, Rounds
from hopline.schedule.collectives.bruck import distances
from hopline.schedule.pieces import bound
from hopline.schedule.shape import Shape


def gather_direct(shape: Shape) -> Form:
    """N - 1 rounds, the larger pieces first."""
    return Form(_one_by_one(shape), _piece(shape, 1) if shape.ranks > 1 else 0)


def scatter_direct(shape: Shape) -> Form:
    """The same, and rank 0 sends all pieces but its own."""
    return Form(_one_by_one(shape), shape.size - _piece(shape, 0))


def gather_binomial(shape: Shape) -> Form:
    """Round i: what rank 2^i has gathered, the pieces up to 2^(i + 1)."""
    sizes = _branches(shape)
    return Form(tuple(Rounds(1, size) for size in sizes), max(sizes, default=0))


def scatter_binomial(shape: Shape) -> Form:
    """The same backwards."""
    return Form(tuple(Rounds(1, size) for size in reversed(_branches(shape))), shape.size - _piece(shape, 0))


def _piece(shape: Shape, number: int) -> int:
    return bound(shape.size, shape.ranks, number + 1) - bound(shape.size, shape.ranks, number)


def _one_by_one(shape: Shape) -> tuple[Rounds, ...]:
    each, larger = divmod(shape.size, shape.ranks)
    first = max(0, larger - 1)
    return Rounds(first, each + 1), Rounds(shape.ranks - 1 - first, each)


def _branches(shape: Shape) -> list[int]:
    return [
        bound(shape.size, shape.ranks, min(2 * distance, shape.ranks)) - bound(shape.size, shape.ranks, distance)
        for distance in distances(shape.ranks)
    ]
