"""Searches that go backwards: the nearest edge, and whole numbers with a bound."""

import random

import pytest

from hopline.model.solving import least, nearest, reaching


def test_the_nearest_edge_of_what_comes_and_goes():
    """It holds from 3 to 17 alone: seen from 20 the edge is 17, from 1 it is 3, from 10 the one towards what is bad."""

    def holds(value):
        return 3 <= value <= 17

    assert nearest(holds, 20.0, 0.0, 1e9) == 17
    assert nearest(holds, 1.0, 1e6, 0.0) == 3
    assert nearest(holds, 10.0, 0.0, 1e9) == 17
    assert nearest(holds, 10.0, 1e6, 0.0) == 3


def test_what_holds_nowhere_and_everywhere():
    assert nearest(lambda value: False, 1.0, 0.0, 1e6) is None
    assert nearest(lambda value: True, 1.0, 0.0, 1e6) == 1e6
    assert nearest(lambda value: value == 0, 1.0, 0.0, 1e6) == 0


@pytest.mark.parametrize("seed", range(8))
def test_whole_numbers_against_all_of_them(seed):
    """Costs that jump, with a bound that is what the least of a span really is, less something."""
    draw = random.Random(seed)
    costs = [draw.randrange(40) + abs(n - 60) // 4 for n in range(1, 151)]

    def bound(first, last):
        return min(costs[first - 1 : last]) - draw.randrange(3)

    best = min(range(1, 151), key=lambda n: (costs[n - 1], n))
    assert least(lambda n: costs[n - 1], bound, 150) == best
    good = [n for n in range(1, 151) if costs[n - 1] <= 12]
    asked = {"holds": lambda n: costs[n - 1] <= 12, "may": lambda first, last: bound(first, last) <= 12, "high": 150}
    assert reaching(**asked) == good[0]
    assert reaching(**asked, last=True) == good[-1]
    assert reaching(asked["holds"], lambda first, last: False, 150) is None


def test_a_bound_saves_most_of_the_work():
    asked = []

    def cost(number):
        asked.append(number)
        return 1000 / number + number

    assert least(cost, lambda first, last: 1000 / last + first, 100_000) == 32
    assert len(set(asked)) < 60
