"""Readings between points: exact where points are, better than the chord where they are many, honest about their errors."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated import DENSE, DOUBLING, TRUTHS, between, measured

from hopline.study.local import BEND, SPIKE, Local
from hopline.study.points import Points


def reading(sizes, times):
    return Local.of(Points.of(sizes, times))


# --- through the points -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TRUTHS)
def test_it_goes_through_the_points(name):
    points = measured(TRUTHS[name], DOUBLING, 0.05, np.random.default_rng(1))
    local = Local.of(points)
    assert local.knots.time.tolist() == points.time.tolist()
    assert local.time(points.size) == pytest.approx(points.time, rel=1e-14)


@pytest.mark.parametrize("sizes", [DOUBLING, DENSE, np.array([0.0, 1, 64, 4096]), np.array([0.0, 7, 2.0**40])])
def test_it_is_exact_on_a_line(sizes):
    local = reading(sizes, 5e-6 + sizes / 2e10)
    between_them = (sizes[1:] + 2 * sizes[:-1]) / 3
    assert local.time(between_them) == pytest.approx(5e-6 + between_them / 2e10, rel=1e-9)
    assert local.errors == pytest.approx(np.zeros(len(sizes) - 2), abs=1e-9)


def test_where_slopes_on_both_sides_agree_it_bends_towards_them():
    """0 to 1 rises by 1, 1 to 2 by 3, 2 to 3 by 9 a byte: at 1.5 the lines are at 1.5 + 1 and 5 - 4.5, the chord at 3.5."""
    local = reading([0, 1, 2, 3], [1.0, 2.0, 5.0, 14.0])
    assert float(local.time(1.5)) == pytest.approx(3.5 + BEND * (2.5 - 3.5))
    assert float(local.time(0.5)) == pytest.approx(1.5)  # no interval before it, so the chord


def test_it_stays_between_the_ends_of_each_interval():
    rng = np.random.default_rng(4)
    for name, truth in TRUTHS.items():
        points = measured(truth, DOUBLING, 0.2, rng)
        local = Local.of(points)
        size = between(DOUBLING, 400, rng)
        i = np.searchsorted(points.size, size) - 1
        low, high = (edge(local.knots.time[i], local.knots.time[i + 1]) for edge in (np.minimum, np.maximum))
        time = local.time(size)
        assert np.all((time >= low * (1 - 1e-12)) & (time <= high * (1 + 1e-12))), name


def test_a_fall_over_nine_decades_loses_no_digits():
    local = reading([32, 2.0**23, 2.0**39], [300.0, 0.4, 1e-9])
    assert float(local.time(2.0**39)) == 1e-9
    assert float(local.time(2.0**39 - 1)) == pytest.approx(1e-9 + 0.4 / (2**39 - 2**23), rel=1e-6)


# --- spikes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [3.0, 1 / 3])
def test_a_spike_moves_nothing_of_its_neighbours(factor):
    times = 5e-6 + DOUBLING / 2e10
    clean = reading(DOUBLING, times)
    spiked = reading(DOUBLING, np.where(np.arange(24) == 12, times * factor, times))
    others = between(DOUBLING, 200, np.random.default_rng(2))
    assert spiked.time(others) == pytest.approx(clean.time(others), rel=1e-9)
    assert spiked.errors[11] == pytest.approx(math.log(3), rel=1e-6)
    assert np.delete(spiked.errors, 11) == pytest.approx(np.zeros(21), abs=1e-9)


def test_a_point_within_the_limit_is_no_spike():
    for times, kept in (([1.0, SPIKE * 0.99, 1.0], True), ([1.0, SPIKE * 1.01, 1.0], False)):
        assert (reading([1, 2, 3], times).knots.time.tolist() == times) == kept


def test_a_step_is_no_spike():
    times = np.where(DOUBLING > 4096, 9e-6, 2e-6) + DOUBLING / 2e10
    assert reading(DOUBLING, times).knots.time.tolist() == times.tolist()


# --- dense tables -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a line", "no corners", "no growth"])
def test_dense_noisy_tables_are_smoothed_and_beat_the_chord(name):
    rng = np.random.default_rng(8)
    local = Local.of(points := measured(TRUTHS[name], DENSE, 0.05, rng))
    assert local.shape.window > 0
    size = between(DENSE, 500, rng)
    ours = np.abs(np.log(local.time(size) / TRUTHS[name](size))).mean()
    chord = np.abs(np.log(np.interp(size, points.size, points.time) / TRUTHS[name](size))).mean()
    assert ours < 0.65 * chord


def test_dense_tables_without_noise_are_not_smoothed_over_a_step():
    points = measured(TRUTHS["a step"], DENSE, 0, np.random.default_rng(0))
    local = Local.of(points)
    assert local.time(points.size) == pytest.approx(points.time, rel=1e-9)


# --- how far it is off --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.005, 0.04])
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("a line", DOUBLING),
        ("no growth", DOUBLING),
        ("two rates", DOUBLING),
        ("three pieces", DENSE),
        ("no corners", DENSE),
    ],
)
def test_the_interval_holds_nine_of_ten_new_medians(name, sizes, noise):
    rng = np.random.default_rng(5)
    held = [holds(TRUTHS[name], sizes, noise, 40, rng) for _ in range(8 if len(sizes) > 60 else 50)]
    assert 0.85 <= np.mean(held) <= 0.985


@pytest.mark.parametrize("count", [3, 4, 5, 6, 8, 10])
def test_few_points_widen_it_to_hold_as_many(count):
    rng = np.random.default_rng(6)
    sizes = np.round(np.geomspace(8, 1 << 24, count))
    held = [holds(TRUTHS["a line"], sizes, 0.03, 10, rng) for _ in range(200)]
    assert 0.86 <= np.mean(held) <= 0.95


def holds(truth, sizes, noise, count, rng):
    """The share of ``count`` new noisy times that lie in the intervals of one table."""
    local = Local.of(measured(truth, sizes, noise, rng))
    size = between(sizes, count, rng)
    new = truth(size) * rng.lognormal(0, noise, count)
    return np.mean(np.abs(np.log(new / local.time(size))) <= local.spread(size))


def test_it_is_wider_where_the_table_is_rough():
    rng = np.random.default_rng(9)
    noise = np.where(DOUBLING < 1e4, 0.1, 0.005)
    local = reading(DOUBLING, TRUTHS["a line"](DOUBLING) * np.exp(noise * rng.standard_normal(24)))
    assert float(local.spread(100)) > 1.5 * float(local.spread(2e7))


def test_errors_are_those_of_every_inner_size_left_out():
    points = measured(TRUTHS["three pieces"], DOUBLING, 0.05, np.random.default_rng(3))
    local = Local.of(points)
    for i in range(1, 23):
        rest = np.arange(24) != i
        predicted = float(Local.of(points.take(rest)).time(points.size[i]))
        assert local.errors[i - 1] == pytest.approx(abs(math.log(points.time[i] / predicted)), rel=1e-9)


# --- whatever comes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [DOUBLING, DENSE])
def test_any_shape_has_the_same_answer(sizes):
    local = Local.of(measured(TRUTHS["three pieces"], sizes, 0.05, np.random.default_rng(3)))
    flat = between(sizes, 12, np.random.default_rng(2))
    for answer in (local.time, local.spread):
        assert answer(flat.reshape(3, 4)).tolist() == answer(flat).reshape(3, 4).tolist()
        assert [float(answer(m)) for m in flat] == pytest.approx(answer(flat).tolist(), rel=1e-14)
        assert answer(flat[0]).shape == ()
        assert answer(flat[:0]).shape == (0,)
        assert answer(flat.tolist()).tolist() == answer(flat).tolist()


SIZES = st.integers(0, 2**40) | st.integers(0, 64) | st.sampled_from([2**p for p in range(41)])
TIMES = st.floats(1e-9, 1e3) | st.sampled_from([1e-6, 2e-6])


@given(st.lists(st.tuples(SIZES, TIMES), min_size=3, max_size=10, unique_by=lambda p: p[0]))
def test_any_points(points):
    sizes, times = zip(*sorted(points), strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        local = reading(sizes, times)
        inside = np.linspace(sizes[0], sizes[-1], 17)
        time, half = local.time(inside), local.spread(inside)
    assert np.all((time >= min(times) * (1 - 1e-12)) & (time <= max(times) * (1 + 1e-12)))
    assert np.all(np.isfinite(half) & (half >= 0))
    assert len(local.errors) == len(points) - 2
