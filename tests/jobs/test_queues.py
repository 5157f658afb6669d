"""Levers of a queue are just enough: a hair less loses."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from hopline.errors import HoplineError
from hopline.jobs.queues import filled, late, rates
from hopline.model.queue import Stage, amount, fill, steps


def drawn(random, what, least):
    starts = sorted({0, *random.sample(range(1, 40), 4)})
    return steps([(float(f"{start}e-6"), least + random.choice([0, 20e9, 50e9, 90e9])) for start in starts], what)


@pytest.mark.parametrize("seed", range(40))
def test_the_least_service_and_the_least_buffer(seed):
    random = Random(seed)
    arrival, service = drawn(random, "arrival", 0), drawn(random, "service", 10e9)
    room, initial = random.choice([0.0, 100e3, 300e3]), 0.0
    found = filled(arrival, [Stage(service, room, initial)], 5e-5)
    assert not fill(arrival, service, 5e-5, found.needs[0], initial).lost
    if not found.courses[0].lost:
        return
    assert fill(arrival, service, 5e-5, found.needs[0] - 1, initial).lost

    def loses(factor):
        return fill(arrival, [(start, rate * factor) for start, rate in service], 5e-5, room, initial).dropped > 1e-3

    factor = Fraction(found.faster[0])
    assert not loses(factor)
    assert loses(factor * Fraction(999, 1000))


def test_no_service_is_fast_enough_where_nothing_leaves():
    found = filled(rates("1GB/s"), [Stage(rates("0,1GB/s@5us"), 1000.0)], 1e-5)
    assert found.faster == (None,)


def test_amounts_are_the_area_under_the_steps():
    told = steps([(0.0, 2.0), (1.0, 5.0), (3.0, 0.0)])
    assert amount(told, Fraction(0), Fraction(10)) == 12
    assert amount(told, Fraction(1, 2), Fraction(2)) == 6
    assert amount(told, Fraction(2), Fraction(2)) == 0


def test_the_default_end_shows_it_empty():
    found = filled(rates("100GB/s,40GB/s@20us"), [Stage(rates("50GB/s"), 524_288.0, 262_144.0)])
    assert found.courses[0].final == 0
    assert found.horizon == pytest.approx(1.1 * 72.4288e-6)
    series = filled(rates("100GB/s,0@3us"), [Stage(rates("50GB/s")), Stage(rates("40GB/s"), None, 0.0, 2e-6)])
    assert [course.final for course in series.courses] == [0, 0]


def test_late_feedback_beside_feedback_at_the_bound():
    missed = late(100e9, 40e9, 50e9, 20e-6, 524_288, 262_144)
    assert [float(course.dropped) for course in missed.courses] == [737_856, 0]
    assert len(late(100e9, 40e9, 50e9, 1e-6, 524_288, 262_144).courses) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1GB/s,2GB/s", "from when on"),
        ("1GB/s@2us", "from 0 s on"),
        ("x", "not a bandwidth"),
        ("1GB/s,2GB/s@1", "no unit"),
    ],
)
def test_bad_steps_are_named(text, said):
    with pytest.raises(HoplineError, match=said):
        rates(text)
