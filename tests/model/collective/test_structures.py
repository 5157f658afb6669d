"""What closed forms know of trees, against walks through the trees."""

from __future__ import annotations

import pytest

from hopline.model.collective.double_trees import structure
from hopline.model.collective.pipelines import heap_depth
from hopline.model.collective.table import FORMS
from hopline.schedule.collectives.double_trees import trees
from hopline.schedule.shape import Shape


def test_a_heap_is_as_deep_as_the_walk_to_its_last_rank():
    reached = [0]
    assert heap_depth(1) == 0
    for rank in range(1, 3000):
        reached.append(reached[(rank - 1) // 2] + (1 if rank % 2 else 2))
        assert heap_depth(rank + 1) == max(reached)


def depth(parents: list[int]) -> int:
    def of(rank: int) -> int:
        return 0 if parents[rank] < 0 else 1 + of(parents[rank])

    return max(map(of, range(len(parents))))


@pytest.mark.parametrize("ranks", [*range(1, 40), 64, 100, 1000])
def test_structure_of_the_two_trees(ranks):
    first, second = trees(ranks).tolist()
    inner = max((rank in first) + (rank in second) for rank in range(ranks))
    assert structure(ranks).depths == (depth(first), depth(second))
    assert structure(ranks).inner == inner


def test_a_rank_of_odd_many_can_have_children_in_both_trees():
    assert (structure(7).inner, structure(8).inner, structure(1).inner) == (2, 1, 0)


@pytest.mark.parametrize("name", ["all_reduce-recursive_doubling", "all_reduce-rabenseifner"])
def test_beyond_a_power_of_two_there_are_two_more_rounds_of_everything(name):
    power, beyond = FORMS[name](Shape(8, 1000)), FORMS[name](Shape(9, 1000))
    assert beyond.count == power.count + 2
    assert (beyond.rounds[0].size, beyond.rounds[-1].size) == (1000, 1000)
    assert beyond.sent == power.sent + 1000


def test_a_large_shape_needs_no_schedule():
    assert FORMS["broadcast-binary_tree"](Shape(10**9, 10**15, chunks=10**6)).count == 2 * (10**6 - 1) + heap_depth(
        10**9
    )
    assert FORMS["all_reduce-double_binary_tree"](Shape(64, 10**15, chunks=10**9)).count == pytest.approx(4e9, rel=1e-6)
