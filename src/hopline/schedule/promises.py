"""What a collective promises: which ranges hold data before, and what must be where after.

What belongs here: given and wanted ranges as rows. Whether a schedule keeps the promise is ``check``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hopline.schedule.pieces import Ints, overlaps, split

EVERY = -1
"""As the source of a wanted range: the sum of the given data of all ranks."""


@dataclass(frozen=True, slots=True)
class Given:
    """Ranges that hold data of their own rank before the schedule begins; columns of one length."""

    rank: Ints
    buffer: Ints
    start: Ints
    size: Ints


@dataclass(frozen=True, slots=True)
class Wanted:
    """Ranges that must hold, at the end, what ``origin`` gave in buffer ``source`` from byte ``other`` on.

    ``origin`` EVERY: the sum over all ranks of what each gave there.
    """

    rank: Ints
    buffer: Ints
    start: Ints
    size: Ints
    origin: Ints
    source: Ints
    other: Ints


@dataclass(frozen=True, slots=True)
class Promise:
    """``collective`` is the benchmark's word: all_reduce, all_gather, ..."""

    collective: str
    given: Given
    wanted: Wanted


def _columns(*values: object) -> list[Ints]:
    parts = np.broadcast_arrays(*(np.atleast_1d(np.asarray(value, np.int64)) for value in values))
    return [np.ascontiguousarray(part) for part in parts]


def given(rank: object, start: object, size: object, buffer: object = 0) -> Given:
    """Rows from values that broadcast to one another."""
    return Given(*_columns(rank, buffer, start, size))


def wanted(
    rank: object, start: object, size: object, origin: object, other: object, buffer: object = 0, source: object = 0
) -> Wanted:
    """Rows from values that broadcast to one another."""
    return Wanted(*_columns(rank, buffer, start, size, origin, source, other))


def all_reduce(ranks: int, size: int) -> Promise:
    """In place, buffer 0: every rank ends with the sum of all."""
    every = np.arange(ranks)
    return Promise("all_reduce", given(every, 0, size), wanted(every, 0, size, EVERY, 0))


def reduce(ranks: int, size: int, root: int = 0) -> Promise:
    """In place, buffer 0: the root ends with the sum of all."""
    return Promise("reduce", given(np.arange(ranks), 0, size), wanted(root, 0, size, EVERY, 0))


def broadcast(ranks: int, size: int, root: int = 0) -> Promise:
    """In place, buffer 0: every rank ends with what the root has."""
    return Promise("broadcast", given(root, 0, size), wanted(np.arange(ranks), 0, size, root, 0))


def reduce_scatter(ranks: int, size: int) -> Promise:
    """In place, buffer 0: rank r ends with piece r of the sum."""
    bounds, every = split(size, ranks), np.arange(ranks)
    own = wanted(every, bounds[:-1], np.diff(bounds), EVERY, bounds[:-1])
    return Promise("reduce_scatter", given(every, 0, size), own)


def all_gather(ranks: int, size: int) -> Promise:
    """In place, buffer 0: rank r has piece r, and every rank ends with all pieces."""
    bounds, every = split(size, ranks), np.arange(ranks)
    rank, piece = np.repeat(every, ranks), np.tile(every, ranks)
    pieces = wanted(rank, bounds[piece], np.diff(bounds)[piece], piece, bounds[piece])
    return Promise("all_gather", given(every, bounds[:-1], np.diff(bounds)), pieces)


def gather(ranks: int, size: int, root: int = 0) -> Promise:
    """In place, buffer 0: rank r has piece r, and the root ends with all pieces."""
    bounds, every = split(size, ranks), np.arange(ranks)
    pieces = wanted(root, bounds[:-1], np.diff(bounds), every, bounds[:-1])
    return Promise("gather", given(every, bounds[:-1], np.diff(bounds)), pieces)


def scatter(ranks: int, size: int, root: int = 0) -> Promise:
    """In place, buffer 0: the root has all pieces, and rank r ends with piece r."""
    bounds = split(size, ranks)
    pieces = wanted(np.arange(ranks), bounds[:-1], np.diff(bounds), root, bounds[:-1])
    return Promise("scatter", given(root, 0, size), pieces)


def alltoall(ranks: int, size: int) -> Promise:
    """From buffer 0 to buffer 1: piece d of rank s becomes, at rank d, the s-th block of the size of piece d."""
    bounds, every = split(size, ranks), np.arange(ranks)
    block = np.diff(bounds)
    rank, origin = np.repeat(every, ranks), np.tile(every, ranks)
    blocks = wanted(rank, origin * block[rank], block[rank], origin, bounds[rank], buffer=1)
    return Promise("alltoall", given(every, 0, size), blocks)


def sendrecv(ranks: int, size: int) -> Promise:
    """From buffer 0 to buffer 1: rank r ends with what rank r - 1 has, as nccl-tests' sendrecv does."""
    every = np.arange(ranks)
    return Promise("sendrecv", given(every, 0, size), wanted(every, 0, size, (every - 1) % ranks, 0, buffer=1))


def reshard(ranks: int, size: int, targets: int) -> Promise:
    """Buffer 0: the first ranks hold a piece each, and the last ``targets`` ranks end with a piece each of the same bytes.

    A single rank is both.
    """
    held, asked = split(size, max(1, ranks - targets)), split(size, targets)
    start, part, origin, target = overlaps(held, asked)
    have = given(np.arange(len(held) - 1), held[:-1], np.diff(held))
    return Promise("reshard", have, wanted(ranks - targets + target, start, part, origin, start))


def nothing(collective: str) -> Promise:
    """No data: a barrier."""
    none = np.empty(0, np.int64)
    return Promise(collective, Given(*[none] * 4), Wanted(*[none] * 7))
