"""The rules of a verdict, with numbers worked out by hand."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from hopline.records.fit import Prediction
from hopline.records.verdict import Checked, Verdict
from hopline.study import verdicts
from hopline.study.verdicts import hint, judge, widening

SIZE = np.array([8.0, 1024.0, 65536.0, 2.0**20])


def expected(time=1e-4, factor=1.2, size=SIZE):
    times = np.full(len(size), time)
    return Prediction(size, times, times / factor, times * factor)


def judged(times, **more):
    size = np.array([8.0 * 4**i for i in range(len(times))])
    given = {"expected": expected(size=size), "tolerance": 0.1} | more
    return judge(size, np.array(times, dtype=float), **given)


def test_one_size_is_held_by_its_interval_and_the_tolerance():
    """One-sided at 5 %: the upper end of a two-sided 90 % interval."""
    assert widening(1) == pytest.approx(1.0)
    (fine,) = judged([1.2 * 1.1 * 0.999e-4])
    (slow,) = judged([1.2 * 1.1 * 1.001e-4])
    assert (fine.outcome, slow.outcome) == ("pass", "fail")
    assert slow.limit == pytest.approx(1.32e-4)
    assert slow.expected == 1e-4
    assert slow.reason == "slower: 1.32 times the expected 100.0 µs; up to 132.0 µs would pass"


@pytest.mark.parametrize("sizes", [2, 8, 25])
def test_widened_so_that_all_sizes_together_are_blamed_with_5_per_cent(sizes):
    sigma = math.log(1.2) / NormalDist().inv_cdf(0.95)
    random = np.random.default_rng(sizes)
    top = math.log(1.2) * widening(sizes)
    blamed = (sigma * random.standard_normal((20_000, sizes)) > top).any(axis=1).mean()
    assert blamed == pytest.approx(0.05, abs=0.006)


def test_only_known_sizes_widen():
    known = expected()
    time = known.time.copy()
    time[1:] = np.nan
    found = judge(SIZE, np.full(4, 1e-4), Prediction(SIZE, time, time / 1.2, time * 1.2), 0.0, silent="not measured")
    assert [v.outcome for v in found] == ["pass", "unknown", "unknown", "unknown"]
    assert found[0].limit == pytest.approx(1.2e-4)
    assert (found[1].reason, found[1].expected, found[1].limit) == ("not measured", None, None)


def test_impossible_comes_before_everything():
    least = [(1e-4, "moving 1 B across a at 1 B/s")] * 4
    times = np.array([0.994e-4, 0.996e-4, 1e-4, 5e-5])
    found = judge(SIZE, times, expected(), 0.1, least)
    assert [v.outcome for v in found] == ["fail", "pass", "pass", "fail"]
    assert found[3].reason == "impossible: 50.00 µs is less than the 100.0 µs that moving 1 B across a at 1 B/s takes"
    assert {v.least for v in found} == {1e-4}
    unknown = Prediction(SIZE, *[np.full(4, np.nan)] * 3)
    assert [v.outcome for v in judge(SIZE, times, unknown, 0.1, least)] == ["fail", "unknown", "unknown", "fail"]


def test_what_was_seen_when_all_was_well_passes():
    seen = np.array([3e-4, np.nan, 1e-5, np.nan])
    times = np.array([3.2e-4, 3.2e-4, 1.3e-4, 1e-4])
    assert [v.outcome for v in judge(SIZE, times, expected(), 0.1, None, seen)] == ["pass", "fail", "pass", "pass"]
    assert [v.outcome for v in judge(SIZE, times, expected(), 0.1)] == ["fail", "fail", "pass", "pass"]


def test_faster_is_said_where_it_is_as_far_as_the_limit():
    found = judged([0.70e-4, 0.80e-4])
    assert [v.outcome for v in found] == ["pass", "pass"]
    assert [v.reason for v in found] == ["faster: 1.43 times", ""]


def test_an_expected_time_of_nothing_is_not_known():
    zero = np.array([0.0])
    (found,) = judge(zero, np.array([1e-6]), Prediction(zero, zero, zero, zero), 0.1)
    assert (found.outcome, found.expected) == ("unknown", None)


# --- hints --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("factors", "told"),
    [
        ([1, 1, 1, 1, 1, 1], ""),
        ([4, 4, 4, 4, 4, 4], "large messages take 4 times the expected: as if another path"),
        ([1, 1, 1, 9, 9, 9], "large messages take 9 times the expected: as if another path"),
        ([2, 2, 2, 2, 2, 2], "small messages take 2 and large ones 2 times the expected: slower throughout"),
        ([1, 1, 1, 2, 2, 2], "only large messages are slow (2 times)"),
        ([2, 2, 1, 1, 1, 1], "only small messages are slow (2 times)"),
        ([1, 1, 2, 1, 1, 1], "one size is slow (128 B)"),
        ([1, 1, 2, 2, 1, 1], "2 sizes are slow (128 B to 512 B)"),
        ([9, 9], ""),
    ],
)
def test_hints(factors, told):
    found = hint(judged([1e-4 * factor for factor in factors]))
    assert found.startswith(told)
    assert bool(found) == bool(told)


def test_a_narrow_range_shows_no_small_messages():
    """128 MiB to 1 GiB are all large: an outlier at the first says nothing of start-ups."""
    size = np.array([2.0**27, 2.0**28, 2.0**29, 2.0**30])
    found = judge(size, np.array([2.1e-4, 1e-4, 1e-4, 1e-4]), expected(size=size), 0.1)
    assert hint(found).startswith("one size is slow (128 MiB)")


def test_the_hint_of_the_impossible():
    found = judged([1e-6, 1e-4, 1e-4], least=[(1e-5, "x")] * 3)
    assert "faster than the links of this machine can carry" in hint(found)
    assert hint(()) == ""


def test_every_hint_can_be_reached():
    reached = {test(small, large) for test, _ in verdicts.HINTS for small, large in [(9, 9), (1, 1)]}
    assert reached == {True, False}


# --- outcomes of a table ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcomes", "faults", "whole"),
    [
        (["pass", "pass"], (), "pass"), (["pass", "unknown"], (), "pass"), (["unknown"], (), "unknown"),
        (["pass", "fail"], (), "fail"), (["pass"], ("wrong",), "fail"), ([], (), "unknown"), ([], ("wrong",), "fail"),
    ],
)  # fmt: skip
def test_outcome_of_a_table(outcomes, faults, whole):
    rows = tuple(Verdict(8.0, 1e-6, outcome) for outcome in outcomes)
    assert Checked("t", 1, "", rows, faults).outcome == whole
