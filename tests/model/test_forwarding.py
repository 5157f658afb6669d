"""Forwarding of one message against walks that follow its bytes and flits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from drawn import LINES, PATHS, SIZES, SMALL_HOPS
from hypothesis import given, settings
from hypothesis import strategies as st
from walks import byte_walk, chunk_walk, flit_walk

from hopline.curve import Curve
from hopline.errors import InputError
from hopline.model.forwarding import (
    FORWARDING,
    Forward,
    arrivals,
    cut_through,
    direct,
    flits,
    store_and_forward,
    wormhole,
    wormhole_limit,
)

C2C, B2B = (0.55e-6, 64e9), (2e-6, 25e9)
MIB = 2.0**20


def test_one_link_is_latency_and_size_over_bandwidth():
    assert direct(16 * MIB, *C2C) == pytest.approx(262.694e-6, abs=5e-10)
    assert direct(0, *C2C) == 0.55e-6
    assert direct([0, 64e9], *C2C).tolist() == [0.55e-6, 1.00000055]


def test_store_and_forward_pays_every_hop_in_full():
    first, second, third = arrivals(64 * MIB, [C2C, B2B, C2C])
    assert first == pytest.approx(0.55e-6 + 64 * MIB / 64e9)
    assert second - first == pytest.approx(2e-6 + 64 * MIB / 25e9)
    assert third == store_and_forward(64 * MIB, [C2C, B2B, C2C])
    assert second - first + 0.25e-6 + 64 * MIB / 64e9 == pytest.approx(64 * MIB / 17.967e9, rel=3e-5)


def test_arrivals_of_a_long_path_add_up_the_same():
    hops = [(1e-6 * i, 1e9 + i) for i in range(12)]
    sizes = np.array([0.0, 1e6])
    singly = np.cumsum([direct(sizes, *hop) for hop in hops], axis=0)
    assert np.allclose(arrivals(sizes, hops), singly, rtol=1e-14)
    assert np.allclose(arrivals(sizes, hops[:5]), singly[:5], rtol=1e-14)


def test_cut_through_gains_what_overlaps():
    hops, m = [C2C] * 8, 10 * 0.55e-6 * 64e9
    assert store_and_forward(m, hops) / cut_through(m, hops) == pytest.approx(8 * 11 / 18)
    assert cut_through(m, [C2C, B2B]) == pytest.approx(2.55e-6 + m / 25e9)
    assert cut_through(m, hops, Forward(header=64)) == pytest.approx(8 * 0.55e-6 + m / 64e9 + 7 * 64 / 64e9)


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 40), SMALL_HOPS, st.integers(0, 45))
def test_cut_through_follows_the_bytes(size, hops, header):
    assert cut_through(size, hops, Forward(header=header)) == pytest.approx(
        float(byte_walk(size, hops, header, grain=1)), rel=1e-12
    )


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 12), SMALL_HOPS, st.integers(0, 12))
def test_finer_grains_of_the_bytes_change_nothing(size, hops, header):
    assert byte_walk(size, hops, header, grain=1) == byte_walk(size, hops, header, grain=7)


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 60), SMALL_HOPS, st.integers(1, 70), st.sampled_from([0.0, 0.5]))
def test_wormhole_follows_the_flits(size, hops, flit, source):
    got = wormhole(size, hops, Forward(flit=flit, source=source))
    assert got == pytest.approx(float(flit_walk(size, hops, flit, source)), rel=1e-12)


@settings(deadline=None)
@given(st.integers(0, 60), SMALL_HOPS)
def test_store_and_forward_follows_the_message(size, hops):
    assert store_and_forward(size, hops) == pytest.approx(float(chunk_walk(hops, [size])), rel=1e-12)


def test_wormhole_of_equal_hops():
    hops = [(1e-8, 50e9)] * 5
    assert wormhole(1e6, hops, Forward(flit=64)) == pytest.approx(5e-8 + 1e6 / 50e9 + 4 * 64 / 50e9)
    assert wormhole(1e6, hops) == wormhole_limit(1e6, hops, Forward(flit=64)) == pytest.approx(5e-8 + 1e6 / 50e9)
    assert wormhole(1e6, hops, Forward(source=2e-6)) == pytest.approx(2.05e-6 + 1e6 / 50e9)


@pytest.mark.parametrize(("size", "number"), [(0, 1), (1, 1), (64, 1), (65, 2), (128, 2), (2**40, 2**34)])
def test_flits_are_padded(size, number):
    assert flits(size, 64) == number


@settings(deadline=None)
@given(SIZES, PATHS)
def test_a_header_as_long_as_the_message_is_store_and_forward(size, hops):
    for header in (size, size + 1, 1e300):
        assert cut_through(size, hops, Forward(header=header)) == pytest.approx(
            float(store_and_forward(size, hops)), rel=1e-12
        )


@settings(deadline=None)
@given(SIZES, PATHS, st.integers(0, 1 << 20))
def test_cut_through_lies_between_its_limits(size, hops, header):
    least, most = cut_through(size, hops), store_and_forward(size, hops)
    got = cut_through(size, hops, Forward(header=header))
    assert least * (1 - 1e-12) <= got <= most * (1 + 1e-12)
    assert least == pytest.approx(sum(a for a, _ in hops) + size / min(b for _, b in hops), rel=1e-12)


@settings(deadline=None)
@given(st.lists(SIZES, min_size=2, max_size=6), PATHS, st.integers(0, 4096), st.none() | st.integers(1, 4096))
def test_time_is_monotone_in_size(sizes, hops, header, flit):
    for forward in FORWARDING.values():
        times = forward(np.sort(sizes), hops, Forward(header=header, flit=flit))
        assert np.all(np.diff(times) >= -1e-12 * times[1:])


@settings(deadline=None)
@given(st.integers(1, 1 << 34), PATHS)
def test_effective_bandwidth_stays_below_its_limit(size, hops):
    bandwidths = [b for _, b in hops]
    assert size / store_and_forward(size, hops) <= 1 / sum(1 / b for b in bandwidths) * (1 + 1e-12)
    assert size / cut_through(size, hops) <= min(bandwidths) * (1 + 1e-12)


@pytest.mark.parametrize("name", FORWARDING)
def test_modes_agree_on_one_hop_without_flits(name):
    assert FORWARDING[name](MIB, [C2C], None) == pytest.approx(float(direct(MIB, *C2C)), rel=1e-14)


@pytest.mark.parametrize("name", FORWARDING)
def test_nothing_costs_the_latencies(name):
    assert FORWARDING[name](0, [C2C, B2B], Forward(header=64)) == pytest.approx(2.55e-6)


@pytest.mark.parametrize("name", FORWARDING)
def test_arrays_of_sizes_latencies_and_bandwidths(name):
    sizes = np.array([[0.0], [1e3], [1e6]])
    latency, bandwidth = np.array([1e-6, 2e-6]), np.array([64e9, 25e9])
    forward = Forward(header=64, flit=32)
    got = FORWARDING[name](sizes, [(latency, 50e9), (1e-6, bandwidth)], forward)
    assert got.shape == (3, 2)
    for i, size in enumerate(sizes[:, 0]):
        for j in range(2):
            one = FORWARDING[name](size, [(latency[j], 50e9), (1e-6, bandwidth[j])], forward)
            assert got[i, j] == pytest.approx(float(one), rel=1e-14)


@pytest.mark.parametrize("name", FORWARDING)
def test_no_sizes_give_no_times(name):
    assert FORWARDING[name](np.array([]), [C2C, B2B], None).shape == (0,)


@settings(deadline=None)
@given(SIZES, LINES)
def test_a_curve_of_one_piece_is_a_line(size, line):
    for forward in FORWARDING.values():
        assert forward(size, [line, C2C], None) == forward(size, [Curve.line(*line), C2C], None)


# --- what is refused ----------------------------------------------------------------------------------------------

BAD = (-1.0, math.nan, math.inf, -math.inf)


def refused(call, *arguments):
    with pytest.raises(InputError) as caught:
        call(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", FORWARDING)
@pytest.mark.parametrize("bad", BAD)
def test_impossible_numbers(name, bad):
    for size, hops, what in (
        (bad, [C2C], "size"),
        ([1.0, bad], [C2C], "size"),
        (1.0, [C2C, (bad, 1e9)], "latency"),
        (1.0, [(1e-6, bad), C2C], "bandwidth"),
        (1.0, [(1e-6, np.array([1e9, bad]))], "bandwidth"),
    ):
        assert refused(FORWARDING[name], size, hops, None).startswith(what)


@pytest.mark.parametrize("name", FORWARDING)
def test_no_bandwidth_and_no_path(name):
    assert "above 0" in refused(FORWARDING[name], 1.0, [(1e-6, 0.0)], None)
    assert "no hops" in refused(FORWARDING[name], 1.0, [], None)


@pytest.mark.parametrize("flit", [0.0, -1.0, math.nan])
def test_a_flit_has_bytes(flit):
    assert "flit" in refused(lambda: wormhole(1.0, [C2C], Forward(flit=flit)))
    assert "flit" in refused(flits, 1.0, flit)


@pytest.mark.parametrize("bad", BAD)
def test_header_and_source_are_checked_too(bad):
    refused(lambda: cut_through(1e3, [C2C, C2C], Forward(header=bad)))
    refused(lambda: wormhole(1e3, [C2C, C2C], Forward(source=bad)))
