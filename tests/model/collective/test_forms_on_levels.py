"""Closed forms on networks of several levels and NICs, against simulations there; and the book's comparison."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from hopline.curve import Curve
from hopline.errors import InputError
from hopline.machine.fabric import Level, Levels
from hopline.model.collective.rounds import Abreast, Rounds, bounds, cost, holds
from hopline.model.collective.table import FORMS
from hopline.records.timeline import TICK
from hopline.schedule.collectives.reshard import parts_of
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.shape import Shape
from hopline.sim.engine import simulate

NEAR, MIDDLE, FAR = (Curve.line(1e-6, 4e9), Curve.line(3e-6, 2e9), Curve.line(5e-6, 1e9))
LEVELS = ((2, 2), (4, 2), (2, 3), (3, 4), (2, 2, 2), (3, 2, 2), (1, 4), (4, 1), (2, 1, 3))
SIZES = {"equal": lambda ranks: 48 * ranks * 12, "unequal": lambda ranks: 12 * ranks + 5, "none": lambda ranks: 0}
MEBIBYTE = 1 << 20
BOOK = Levels([Level(8, Curve.line(0, 450e9)), Level(2, Curve.line(0, 50e9))])
"""16 ranks, 8 a node, as in the second founding document."""

every_level = pytest.mark.parametrize("levels", LEVELS, ids=lambda levels: "x".join(map(str, levels)))
every_size = pytest.mark.parametrize("size", SIZES)
every_order = pytest.mark.parametrize("outward", ["slower", "faster"])


def network(levels, outward, adding=0.0, nics=1):
    curves = (NEAR, MIDDLE, FAR) if len(levels) == 3 else (NEAR, FAR)
    curves = curves if outward == "slower" else curves[::-1]
    made = [Level(members, curve, nics) for members, curve in zip(levels, curves, strict=True)]
    return Levels(made, adding, adding / 2)


def shaped(levels, size, **choice):
    ranks = int(np.prod(levels))
    return Shape(ranks, SIZES[size](ranks), levels, **choice)


def worked_out(name, shape, net):
    """(least, most, simulated freely, simulated round by round)."""
    schedule = COLLECTIVES[name].build(shape)
    return (*bounds(FORMS[name](shape), net), *(simulate(schedule, net, by_rounds=by).time for by in (False, True)))


def near(time):
    return pytest.approx(time, rel=1e-9, abs=50 * TICK)


def at_most(time, bound):
    return time <= bound * (1 + 1e-9) + 50 * TICK


@every_level
@every_size
@every_order
@pytest.mark.parametrize("adding", [0.0, 3e-9])
def test_hierarchical_is_exact_whatever_the_pieces(levels, size, outward, adding):
    least, most, freely, by_rounds = worked_out(
        "all_reduce-hierarchical", shaped(levels, size), network(levels, outward, adding)
    )
    assert (least, freely, by_rounds) == (near(most), near(most), near(most))


@every_level
@every_size
@every_order
def test_alltoall_by_levels_is_exact_round_by_round_and_for_equal_pieces(levels, size, outward):
    _, most, freely, by_rounds = worked_out(
        "alltoall-hierarchical", shaped(levels, size), network(levels, outward, 2e-10)
    )
    assert by_rounds == near(most)
    assert at_most(freely, most) if size == "unequal" else freely == near(most)


@every_level
@every_size
@every_order
def test_a_flat_ring_waits_for_the_slowest_message_of_each_round(levels, size, outward):
    name, shape = "all_reduce-flat_ring", shaped(levels, size)
    assert worked_out(name, shape, network(levels, outward))[3] == near(
        bounds(FORMS[name](shape), network(levels, outward))[1]
    )
    for adding in (0.0, 3e-9):
        least, most, freely, _ = worked_out(name, shape, network(levels, outward, adding))
        assert at_most(least, freely)
        assert at_most(freely, most)


@every_level
@every_order
@pytest.mark.parametrize("nics", [1, 2])
@pytest.mark.parametrize("channels", [3, 8])
def test_rings_on_levels_are_between_their_bounds(levels, outward, nics, channels):
    for size in SIZES:
        for adding in (0.0, 3e-9):
            net, shape = network(levels, outward, adding, nics), shaped(levels, size, channels=channels)
            least, most, freely, by_rounds = worked_out("all_reduce-rings", shape, net)
            assert at_most(least, freely)
            assert at_most(max(freely, by_rounds), most)
            if size == "equal" and SIZES[size](shape.ranks) % (channels * shape.ranks) == 0:
                assert by_rounds == near(most)


@every_level
@every_order
@pytest.mark.parametrize("chunks", [1, 3, 8])
def test_chunks_on_levels_are_between_their_bounds(levels, outward, chunks):
    for size in SIZES:
        for adding in (0.0, 3e-9):
            net, shape = network(levels, outward, adding), shaped(levels, size, chunks=chunks)
            least, most, freely, by_rounds = worked_out("all_reduce-hierarchical_chunked", shape, net)
            assert at_most(least, freely)
            assert at_most(max(freely, by_rounds), most)
            if SIZES[size](shape.ranks) % (chunks * shape.ranks) == 0:
                assert by_rounds == near(most)
            if chunks == 1:
                assert least == near(most)


@pytest.mark.parametrize("inner", [1.0, 8.0])
def test_bounds_of_chunks_meet_where_one_level_is_the_busiest(inner):
    net = Levels([Level(4, Curve.line(0, 1e9 / inner)), Level(2, Curve.line(0, 1e8))])
    shape = Shape(8, 1 << 20, (4, 2), chunks=16)
    least, most = bounds(FORMS["all_reduce-hierarchical_chunked"](shape), net)
    assert least == near(most)
    assert most < 0.9 * bounds(FORMS["all_reduce-hierarchical"](shape), net)[1]


def test_the_book_compares_one_ring_with_a_hierarchy_and_leaves_out_eight_rings():
    shape = Shape(16, 192 * MEBIBYTE, (8, 2), channels=8)
    figures = {
        "all_reduce-flat_ring": 7.5497472e-3,
        "all_reduce-hierarchical": 1.28625322667e-3,
        "all_reduce-rings": 0.9437184e-3,
    }
    for name, figure in figures.items():
        assert worked_out(name, shape, BOOK) == (
            *[pytest.approx(figure, rel=1e-9)] * 2,
            *[pytest.approx(figure, rel=1e-7)] * 2,
        )
    busy = simulate(COLLECTIVES["all_reduce-rings"].build(shape), BOOK).busy * TICK
    assert busy[:32] == pytest.approx(30 * 7 * shape.size / 128 / 450e9)
    assert busy[32:] == pytest.approx(30 * shape.size / 128 / 50e9)


def test_in_chunks_the_hierarchy_is_bound_by_what_its_inner_ports_carry():
    least, most = bounds(FORMS["all_reduce-hierarchical_chunked"](Shape(16, 192 * MEBIBYTE, (8, 2), chunks=256)), BOOK)
    assert least == pytest.approx(2 * 7 / 8 * 192 * MEBIBYTE / 450e9)
    assert most < 1.002 * least


@pytest.mark.parametrize("ranks", [2, 5, 8])
def test_rings_with_a_nic_each_take_what_the_one_with_the_largest_share_takes(ranks):
    net, size = Levels.uniform(ranks, NEAR, nics=3), 3 * ranks * 16 + 1
    least, most, freely, by_rounds = worked_out("all_reduce-rings", Shape(ranks, size, channels=3), net)
    one = bounds(FORMS["all_reduce-ring"](Shape(ranks, ranks * 16 + 1)), net)[1]
    assert (least, most, freely, by_rounds) == (near(one),) * 4


@pytest.mark.parametrize("nics", [1, 2])
def test_rings_that_share_a_nic_take_turns(nics):
    shape, net = Shape(6, 6 * 3 * 100, channels=3), Levels.uniform(6, NEAR, nics=nics)
    least, most, freely, by_rounds = worked_out("all_reduce-rings", shape, net)
    turns = {1: 3, 2: 2}[nics]
    assert most == near(10 * turns * (1e-6 + 100 / 4e9))
    assert (least, freely, by_rounds) == (near(most),) * 3


def test_levels_that_share_ports_have_no_bound():
    form = FORMS["all_reduce-hierarchical_chunked"](Shape(8, 1000, (4, 2), chunks=4))
    shared = Levels.uniform(8, NEAR)
    assert holds(form, Levels([Level(4, NEAR), Level(2, FAR)]))
    assert holds(form, Levels.uniform(8, NEAR, nics=2))
    assert not holds(form, shared)
    with pytest.raises(InputError, match="ports of their own"):
        bounds(form, shared)


def test_sequences_abreast_last_as_long_as_the_slowest():
    step = Abreast(2, ((Rounds(2, 4000, level=0),), (Rounds(2, 100, level=1), Rounds(1, 100, level=1))))
    assert cost((step, Rounds(1, None, copied=10)), network((4, 2), "slower", 1e-9)).time == pytest.approx(
        3 * 5.1e-6 + 5e-9
    )
    assert cost((step,), network((4, 2), "faster")).time == pytest.approx(2 * 9e-6)
    told = replace(step.ways[0][0], channels=(0, 1, 3))
    assert [told.turns(nics) for nics in (1, 2, 3, 4)] == [3, 2, 2, 1]


def test_a_direct_all_reduce_has_the_bandwidth_term_of_a_ring():
    """ASTRA-sim issue 296: eight NPUs, 100 MB, 50 GB/s."""
    net, shape = Levels.uniform(8, Curve.line(10e-9, 50e9)), Shape(8, 100_000_000)
    ring, direct = (worked_out(f"all_reduce-{name}", shape, net) for name in ("ring", "direct"))
    assert direct == pytest.approx(ring)
    assert direct[1] == pytest.approx(3.5e-3 + 14 * 10e-9)


@pytest.mark.parametrize(("ranks", "targets"), [(2, 1), (5, 2), (7, 3), (12, 8), (12, 4), (13, 5), (32, 11), (17, 16)])
@pytest.mark.parametrize(
    "curve", [Curve.line(0, 1e9), Curve.line(1e-6, 1e9), Curve.line(1e-6, 1e15)], ids=["bytes", "both", "starts"]
)
def test_a_reshard_keeps_its_busiest_port_busy(ranks, targets, curve):
    for size in (1, ranks - 1, 12 * ranks + 5, 9240):
        shape = Shape(ranks, size, targets=targets)
        ports = Counter()
        for _, part, holder, target in zip(*parts_of(shape), strict=True):
            ports["out", holder] += float(curve.time(part))
            ports["in", target] += float(curve.time(part))
        least, most, freely, by_rounds = worked_out("reshard-direct", shape, Levels.uniform(ranks, curve))
        assert (least, most, freely, by_rounds) == (near(max(ports.values())),) * 4
