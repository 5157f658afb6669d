"""Closed forms of recursive halving and doubling.

What belongs here: log2 p rounds of exchanges, p the largest power of two of at most N ranks, and one or two more where N is
none. What rank 0 sends or adds up is the most in every round, so the time is exact for pieces that are not equal, too.
"""

from __future__ import annotations

from hopline.model.collective.rounds import Form, Rounds
from hopline.schedule.pieces import bound
from hopline.schedule.shape import Shape


def all_reduce(shape: Shape) -> Form:
    """Everything in every round; all but the last one add up."""
    cores, extras = _fold(shape)
    size, doublings = shape.size, _log(cores)
    rounds = (Rounds(doublings, size, reduced=size),)
    return Form((*_hand_in(shape), *rounds, *_hand_out(shape, size)), (doublings + bool(extras)) * size)


def rabenseifner(shape: Shape) -> Form:
    """Halves, quarters, ... of the message and back again."""
    cores, extras = _fold(shape)
    parts = [bound(shape.size, cores, 1 << i) for i in range(_log(cores))]
    halving = [Rounds(1, part, reduced=part) for part in reversed(parts)]
    doubling = [Rounds(1, part) for part in parts]
    sent = shape.size - bound(shape.size, cores, 1) + sum(parts) + bool(extras) * shape.size
    return Form((*_hand_in(shape), *halving, *doubling, *_hand_out(shape, shape.size)), sent)


def reduce_scatter(shape: Shape) -> Form:
    """Halves, quarters, ... of what the cores stand for; an extra gets the second piece of its core."""
    extras = _fold(shape)[1]
    halving = [Rounds(1, part, reduced=part) for part in reversed(_parts(shape))]
    sent = shape.size if extras else shape.size - shape.size // shape.ranks
    return Form((*_hand_in(shape), *halving, *_hand_out(shape, _second(shape))), sent)


def all_gather(shape: Shape) -> Form:
    """The way of ``reduce_scatter`` back; an extra gets everything."""
    extras, parts = _fold(shape)[1], _parts(shape)
    begin = (Rounds(1, _second(shape)),) if extras else ()
    doubling = [Rounds(1, part) for part in parts]
    return Form((*begin, *doubling, *_hand_out(shape, shape.size)), sum(parts) + bool(extras) * shape.size)


def reduce(shape: Shape) -> Form:
    """Halving as in ``rabenseifner``; then the root gets as much again, half of it in the last round."""
    cores = _fold(shape)[0]
    bounds = [bound(shape.size, cores, 1 << i) for i in range(_log(cores) + 1)]
    halving = [Rounds(1, part, reduced=part) for part in reversed(bounds[:-1])]
    gathered = [Rounds(1, bounds[i + 1] - bounds[i]) for i in range(_log(cores))]
    beyond = (bounds[i + 1] - bound(shape.size, cores, (1 << i) + 1) for i in range(_log(cores)))
    sent = shape.size + max(beyond) if shape.ranks > 1 else 0
    return Form((*_hand_in(shape), *halving, *gathered), sent)


def _log(power: int) -> int:
    return power.bit_length() - 1


def _fold(shape: Shape) -> tuple[int, int]:
    """Cores, a power of two, and extras."""
    cores = 1 << _log(shape.ranks)
    return cores, shape.ranks - cores


def _hand_in(shape: Shape) -> tuple[Rounds, ...]:
    return (Rounds(1, shape.size, reduced=shape.size),) if _fold(shape)[1] else ()


def _hand_out(shape: Shape, size: int) -> tuple[Rounds, ...]:
    return (Rounds(1, size),) if _fold(shape)[1] else ()


def _second(shape: Shape) -> int:
    """The second piece of N, the largest that an extra has."""
    return bound(shape.size, shape.ranks, 2) - bound(shape.size, shape.ranks, 1) if shape.ranks > 1 else 0


def _parts(shape: Shape) -> list[int]:
    """What the first 1, 2, 4, ... cores stand for, without all: the first ones have an extra behind them."""
    cores, extras = _fold(shape)
    counts = [(1 << i) + min(1 << i, extras) for i in range(_log(cores))]
    return [bound(shape.size, shape.ranks, count) for count in counts]
