"""A message in chunks against a walk that moves every chunk over every hop."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from drawn import PATHS, SIZES, SMALL_HOPS
from hypothesis import given, settings
from hypothesis import strategies as st
from walks import balanced_chunks, chunk_walk, fixed_chunks

from hopline.curve import Curve, Piece
from hopline.errors import InputError
from hopline.model.forwarding import cut_through, store_and_forward
from hopline.model.pipeline import balanced, equal, explicit, first_chunk, fixed

MIB = 2.0**20
C2C, B2B = (0.55e-6, 64e9), (2e-6, 25e9)
CUTS = (balanced, equal, fixed)
NUMBERS = st.integers(1, 50)
walked = settings(deadline=None, max_examples=150)


def close(got, want):
    assert float(got) == pytest.approx(float(want), rel=1e-12, abs=1e-15)


@walked
@given(st.integers(0, 40), SMALL_HOPS, NUMBERS)
def test_equal_chunks(size, hops, k):
    close(equal(size, hops, k), chunk_walk(hops, [Fraction(size, k)] * k))


@walked
@given(st.integers(0, 40), SMALL_HOPS, NUMBERS)
def test_balanced_chunks(size, hops, k):
    close(balanced(size, hops, k), chunk_walk(hops, balanced_chunks(size, k)))


@walked
@given(st.integers(0, 40), SMALL_HOPS, NUMBERS)
def test_fixed_chunks(size, hops, chunk):
    close(fixed(size, hops, chunk), chunk_walk(hops, fixed_chunks(size, chunk)))


@walked
@given(SMALL_HOPS, st.lists(st.integers(0, 15), min_size=1, max_size=10))
def test_explicit_chunks(hops, chunks):
    close(explicit(hops, chunks), chunk_walk(hops, chunks))


@walked
@given(st.integers(0, 40), SMALL_HOPS, NUMBERS, st.lists(st.integers(0, 15), min_size=1, max_size=10))
def test_latency_that_does_not_occupy(size, hops, k, chunks):
    close(equal(size, hops, k, False), chunk_walk(hops, [Fraction(size, k)] * k, False))
    close(balanced(size, hops, k, False), chunk_walk(hops, balanced_chunks(size, k), False))
    close(fixed(size, hops, k, False), chunk_walk(hops, fixed_chunks(size, k), False))
    close(explicit(hops, chunks, False), chunk_walk(hops, chunks, False))


STEEP = Curve((Piece(0, 1.0, 2.0), Piece(8, 5.0, 2.0)))
"""Chunks of 8 bytes and more arrive 4 s later than smaller ones."""


@pytest.mark.parametrize(("size", "k"), [(31, 4), (15, 2)])
def test_balanced_chunks_on_two_pieces_whose_latency_does_not_occupy(size, k):
    hops = [STEEP, (0.0, 1.0)]
    close(balanced(size, hops, k, False), chunk_walk(hops, balanced_chunks(size, k), False))


@pytest.mark.parametrize(("size", "chunk"), [(34, 31), (17, 8)])
def test_fixed_chunks_on_two_pieces_whose_latency_does_not_occupy(size, chunk):
    hops = [STEEP, (0.0, 1.0)]
    close(fixed(size, hops, chunk, False), chunk_walk(hops, fixed_chunks(size, chunk), False))


def test_the_message_is_there_when_all_of_its_chunks_are():
    close(explicit([STEEP], [8, 1], False), chunk_walk([STEEP], [8, 1], False))


@walked
@given(st.integers(0, 40), SMALL_HOPS, NUMBERS)
def test_explicit_agrees_with_the_closed_forms(size, hops, k):
    close(balanced(size, hops, k), explicit(hops, balanced_chunks(size, k)))
    close(fixed(size, hops, k), explicit(hops, fixed_chunks(size, k)))
    close(equal(size, hops, k), explicit(hops, [size / k] * k))


# --- figures worked out by hand -----------------------------------------------------------------------------------


def test_equal_hops_and_chunks():
    m, h, k = 16 * MIB, 3, 8
    assert equal(m, [C2C] * h, k) == pytest.approx((h + k - 1) * (0.55e-6 + m / k / 64e9))
    assert equal(m, [C2C] * h, k, occupies=False) == pytest.approx(h * 0.55e-6 + (h + k - 1) * m / k / 64e9)


def test_one_hop_only_loses_by_chunks():
    assert equal(16 * MIB, [C2C], 1) == pytest.approx(262.694e-6, rel=1e-6)
    assert equal(16 * MIB, [C2C], 22) - equal(16 * MIB, [C2C], 1) == pytest.approx(21 * 0.55e-6)


def test_the_slowest_hop_changes_with_the_size_of_a_chunk():
    hops = [(10e-6, 100e9), (1e-6, 10e9)]
    for chunk, slowest in ((1e3, 0), (1e6, 1)):
        more = equal(11 * chunk, hops, 11) - equal(10 * chunk, hops, 10)
        assert more == pytest.approx(hops[slowest][0] + chunk / hops[slowest][1])


def test_first_chunk():
    assert first_chunk([0, 1e6], [C2C, B2B]) == pytest.approx([2.55e-6, 2.55e-6 + 1e6 / 64e9 + 1e6 / 25e9])


@pytest.mark.parametrize("occupies", [True, False])
def test_nothing_is_one_empty_chunk_or_k_equal_ones(occupies):
    hops = [C2C, B2B]
    assert balanced(0, hops, 7, occupies) == fixed(0, hops, 64, occupies) == pytest.approx(2.55e-6)
    assert equal(0, hops, 7, occupies) == pytest.approx(2.55e-6 + 6 * 2e-6 * occupies)


def test_more_chunks_than_bytes_are_bytes():
    assert balanced(5, [C2C, B2B], 1000) == balanced(5, [C2C, B2B], 5) == fixed(5, [C2C, B2B], 1)
    assert equal(5, [C2C, B2B], 1000) > equal(5, [C2C, B2B], 5)


# --- properties ---------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(SIZES, PATHS, st.booleans())
def test_one_chunk_is_store_and_forward(size, hops, occupies):
    whole = float(store_and_forward(size, hops))
    for got in (
        equal(size, hops, 1, occupies),
        balanced(size, hops, 1, occupies),
        fixed(size, hops, size + 1, occupies),
    ):
        assert float(got) == pytest.approx(whole, rel=1e-12)


@settings(deadline=None)
@given(st.lists(SIZES, min_size=2, max_size=6), PATHS, st.integers(1, 10**6), st.booleans())
def test_time_is_monotone_in_size(sizes, hops, k, occupies):
    for cut in CUTS:
        times = cut(np.sort(sizes), hops, k, occupies)
        assert np.all(np.diff(times) >= -1e-11 * times[1:])


@settings(deadline=None)
@given(SIZES, PATHS, st.integers(1, 10**6), st.booleans())
def test_chunks_are_no_faster_than_cut_through(size, hops, k, occupies):
    least = cut_through(size, hops) * (1 - 1e-11)
    assert all(cut(size, hops, k, occupies) >= least for cut in CUTS)


@settings(deadline=None)
@given(SIZES, PATHS, st.integers(1, 10**6))
def test_latency_that_overlaps_is_no_slower(size, hops, k):
    for cut in CUTS:
        assert cut(size, hops, k, False) <= cut(size, hops, k, True) * (1 + 1e-11)


@settings(deadline=None)
@given(st.integers(1, 1 << 34), PATHS, st.integers(1, 10**6))
def test_effective_bandwidth_stays_below_the_slowest_hop(size, hops, k):
    assert size / equal(size, hops, k) <= min(b for _, b in hops) * (1 + 1e-11)


# --- arrays -------------------------------------------------------------------------------------------------------

CURVE = Curve((Piece(0, 1e-6, 1e9), Piece(4096, 3e-6, 8e9)))


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("occupies", [True, False])
def test_arrays_broadcast_like_scalars(cut, occupies):
    sizes = np.array([0, 1, 1000, 65537])[:, None, None]
    numbers = np.array([1, 3, 4096])[:, None]
    latency, bandwidth = np.array([0.0, 5e-6]), np.array([1e9, 2e9])
    got = cut(sizes, [(latency, 5e9), CURVE, (1e-6, bandwidth)], numbers, occupies)
    assert got.shape == (4, 3, 2)
    for i, j, n in np.ndindex(got.shape):
        hops = [(latency[n], 5e9), CURVE, (1e-6, bandwidth[n])]
        assert got[i, j, n] == pytest.approx(float(cut(sizes[i, 0, 0], hops, numbers[j, 0], occupies)), rel=1e-13)


@pytest.mark.parametrize("cut", CUTS)
def test_long_arrays_are_worked_on_in_blocks(cut):
    numbers = np.arange(1, 40_001)
    latency = np.linspace(1e-7, 1e-5, 40_000)
    whole = cut(1e6, [(latency, 64e9), B2B], numbers)
    picked = [0, 16_383, 16_384, 32_768, 39_999]
    singly = [cut(1e6, [(latency[i], 64e9), B2B], numbers[i]) for i in picked]
    assert np.allclose(whole[picked], singly, rtol=1e-14, atol=0)


@pytest.mark.parametrize("cut", CUTS)
def test_shapes(cut):
    assert cut(1000, [C2C], 4).shape == ()
    assert cut([1000], [C2C], 4).shape == (1,)
    assert cut(np.empty((0, 2)), [C2C], 4).shape == (0, 2)
    assert cut(1000, [([1e-6, 2e-6], [1e9, 2e9])], 4).shape == (2,)


def test_explicit_takes_lists_of_latencies_for_its_chunks():
    assert explicit([([1.0, 2.0], 1.0)], [3, 4]) == 10.0


# --- what is refused ----------------------------------------------------------------------------------------------


def refused(call, *arguments):
    with pytest.raises(InputError) as caught:
        call(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_impossible_numbers(cut, bad):
    assert refused(cut, bad, [C2C], 4).startswith("size")
    assert refused(cut, 1.0, [(bad, 1e9)], 4).startswith("latency")
    assert refused(cut, 1.0, [C2C, (1e-6, [1e9, bad])], 4).startswith("bandwidth")
    assert "chunk" in refused(cut, 1.0, [C2C], bad)
    assert "chunk" in refused(cut, 1.0, [C2C], [4, bad])


@pytest.mark.parametrize("cut", CUTS)
def test_no_path_no_bandwidth_no_chunks(cut):
    assert "no hops" in refused(cut, 1.0, [], 4)
    assert "above 0" in refused(cut, 1.0, [(1e-6, 0.0)], 4)
    assert "chunk" in refused(cut, 1.0, [C2C], 0)


@pytest.mark.parametrize("cut", [balanced, equal])
def test_chunks_are_counted_in_whole_numbers(cut):
    assert "whole" in refused(cut, 100.0, [C2C], 1.5)
    assert cut(100.0, [C2C], 2.0) == cut(100.0, [C2C], np.int32(2))


@pytest.mark.parametrize("chunks", [[], [[1.0]], [1.0, -1.0], [math.nan], [math.inf]])
def test_lists_of_chunks_that_are_refused(chunks):
    refused(explicit, [C2C], chunks)
    refused(explicit, [], [1.0])
