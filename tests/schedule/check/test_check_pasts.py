"""What is surely done before what, of all pairs of rows, against brute force."""

import numpy as np
import pytest
from drawing import schedule
from performed import Stage, pasts

from hopline.schedule.check import deadlocks
from hopline.schedule.check import pasts as asked
from hopline.schedule.collectives.table import find
from hopline.schedule.matching import match
from hopline.schedule.shape import Shape


def brute(made):
    """[i, j]: whether row i has touched its bytes before row j does in every performance."""
    past = pasts(Stage(made))
    return np.array([[bool(past[j] >> i & 1) for j in range(len(made))] for i in range(len(made))])


def answered(made):
    past = deadlocks.course(made, match(made)).past()
    first, second = np.indices((len(made), len(made))).reshape(2, -1)
    return past.before(first, second).reshape(len(made), len(made))


def alive(seed):
    """A drawn schedule that comes to its end where sends are buffered; None: it does not."""
    made = schedule(seed)
    stage = Stage(made)
    return made if not stage.alone and stage.ends(blocking=False) else None


@pytest.mark.parametrize("first", range(0, 600, 100))
def test_all_pairs_of_drawn_schedules(first):
    for made in filter(None, map(alive, range(first, first + 100))):
        assert np.array_equal(answered(made), brute(made)), made.name


@pytest.mark.parametrize("name", ["all_reduce-ring", "all_gather-ring"])
@pytest.mark.parametrize("table", [1 << 27, 200])
def test_all_pairs_of_a_ring_whatever_a_table_may_hold(name, table, monkeypatch):
    """With a small table, nothing is asked within ranks, and lanes are followed in several parts."""
    monkeypatch.setattr(asked, "_TABLE", table)
    made = find(name).build(Shape(10, 40))
    assert np.array_equal(answered(made), brute(made))
