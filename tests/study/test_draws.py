"""Joint draws: they hold the truth as often as they say, and each of them is a curve that could be."""

import math
import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated import DOUBLING, TRUTHS, measured

from hopline.curve import Curve, Piece
from hopline.records.fit import Fit, interval
from hopline.study.calibrate import calibrate
from hopline.study.draws import KEPT, draw, scatter_near
from hopline.study.points import Points

QUADRUPLING = 4.0 ** np.arange(2, 14)
BENT = Curve((Piece(0, 2e-6, 1e9), Piece(16384, 12e-6, 2e10)))


def holds(fit: Fit, truth: Curve) -> list[bool]:
    """For each piece, whether the intervals of latency and of bandwidth hold the true ones."""
    found = []
    for i, piece in enumerate(truth.pieces):
        (a0, a1), (b0, b1) = fit.intervals(i)
        found += [a0 <= piece.latency <= a1, b0 <= piece.bandwidth <= b1]
    return found


@pytest.mark.parametrize("noise", [0.01, 0.05])
@pytest.mark.parametrize("sizes", [DOUBLING, QUADRUPLING], ids=["24 sizes", "12 sizes"])
def test_intervals_hold_the_line(sizes, noise):
    rng, truth = np.random.default_rng(21), Curve.line(5e-6, 2e10)
    held = []
    for _ in range(120):
        times = truth.time(sizes) * rng.lognormal(0, noise, len(sizes))
        held.append(holds(calibrate(sizes, times, most_pieces=1), truth))
    assert np.all((np.mean(held, axis=0) >= 0.80) & (np.mean(held, axis=0) <= 0.97)), np.mean(held, axis=0)


def test_intervals_hold_both_of_two_pieces():
    rng = np.random.default_rng(22)
    held = []
    for _ in range(80):
        points = Points.of(DOUBLING, BENT.time(DOUBLING) * rng.lognormal(0, 0.02, 24))
        fit = calibrate(points.size, points.time)
        if len(fit.curve.pieces) == 2:
            held.append(holds(fit, BENT))
    assert len(held) >= 70
    assert np.all((np.mean(held, axis=0) >= 0.80) & (np.mean(held, axis=0) <= 0.98)), np.mean(held, axis=0)


def test_latency_and_bandwidth_are_drawn_together():
    """Few small sizes: a steeper line starts lower. Drawn apart, the draws would miss the points by more."""
    sizes = np.array([1e6, 2e6, 3e6, 4e6, 5e6])
    rng = np.random.default_rng(2)
    points = measured(TRUTHS["a line"], sizes, 0.02, rng)
    drawn = calibrate(points.size, points.time, most_pieces=1).draws
    latency, slope = (
        np.array([f(c.pieces[0]) for c in drawn]) for f in (lambda p: p.latency, lambda p: 1 / p.bandwidth)
    )
    assert np.corrcoef(latency, slope)[0, 1] < -0.7
    together, apart = np.std(latency + slope * 1e6), np.std(latency + rng.permutation(slope) * 1e6)
    assert together < 0.75 * apart


def test_more_noise_is_less_known():
    widths = []
    for noise in (0.005, 0.02, 0.08):
        low, high = calibrate(*noisy_line(noise), most_pieces=1).intervals(0)[1]
        widths.append(high / low)
    assert widths[0] < widths[1] < widths[2]


def noisy_line(noise):
    points = measured(TRUTHS["a line"], DOUBLING, noise, np.random.default_rng(4))
    return points.size, points.time


def test_the_same_seed_gives_the_same_draws():
    points = Points.of(*noisy_line(0.03))
    curve = calibrate(points.size, points.time).curve
    first = draw(points, curve, seed=5)
    assert first == draw(points, curve, seed=5)
    assert first != draw(points, curve, seed=6)
    assert draw(points, curve) == calibrate(points.size, points.time).draws
    assert len(first) == KEPT


def test_breaks_lie_between_the_sizes_on_either_side():
    points = Points.of(DOUBLING, BENT.time(DOUBLING))
    fit = calibrate(points.size, points.time)
    (at,) = fit.curve.breaks
    before, after = points.size[points.size < at].max(), points.size[points.size >= at].min()
    breaks = [curve.breaks[0] for curve in fit.draws]
    assert all(before < low <= after and float(low).is_integer() for low in breaks)
    assert len(set(breaks)) > 20


def test_a_break_where_lines_meet_is_drawn_with_them():
    truth = Curve((Piece(0, 2e-6, 1e9), Piece(11000, 12e-6, 1.1e11)))
    fit = calibrate(DOUBLING, truth.time(DOUBLING) * np.random.default_rng(3).lognormal(0, 0.01, 24))
    assert len(fit.curve.pieces) == 2
    for curve in fit.draws:
        before, after = curve.pieces
        met = (after.latency - before.latency) / (1 / before.bandwidth - 1 / after.bandwidth)
        if 8192 < met <= 16384:
            assert after.low == math.ceil(met)


def test_zero_bytes_alone_are_a_piece_of_one_point():
    sizes = np.array([0.0, *DOUBLING])
    points = Points.of(sizes, np.where(sizes == 0, 2e-6, 5e-6 + sizes / 2e10))
    curve = Curve((Piece(0, 2e-6, math.inf), Piece(4, 5e-6, 2e10)))
    drawn = draw(points, curve)
    assert all(c.pieces[0].bandwidth == math.inf and 0 < c.breaks[0] <= 8 for c in drawn)
    assert np.median([c.pieces[0].latency for c in drawn]) == pytest.approx(2e-6, rel=0.02)


def test_times_that_do_not_grow_may_have_no_bandwidth():
    drawn = calibrate(*no_growth()).draws
    assert all(p.bandwidth > 1e11 for c in drawn for p in c.pieces)
    assert any(math.isinf(p.bandwidth) for c in drawn for p in c.pieces)


def no_growth():
    points = measured(TRUTHS["no growth"], DOUBLING, 0.02, np.random.default_rng(1))
    return points.size, points.time


# --- intervals of draws -------------------------------------------------------------------------------------------


def test_intervals_are_order_statistics():
    assert interval([float(i) for i in range(100, 0, -1)]) == (5, 96)
    assert interval([3.0]) == (3, 3)
    assert interval([1.0, math.inf]) == (1, math.inf)
    low, high = interval([float(i) for i in range(1000)], 0.5)
    assert (high - low) / 1000 == pytest.approx(0.5, abs=0.01)


def test_without_draws_the_interval_is_the_number():
    fit = calibrate(*noisy_line(0.03), most_pieces=1)
    bare = Fit(fit.curve, "time", 8, 64, 24, fit.inside, fit.held_out)
    piece = fit.curve.pieces[0]
    assert bare.intervals(0) == ((piece.latency, piece.latency), (piece.bandwidth, piece.bandwidth))


def test_the_fit_lies_within_its_intervals():
    for truth in TRUTHS.values():
        points = measured(truth, DOUBLING, 0.02, np.random.default_rng(7))
        fit = calibrate(points.size, points.time)
        for i, piece in enumerate(fit.curve.pieces):
            (a0, a1), (b0, b1) = fit.intervals(i)
            assert a0 <= piece.latency <= a1
            assert b0 <= piece.bandwidth <= b1


# --- whatever comes -----------------------------------------------------------------------------------------------

SIZES = st.integers(0, 2**40) | st.integers(0, 16) | st.sampled_from([2**p for p in range(41)])
TIMES = st.floats(1e-9, 1e3) | st.sampled_from([1e-6, 2e-6])


@given(st.lists(st.tuples(SIZES, TIMES), min_size=3, max_size=12, unique_by=lambda p: p[0]))
def test_every_draw_is_a_curve_of_as_many_pieces(points):
    sizes, times = (np.array(column, dtype=float) for column in zip(*sorted(points), strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = calibrate(sizes, times)
        seconds = [curve.time(sizes) for curve in fit.draws]
    assert {len(curve.pieces) for curve in fit.draws} == {len(fit.curve.pieces)}
    assert all(np.all(np.isfinite(t) & (t >= 0)) and t[-1] > 0 for t in seconds)
    for curve in fit.draws:
        owners = [np.searchsorted(np.array(c.breaks), sizes, side="right").tolist() for c in (curve, fit.curve)]
        assert owners[0] == owners[1]
        assert all(a < b for a, b in pairwise([0.0, *curve.breaks]))
        for piece in curve.pieces:
            assert float(f"{piece.latency:.6g}") == piece.latency


def test_scatter_counts_the_freedom_that_the_fit_took():
    """10 % up and down about a line of two parameters through 8 points."""
    size, curve = 4.0 ** np.arange(8), Curve.line(1e-6, 1e9)
    time = curve.time(size) * np.exp(0.1 * (-1.0) ** np.arange(8))
    assert scatter_near(size, time, curve, 64.0) == pytest.approx(0.1 / np.sqrt(1 - 2 / 8))


def test_an_empty_message_over_a_curve_without_start_up():
    """Its curve says 0 s: there is nothing to scatter about."""
    size, time, curve = np.array([0.0, 1e3, 1e6]), np.array([1e-9, 1e-6, 1e-3]), Curve.line(0.0, 1e9)
    assert scatter_near(size, time, curve, 0.0) == pytest.approx(0.0)
    assert scatter_near(size[:1], time[:1], curve, 0.0) == 0.0
