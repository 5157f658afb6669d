"""Late feedback against the queue itself, and limits of loops against their characteristic equations."""

from __future__ import annotations

import cmath
import math
from random import Random

import pytest

from hopline.errors import InputError
from hopline.model import feedback
from hopline.model.queue import fill, steps


def rates(random):
    return [random.choice([0, 20e9, 40e9, 50e9, 70e9, 100e9, 200e9]) for _ in range(2)]


@pytest.mark.parametrize("seed", range(60))
def test_an_episode_is_a_queue_whose_arrivals_turn(seed):
    random = Random(seed)
    before, after = rates(random)
    delay, capacity = random.choice([1e-6, 5e-6, 20e-6]), random.choice([100_000, 524_288])
    initial = random.choice([0, 50_000, 100_000])
    found = feedback.episode(before, after, 50e9, delay, capacity, initial)
    course = fill(steps([(0.0, before), (delay, after)]), steps([(0.0, 50e9)]), 1e-3, capacity, initial)
    assert found.occupancy == float(course.at(delay))
    assert found.first_drop == (None if course.first_drop is None else float(course.first_drop))
    if found.dropped is None:
        assert after > 50e9
        assert course.lost[-1].end == course.times[-1]
    else:
        assert found.dropped == float(course.dropped)
    if found.drain is None:
        assert course.final > 0
    elif found.occupancy > 0:
        assert found.empty == float(course.emptied)


def test_the_bound_is_kept_and_missed_by_a_hair():
    exact = feedback.bound(262_144, 100e9, 50e9, 5.24288e-6)
    assert (exact.longest, exact.overflow, exact.dropped) == (5.24288e-6, False, 0.0)
    assert feedback.bound(262_144, 100e9, 50e9, 5.24289e-6).overflow
    assert feedback.bound(262_144, 50e9, 50e9, 1.0).longest is None


@pytest.mark.parametrize("seed", range(20))
def test_each_remedy_alone_loses_nothing_and_a_little_less_does(seed):
    random = Random(seed)
    before, delay = random.choice([80e9, 100e9]), random.choice([4e-6, 20e-6])
    capacity, initial = 300_000.0, 200_000.0
    found = feedback.remedies(before, 50e9, delay, capacity, initial, 30e-6)

    def lost(before=before, delay=delay, capacity=capacity, initial=initial):
        return feedback.episode(before, 40e9, 50e9, delay, capacity, initial).dropped

    assert lost() > 0
    assert lost(delay=found.delay) == lost(capacity=found.capacity) == 0
    assert lost(before=found.arrival) == pytest.approx(0, abs=1e-4)
    assert lost(delay=found.delay * 1.001) > 0
    assert lost(capacity=found.capacity - 1) > 0
    assert lost(before=found.arrival * 1.001) > 0
    if found.threshold is None:
        assert lost(initial=0.0) > 0
    else:
        assert lost(initial=found.threshold) == 0
        assert lost(initial=found.threshold + 1) > 0
    drained = feedback.episode(before, found.after, 50e9, delay, capacity, initial)
    assert drained.drain == pytest.approx(30e-6)


def root(equation, start):
    """Newton in the complex plane with a numerical slope."""
    s = start
    for _ in range(60):
        slope = (equation(s * (1 + 1e-7)) - equation(s)) / (s * 1e-7)
        s -= equation(s) / slope
    return s


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_roots_cross_the_axis_at_the_limit(factor):
    sign = 1 if factor > 1 else -1
    k = 1e5
    late = feedback.proportional_limit(k) * factor
    found = root(lambda s: s + k * cmath.exp(-s * late), 1j * k)
    assert math.copysign(1, found.real) == sign
    a, b = 2.5e9, 1e5
    late = feedback.integral_limit(b, a) * factor
    found = root(lambda s: s * s + (b * s + a) * cmath.exp(-s * late), 1j * b)
    assert math.copysign(1, found.real) == sign
    c, k2 = 1818.0, 3.788e8
    late = feedback.marking_limit(c, k2) * factor
    found = root(lambda s: s * s + c * s + k2 * cmath.exp(-s * late), 1j * math.sqrt(k2))
    assert math.copysign(1, found.real) == sign


def test_limits_meet_where_laws_become_one_another():
    assert feedback.proportional_limit(1.0) == math.pi / 2
    assert feedback.integral_limit(1.0, 1e-12) == pytest.approx(math.pi / 2, rel=1e-6)
    assert feedback.integral_limit(0.0, 1.0) == 0.0
    assert feedback.proportional_calm(2.0) == pytest.approx(0.5 / math.e)


def test_marks_that_cannot_hold_the_rate_are_refused():
    with pytest.raises(InputError, match=r"marks would have to reach 2 of packets.*at most 0.5"):
        feedback.marking_constants(50e9, 100e9, 1.0, 100e3, 400e3, 0.5)
