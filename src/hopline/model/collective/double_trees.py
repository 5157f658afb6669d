"""Bounds of all_reduce along two binary trees.

What belongs here: how long it takes at least and at most, and what there is to know of the trees. The upper bound are the
rounds of the schedule, each as long as the largest chunk: its messages are those of the rounds, ordered at each port as the
rounds order them, so it is never slower. No formula is known for the time itself; the lower bounds are

* what one rank must send, or receive, over its ports;
* one tree alone: a rank below the root receives each chunk from each child, the last one then goes to the root and down to
  all. Of a tree with one chunk at each rank, handing up takes as long as handing down.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    planned, halves = plan(shape.ranks), _halves(shape)
    children = np.stack([_children(parents) for parents in planned.parents])
    edges = children + (planned.parents >= 0)
    sent = max(first * halves[0].size + second * halves[1].size for first, second in edges.T.tolist())
    alone = [_one_tree(planned.parents[tree], children[tree], halves[tree]) for tree in (0, 1)]
    return Form(_most(planned, halves), sent, (*_ports(edges, halves), *alone))


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


def _most(planned: Plan, halves: tuple[_Half, _Half]) -> tuple[Rounds, ...]:
    """Every round in which anything goes."""
    largest = max(-(-half.size // half.chunks) for half in halves)
    up, down = (_busy(first, halves) for first in (planned.up, planned.down))
    return Rounds(up, largest, reduced=largest), Rounds(down, largest)


def _busy(first: Ints, halves: tuple[_Half, _Half]) -> int:
    """Rounds in which any chunk goes one way; ``first``: when each rank's first chunk does, in both trees."""
    begins = {
        (*divmod(begin, PERIOD)[::-1], half.chunks)
        for own, half in zip(first, halves, strict=True)
        for begin in np.unique(own[own >= 0]).tolist()
    }
    busy, last = 0, (0, 0)
    for kind, turn, chunks in sorted(begins):
        idle_from = max(turn, last[1]) if kind == last[0] else turn
        busy += max(0, turn + chunks - idle_from)
        last = kind, max(turn + chunks, idle_from)
    return busy


def _ports(edges: Ints, halves: tuple[_Half, _Half]) -> list[tuple[Rounds, ...]]:
    """For ranks with equally many edges in the two trees, shape (2, ranks): a message over each edge for each chunk.

    The trees have a channel each. Where those share a NIC, all messages go one after the other.
    """
    smallest = min(half.size // half.chunks for half in halves)
    messages = np.unique(edges * np.array([[half.chunks] for half in halves]), axis=1)
    return [
        (Rounds(min(pair), smallest, channels=(0, 1)), Rounds(max(pair) - min(pair), smallest))
        for pair in messages.T.tolist()
    ]


def _one_tree(parents: Ints, children: Ints, half: _Half) -> tuple[Rounds, ...]:
    """Bounds of one tree alone, whose root has one child."""
    first, whole = _handing_up(parents, children)
    below = int(np.flatnonzero(parents == int(np.flatnonzero(parents < 0)[0]))[0])
    size = half.size // half.chunks
    up = max(first[below] + children[below] * half.chunks + 1, whole[below] + half.chunks).item()
    return Rounds(up, size, reduced=size), Rounds(whole[below].item() + 1, size)


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
