"""What a faster part brings, backwards, and what moves most."""

import pytest

from hopline.errors import InputError
from hopline.model import amdahl
from hopline.model.sensitivity import Input, ranked
from hopline.model.solving import edge


def test_the_documents_gain():
    found = amdahl.after(0.022, 0.0076, 0.0013)
    assert found.speedup == pytest.approx(1.2703862660944205, rel=1e-15)
    assert found.reduction == pytest.approx(0.21283783783783783, rel=1e-15)
    assert found.part_reduction == pytest.approx(0.8289473684210527, rel=1e-15)
    assert found.limit == pytest.approx(1.3454545454545455, rel=1e-15)
    assert amdahl.faster(0.022, 0.0076, 0.0076 / 0.0013).speedup == pytest.approx(found.speedup, rel=1e-12)


def test_where_there_is_nothing_to_divide():
    found = amdahl.after(0.0, 0.0, 0.0)
    assert (found.speedup, found.reduction, found.part_reduction, found.limit) == (None, None, None, None)
    assert amdahl.after(0.0, 1.0, 0.0).speedup is None
    assert amdahl.after(1.0, 0.0, 0.0).speedup == 1
    assert amdahl.after(1.0, 1.0, 3.0).speedup == 0.5
    with pytest.raises(InputError, match="factor is 0"):
        amdahl.faster(1.0, 1.0, 0)


@pytest.mark.parametrize("at", [0.003, 1 / 3, 391.0, 1e-9, 7e12, 0.1 + 0.2])
def test_an_edge_is_found_to_the_last_digit(at):
    found = edge(lambda value: value <= at, 0.0, 1e20)
    assert found is not None
    assert found <= at
    assert found == pytest.approx(at, rel=1e-12)
    other = edge(lambda value: value >= at, 1e20, 0.0)
    assert other is not None
    assert other >= at
    assert other == pytest.approx(at, rel=1e-12)


def test_an_edge_of_few_digits_is_told_in_them():
    assert edge(lambda value: 0.017 + value <= 0.02, 0.0, 1.0) == 0.003
    assert edge(lambda value: value * 3 <= 1, 0.0, 1.0) == pytest.approx(1 / 3)


def test_what_is_reached_nowhere_and_everywhere():
    assert edge(lambda value: False, 0.0, 1.0) is None
    assert edge(lambda value: True, 0.0, 1.0) == 1.0


def test_a_tenth_of_each_ranked():
    def time(name, value):
        told = {"compute": 20.0, "comm": 8.0, "rate": 2.0} | {name: value}
        return told["compute"] + told["comm"] / told["rate"]

    inputs = {"comm": Input(8.0, "time"), "compute": Input(20.0, "time"), "rate": Input(2.0, "bandwidth", more=True)}
    found = ranked(inputs, time)
    assert [effect.name for effect in found] == ["compute", "comm", "rate"]
    assert found[0].gain == pytest.approx(2 / 24)
    assert found[1].gain == pytest.approx(0.4 / 24)
    assert found[2].gain == pytest.approx((4 - 8 / 2.2) / 24)
    assert found[2].loss == pytest.approx((8 / 1.8 - 4) / 24)


def test_a_slowdown_changes_above_one():
    assert Input(1.5, "count", floor=1.0).changed(0.1) == 1.45
    assert Input(1.0, "count", floor=1.0).changed(0.1) == 1.0
