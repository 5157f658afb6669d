"""Every second size left out."""

import numpy as np
import pytest

from hopline.errors import FitError
from hopline.study import alternating
from hopline.study.points import Points

SIZES = np.array([1024.0 * 2**i for i in range(9)])


def test_each_inner_size_is_predicted_without_itself():
    seen = []

    def way(known, sizes):
        seen.append((known.size.tolist(), sizes.tolist()))
        return sizes * 2

    found = alternating.alternating(Points(SIZES, SIZES), way)
    assert np.isnan(found[[0, -1]]).all()
    assert found[1:-1].tolist() == (2 * SIZES[1:-1]).tolist()
    for known, sizes in seen:
        assert not set(known) & set(sizes)
        assert {SIZES[0], SIZES[-1]} <= set(known)
    assert sorted(size for _, sizes in seen for size in sizes) == SIZES[1:-1].tolist()


def test_a_straight_table_is_found_again_by_both():
    points = Points(SIZES, 5e-6 + SIZES / 1e9)
    for way in (alternating.line, alternating.reading):
        assert way(points)[1:-1] == pytest.approx(points.time[1:-1], rel=1e-6)


def test_a_step_is_missed_by_the_line_and_not_by_the_reading():
    time = 5e-6 + SIZES / 1e9 + np.where(SIZES > 16 << 10, 40e-6, 0)
    points = Points(SIZES, time)
    off = [np.nanmean(np.abs(way(points) / time - 1)) for way in (alternating.line, alternating.reading)]
    assert off[1] < off[0]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_too_few_sizes_say_so(count):
    with pytest.raises(FitError, match=rf"^{count} sizes?: expected at least 4"):
        alternating.line(Points(SIZES[:count], SIZES[:count]))


def test_four_sizes_are_enough():
    found = alternating.line(Points(SIZES[:4], 1e-6 + SIZES[:4] / 1e9))
    assert np.isnan(found).tolist() == [True, False, False, True]
