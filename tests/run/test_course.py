"""Who leads which turn, in which order, and what a run goes on from."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest
from fakes import play
from hypothesis import given
from hypothesis import strategies as st

from hopline.errors import DataMismatchError, InputError
from hopline.run.cells import Earlier, Place, blank, cells_of, order, sample_of, spread_pairs
from hopline.run.comm import DATA_TAG
from hopline.run.ends import Cell
from hopline.run.kinds import BY_NAME, KINDS, kinds_of
from hopline.run.plan import Plan

PAIRS = Plan(kinds=kinds_of(["pairs"]), pair_sizes=(16,), seconds=0.2, passes=2, most=8, ranks=4)


@given(st.integers(2, 13), st.integers(0, 5))
def test_all_ordered_pairs_come_once_and_no_rank_twice_in_a_round(ranks, seed):
    pairs = spread_pairs(range(ranks), random.Random(seed))
    assert sorted(pairs) == sorted(itertools.permutations(range(ranks), 2))
    each = ranks // 2
    for start in range(0, len(pairs), each):
        used = [rank for pair in pairs[start : start + each] for rank in pair]
        assert len(used) == len(set(used))


def test_each_rank_is_spread_over_the_whole_time():
    """The mean place of a rank's turns is near the middle: drift reaches all ranks alike."""
    ranks = 12
    pairs = spread_pairs(range(ranks), random.Random(1))
    for rank in range(ranks):
        for side in (0, 1):
            places = [place for place, pair in enumerate(pairs) if pair[side] == rank]
            assert abs(sum(places) / len(places) / (len(pairs) - 1) - 0.5) < 0.2
            assert max(b - a for a, b in itertools.pairwise(places)) < len(pairs) / 2


def test_pairs_that_do_not_hold_the_first_rank_are_led_by_others():
    played = play(PAIRS, ranks=4)
    counts = Counter(cell for cell, _ in played.samples)
    assert set(counts) == set(cells_of(PAIRS, 4))
    assert set(counts.values()) == {2}
    senders = {entry[0] for entry in played.comms[0].post.seen if entry[2] == DATA_TAG}
    assert senders == {0, 1, 2, 3}


def test_a_fault_between_two_other_ranks_is_told():
    def corrupt(rank, tag, data):
        if tag == DATA_TAG and rank == 3:
            data[0] ^= 1

    plan = Plan(kinds=("pair-bw",), pair_sizes=(16,), seconds=0.1, passes=1, most=5)
    with pytest.raises(DataMismatchError, match=r"^rank 3 received other bytes"):
        play(plan, corrupt, ranks=4)


def test_leaving_while_others_are_timed_leaves_nobody_waiting():
    plan = Plan(kinds=("pair-bw",), pair_sizes=(16,), seconds=0.6, passes=1, most=10**6, within=1e-9)
    for most in range(1, 6):
        played = play(plan, ranks=3, most=most)
        assert len(played.events) == most


def test_order_visits_every_cell_once_a_pass_in_changing_order():
    plan = Plan(sizes=tuple(range(20)), passes=3)
    cells = cells_of(plan, 2)
    turns = order(plan, cells)
    passes = [turns[start : start + 20] for start in (0, 20, 40)]
    assert all(sorted(one, key=lambda cell: cell.size) == cells for one in passes)
    assert passes[0] != passes[1] != passes[2]
    assert turns == order(plan, cells)
    assert turns != order(Plan(sizes=plan.sizes, seed=2), cells)


def test_what_was_measured_is_not_measured_again():
    plan = Plan(sizes=(8, 16, 32), passes=3, seconds=0.1, most=9)
    first, second, third = cells_of(plan, 2)
    earlier = {first: Earlier(3, (1.0,) * 6), second: Earlier(1, (1.0, 2.0))}
    assert Counter(order(plan, [first, second, third], earlier)) == {second: 2, third: 3}
    played = play(plan, earlier=earlier)
    assert Counter(cell for cell, _ in played.samples) == {second: 2, third: 3}
    assert played.course.times[second][:2] == [1.0, 2.0]
    assert len(played.course.times[second]) <= 9


def test_too_few_repeats_are_not_finished():
    plan = Plan(sizes=(8,), passes=2)
    (cell,) = cells_of(plan, 2)
    assert not Earlier(2, (1.0,)).is_done(plan)
    assert order(plan, [cell], {cell: Earlier(2, (1.0,))}) == [cell]
    assert order(plan, [cell], {cell: Earlier(2, (1.0,) * 5)}) == []


def test_too_few_ranks_are_refused():
    with pytest.raises(InputError, match="mbw needs at least 4 ranks, this run has 3"):
        cells_of(Plan(kinds=("mbw",)), 3)


def test_samples_say_what_was_measured():
    one = Place(("a",) * 4, "mpi")
    assert blank(Cell("latency", 8, (0, 1)), Place(("a", "a"), "mpi")).world is None
    latency = sample_of(Cell("latency", 8, (0, 1)), one, [1.0], 0.5, "now")
    assert (latency.benchmark, latency.ranks, latency.world, latency.pair, latency.hosts) == ("latency", 2, 4, None, ())
    assert (latency.times, latency.clock, latency.started) == ((1.0,), 0.5, "now")
    mbw = blank(Cell("mbw", 8, (0, 1, 2, 3), 16), one)
    assert (mbw.benchmark, mbw.ranks, mbw.world, mbw.pairs, mbw.window) == ("mbw_mr", 4, None, 2, 16)
    barrier = blank(Cell("barrier", 0, (0, 1)), one)
    assert (barrier.ranks, barrier.world, barrier.size) == (2, 4, 0)
    copy = blank(Cell("copy", 8, (0,)), one)
    assert (copy.ranks, copy.world, copy.transport) == (1, None, "memmove")


def test_samples_of_pairs_say_both_hosts():
    place = Place(("a", "b", "b"), "mpi")
    pair = blank(Cell("pair-bw", 8, (2, 0), 4), place)
    assert (pair.pair, pair.host, pair.hosts, pair.world, pair.benchmark) == ((2, 0), "b", ("b", "a"), 3, "bw")
    assert blank(Cell("pair-bw", 8, (2, 1), 4), place).hosts == ("b", "b")
    assert blank(Cell("latency", 8, (0, 1)), place).hosts == ("a", "b")


def test_no_two_cells_are_one_sample():
    plan = Plan(kinds=tuple(BY_NAME), sizes=(8, 16))
    place = Place(("a", "a", "b", "b", "b"), "mpi")
    cells = cells_of(plan, 5)
    assert len({blank(cell, place).cell for cell in cells}) == len(cells) > len(KINDS)
