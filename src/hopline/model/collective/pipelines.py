"""Closed forms of pipelines from and to rank 0.

What belongs here: chains and binary trees through which chunks flow. The first chunk goes the longest way; each further one
takes ``period`` rounds more, the messages that a rank sends for it. Chunks are largest first, so the first one fills the pipe.
"""

from __future__ import annotations

from hopline.model.collective.rounds import Form, Rounds
from hopline.schedule.pieces import cuts
from hopline.schedule.shape import Shape


def chain_broadcast(shape: Shape) -> Form:
    """N + k - 2 rounds with k chunks."""
    return Form(_flow(shape, shape.ranks - 1, 1, reduce=False), shape.size if shape.ranks > 1 else 0)


def chain_reduce(shape: Shape) -> Form:
    """The same, adding up."""
    return Form(_flow(shape, shape.ranks - 1, 1, reduce=True), shape.size if shape.ranks > 1 else 0)


def tree_broadcast(shape: Shape) -> Form:
    """With k chunks ``heap_depth`` + 2(k - 1) rounds; a rank with two children sends everything twice."""
    period = heap_period(shape.ranks)
    return Form(_flow(shape, heap_depth(shape.ranks), period, reduce=False), period * shape.size)


def tree_reduce(shape: Shape) -> Form:
    """The same, adding up; every rank but the root sends everything once."""
    flow = _flow(shape, heap_depth(shape.ranks), heap_period(shape.ranks), reduce=True)
    return Form(flow, shape.size if shape.ranks > 1 else 0)


def heap_period(ranks: int) -> int:
    """Most children of a rank: 2, unless there are fewer ranks."""
    return min(2, ranks - 1)


def heap_depth(ranks: int) -> int:
    """Rounds until all have the first chunk: a left child gets it 1 round after its parent, a right one 2.

    Full levels f below the root take 2f, always to the right; of the m ranks of a last level that is not full, those with
    floor(log2 m) turns to the right are the last.
    """
    full = (ranks + 1).bit_length() - 2
    left = ranks + 1 - (1 << full + 1)
    return max(2 * full, full + left.bit_length() if left else 0)


def equal_chunks(rounds: int, size: float, chunks: int) -> tuple[Rounds, ...]:
    """Rounds of chunks of ``size / chunks`` bytes, which need not be whole."""
    return (Rounds(rounds, size / chunks),)


def flow_rounds(depth: int, period: int, chunks: int) -> int:
    """Rounds until the last of ``chunks`` has gone the longest way."""
    return depth + period * (chunks - 1) if depth else 0


def _flow(shape: Shape, depth: int, period: int, reduce: bool) -> tuple[Rounds, ...]:
    """``depth`` rounds of the first chunk, then ``period`` of each further one."""
    chunks = cuts(shape.size, shape.chunks)
    each, larger = divmod(shape.size, chunks)
    first = flow_rounds(depth, period, larger) if larger else 0
    rounds = (first, each + 1), (flow_rounds(depth, period, chunks) - first, each)
    return tuple(Rounds(count, size, reduced=size if reduce else 0.0) for count, size in rounds if count)
