"""The best number of chunks against trying every one, and the closed form against the curve it is the bottom of."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from drawn import PATHS, SMALL_HOPS
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from spent import at_most
from walks import balanced_chunks, chunk_walk

from hopline.curve import Curve, Piece
from hopline.errors import InputError
from hopline.model.chunks import Best, best, closed_form
from hopline.model.pipeline import balanced, equal

MIB = 2.0**20
C2C, B2B = (0.55e-6, 64e9), (2e-6, 25e9)
SPLITS = ("balanced", "fractional")


def cut(size, k, split):
    return balanced_chunks(size, k) if split == "balanced" else [Fraction(size, k)] * k


def brute(size, hops, most, split):
    """Walk every number of chunks; the first of the fastest."""
    limit = max(1, size) if most is None else most
    limit = min(limit, max(1, size)) if split == "balanced" else limit
    time, k = min((chunk_walk(hops, cut(size, k, split)), k) for k in range(1, limit + 1))
    return k, float(time)


@pytest.mark.parametrize("split", SPLITS)
def test_best_is_what_trying_all_finds(split):
    @settings(deadline=None, max_examples=120)
    @given(st.integers(0, 32), SMALL_HOPS, st.none() | st.integers(1, 40))
    def agrees(size, hops, most):
        found = best(size, hops, most, split)
        k, time = brute(size, hops, most, split)
        assert found.k == k
        assert found.time == pytest.approx(time, rel=1e-14)

    agrees()


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 3000), PATHS)
def test_no_k_is_better_for_realistic_hops(size, hops):
    numbers = range(1, size + 1)
    assert best(size, hops).time <= balanced(size, hops, list(numbers)).min() * (1 + 1e-12)
    assert best(size, hops, split="fractional").time <= equal(size, hops, list(numbers)).min() * (1 + 1e-12)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize(
    ("size", "hops", "k"),
    [
        (8, [(0.0, 1.0)], 1),  # one hop without latency: every k takes 8 s
        (2, [(1.0, 1.0), (1.0, 1.0)], 1),  # k = 1: 6 s; k = 2: 6 s
        (0, [(0.0, 1.0), (0.0, 1.0)], 1),
        (1, [(1.0, 1.0)] * 4, 1),
    ],
)
def test_ties_go_to_the_fewest_chunks(size, hops, k, split):
    assert best(size, hops, split=split).k == k


@pytest.mark.parametrize(
    ("size", "hop", "h", "k"), [(14, (0.1, 10.0), 2, 3), (6, (0.1, 10.0), 4, 3), (7, (0.2, 10.0), 3, 2)]
)
def test_ties_that_floats_would_break(size, hop, h, k):
    times = balanced(size, [hop] * h, range(1, size + 1))
    assert best(size, [hop] * h).k == k
    assert times[k - 1] == pytest.approx(times.min(), rel=1e-12)


@pytest.mark.parametrize(
    ("size", "hops"),
    [
        (2**53, [C2C] * 3),
        (2**53, [(1 / 64e9, 64e9)] * 3),
        (2**53, [(0.0, 64e9), (0.0, 25e9)]),
        (2**53, [B2B, C2C, (1e-12, 10e9)]),
        (2**53, [(1e3, 1e9)] * 2),
        (2**53, [C2C]),
        (2**53, [Curve((Piece(0, 1e-6, 1e9), Piece(8192, 3e-6, 2e9), Piece(1e6 + 0.5, 5e-6, 20e9))), C2C]),
        (2**53 - 1, [(0.1234567890123456e-6, 63.98765432101234e9), (0.777777e-6, 24.1234567890123e9)]),
    ],
)
def test_huge_sizes_end_soon(size, hops):
    with at_most(10):
        found = {split: best(size, hops, split=split) for split in SPLITS}
    assert found["balanced"].time >= found["fractional"].time
    for k in {max(1, found["balanced"].k + step) for step in (-1000, -1, 1, 1000)}:
        assert balanced(size, hops, k) >= found["balanced"].time * (1 - 1e-14)


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 2**53), PATHS, st.integers(1, 2**53))
def test_any_other_number_of_chunks_is_no_better(size, hops, k):
    assert best(size, hops).time <= balanced(size, hops, k) * (1 + 1e-11)


def test_at_most_so_many():
    assert best(16 * MIB, [C2C] * 4, most=5).k == 5
    assert best(16 * MIB, [C2C] * 4, most=1).k == 1
    assert best(3, [C2C] * 4, most=100).k <= 3


def test_figures_of_the_point_to_point_document():
    path = [(0.25e-6, 64e9), B2B]
    found = best(64 * MIB, path)
    assert found.k == 23
    assert 64 * MIB / found.time == pytest.approx(24.17e9, rel=3e-4)
    assert best(16 * MIB, [C2C]) == Best(1, pytest.approx(262.694e-6, rel=1e-6))


def test_a_piece_without_slope_has_a_best_k_too():
    hops = [Curve((Piece(0, 1e-6, math.inf), Piece(1024, 2e-6, 1e9))), (1e-6, 1e9)]
    for split in SPLITS:
        assert best(100, hops, split=split).k == 1


# --- the closed form ----------------------------------------------------------------------------------------------


def fractional_time(m, hops, k):
    """Σ t_i + (k-1) max t_i for a real k."""
    steps = [a + m / (k * b) for a, b in hops]
    return sum(steps) + (k - 1) * max(steps)


def bottom(m, hops):
    """The least time over real k in [1, m], by ternary search of a convex function of log k."""
    low, high = 0.0, math.log(max(m, 1.0))
    for _ in range(200):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        if fractional_time(m, hops, math.exp(a)) <= fractional_time(m, hops, math.exp(b)):
            high = b
        else:
            low = a
    return fractional_time(m, hops, math.exp(low))


@settings(deadline=None)
@given(st.integers(1, 2**40), PATHS)
def test_the_closed_form_is_the_bottom_where_it_holds(size, hops):
    form = closed_form(size, hops)
    assert 1 <= form.k <= size
    assert form.time == pytest.approx(fractional_time(size, hops, form.k), rel=1e-12)
    assert form.time >= bottom(size, hops) * (1 - 1e-9)
    assume(form.holds)
    assert form.time == pytest.approx(bottom(size, hops), rel=1e-9)


@settings(deadline=None)
@given(st.integers(1, 2**40), PATHS)
def test_the_best_integer_lies_beside_the_real_optimum(size, hops):
    form = closed_form(size, hops)
    assume(form.holds)
    exact = best(size, hops, split="fractional")
    assert exact.time >= form.time * (1 - 1e-12)
    near = [min(max(1, f(form.k)), size) for f in (math.floor, math.ceil)]
    assert exact.time == pytest.approx(min(float(equal(size, hops, k)) for k in near), rel=1e-9)


@pytest.mark.parametrize("h", [2, 3, 4, 8])
@pytest.mark.parametrize("m", [MIB, 16 * MIB, 1e9])
def test_equal_hops(h, m):
    alpha, beta = C2C
    form = closed_form(m, [C2C] * h)
    assert form.holds
    assert form.k == pytest.approx(math.sqrt((h - 1) * m / (alpha * beta)))
    assert form.time == pytest.approx((h - 1) * alpha + m / beta + 2 * math.sqrt((h - 1) * m * alpha / beta))


@pytest.mark.parametrize("h", [1, 2, 5])
def test_the_documents_optimum_belongs_to_one_hop_more(h):
    """The document's k* = √(hm/(αβ)) and T* = hα + m/β + 2√(hmα/β) are those of h+1 hops."""
    (alpha, beta), m = C2C, 16 * MIB
    claimed = h * alpha + m / beta + 2 * math.sqrt(h * m * alpha / beta)
    longer = closed_form(m, [C2C] * (h + 1))
    assert longer.time == pytest.approx(claimed, rel=1e-12)
    assert longer.k == pytest.approx(math.sqrt(h * m / (alpha * beta)), rel=1e-12)
    assert closed_form(m, [C2C] * h).time < claimed


def test_how_far_the_documents_optimum_is_off():
    (alpha, beta), m = C2C, 16 * MIB
    k = math.sqrt(2 * m / (alpha * beta))
    assert closed_form(m, [C2C]).k == 1
    assert fractional_time(m, [C2C], math.sqrt(m / (alpha * beta))) == pytest.approx(274.15e-6, rel=3e-5)
    assert closed_form(m, [C2C] * 2).time == pytest.approx(286.71e-6, rel=1e-5)
    assert fractional_time(m, [C2C] * 2, k) == pytest.approx(288.17e-6, rel=2e-5)


@pytest.mark.parametrize(
    ("size", "hops", "k"),
    [(0, [C2C] * 3, 1), (1, [C2C] * 3, 1), (1000, [(0.0, 1e9)] * 2, 1000), (1000, [(0.0, 1e9)], 1), (8, [(1e3, 1e9)] * 2, 1)],
)  # fmt: skip
def test_the_closed_form_is_clamped(size, hops, k):
    assert closed_form(size, hops).k == k


def test_the_bottleneck_is_the_hop_that_takes_longest_and_not_the_slowest():
    form = closed_form(64 * MIB, [(50e-6, 100e9), (0.1e-6, 64e9)])
    assert (form.bottleneck, form.holds) == (1, False) or form.bottleneck == 0
    assert closed_form(64 * MIB, [(0.25e-6, 64e9), B2B]).bottleneck == 1


# --- what is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "hops", "most", "said"),
    [
        (-1, [C2C], None, "size"),
        (math.nan, [C2C], None, "size"),
        (math.inf, [C2C], None, "size"),
        (1.5, [C2C], None, "whole number of bytes"),
        (8, [], None, "no hops"),
        (8, [(1e-6, 0.0)], None, "bandwidth"),
        (8, [(-1e-6, 1e9)], None, "latency"),
        (8, [(math.nan, 1e9)], None, "latency"),
        (8, [C2C], 0, "at least 1"),
        (8, [C2C], -3, "at least 1"),
    ],
)
@pytest.mark.parametrize("split", SPLITS)
def test_impossible_numbers(size, hops, most, said, split):
    with pytest.raises(InputError, match=said) as caught:
        best(size, hops, most, split)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("size", "hops"), [(-1, [C2C]), (math.nan, [C2C]), (8, []), (8, [(1e-6, 0.0)])])
def test_impossible_numbers_of_the_closed_form(size, hops):
    with pytest.raises(InputError):
        closed_form(size, hops)
