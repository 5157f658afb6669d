"""From some rank counts to another: laws that are recovered, intervals that hold what they should."""

import numpy as np
import pytest

from hopline.errors import FitError, InputError, UnknownNameError
from hopline.study.ranks import BENCHMARKS, predict, premises

SIZES = 2.0 ** np.arange(9, 29)


def law(name, ranks, base=4e-6, hop=0.9e-6, rate=350e9, flat=0.0):
    """Base + hop p(n) + f(n) size/rate, and a part of the bytes that does not know of the ranks."""
    steps, factor = BENCHMARKS[name]
    return SIZES, base + hop * steps(ranks) + factor(ranks) * SIZES / rate + flat * SIZES


def known(name, *counts, **how):
    return {n: law(name, n, **how) for n in counts}


@pytest.mark.parametrize("name", ["all_reduce", "all_gather", "reduce_scatter"])
@pytest.mark.parametrize(("counts", "ranks", "within"), [((2, 4), 8, 0.06), ((2, 8), 4, 0.03), ((4, 8), 2, 0.16)])
def test_two_counts_recover_rings(name, counts, ranks, within):
    found = predict(known(name, *counts), ranks, name)
    time = law(name, ranks)[1]
    assert np.max(np.abs(found.time / time - 1)) < within
    assert np.all((found.low < time) & (time < found.high))
    assert found.size.tolist() == SIZES.tolist()


@pytest.mark.parametrize("name", ["all_reduce", "all_gather"])
def test_what_the_counts_show_corrects_what_was_believed(name):
    """Where the bytes' time did not grow from 2 to 8 ranks it is not said to grow at 4; one count cannot know."""
    flat = {"rate": np.inf, "flat": 1 / 300e9}
    time = law(name, 4, **flat)[1]
    one = predict(known(name, 2, **flat), 4, name)
    two = predict(known(name, 2, 8, **flat), 4, name)
    assert abs(two.time[-1] / time[-1] - 1) < 0.03 < abs(one.time[-1] / time[-1] - 1)


def test_one_count_holds_both_that_busbw_and_that_algbw_stay():
    found = predict(known("all_gather", 4), 8, "all_gather")
    own = law("all_gather", 4)[1][-1]
    assert found.low[-1] < own < own * (7 / 8) / (3 / 4) < found.high[-1]


def test_the_interval_is_narrowest_between_two_counts():
    def width(counts, ranks):
        found = predict(known("all_gather", *counts), ranks, "all_gather")
        return np.median(found.high / found.low)

    assert width((2, 8), 4) < width((2, 4), 8) < width((2,), 8)
    assert width((2, 4), 8) < width((2, 4), 64)
    assert width((2, 4, 8), 16) < width((2,), 16)


def test_a_ring_and_half_a_tree_lie_in_a_far_interval():
    """From 8 to 64 ranks a small all-gather takes 56 hops more on a ring, and fewer on what is half a tree."""
    found = predict(known("all_gather", 2, 4, 8), 64, "all_gather")
    small = law("all_gather", 8)[1][0]
    assert found.low[0] < small + 32 * 0.9e-6 < small + 56 * 0.9e-6 < found.high[0]


def test_a_spike_moves_nothing_and_a_rough_table_widens():
    plain = predict(known("all_gather", 2, 4), 8, "all_gather")
    tables = known("all_gather", 2, 4)
    time = tables[4][1].copy()
    time[5] *= 3
    spiked = predict(tables | {4: (SIZES, time)}, 8, "all_gather")
    assert spiked.time[5] == pytest.approx(plain.time[5], rel=0.1)
    assert spiked.high[5] / spiked.low[5] > 1.5 * plain.high[5] / plain.low[5]
    assert np.allclose(spiked.time[12:], plain.time[12:], rtol=0.02)


def test_small_messages_of_an_all_to_all_hardly_grow():
    """All sends go out at once; so it is believed, until two counts say otherwise."""
    one = predict(known("alltoall", 2, hop=0.0), 8, "alltoall")
    assert one.time[0] < 1.2 * law("alltoall", 2, hop=0.0)[1][0]
    two = predict(known("alltoall", 2, 4, hop=2e-6), 8, "alltoall")
    assert two.time[0] == pytest.approx(law("alltoall", 8, hop=2e-6)[1][0], rel=0.2)


def test_sizes_that_are_asked_for():
    tables = known("all_reduce", 2, 4)
    asked = predict(tables, 8, "all_reduce", [1 << 20, 3 << 19])
    every = predict(tables, 8, "all_reduce")
    assert asked.time[0] == pytest.approx(every.time[list(SIZES).index(1 << 20)])
    assert every.time[list(SIZES).index(1 << 20)] < asked.time[1] < every.time[list(SIZES).index(1 << 21)]


def test_only_the_range_that_all_counts_reach():
    size, time = law("all_reduce", 4)
    tables = known("all_reduce", 2) | {4: (size[3:-2], time[3:-2])}
    assert predict(tables, 3, "all_reduce").size.tolist() == size[3:-2].tolist()
    with pytest.raises(InputError, match="size 512: expected 4096 to"):
        predict(tables, 3, "all_reduce", [512])


def test_premises_say_what_the_counts_cannot_tell():
    one = premises(known("all_reduce", 2), 8, "all_reduce")
    assert [p.status for p in one] == ["unknown", "unknown"]
    assert all(p.matters for p in one)
    assert "only 2 ranks were measured" in one[0].text
    assert "1.75-fold" in one[0].effect
    assert premises(known("all_reduce", 2, 8), 4, "all_reduce") == ()
    assert "outside of the 2, 4" in premises(known("all_reduce", 2, 4), 8, "all_reduce")[0].text


def test_errors():
    tables = known("all_reduce", 2, 4)
    with pytest.raises(UnknownNameError, match="did you mean 'all_reduce'"):
        predict(tables, 8, "allreduce")
    with pytest.raises(InputError, match="4 ranks were measured"):
        predict(tables, 4, "all_reduce")
    with pytest.raises(InputError, match="1 ranks: expected a whole number of at least 2"):
        predict(tables, 1, "all_reduce")
    with pytest.raises(InputError, match="no tables"):
        predict({}, 4, "all_reduce")
    with pytest.raises(FitError, match="2 distinct sizes"):
        predict({2: ([1, 2], [1e-6, 1e-6])}, 4, "all_reduce")
    with pytest.raises(InputError, match="share no range"):
        predict(tables | {3: ([1, 2, 4], [1e-6] * 3)}, 8, "all_reduce")
