"""Models beside a measurement."""

import numpy as np
import pytest

from hopline.errors import InputError
from hopline.records.comparison import Column, Comparison

NOTHING = float("nan")


def comparison(*columns, low=(0.9, 1.8, NOTHING), high=(1.1, 2.4, NOTHING)):
    size, time = np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 4.0])
    return Comparison("t", "s", size, time, np.array(low), np.array(high), columns)


def test_errors_are_signed_and_summed_up_over_what_is_said():
    column = Column("m", "b", np.array([1.1, 1.0, NOTHING]))
    found = comparison(column)
    assert found.errors(column)[:2] == pytest.approx([0.1, -0.5])
    total = found.summary(column)
    assert (total.sizes, total.worst_size, total.apart) == (2, 2.0, 1)
    assert (total.mean, total.median, total.worst) == pytest.approx((0.3, 0.3, -0.5))
    assert total.inside == 0.5


def test_a_range_that_is_not_known_is_not_judged():
    column = Column("m", "b", np.array([1.0, 2.0, 4.0]))
    assert np.isnan(comparison(column).inside(column)[2])
    nowhere = comparison(column, low=[NOTHING] * 3, high=[NOTHING] * 3)
    assert nowhere.summary(column).inside is None


def test_a_model_that_says_nothing_has_no_summary():
    column = Column("m", "b", np.array([NOTHING] * 3))
    assert comparison(column).summary(column) is None


def test_columns_of_other_lengths_are_refused():
    with pytest.raises(InputError, match="one length"):
        comparison(Column("m", "b", np.array([1.0])))


def test_a_model_is_found_by_name():
    column = Column("m", "b", np.array([1.0, 2.0, 4.0]))
    assert comparison(column).column("m") is column
    with pytest.raises(InputError, match="no model 'x'"):
        comparison(column).column("x")
