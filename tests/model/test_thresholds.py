"""Thresholds against trying every number of queues, and the figures of the DCQCN paper."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from hopline.errors import InputError
from hopline.jobs.headroom import Buffer, order
from hopline.model.thresholds import Switch, alpha_for, dcqcn, ecn_of, firing, ordered, turning


def test_the_figures_of_the_dcqcn_paper():
    """12 MB, 32 ports, 8 classes, 22.4 KB a port and class; the paper prints 0.85 KB where its rule gives 0.765."""
    found = dcqcn(12e6, 32, 22.4e3)
    assert found.pause == pytest.approx(24_475, abs=0.5)
    assert found.naive == pytest.approx(765, abs=0.5)
    assert found.dynamic == pytest.approx(21_755, abs=1)


def drawn(random):
    dynamic = random.random() < 0.7
    return Switch(
        random.choice([1e6, 5e6, 12e6]),
        tuple(sorted(random.sample([1e3, 5e3, 50e3, 100e3, 400e3, 1600e3], 2))),
        random.choice([1 / 16, 1 / 8, 1.0, 8.0]) if dynamic else None,
        None if dynamic else random.choice([20e3, 200e3]),
        random.choice([1, 2, 7]),
        random.choice(["own", "one"]),
    )


@pytest.mark.parametrize("seed", range(80))
def test_the_count_at_which_it_turns_is_found_by_trying_all(seed):
    switch = drawn(Random(seed))
    tried = [firing(switch, count) for count in range(1, 300)]
    for level, names in ((switch.ecn[0], {"PFC"}), (switch.ecn[1], {"PFC", "ECN"})):
        first = next((found.queues for found in tried if found.first in names), None)
        turned = turning(switch, level)
        assert turned == first or (first is None and (turned is None or turned >= 300))


@pytest.mark.parametrize("seed", range(40))
def test_a_pause_comes_where_an_ingress_buffer_reaches_what_is_left(seed):
    switch = drawn(Random(seed))
    for count in (1, 3, 16):
        found = firing(switch, count)
        held = switch.share(count) * Fraction(found.pause)
        assert float(held) == pytest.approx(found.threshold)
        if switch.alpha is not None:
            assert found.threshold == pytest.approx(switch.alpha * (switch.pool - count * found.pause), rel=1e-9)
            assert count * found.pause < switch.pool


def test_growing_byte_by_byte():
    """Two queues of one sender each, alpha 1/2: pause when q >= (pool - 2 q) / 2."""
    switch = Switch(1000.0, (100.0, 300.0), alpha=0.5)
    level = next(q for q in range(1000) if q >= 0.5 * (1000 - 2 * q))
    assert firing(switch, 2).pause == level == 250
    assert firing(switch, 2).first == "ECN"
    assert firing(switch, 1).first == "ECN at pmax"
    assert firing(switch, 9).first == "PFC"
    assert turning(switch, 100.0) == 8


def test_the_least_alpha_is_just_enough():
    switch = Switch(10e6, (100e3, 400e3), alpha=1 / 16)
    least = alpha_for(switch, 64, 100e3)
    assert firing(Switch(10e6, switch.ecn, least * 1.0001), 64).first == "ECN"
    assert firing(Switch(10e6, switch.ecn, least * 0.9999), 64).first == "PFC"
    assert alpha_for(switch, 100, 100e3) is None


def test_simulators_settings_by_rate():
    assert ecn_of("hpcc", 12.5e9) == (400e3, 1600e3, 0.2)
    assert ecn_of("simai", 50e9) == (800e3, 3200e3, 0.2)


def test_faults_are_named_with_their_remedy():
    names = [fault.name for fault in ordered((500.0, 400.0), 300.0, 300.0, 300.0)]
    assert names == ["KMIN above KMAX", "KMAX not below Xoff", "Xon not below Xoff"]
    assert ordered((100.0, 299.0), 300.0, 300.0, 299.0) == []


def test_a_static_xoff_must_fit_for_all_ports():
    pool = 9e6 - 64 * 7_064
    fits = order(Buffer(9e6, 64, 1, (1e3, 2e3), None, pool // 64), 7_064, 12.5e9)
    assert fits.faults == ()
    above = order(Buffer(9e6, 64, 1, (1e3, 2e3), None, pool // 64 + 1), 7_064, 12.5e9)
    assert [fault.name for fault in above.faults] == ["Xoff too high for all ports"]


def test_the_whole_switch():
    found = order(Buffer(32e6, 32, 2, (400e3, 1600e3), 1 / 8, None, None, 4), 15_564, 12.5e9, 10e-6)
    assert found.switch.pool == 32e6 - 32 * 2 * 15_564
    assert found.growth == 3 * 12.5e9 * 10e-6
    tried = {count: firing(found.switch, count) for count in range(1, 32 // 4 + 1)}
    assert found.flips == next((count for count in tried if tried[count].first == "PFC"), None)
    assert found.full == next((count for count in tried if tried[count].pause <= 1600e3), None)
    assert found.late == next((count for count in tried if tried[count].pause <= 400e3 + found.growth), None)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (lambda: dcqcn(1e6, 32, 22.4e3), "fewer lossless classes, shorter cables or a larger buffer"),
        (lambda: order(Buffer(1e6, 32, 8, (1.0, 2.0), 1.0), 15_564, 1e9), "takes 3.8.* MiB of a buffer of 1.000 MB"),
        (lambda: Switch(1e6, (1.0, 2.0)), "PFC needs one threshold"),
        (lambda: Switch(1e6, (1.0, 2.0), 1.0, 2.0), "PFC needs one threshold"),
        (lambda: Switch(1e6, (1.0, 2.0), 1.0, feeds="all"), "unknown way of feeding"),
        (lambda: firing(Switch(1e6, (1.0, 2.0), 1.0), 0), "0 congested queues"),
    ],
)
def test_bad_switches_are_named(bad, said):
    with pytest.raises(InputError if "unknown" not in said else Exception, match=said):
        bad()
