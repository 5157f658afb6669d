"""The fluid queue against independent ways of working it out: reflection, small steps, and what goes in must come out."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest

from hopline.errors import InputError
from hopline.model.queue import Stage, fill, later, repeated, series, steps

END = 50e-6


def drawn(random, what, count):
    starts = sorted({0, *random.sample(range(1, 40), count)})
    return steps([(float(f"{start}e-6"), random.choice([0, 10e9, 30e9, 50e9, 80e9, 100e9])) for start in starts], what)


def rate_at(told, time):
    return next(rate for start, rate in reversed(told) if start <= time)


def amount(told, start, stop):
    """Bytes that steps bring from start to stop."""
    cuts = sorted({start, stop, *(at for at, _ in told if start < at < stop)})
    return sum(rate_at(told, a) * (b - a) for a, b in pairwise(cuts))


def stepped(arrival, service, end, room, level, step):
    """Small steps on a grid that holds all changes of rates; levels at each, and bytes lost."""
    levels, lost, now = [level], Fraction(0), Fraction(0)
    while now < end:
        level += (rate_at(arrival, now) - rate_at(service, now)) * step
        if room is not None and level > room:
            lost, level = lost + level - room, room
        level = max(level, Fraction(0))
        levels.append(level)
        now += step
    return levels, lost


@pytest.mark.parametrize("seed", range(30))
def test_nothing_is_lost_on_paper(seed):
    random = Random(seed)
    arrival, service = drawn(random, "arrival", 4), drawn(random, "service", 3)
    room, level = random.choice([None, 0, 100_000, 400_000]), random.choice([0, 100_000])
    level = min(level, room) if room is not None else level
    course = fill(arrival, service, END, room, level)
    end = course.times[-1]
    assert level + amount(arrival, 0, end) == amount(course.departs, 0, end) + course.dropped + course.final
    assert min(course.levels) >= 0
    assert room is None or course.most <= room


@pytest.mark.parametrize("seed", range(12))
def test_small_steps_agree(seed):
    random = Random(100 + seed)
    arrival, service = drawn(random, "arrival", 4), drawn(random, "service", 2)
    room = random.choice([Fraction(200_000), Fraction(500_000)])
    step = Fraction(1, 100) / 10**6
    course = fill(arrival, service, END, float(room), 100_000.0)
    levels, lost = stepped(arrival, service, Fraction(50, 10**6), room, Fraction(100_000), step)
    worst = max(abs(course.at(float(n * step)) - level) for n, level in enumerate(levels))
    slack = 2 * 100_000_000_000 * step
    assert worst <= slack
    assert abs(course.dropped - lost) <= slack * 10


@pytest.mark.parametrize("seed", range(12))
def test_without_a_limit_it_is_the_reflection(seed):
    """Q(t) = N(t) + Q0 - min(0, min_s N(s) + Q0), with N the net amount."""
    random = Random(200 + seed)
    arrival, service = drawn(random, "arrival", 5), drawn(random, "service", 3)
    course = fill(arrival, service, END, None, 50_000.0)
    cuts = sorted({Fraction(0), *(at for at, _ in (*arrival, *service))})
    net = {t: amount(arrival, 0, t) - amount(service, 0, t) + 50_000 for t in (*cuts, *course.times)}
    for time in course.times:
        lowest = min([0, *(net[cut] for cut in (*cuts, time) if cut <= time)])
        assert course.at(float(time)) == pytest.approx(float(net[time] - lowest), abs=1e-6)


def test_equality_keeps_it_and_only_more_drops():
    fifty = steps([(0.0, 50e9)], "service")
    same = fill(steps([(0.0, 50e9)]), fifty, 1e-4, 1000.0, 1000.0)
    assert (same.dropped, same.final, same.emptied) == (0, 1000, None)
    more = fill(steps([(0.0, 50e9 + 1)]), fifty, 1.0, 1000.0, 1000.0)
    assert (more.dropped, more.first_drop) == (1, 0)


def test_when_it_became_empty():
    fifty = steps([(0.0, 50e9)], "service")
    assert fill(steps([(0.0, 0.0)]), fifty, 1e-5).emptied == 0
    assert fill(steps([(0.0, 100e9)]), fifty, 1e-5).emptied is None
    twice = fill(steps([(0.0, 0.0), (1e-5, 100e9), (2e-5, 0.0)]), fifty, 1e-4, None, 50_000)
    assert twice.emptied == Fraction(30, 10**6)
    again = fill(steps([(0.0, 0.0), (1e-5, 100e9)]), fifty, 1e-4, None, 50_000)
    assert again.emptied == Fraction(1, 10**6)


def test_two_losses_are_two_and_one_over_a_change_is_one():
    fifty = steps([(0.0, 50e9)], "service")
    course = fill(steps([(0.0, 100e9), (1e-6, 120e9), (2e-6, 0.0), (1e-5, 60e9)]), fifty, 2e-5, 10_000)
    assert [(float(p.start), float(p.end), float(p.size)) for p in course.lost] == [
        (2e-7, 2e-6, 110_000.0),
        (1.1e-5, 2e-5, 90_000.0),
    ]


def test_a_second_queue_gets_what_left_the_first():
    arrival = steps([(0.0, 100e9), (3e-6, 0.0)])
    first, second = series(
        arrival,
        [Stage(steps([(0.0, 50e9)]), 100_000.0), Stage(steps([(0.0, 40e9)]), None, 0.0, 1e-6)],
        2e-5,
    )
    assert first.dropped == 50_000
    assert amount(first.departs, 0, first.times[-1]) == 250_000
    assert second.most == 10_000_000_000 * Fraction(5, 10**6)
    assert second.times[1] == Fraction(1, 10**6)
    assert second.emptied == Fraction(1, 10**6) + Fraction(250_000, 40_000_000_000)


def test_bursts_repeat_until_the_end():
    told = repeated(steps([(0.0, 1e9), (1e-6, 0.0)]), 4e-6, 1e-5)
    assert [float(start) for start, _ in told] == pytest.approx([0, 1e-6, 4e-6, 5e-6, 8e-6, 9e-6])
    assert later(told, 0.0) is told


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (lambda: steps([(1e-6, 1e9)]), "expected one from 0 s on"),
        (lambda: steps([]), "none is told"),
        (lambda: steps([(0.0, 1e9), (2e-6, 1.0), (2e-6, 2.0)]), "ascend"),
        (lambda: steps([(0.0, float("nan"))]), "finite"),
        (lambda: fill(steps([(0.0, 1.0)]), steps([(0.0, 1.0)]), 1.0, 10.0, 11.0), "starts with 11 bytes and holds 10"),
        (lambda: fill(steps([(0.0, 1.0)]), steps([(0.0, 1.0)]), 1.0).at(2.0), "a sample at 2.0 s"),
        (lambda: repeated(steps([(0.0, 1e9), (5e-6, 0.0)]), 4e-6, 1.0), "repeat every"),
        (lambda: repeated(steps([(0.0, 1e9)]), 1e-9, 1.0), "at most"),
    ],
)
def test_bad_input_is_named(bad, said):
    with pytest.raises(InputError, match=said):
        bad()
