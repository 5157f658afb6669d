"""Limits: sums worked out by hand, and the places where floats would round the wrong way."""

from __future__ import annotations

import math
from decimal import Decimal
from statistics import harmonic_mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopline.errors import InputError
from hopline.model.limits import (
    alpha_sum,
    concurrency,
    duplex_full,
    duplex_half,
    effective,
    effective_bandwidth,
    memory_cap,
    target_rate_needs,
)

POSITIVE = st.floats(1e-3, 1e12)


def test_effective():
    assert effective(100, 4) == 25
    assert effective(0, 4) == 0
    assert effective(100, 0) is None


def test_both_ways_at_once():
    assert duplex_full(64e9, 32e9, 64e9, 64e9) == 1
    assert duplex_full(64e9, 32e9, 64e9, 16e9, latency=0.5) == 2.5
    assert duplex_full(0, 0, 1, 1, latency=3e-6) == 3e-6


def test_both_ways_share_the_memory():
    """The document's chip: 2 x 64 GB/s ask for more than 68.2 GB/s, so that the memory decides."""
    assert duplex_full(64e9, 64e9, 64e9, 64e9, memory=68.2e9) == pytest.approx(128 / 68.2)
    assert duplex_full(64e9, 64e9, 64e9, 64e9, memory=128e9) == 1
    assert duplex_full(64e9, 0, 64e9, 64e9, memory=68.2e9) == 1


def test_one_way_at_a_time():
    assert duplex_half(3e9, 1e9, 1e9, latency=0.25, turnaround=0.5) == 5
    assert duplex_half(0, 0, 1e9) == 0


@pytest.mark.parametrize(
    ("links", "bandwidth", "memory", "touches", "aggregate", "bound"),
    [
        (3, 0.1e9, 0.3e9, 1, 0.3e9, False),  # in floats 3 x 0.1 exceeds 0.3
        (3, 0.1, 0.3, 1, 0.3, False),
        (2, 64e9, 68.2e9, 1, 68.2e9, True),
        (1, 64e9, 68.2e9, 1, 64e9, False),
        (2, 64e9, 68.2e9, 2, 34.1e9, True),
        (1, 64e9, 68.2e9, 3, 68.2e9 / 3, True),
        (1, 0.1, 0.3, 3, 0.1, False),
        (0, 64e9, 68.2e9, 1, 0, False),
    ],
)
def test_memory_cap(links, bandwidth, memory, touches, aggregate, bound):
    cap = memory_cap(links, bandwidth, memory, touches)
    assert (cap.aggregate, cap.memory_bound) == (pytest.approx(aggregate, rel=1e-15), bound)
    assert cap.demand == pytest.approx(links * bandwidth * touches)


@settings(deadline=None)
@given(st.integers(1, 64), POSITIVE, POSITIVE, st.sampled_from([1, 2, 3]))
def test_memory_cap_is_the_smaller(links, bandwidth, memory, touches):
    cap = memory_cap(links, bandwidth, memory, touches)
    assert cap.aggregate == pytest.approx(min(links * bandwidth, memory / touches), rel=1e-12)
    assert cap.memory_bound == (links * Decimal(repr(bandwidth)) * touches > Decimal(repr(memory)))


def test_hops_in_series():
    found = effective_bandwidth([64e9, 25e9])
    assert found.store_and_forward == pytest.approx(17.9775e9, rel=1e-5)
    assert (found.cut_through, found.pipelined) == (25e9, 25e9)
    assert found.harmonic_mean == pytest.approx(35.955e9, rel=1e-4)


@settings(deadline=None)
@given(st.lists(POSITIVE, min_size=1, max_size=8))
def test_series_limits_are_in_order(bandwidths):
    found = effective_bandwidth(bandwidths)
    assert min(bandwidths) / len(bandwidths) * (1 - 1e-12) <= found.store_and_forward <= found.cut_through
    assert found.harmonic_mean == pytest.approx(harmonic_mean(bandwidths), rel=1e-9)


@pytest.mark.parametrize(
    ("target", "payload", "latency", "in_flight"),
    [
        (45e9, 129, 4.3e-6, 1500),  # floats: 1501
        (10e9, 500, 2.5e-6, 50),  # floats: 51
        (50e9, 8192, 5e-6, 31),
        (50e9, 256, 2e-6, 391),
        (0, 256, 2e-6, 0),
        (1e9, 1e3, 0, 0),
    ],
)
def test_in_flight(target, payload, latency, in_flight):
    assert target_rate_needs(target, payload, latency).in_flight == in_flight


def test_operations_of_a_target_rate():
    needs = target_rate_needs(50e9, 8192, 5e-6)
    assert needs.rate == pytest.approx(6_103_515.625)
    assert needs.interval == pytest.approx(0.16384e-6)
    assert needs.concurrency == pytest.approx(30.5176, rel=1e-5)
    assert target_rate_needs(0, 8192, 5e-6).interval is None


def test_a_window_of_requests():
    found = concurrency(128, 256, 2e-6, 50e9, size=24 * 2**20)
    assert found.throughput == pytest.approx(16.384e9)
    assert found.fraction == pytest.approx(0.32768)
    assert (found.needed_exact, found.needed) == (390.625, 391)
    assert found.needed_rate == pytest.approx(195.3125e6)
    assert found.time == pytest.approx(1.536e-3)


@pytest.mark.parametrize(
    ("in_flight", "payload", "turnaround", "size", "throughput", "needed", "time"),
    [
        (1000, 4096, 2e-6, 5e10, 50e9, 25, 1.0),
        (0, 256, 2e-6, 1.0, 0, 391, None),
        (0, 256, 2e-6, 0.0, 0, 391, 0.0),
        (8, 0, 2e-6, 1.0, 0, None, None),
        (8, 256, 0, 5e10, 50e9, 0, 1.0),
        (0, 256, 0, None, 0, 0, None),
        (25 / 2, 4096, 1.024e-6, None, 50e9, 13, None),
    ],
)
def test_ends_of_a_window(in_flight, payload, turnaround, size, throughput, needed, time):
    found = concurrency(in_flight, payload, turnaround, 50e9, size)
    assert (found.throughput, found.needed, found.time) == (throughput, needed, time)


@pytest.mark.parametrize(
    ("cap", "payload", "turnaround", "needed"), [(45e9, 129, 4.3e-6, 1500), (10e9, 500, 2.5e-6, 50)]
)
def test_needed_requests_are_rounded_up_exactly(cap, payload, turnaround, needed):
    assert concurrency(1, payload, turnaround, cap).needed == needed
    assert concurrency(needed, payload, turnaround, cap).fraction == 1
    assert concurrency(needed - 1, payload, turnaround, cap).fraction < 1


def test_start_up_from_its_parts():
    assert alpha_sum([0.25e-6, 0.3e-6]) == pytest.approx(0.55e-6)
    assert alpha_sum([]) == 0


# --- what is refused ----------------------------------------------------------------------------------------------

CALLS = {
    "effective bandwidth": lambda bad: effective_bandwidth([1e9, bad]),
    "duplex send": lambda bad: duplex_full(bad, 1, 1, 1),
    "duplex receive": lambda bad: duplex_full(1, bad, 1, 1),
    "duplex tx": lambda bad: duplex_full(1, 1, bad, 1),
    "duplex rx": lambda bad: duplex_full(1, 1, 1, bad),
    "duplex latency": lambda bad: duplex_full(1, 1, 1, 1, latency=bad),
    "duplex memory": lambda bad: duplex_full(1, 1, 1, 1, memory=bad),
    "half send": lambda bad: duplex_half(bad, 1, 1),
    "half receive": lambda bad: duplex_half(1, bad, 1),
    "half bandwidth": lambda bad: duplex_half(1, 1, bad),
    "half latency": lambda bad: duplex_half(1, 1, 1, latency=bad),
    "half turnaround": lambda bad: duplex_half(1, 1, 1, turnaround=bad),
    "memory links": lambda bad: memory_cap(bad, 1, 1),
    "memory link": lambda bad: memory_cap(1, bad, 1),
    "memory": lambda bad: memory_cap(1, 1, bad),
    "memory touches": lambda bad: memory_cap(1, 1, 1, bad),
    "window": lambda bad: concurrency(bad, 1, 1, 1),
    "window payload": lambda bad: concurrency(1, bad, 1, 1),
    "window turnaround": lambda bad: concurrency(1, 1, bad, 1),
    "window cap": lambda bad: concurrency(1, 1, 1, bad),
    "window size": lambda bad: concurrency(1, 1, 1, 1, size=bad),
    "target": lambda bad: target_rate_needs(bad, 1, 1),
    "target payload": lambda bad: target_rate_needs(1, bad, 1),
    "target latency": lambda bad: target_rate_needs(1, 1, bad),
    "start-up": lambda bad: alpha_sum([1e-6, bad]),
}
NOT_ZERO = (
    "effective bandwidth", "duplex tx", "duplex rx", "duplex memory", "half bandwidth", "memory link", "memory",
    "memory touches", "window cap", "target payload",
)  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf, -math.inf])
def test_impossible_numbers(call, bad):
    with pytest.raises(InputError, match="expected a finite number") as caught:
        CALLS[call](bad)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("call", CALLS)
def test_zero_where_a_rate_is_needed(call):
    if call in NOT_ZERO:
        with pytest.raises(InputError, match="above 0"):
            CALLS[call](0.0)
    else:
        CALLS[call](0.0)


def test_no_hops():
    with pytest.raises(InputError, match="no hops"):
        effective_bandwidth([])
