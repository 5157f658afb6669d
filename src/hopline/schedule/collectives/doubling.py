"""Recursive halving and doubling: partners whose numbers differ in one bit exchange parts that shrink or grow.

What belongs here: algorithms of log2 N rounds of exchanges (R. Thakur, R. Rabenseifner and W. Gropp, IJHPCA 19, 2005). Where
the ranks are no power of two, ``folding`` makes them one.
"""

from __future__ import annotations

import numpy as np

from hopline.schedule import promises
from hopline.schedule.collectives.binomial import gather_up
from hopline.schedule.collectives.folding import fold, hand_in, hand_out
from hopline.schedule.drafting import Draft
from hopline.schedule.operations import Buffer, Schedule
from hopline.schedule.pieces import Ints, split
from hopline.schedule.promises import Promise
from hopline.schedule.shape import Shape


def all_reduce(shape: Shape) -> Schedule:
    """Recursive doubling: everything to a partner in each round."""
    draft = _draft("all_reduce-recursive_doubling", shape, promises.all_reduce(shape.ranks, shape.size))
    folded = fold(shape.ranks)
    hand_in(draft, folded, shape.size)
    number = np.arange(len(folded.cores))
    for bit in _near_first(len(number)):
        draft.begin_round()
        draft.messages(folded.cores, folded.cores[number ^ bit], 0, shape.size, into=1, reduce=True)
    hand_out(draft, folded, 0, shape.size)
    return draft.made()


def rabenseifner(shape: Shape) -> Schedule:
    """Recursive halving, the large messages between near ranks, then recursive doubling on the way back."""
    draft = _draft("all_reduce-rabenseifner", shape, promises.all_reduce(shape.ranks, shape.size))
    folded = fold(shape.ranks)
    bounds = split(shape.size, len(folded.cores))
    bits = _near_first(len(folded.cores))
    hand_in(draft, folded, shape.size)
    _halve(draft, folded.cores, bounds, bits)
    _double(draft, folded.cores, bounds, bits[::-1])
    hand_out(draft, folded, 0, shape.size)
    return draft.made()


def reduce_scatter(shape: Shape) -> Schedule:
    """Recursive halving of N pieces; a core halves for the extra behind it, and sends it its piece."""
    draft = _draft("reduce_scatter-recursive_halving", shape, promises.reduce_scatter(shape.ranks, shape.size))
    folded, bounds = fold(shape.ranks), split(shape.size, shape.ranks)
    hand_in(draft, folded, shape.size)
    _halve(draft, folded.cores, _of_cores(bounds, folded.cores), _near_first(len(folded.cores))[::-1])
    hand_out(draft, folded, bounds[folded.extras], np.diff(bounds)[folded.extras])
    return draft.made()


def all_gather(shape: Shape) -> Schedule:
    """Recursive doubling of N pieces; an extra hands in its piece, and gets all of them."""
    promise = promises.all_gather(shape.ranks, shape.size)
    draft = Draft("all_gather-recursive_doubling", shape.ranks, (Buffer("data", shape.size),), promise)
    folded, bounds = fold(shape.ranks), split(shape.size, shape.ranks)
    if len(folded.extras):
        draft.begin_round()
        draft.messages(folded.extras, folded.hosts, bounds[folded.extras], np.diff(bounds)[folded.extras])
    _double(draft, folded.cores, _of_cores(bounds, folded.cores), _near_first(len(folded.cores)))
    hand_out(draft, folded, 0, shape.size)
    return draft.made()


def reduce(shape: Shape) -> Schedule:
    """Rabenseifner's reduce: recursive halving, then the pieces are gathered along a binomial tree."""
    draft = _draft("reduce-scatter_gather", shape, promises.reduce(shape.ranks, shape.size))
    folded = fold(shape.ranks)
    bounds = split(shape.size, len(folded.cores))
    hand_in(draft, folded, shape.size)
    _halve(draft, folded.cores, bounds, _near_first(len(folded.cores))[::-1])
    gather_up(draft, folded.cores, bounds)
    return draft.made()


def _draft(name: str, shape: Shape, promise: Promise) -> Draft:
    return Draft(name, shape.ranks, (Buffer("data", shape.size), Buffer("scratch", shape.size)), promise)


def _near_first(cores: int) -> list[int]:
    """1, 2, 4, ... below ``cores``: by how much the numbers of partners differ."""
    return [1 << i for i in range(cores.bit_length() - 1)]


def _of_cores(bounds: Ints, cores: Ints) -> Ints:
    """Bounds of what each core stands for: its own piece and that of the extra behind it."""
    return np.append(bounds[cores], bounds[-1])


def _halve(draft: Draft, cores: Ints, bounds: Ints, bits: list[int]) -> None:
    """Each core sends half of what it has, adds up the other half, and goes on with that; a set bit keeps the upper half.

    With the far partners first core c ends with piece c, with the near ones first with that of the mirrored bits.
    """
    number = np.arange(len(cores))
    first, half = np.zeros_like(number), len(cores)
    for bit in bits:
        half //= 2
        upper = half * ((number & bit) > 0)
        given = first + half - upper
        first = first + upper
        draft.begin_round()
        start, end = bounds[given], bounds[given + half]
        draft.messages(cores, cores[number ^ bit], start, end - start, into=1, reduce=True)


def _double(draft: Draft, cores: Ints, bounds: Ints, bits: list[int]) -> None:
    """The way back of ``_halve`` with the opposite ``bits``: each core sends all that it has."""
    number = np.arange(len(cores))
    first, had = np.zeros_like(number), 1
    for place, bit in enumerate(bits):
        first += ((number & bit) > 0) << place
    for bit in bits:
        draft.begin_round()
        start, end = bounds[first], bounds[first + had]
        draft.messages(cores, cores[number ^ bit], start, end - start)
        first, had = first & ~had, 2 * had
