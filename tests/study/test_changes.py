"""Changes: noise is called noise, what is planted is found, and it is said what this rests on."""

import math

import numpy as np
import pytest

from hopline.errors import InputError
from hopline.study.changes import Side, compare
from hopline.study.ordering import Ordered, critical
from hopline.study.repeats import block_length

SIZES = [8.0 * 2**i for i in range(24)]


def run(rng, repeats=20, factor=1.0, spread=0.05, level=0.0, outliers=0.02, at=None):
    """One run of log-normal repeats, some of them three times as slow; ``at``: only this size is slower."""
    logs = np.log(5e-6 + np.array(SIZES) / 2e10)[:, None] + rng.normal(0, level)
    logs = logs + rng.normal(0, spread, (len(SIZES), repeats))
    logs += np.where(rng.random(logs.shape) < outliers, math.log(3), 0)
    slow = np.array([factor if at is None or m == at else 1.0 for m in SIZES])
    return {m: t.tolist() for m, t in zip(SIZES, np.exp(logs) * slow[:, None], strict=True)}


def sides(seed, runs=(1, 1), factor=1.0, at=None, **how):
    rng = np.random.default_rng(seed)
    return Side([run(rng, **how) for _ in range(runs[0])]), Side(
        [run(rng, factor=factor, at=at, **how) for _ in range(runs[1])]
    )


CASES = {
    "repeats": ({"repeats": 20}, "repeats"),
    "few repeats": ({"repeats": 5, "spread": 0.03}, "repeats"),
    "runs": ({"repeats": 10, "runs": (4, 4), "level": 0.02}, "runs"),
    "runs of one number": ({"repeats": 1, "runs": (4, 4), "level": 0.01, "spread": 0.03, "outliers": 0}, "runs"),
    "one number": ({"repeats": 1, "spread": 0.01, "outliers": 0}, "scatter"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_same_thing_twice_is_noise(case):
    how, basis = CASES[case]
    found = [compare(*sides(seed, **how)) for seed in range(30)]
    assert {c.basis for c in found} == {basis}
    assert sum(c.verdict != "noise" for c in found) <= 4


@pytest.mark.parametrize("case", CASES)
def test_a_tenth_slower_is_found_and_so_is_a_tenth_faster(case):
    how, _ = CASES[case]
    slower = [compare(*sides(seed, factor=1.1, **how)) for seed in range(15)]
    assert sum(c.verdict == "slower" for c in slower) >= 14
    assert np.mean([c.ratio for c in slower]) == pytest.approx(1.1, rel=0.02)
    assert np.mean([c.low <= 1.1 <= c.high for c in slower]) >= 0.85
    faster = [compare(*sides(seed, factor=1 / 1.1, **how)) for seed in range(15)]
    assert sum(c.verdict == "faster" for c in faster) >= 14


def test_a_small_change_over_all_sizes_is_real_but_does_not_matter():
    change = compare(*sides(3, factor=1.02))
    assert change.verdict == "small"
    assert change.whole == "small"
    assert compare(*sides(3, factor=1.02), threshold=0.01).verdict == "slower"
    assert all(s.verdict == "noise" for s in change.sizes)


def test_one_slow_size_is_found_alone():
    change = compare(*sides(4, factor=1.5, at=1024.0))
    assert [s.size for s in change.of("slower")] == [1024.0]
    slow = change.of("slower")[0]
    assert slow.low < 1.5 < slow.high
    assert change.verdict == "slower"
    assert change.whole == "noise"


def test_intervals_of_repeats_hold_the_truth_for_all_sizes_together():
    missed = sum(any(not s.low <= 1.3 <= s.high for s in compare(*sides(seed, factor=1.3)).sizes) for seed in range(60))
    assert missed <= 5


def test_levels_of_runs_are_no_change():
    """Two runs of many repeats differ by their levels: as one run each that is told, as one of several it is noise."""
    how = {"repeats": 50, "spread": 0.01, "level": 0.1, "outliers": 0.0}
    single = sum(compare(*sides(seed, **how)).verdict in ("slower", "faster") for seed in range(20))
    several = sum(compare(*sides(seed, runs=(3, 3), **how)).verdict in ("slower", "faster") for seed in range(20))
    assert single >= 10
    assert several <= 3
    assert any("one run each" in note for note in compare(*sides(0, **how)).notes)


def test_repeats_that_follow_one_another_are_taken_in_blocks():
    rng = np.random.default_rng(5)

    def wander():
        noise = rng.normal(0, 1, (len(SIZES), 120))
        for i in range(1, 120):
            noise[:, i] = 0.8 * noise[:, i - 1] + 0.6 * noise[:, i]
        return {m: np.exp(0.05 * row - 12).tolist() for m, row in zip(SIZES, noise, strict=True)}

    found = [compare(Side([wander()]), Side([wander()])) for _ in range(20)]
    assert sum(c.verdict != "noise" for c in found) <= 3
    assert all("blocks of" in c.said for c in found)
    assert block_length([np.log(t) for t in run(rng).values()]) == 1


def test_a_spike_of_single_numbers_cannot_be_told_from_a_change():
    how = {"repeats": 1, "spread": 0.01, "outliers": 0}
    change = compare(*sides(6, factor=2.0, at=1024.0, **how))
    assert [s.size for s in change.sizes if s.verdict == "cannot tell"] == [1024.0]
    assert change.verdict == "noise"
    assert any("stands off its neighbours" in note for note in change.notes)


def test_a_change_over_some_sizes_of_single_numbers_is_real():
    rng = np.random.default_rng(7)
    before, after = (run(rng, repeats=1, spread=0.01, outliers=0) for _ in range(2))
    for m in SIZES[12:]:
        after[m] = [1.3 * after[m][0]]
    change = compare(Side([before]), Side([after]))
    assert {s.size for s in change.of("slower")} >= set(SIZES[13:])
    assert not {s.size for s in change.of("slower")} & set(SIZES[:11])


def test_halves_that_disagree_widen_the_scatter():
    rng = np.random.default_rng(8)
    before, after = (run(rng, repeats=1, spread=0.001, outliers=0, factor=f) for f in (1.0, 1.1))
    twins = [{m: [t[0] * math.exp(rng.normal(0, 0.2))] for m, t in side.items()} for side in (before, after)]
    alone = compare(Side([before]), Side([after]))
    beside = compare(Side([before], twins[:1]), Side([after], twins[1:]))
    assert alone.sizes[0].verdict == "slower"
    assert beside.sizes[0].verdict == "noise"
    assert "two halves" in beside.said


def test_few_sizes_of_single_numbers_cannot_be_told():
    few = [dict(list(side.runs[0].items())[:4]) for side in sides(1, factor=2.0, repeats=1)]
    change = compare(Side([few[0]]), Side([few[1]]))
    assert change.verdict == "cannot tell"
    assert change.basis == "nothing"
    assert "repeat" in change.said


def test_two_runs_against_one_that_vary_wildly_cannot_be_told():
    change = compare(*sides(2, runs=(2, 1), repeats=1, level=1.0))
    assert change.verdict == "cannot tell"


def test_the_same_numbers_are_noise_on_every_basis():
    for runs, repeats in (((1, 1), 1), ((1, 1), 10), ((3, 3), 1)):
        before, _ = sides(1, runs=runs, repeats=repeats)
        change = compare(before, before)
        assert change.verdict == "noise"
        assert all(s.ratio == pytest.approx(1) for s in change.sizes)


def test_sizes_of_one_side_are_told():
    before, after = sides(1)
    shorter = {m: t for m, t in after.runs[0].items() if m != 8.0} | {1.0: [1e-6] * 20}
    change = compare(before, Side([shorter]))
    assert change.only_before == (8.0,)
    assert change.only_after == (1.0,)
    assert 8.0 not in [s.size for s in change.sizes]


def test_times_of_zero_are_left_out_and_told():
    before, after = sides(1)
    runs = dict(after.runs[0])
    runs[8.0] = [0.0] * 20
    change = compare(before, Side([runs]))
    assert 8.0 not in [s.size for s in change.sizes]
    assert any("1 sizes left out" in note for note in change.notes)


def test_bad_input():
    before, after = sides(1)
    with pytest.raises(InputError, match="no size in common"):
        compare(before, Side([{3.0: [1.0]}]))
    with pytest.raises(InputError, match="threshold"):
        compare(before, after, threshold=-1)


def test_counts_have_the_chances_of_the_published_table():
    """Mann and Whitney (1947), table for m = n = 4 and m = 3, n = 5; the critical 23 of n = m = 10 at 2.5 %."""
    for groups, chances in (((4, 4), (0.014, 0.029, 0.057, 0.100)), ((3, 5), (0.018, 0.036, 0.071))):
        for count, chance in enumerate(chances):
            assert (critical(chance - 0.001, *groups), critical(chance + 0.001, *groups)) == (count, count + 1)
    assert critical(0.025, 10, 10) == 24


def test_the_normal_approximation_continues_the_exact_chances():
    for tail in (0.01, 0.15):
        assert critical(tail, 30, 31) == pytest.approx(critical(tail, 30, 30) * 31 / 30, rel=0.01)


def test_exact_intervals_hold_their_level():
    rng = np.random.default_rng(9)
    held = [
        low <= 0.5 <= high
        for low, high in (
            Ordered.of(rng.standard_cauchy(8), 0.5 + rng.standard_cauchy(8)).interval(0.1) for _ in range(800)
        )
    ]
    assert 0.88 <= np.mean(held) <= 0.96


def test_too_few_numbers_have_no_interval():
    three = np.array([1.0, 2.0, 3.0])
    assert Ordered.of(three, three + 9).interval(0.05) == (-math.inf, math.inf)
    low, high = Ordered.of(three, three + 9).interval(0.1)
    assert (low, high) == (7, 11)
    assert Ordered.of(np.zeros(9), np.zeros(9)).interval(0.05) == (0, 0)


def test_thinning_keeps_the_answer():
    rng = np.random.default_rng(10)
    a, b = rng.normal(0, 1, 3000), rng.normal(0.2, 1, 3000)
    thinned = Ordered.of(a, b)
    assert len(thinned.differences) <= 1_000_000
    assert thinned.shift == pytest.approx(0.2, abs=0.06)
    low, high = thinned.interval(0.05)
    assert high - low == pytest.approx(2 * 1.96 * math.sqrt(2 / 3000 * math.pi / 3), rel=0.1)
