"""NCCL's two trees, and rounds in which no rank sends or receives twice."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from hopline.schedule.collectives.double_trees import PERIOD, all_reduce, plan, trees
from hopline.schedule.operations import RECV, SEND
from hopline.schedule.shape import Shape

RANKS = [*range(2, 34), 63, 64, 65, 100, 1000]


def above(rank: int, ranks: int) -> int:
    """Parent in the first tree, one bit at a time; -1 at the root."""
    if rank == 0:
        return -1
    bit = 1
    while not rank & bit:
        bit *= 2
    near = rank - bit
    far = near if near & 2 * bit else near + 2 * bit
    return far if far < ranks else near


@pytest.mark.parametrize("ranks", [1, *RANKS])
def test_parents_are_those_of_nccl(ranks):
    first, second = trees(ranks).tolist()
    assert first == [above(rank, ranks) for rank in range(ranks)]
    for rank, parent in enumerate(second):
        if ranks % 2:
            moved = above((rank - 1) % ranks, ranks)
            assert parent == (-1 if moved < 0 else (moved + 1) % ranks)
        else:
            mirrored = above(ranks - 1 - rank, ranks)
            assert parent == (-1 if mirrored < 0 else ranks - 1 - mirrored)


def test_the_trees_of_eight_and_of_seven():
    assert trees(8).tolist() == [[-1, 2, 4, 2, 0, 6, 4, 6], [1, 3, 1, 7, 5, 3, 5, -1]]
    assert trees(7).tolist() == [[-1, 2, 4, 2, 0, 6, 4], [5, -1, 3, 5, 3, 1, 0]]


@pytest.mark.parametrize("ranks", RANKS)
def test_both_are_trees_in_which_a_rank_has_at_most_two_children_together(ranks):
    both = trees(ranks)
    for parents in both:
        reached = np.flatnonzero(parents < 0)
        assert len(reached) == 1
        for _ in range(ranks.bit_length()):
            reached = np.union1d(reached, np.flatnonzero(np.isin(parents, reached)))
        assert len(reached) == ranks
    children = np.bincount(both[both >= 0], minlength=ranks)
    assert children.max() <= 2
    if ranks % 2 == 0:
        inner = [np.unique(parents[parents >= 0]) for parents in both]
        assert not len(np.intersect1d(*inner))


@pytest.mark.parametrize("ranks", RANKS)
def test_first_chunks_go_up_before_they_go_on_and_down(ranks):
    planned = plan(ranks)
    for parents, up, down in zip(planned.parents, planned.up, planned.down, strict=True):
        child = np.flatnonzero(parents >= 0)
        parent = parents[child]
        inner = parents[parent] >= 0
        assert np.all(up[child[inner]] < up[parent[inner]])
        assert np.all(down[child[inner]] > down[parent[inner]])
        assert np.all(down[child[~inner]] > up[child[~inner]])


@pytest.mark.parametrize("chunks", [1, 2, 7])
@pytest.mark.parametrize("ranks", RANKS[:-1])
def test_no_rank_sends_or_receives_twice_in_a_round(ranks, chunks):
    schedule = all_reduce(Shape(ranks, 1000, chunks=chunks))
    number = np.searchsorted(schedule.rounds, np.arange(len(schedule)), side="right")
    for kind in (SEND, RECV):
        rows = schedule.columns.kind == kind
        used = number[rows] * ranks + schedule.columns.rank[rows]
        assert len(np.unique(used)) == len(used) == 4 * (ranks - 1) * chunks
    assert len(schedule.rounds) <= plan(ranks).down.max() + 1 + PERIOD * (chunks - 1)


def test_sends_and_receives_of_a_rank_wait_for_one_another_in_their_order():
    schedule = all_reduce(Shape(8, 1000, chunks=4))
    waits = {(int(later), int(earlier)) for later, earlier in schedule.more}
    for kind in (SEND, RECV):
        for rank in range(8):
            rows = np.flatnonzero((schedule.columns.kind == kind) & (schedule.columns.rank == rank)).tolist()
            for earlier, later in pairwise(rows):
                one_lane = schedule.columns.lane[earlier] == schedule.columns.lane[later]
                assert one_lane or (later, earlier) in waits


def test_each_half_has_a_channel_of_its_own():
    columns = all_reduce(Shape(6, 101, chunks=3)).columns
    sends = columns.kind == SEND
    assert columns.start[sends & (columns.lane == 0)].max() < 51 <= columns.start[sends & (columns.lane == 2)].min()
