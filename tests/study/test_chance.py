"""Student's t against published quantiles, medians and scales of rows."""

import numpy as np
import pytest

from hopline.study import chance


@pytest.mark.parametrize(
    ("freedom", "beyond", "quantile"),
    [
        (1, 0.025, 12.7062),
        (5, 0.05, 2.0150),
        (10, 0.025, 2.2281),
        (30, 0.005, 2.7500),
        (120, 0.0005, 3.3735),
        (1e9, 0.025, 1.95996),
    ],
)
def test_quantiles_are_those_of_the_tables(freedom, beyond, quantile):
    assert chance.t_quantile(beyond, freedom) == pytest.approx(quantile, abs=6e-5)
    assert chance.t_beyond(quantile, freedom) == pytest.approx(beyond, rel=1e-3)
    assert chance.t_beyond(-quantile, freedom) == pytest.approx(1 - beyond, rel=1e-3)


def test_one_and_two_degrees_have_closed_forms():
    for t in (0.3, 1.0, 7.0, 400.0):
        assert chance.t_beyond(t, 1) == pytest.approx(0.5 - np.arctan(t) / np.pi, rel=1e-9)
        assert chance.t_beyond(t, 2) == pytest.approx(0.5 - t / (2 * np.sqrt(2 + t * t)), rel=1e-7)


def test_medians_of_rows_with_gaps():
    values = np.array([[3.0, 1.0, 2.0, 9.0], [3.0, 1.0, 2.0, 9.0], [5.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    there = np.array([[1, 1, 1, 1], [1, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]], dtype=bool)
    assert chance.row_medians(values, there)[:3].tolist() == [2.5, 2.0, 5.0]
    assert np.isnan(chance.row_medians(values, there)[3])


def test_the_scale_is_that_of_normal_noise_and_withstands_outliers():
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 2.0, 4000)
    assert chance.scale(noise) == pytest.approx(2.0, rel=0.03)
    noise[:200] = 1e6
    assert chance.scale(noise) == pytest.approx(2.0, rel=0.15)
    assert chance.scale(np.zeros(5)) == 0


def test_a_sample_of_student():
    """Tables: 5 degrees, 90 % of both sides 2.015; 7: 1.895; the ends widen it as (k + 1/2) / 40 does."""
    assert chance.t_sample(40, 1e9)[[1, -2]] == pytest.approx([-1.780, 1.780], abs=1e-3)
    for freedom, ninety in ((5, 2.015), (7, 1.895), (30, 1.697)):
        found = np.interp(0.95, (np.arange(40) + 0.5) / 40, chance.t_sample(40, freedom))
        assert found == pytest.approx(ninety, rel=0.02)
