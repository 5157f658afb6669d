"""The interval of the median, and the batch."""

from __future__ import annotations

import random
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopline.run.clock import LARGEST_BATCH, batch_size, is_settled, median_interval, outer_rank, overhead


def coverage(count: int, rank: int) -> float:
    return 1 - 2 * sum(comb(count, below) for below in range(rank)) / 2**count


@pytest.mark.parametrize(
    ("count", "rank"), [(0, None), (5, None), (6, 1), (8, 1), (9, 2), (20, 6), (50, 18), (100, 40)]
)
def test_outer_rank_as_tabulated_for_the_sign_test(count, rank):
    assert outer_rank(count) == rank


@given(st.integers(6, 1200))
def test_outer_rank_is_the_narrowest_pair_that_covers(count):
    rank = outer_rank(count)
    assert rank is not None
    assert coverage(count, rank) >= 0.95
    assert coverage(count, rank + 1) < 0.95


def test_interval_holds_the_true_median_as_often_as_it_says():
    draw = random.Random(4)
    hits = 0
    for _ in range(2000):
        low, high = median_interval([draw.expovariate(1.0) for _ in range(25)])
        hits += low <= 0.6931471805599453 <= high
    assert 0.93 < hits / 2000 < 0.985


def test_interval_does_not_care_about_order():
    assert median_interval([5, 1, 4, 2, 3, 6]) == (1, 6)
    assert median_interval([1.0] * 5) is None


@pytest.mark.parametrize(
    ("times", "settled"),
    [
        ([1.0] * 5, False),
        ([1.0] * 6, True),
        ([0.0] * 6, True),
        ([0.9, 0.99, 1.0, 1.0, 1.01, 1.02], False),
        ([*[1.0] * 30, 9.0, 9.0], True),
        ([*[1.0] * 10, *[2.0] * 10], False),
    ],
)
def test_settled(times, settled):
    assert is_settled(times, 0.02) is settled


def test_overhead_is_the_gap_of_a_clock():
    ticks = iter(range(10**6))
    assert overhead(lambda: next(ticks) * 3e-8, reads=100) == pytest.approx(3e-8)
    assert overhead(lambda: 1.0) == 0.0


@pytest.mark.parametrize(("trip", "batch"), [(1e-3, 1), (60e-6, 2), (1e-6, 128), (0.0, LARGEST_BATCH)])
def test_batch_grows_until_a_repeat_is_long_enough(trip, batch):
    assert batch_size(lambda batch: batch * trip, 2e-8) == batch


def test_batch_grows_with_a_coarse_clock():
    assert batch_size(lambda batch: batch * 1e-4, reading=1e-6) == 16


def test_one_interrupt_does_not_end_the_search():
    slow = iter([1.0, 1e-6, 1e-6, 1e-6, 1e-6])
    assert batch_size(lambda batch: next(slow, batch * 1e-6), 0.0) == 128
