"""Points: one time for each size, whatever order they came in."""

import math

import numpy as np
import pytest

from hopline.errors import FitError
from hopline.study.points import FEWEST_POINTS, Points


def test_repeats_count_by_their_median_in_order_of_size():
    points = Points.of([4096, 1, 1024, 4096, 4096, 1], [3e-6, 1e-6, 2e-6, 4e-6, 99.0, 3e-6])
    assert points.size.tolist() == [1, 1024, 4096]
    assert points.time.tolist() == [2e-6, 2e-6, 4e-6]
    assert len(points) == 3


def test_what_was_given_is_not_changed():
    sizes, times = np.array([3.0, 1.0, 2.0]), np.array([3.0, 1.0, 2.0])
    Points.of(sizes, times)
    assert sizes.tolist() == times.tolist() == [3, 1, 2]


def test_some_of_the_points():
    points = Points.of([1, 2, 3, 4], [1e-6, 2e-6, 3e-6, 4e-6]).take(np.array([True, False, False, True]))
    assert (points.size.tolist(), points.time.tolist()) == ([1, 4], [1e-6, 4e-6])


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_times_that_are_none(bad):
    with pytest.raises(FitError, match="not positive"):
        Points.of([1, 2, 3, 4], [1.0, 1.0, bad, 1.0])


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_sizes_that_are_none(bad):
    with pytest.raises(FitError, match="not positive"):
        Points.of([1, 2, bad, 4], [1.0] * 4)


def test_too_few():
    assert FEWEST_POINTS == 3
    with pytest.raises(FitError, match="2 distinct sizes are too few for a fit: expected at least 3"):
        Points.of([1, 2, 1, 2], [1.0, 1.0, 1.0, 1.0])
