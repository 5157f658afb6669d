"""Loops that react late: they swing on one side of the limit and settle on the other; stop and go is exact."""

from __future__ import annotations

import math

import pytest

from hopline.errors import InputError
from hopline.machine.loop import Integral, Loop, Marking, Pause, Proportional, read_law
from hopline.model import feedback
from hopline.sim.loop import simulate_loop

B = 50e9
TIME, RESET = 10e-6, 40e-6
MARKS = Marking(400e3, 1600e3, 5e9 / 8, 55e-6, 1.0, 0.5, 8)
DAMPING, GAIN, LEVEL = feedback.marking_constants(B, MARKS.increase, MARKS.decrease, MARKS.kmin, MARKS.kmax, MARKS.pmax)
LAWS = {
    "proportional": (Proportional(TIME, 1e6), feedback.proportional_limit(1 / TIME), 1.01e6, 1e-3),
    "integral": (Integral(TIME, RESET, 1e6), feedback.integral_limit(1 / TIME, 1 / (TIME * RESET)), 1.01e6, 8e-4),
    "marking": (MARKS, feedback.marking_limit(DAMPING, GAIN), LEVEL * 1.001, 1e-2),
}
"""Law -> (itself, its limit, a level just off its fixed point, how long to look)."""


@pytest.mark.parametrize("name", LAWS)
def test_it_begins_to_swing_at_the_limit(name):
    law, limit, level, horizon = LAWS[name]
    loop = Loop(law, B, 1e15, None, level, B)
    trend = {factor: simulate_loop(loop, factor * limit, horizon).trend for factor in (0.95, 1.0, 1.05)}
    assert trend[0.95] < 0.85
    assert trend[1.0] == pytest.approx(1, abs=0.03)
    assert trend[1.05] > 1.15


@pytest.mark.parametrize(("factor", "over"), [(0.9, False), (1.5, True)])
def test_without_a_swing_up_to_one_over_e(factor, over):
    found = simulate_loop(Loop(Proportional(TIME, 1e6), B, 1e15, None, 0.9e6), factor * TIME / math.e, 2e-4)
    assert (max(found.levels) > 1e6 + 1) is over


def test_without_a_delay_it_is_the_exponential():
    found = simulate_loop(Loop(Proportional(TIME, 1e6), B, 1e15), 0.0, 5e-5)
    for time, level in zip(found.times[::100], found.levels[::100], strict=True):
        assert level == pytest.approx(1e6 * (1 - math.exp(-time / TIME)), rel=2e-3, abs=100)


def test_the_method_of_steps():
    """Up to T the rate is constant, up to 2T the level is a parabola: exactly."""
    late = 8e-6
    found = simulate_loop(Loop(Proportional(TIME, 1e6), B, 1e15, None, 9e5), late, 2 * late)
    last = found.levels[-1]
    assert last == pytest.approx(9e5 + 1e5 / TIME * 2 * late - 1e5 / TIME**2 * late**2 / 2, rel=1e-9)


def test_a_full_buffer_drops_and_an_empty_one_idles():
    found = simulate_loop(Loop(Proportional(TIME, 1e5), B, 1e15, 180_000.0), 3e-5, 1e-3)
    assert max(found.levels) == 180_000
    assert min(found.levels) == 0
    assert found.dropped > 0
    assert found.idle > 0


@pytest.mark.parametrize(("delay", "stop", "go"), [(1e-6, 200e3, 150e3), (5e-6, 200e3, 150e3), (0.0, 200e3, 150e3)])
def test_stop_and_go_swings_between_what_the_formula_says(delay, stop, go):
    found = simulate_loop(Loop(Pause(stop, go), B, 100e9), delay, 4e-4)
    high, low, idle = feedback.pause_swing(100e9, B, delay, stop, go)
    settled = [level for time, level in zip(found.times, found.levels, strict=True) if time > 1e-4]
    assert max(found.levels) == high
    assert min(settled) == low
    assert found.idle == pytest.approx(idle * round(found.idle / idle), rel=1e-9) if idle else found.idle == 0


def test_stop_and_go_keeps_its_bytes():
    found = simulate_loop(Loop(Pause(200e3, 150e3), B, 100e9, 300e3), 5e-6, 3e-4)
    came = sum(
        rate * (stop - start) for rate, start, stop in zip(found.rates, found.times, found.times[1:], strict=False)
    )
    assert came - (B * found.times[-1] - found.idle) - found.dropped == pytest.approx(found.levels[-1], abs=1e-3)
    assert max(found.levels) == 300e3


def test_a_line_that_is_no_faster_never_stops():
    found = simulate_loop(Loop(Pause(200e3, 150e3), B, B, None, 100e3), 1e-6, 1e-4)
    assert set(found.levels) == {100e3}
    assert (found.swing, found.trend) == (0.0, None)


def test_laws_are_read():
    assert read_law("pause:xoff=200KB,xon=150KB") == Pause(200e3, 150e3)
    law = read_law("aimd:kmin=100KB,kmax=400KB,step=40Mb/s,period=55us,pmax=20%,sources=8")
    assert law == Marking(100e3, 400e3, 5e6, 55e-6, 0.2, 0.5, 8)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (lambda: read_law("pid:a=1"), "unknown law 'pid'"),
        (lambda: read_law("pause:xoff=200KB"), "pause needs xon"),
        (lambda: read_law("pause:xoff=1KB,xon=2KB"), "expected 0 <= xon < xoff"),
        (lambda: read_law("pause:xoff=1KB,xof=2KB"), "did you mean 'xoff'"),
        (lambda: read_law("pause:xoff=1KB,xoff=2KB,xon=0B"), "twice"),
        (lambda: read_law("proportional:time=10,setpoint=1KB"), "proportional: time: '10' has no unit"),
        (lambda: read_law("aimd:kmin=1KB,kmax=2KB,step=1Gb/s,period=1us,pmax=0.2"), "no percentage"),
        (lambda: read_law("pause:200KB"), "key=value"),
        (lambda: Loop(Pause(2.0, 1.0), B, B, 10.0, 11.0), "starts with 11 bytes"),
        (lambda: simulate_loop(Loop(Proportional(1e-9, 1.0), B, B), 1e-6, 1.0), "expected at most"),
        (lambda: simulate_loop(Loop(Pause(2.0, 1.0), B, 100e9), 0.0, 1.0), "shorter horizon"),
    ],
)
def test_bad_loops_are_named(bad, said):
    with pytest.raises(Exception, match=said) as caught:
        bad()
    assert isinstance(caught.value, InputError) or "Error" in type(caught.value).__name__
