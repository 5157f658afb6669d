"""Limits, needs, buffers and leaks of slots beside counting and simulation."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from hopline.errors import InputError
from hopline.machine.slots import Slots
from hopline.model.slots import buffers, deterministic, exponential, leak_times, limits, needs, with_timeout
from hopline.sim.slots import simulate_slots

BOOK = Slots(8192, 5e-6, 16, 1e-6, 2e-5, 4)


def us(count: int) -> float:
    """Whole microseconds as the float of their decimal."""
    return float(f"{count}e-6")


def test_limits_in_order():
    assert [(limit.name, limit.rate) for limit in limits(BOOK)] == [
        ("completions", 2e5),
        ("slots", 8e5),
        ("issue", 1e6),
    ]
    wired = limits(Slots(256, 2e-6, 391, bandwidth=50e9))
    assert [limit.name for limit in wired] == ["wire", "slots"]
    assert limits(Slots(1, 1e-6)) == ()


def test_slots_come_back_at_polls_only():
    by_slots = {limit.name: limit.rate for limit in limits(replace(BOOK, turnaround=2e-5))}["slots"]
    later = {limit.name: limit.rate for limit in limits(replace(BOOK, turnaround=2.1e-5))}["slots"]
    assert (by_slots, later) == (800e3, 400e3)


def test_the_books_needs():
    found = needs(BOOK, 50e9)
    assert found.rate == 50e9 / 8192
    assert (found.issue, found.slots_at_once) == (8192 / 50e9, 31)
    assert (found.batch, found.slots, found.poll) == (123, 123, 4 * 8192 / 50e9)
    assert needs(Slots(256, 2e-6, 128, bandwidth=50e9), 50e9).slots_at_once == 391
    for wrong in (replace(BOOK, size=0.0), BOOK):
        with pytest.raises(InputError):
            needs(wrong, 0.0 if wrong is BOOK else 1.0)


def waits(buffer_count: int, period: int, busy: int, poll: int, batch: int | None = None) -> bool:
    """Whether a producer with so many buffers ever waits, by simulation."""
    found = simulate_slots(Slots(1, us(busy), buffer_count, us(period), us(poll), batch), 300)
    return bool(found.submit[-1] != us(299 * period))


@pytest.mark.parametrize("seed", range(60))
def test_buffers_are_enough_and_one_less_is_not(seed):
    chance = random.Random(seed)
    period, busy, poll = chance.randint(1, 12), chance.randint(0, 40), chance.randint(0, 15)
    found = buffers(us(period), us(busy), us(poll))
    assert not waits(found, period, busy, poll)
    assert found == 1 or waits(found - 1, period, busy, poll)


def test_a_batch_that_is_too_small_never_keeps_up():
    assert buffers(us(4), us(30), us(20), batch=4) is None
    assert buffers(us(4), us(30), us(20), batch=5) == buffers(us(4), us(30), us(20)) == 12
    assert waits(50, 4, 30, 20, batch=4)


def test_deterministic_service_is_a_line_or_a_delay():
    assert deterministic(4, 1e-6, 1e-6) == (2e-6, 2e-6, 3e-6, 4e-6)


def test_exponential_service_is_that_of_a_random_walk():
    """A closed loop of a fixed delay and one exponential server, simulated."""
    count, base, service, chance = 6, 4.0, 1.0, np.random.default_rng(7)
    arrivals, clear, response = [0.0] * count, 0.0, []
    for draw in chance.exponential(service, 200_000):
        arrivals.sort()
        came = arrivals.pop(0)
        clear = max(clear, came) + draw
        response.append(clear - came)
        arrivals.append(clear + base)
    assert exponential(count, base, service)[-1] == pytest.approx(base + np.mean(response[1000:]), rel=0.01)
    assert exponential(1, base, service) == (5.0,)


def test_a_timeout_holds_slots():
    assert with_timeout(64, 1e-5, 1e-3, 0.0) == pytest.approx(6.4e6)
    assert with_timeout(10, 1.0, 3.0, 0.5) == pytest.approx(0.5 * 10 / 2)
    assert with_timeout(1, 0.0, 1.0, 0.0) == math.inf


def test_leaks_add_up():
    assert leak_times([4.0, 2.0, 1.0], 0.5) == (0.5, 1.5, 3.5)
    with pytest.raises(InputError):
        leak_times([1.0], 0.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"count": 0}, {"batch": 0}, {"turnaround": -1.0}, {"issue": math.nan}, {"poll": math.inf}, {"bandwidth": 0.0},
        {"loaded": (1e-6,) * 15},
    ],
)  # fmt: skip
def test_setups_that_cannot_be(wrong):
    with pytest.raises(InputError):
        replace(BOOK, **wrong)
