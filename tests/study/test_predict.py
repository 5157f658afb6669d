"""Predictions inside and outside of the measured range, put together in the order they were asked for."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated import DENSE, DOUBLING, TRUTHS, measured

from hopline.errors import InputError
from hopline.study.beyond import COLLECTIVE, SEND, above, below
from hopline.study.local import AGAIN, Local
from hopline.study.points import Points
from hopline.study.predict import predict

POINTS = measured(TRUTHS["two rates"], DOUBLING, 0.02, np.random.default_rng(3))


def test_inside_it_is_the_local_reading():
    size = [9.0, 100.0, 30000.0, 2.0**25 + 1]
    found, local = predict(POINTS, size), Local.of(POINTS)
    assert found.time.tolist() == local.time(size).tolist()
    assert np.log(found.high / found.time) == pytest.approx(local.spread(size), rel=1e-9)
    assert np.log(found.time / found.low) == pytest.approx(local.spread(size), rel=1e-9)


def test_at_measured_sizes_only_noise_counts():
    found, local = predict(POINTS, POINTS.size), Local.of(POINTS)
    half = np.minimum(local.spread(POINTS.size) * AGAIN, local.noise())
    assert np.log(found.high / found.time) == pytest.approx(half, rel=1e-9)
    assert np.any(half < AGAIN * local.spread(POINTS.size))


@pytest.mark.parametrize("truth", ["two rates", "three pieces"])
def test_a_repeat_lies_in_the_interval_of_measured_sizes(truth):
    held = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        first, again = (measured(TRUTHS[truth], DOUBLING, 0.03, rng) for _ in range(2))
        found = predict(first, first.size)
        held.append(np.mean((again.time >= found.low) & (again.time <= found.high)))
    assert 0.85 <= np.mean(held) <= 0.99


def test_outside_it_is_the_middle_nine_tenths_of_the_draws():
    over, under = np.array([2.0**27, 2.0**30]), np.array([1.0])
    found = predict(POINTS, [*over, *under], COLLECTIVE)
    first, last = Local.of(POINTS).time(POINTS.size[[0, -1]])
    drawn = np.hstack([above(POINTS, over, COLLECTIVE, float(last)), below(POINTS, under, float(first))])
    for values, wanted in ((found.low, 0.05), (found.time, 0.5), (found.high, 0.95)):
        assert np.mean(drawn <= values, axis=0) == pytest.approx(np.full(3, wanted), abs=0.004)


def test_the_order_is_that_of_the_question():
    size = np.array([2.0**30, 100.0, 1.0, 4096.0, 2.0**28])
    found = predict(POINTS, size, SEND)
    assert found.size.tolist() == size.tolist()
    order = np.argsort(size)
    assert np.all(np.diff(found.time[order]) > 0)
    for i in (1, 3):
        assert found.time[i] == predict(POINTS, size[i : i + 1]).time[0]


@pytest.mark.parametrize("size", [7.0, 2.0**26 + 1, 0.0])
def test_outside_is_refused_without_a_premise(size):
    with pytest.raises(InputError, match=re.escape(f"{size:g} bytes lie outside")):
        predict(POINTS, [8.0, size])
    assert len(predict(POINTS, [8.0, size], SEND).time) == 2


@pytest.mark.parametrize("sizes", [DOUBLING, DENSE])
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_nothing_jumps_at_the_ends(sizes, noise):
    points = measured(TRUTHS["a line"], sizes, noise, np.random.default_rng(5))
    found = predict(points, [sizes[0] * 0.999, sizes[0], sizes[-1], sizes[-1] * 1.001], COLLECTIVE)
    assert found.time[0] == pytest.approx(found.time[1], rel=0.03)
    assert found.time[3] == pytest.approx(found.time[2], rel=0.03)


def test_outside_it_is_less_sure_than_inside():
    found = predict(POINTS, [1.0, 8.0, 2.0**26, 2.0**28], COLLECTIVE)
    width = np.log(found.high / found.low)
    assert width[0] > 1.5 * width[1]
    assert width[3] > 1.5 * width[2]


SIZES = st.integers(0, 2**40) | st.integers(0, 16) | st.sampled_from([2**p for p in range(41)])
TIMES = st.floats(1e-9, 1e3) | st.sampled_from([1e-6, 2e-6])


@given(
    st.lists(st.tuples(SIZES, TIMES), min_size=3, max_size=10, unique_by=lambda p: p[0]),
    st.lists(st.integers(0, 2**45), min_size=1, max_size=5),
    st.sampled_from([COLLECTIVE, SEND]),
)
def test_any_points_and_any_sizes(points, size, growth):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = predict(Points.of(*zip(*points, strict=True)), size, growth)
    assert np.all(np.isfinite(found.high) & (found.low > 0))
    assert np.all((found.low <= found.time) & (found.time <= found.high))
