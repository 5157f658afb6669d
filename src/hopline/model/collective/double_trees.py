"""Bounds of all_reduce along two binary trees.

What belongs here: how long it takes at least and at most, and what there is to know of the trees. The upper bound are the
rounds of the schedule, each as long as the largest chunk: its messages are those of the rounds, ordered at each port as the
rounds order them, so it is never slower. No formula is known for the time itself; the lower bounds are

* what one rank must send, or receive, over its ports;
* one tree alone: a rank below the root receives each chunk from each child, the last one then goes to the root and down to
  all. Of a tree with one chunk at each rank, handing up takes as long as handing down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hopline.model.collective.rounds import Form, Rounds
from hopline.schedule.collectives.double_trees import PERIOD, Plan, plan, trees
from hopline.schedule.pieces import Ints, bound, cuts
from hopline.schedule.shape import Shape


@dataclass(frozen=True, slots=True)
class Structure:
    """``depths``: of both trees, edges between the root and the farthest rank.

    ``inner``: the most trees in which one rank has children.
    """

    depths: tuple[int, int]
    inner: int


def structure(ranks: int) -> Structure:
    """Of the two trees of ``ranks`` ranks."""
    first, second = trees(ranks)
    inner = (_children(first) > 0).astype(int) + (_children(second) > 0)
    return Structure((int(_levels(first).max()), int(_levels(second).max())), int(inner.max()))


def all_reduce(shape: Shape) -> Form:
    """Upper and lower bounds."""
    if shape.ranks == 1:
        return Form((), 0)
    known, halves = _known(shape.ranks), _halves(shape)
    sent = max(first * halves[0].size + second * halves[1].size for first, second in known.edges)
    alone = [_one_tree(tree, half) for tree, half in zip(known.trees, halves, strict=True)]
    return Form(_most(known, halves), sent, (*_ports(known.edges, halves), *alone))


@dataclass(frozen=True, slots=True)
class _Tree:
    """What does not depend on the bytes.

    ``up``, ``down``: (kind of round, period) of the first chunks. Of the rank ``below`` the root, its children, and the rounds
    before its first child has its sum (``first``), and before it has its own (``whole``), by one chunk.
    """

    up: tuple[tuple[int, int], ...]
    down: tuple[tuple[int, int], ...]
    children: int
    first: int
    whole: int


@dataclass(frozen=True, slots=True)
class _Known:
    """Both trees; ``edges``: pairs of edges that a rank has in them."""

    edges: tuple[tuple[int, int], ...]
    trees: tuple[_Tree, ...]


@lru_cache(maxsize=64)
def _known(ranks: int) -> _Known:
    planned = plan(ranks)
    children = np.stack([_children(parents) for parents in planned.parents])
    edges = np.unique(children + (planned.parents >= 0), axis=1).T.tolist()
    return _Known(tuple((first, second) for first, second in edges), tuple(_tree(planned, tree) for tree in (0, 1)))


def _tree(planned: Plan, tree: int) -> _Tree:
    parents = planned.parents[tree]
    children = _children(parents)
    first, whole = _handing_up(parents, children)
    below = int(np.flatnonzero(parents == int(np.flatnonzero(parents < 0)[0]))[0])
    up, down = (_begins(column[tree]) for column in (planned.up, planned.down))
    return _Tree(up, down, int(children[below]), int(first[below]), int(whole[below]))


def _begins(rounds: Ints) -> tuple[tuple[int, int], ...]:
    """Of rounds in which first chunks go, which of a period's it is, and the period; -1: none."""
    turns = [divmod(begin, PERIOD) for begin in np.unique(rounds[rounds >= 0]).tolist()]
    return tuple((kind, turn) for turn, kind in turns)


@dataclass(frozen=True, slots=True)
class _Half:
    """What goes along one tree."""

    size: int
    chunks: int


def _halves(shape: Shape) -> tuple[_Half, _Half]:
    middle = bound(shape.size, 2, 1)
    sizes = middle, shape.size - middle
    first, second = (_Half(size, cuts(size, shape.chunks)) for size in sizes)
    return first, second


def _most(known: _Known, halves: tuple[_Half, _Half]) -> tuple[Rounds, ...]:
    """Every round in which anything goes."""
    largest = max(-(-half.size // half.chunks) for half in halves)
    up, down = (_busy(begins, halves) for begins in zip(*((tree.up, tree.down) for tree in known.trees), strict=True))
    return Rounds(up, largest, reduced=largest), Rounds(down, largest)


def _busy(first: Sequence[tuple[tuple[int, int], ...]], halves: tuple[_Half, _Half]) -> int:
    """Rounds in which any chunk goes one way; ``first``: when the first ones do, in both trees."""
    begins = {(*begin, half.chunks) for own, half in zip(first, halves, strict=True) for begin in own}
    busy, last = 0, (0, 0)
    for kind, turn, chunks in sorted(begins):
        idle_from = max(turn, last[1]) if kind == last[0] else turn
        busy += max(0, turn + chunks - idle_from)
        last = kind, max(turn + chunks, idle_from)
    return busy


def _ports(edges: Sequence[tuple[int, int]], halves: tuple[_Half, _Half]) -> list[tuple[Rounds, ...]]:
    """For each pair of edges that a rank has in the two trees: a message over each edge for each chunk.

    The trees have a channel each. Where those share a NIC, all messages go one after the other.
    """
    smallest = min(half.size // half.chunks for half in halves)
    messages = [(one * halves[0].chunks, other * halves[1].chunks) for one, other in edges]
    return [
        (Rounds(min(pair), smallest, channels=(0, 1)), Rounds(max(pair) - min(pair), smallest)) for pair in messages
    ]


def _one_tree(tree: _Tree, half: _Half) -> tuple[Rounds, ...]:
    """Bounds of one tree alone, whose root has one child."""
    size = half.size // half.chunks
    up = max(tree.first + tree.children * half.chunks + 1, tree.whole + half.chunks)
    return Rounds(up, size, reduced=size), Rounds(tree.whole + 1, size)


def _handing_up(parents: Ints, children: Ints) -> tuple[Ints, Ints]:
    """Rounds before the first child of each rank has its sum, and before the rank has its own, by one chunk."""
    levels = _levels(parents)
    first, last = np.full_like(parents, len(parents)), np.zeros_like(parents)
    whole = np.zeros_like(parents)
    for level in range(levels.max(), 0, -1):
        ranks = np.flatnonzero(levels == level)
        above = parents[ranks]
        np.minimum.at(first, above, whole[ranks])
        np.maximum.at(last, above, whole[ranks])
        whole[above] = np.maximum(last[above] + 1, first[above] + children[above])
    return np.where(children > 0, first, 0), whole


def _levels(parents: Ints) -> Ints:
    """Edges between the root and each rank."""
    levels, above = np.zeros_like(parents), parents
    while (inner := above >= 0).any():
        levels, above = levels + inner, np.where(inner, parents[above], above)
    return levels


def _children(parents: Ints) -> Ints:
    """How many each rank has."""
    return np.bincount(parents[parents >= 0], minlength=len(parents))
