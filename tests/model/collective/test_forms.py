"""Every closed form against the simulation of its schedule: round by round it is the same, freely it is never more."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import pytest
from collective_shapes import ENTRIES, RANKS, shapes

from hopline.curve import Curve, Piece
from hopline.machine.fabric import Level, Levels
from hopline.model.collective.rounds import Form, bounds
from hopline.model.collective.table import FORMS
from hopline.records.timeline import TICK
from hopline.schedule.collectives.table import COLLECTIVES, Collective
from hopline.schedule.shape import Shape
from hopline.sim.engine import simulate

EVEN = Curve.line(1.2e-6, 1e9)
"""A whole number of picoseconds for every size."""
ODD = Curve.line(1.23e-6, 7e9)
BENT = Curve((Piece(0, 1e-6, 2e9), Piece(64, 1.5e-6, 1e9), Piece(1500, 4e-6, 4e9)))
"""Never faster for more bytes."""
NETWORKS = {"even": (EVEN, 0.0), "odd": (ODD, 0.0), "adding": (EVEN, 3e-11), "bent": (BENT, 1e-11)}
"""Curve, and seconds to add up a byte."""
MEBIBYTE = 1 << 20
FEW = (2, 3, 5, 8)
EXACT = [entry for entry in ENTRIES if entry.exact]
BOUNDED = [entry for entry in ENTRIES if not entry.exact]

every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
every_exact = pytest.mark.parametrize("entry", EXACT, ids=lambda entry: entry.name)
every_bounded = pytest.mark.parametrize("entry", BOUNDED, ids=lambda entry: entry.name)
every_network = pytest.mark.parametrize("network", NETWORKS)


def cases(entry: Collective) -> Iterator[Shape]:
    """All ranks with two sizes that do not divide, few ranks with all sizes."""
    pairs = [(ranks, size) for ranks in RANKS for size in (7, 12 * ranks + 5)]
    pairs += [(ranks, size) for ranks in FEW for size in (0, 1, ranks - 1, ranks, ranks + 1, MEBIBYTE + 3)]
    for ranks, size in dict.fromkeys(pairs):
        yield from shapes(entry, ranks, size)


def equal_cases(entry: Collective) -> Iterator[Shape]:
    """All ranks with pieces, chunks and halves that are equal."""
    for ranks in RANKS:
        cores = 1 << (ranks.bit_length() - 1)
        yield from shapes(entry, ranks, math.lcm(ranks, cores) * 48)


def few(shapes: Iterator[Shape], network: str) -> Iterator[Shape]:
    """Not all ranks again on further networks."""
    return shapes if network == "even" else (shape for shape in shapes if shape.ranks in FEW)


def fabric(shape: Shape, network: str) -> Levels:
    """The uniform network of that name, a NIC for each channel."""
    curve, reduce = NETWORKS[network]
    return Levels.uniform(shape.ranks, curve, nics=shape.channels, reduce=reduce, copy=reduce / 2)


def own_ports(shape: Shape, network: str) -> Levels:
    """The same curve on every level of the shape, and on each level ports for every rank."""
    curve, reduce = NETWORKS[network]
    return Levels([Level(members, curve) for members in shape.groups], reduce, reduce / 2)


def same(time: float, expected: float, form: Form) -> bool:
    """But for half a picosecond for each message, sum and copy on the way."""
    return abs(time - expected) <= 1.5 * form.messages * TICK + 1e-12 * expected + 1e-18


@every_entry
def test_what_a_rank_sends_at_most_is_what_the_schedule_sends(entry):
    for shape in cases(entry):
        assert FORMS[entry.name](shape).sent == entry.build(shape).sent.max(), shape


@every_entry
def test_there_are_as_many_rounds_as_the_schedule_has(entry):
    for shape in cases(entry):
        schedule = entry.build(shape)
        assert FORMS[entry.name](shape).count == (len(schedule.rounds) if schedule.messages else 0), shape


@every_network
@every_exact
def test_round_by_round_it_is_the_same_time(entry, network):
    for shape in few(cases(entry), network):
        form, net = FORMS[entry.name](shape), fabric(shape, network)
        least, most = bounds(form, net)
        assert least == pytest.approx(most, rel=1e-13, abs=0)
        assert same(simulate(entry.build(shape), net, by_rounds=True).time, most, form), shape


@every_network
@every_exact
def test_freely_it_is_the_same_time_for_equal_pieces(entry, network):
    for shape in few(equal_cases(entry), network):
        form, net = FORMS[entry.name](shape), fabric(shape, network)
        assert same(simulate(entry.build(shape), net).time, bounds(form, net)[1], form), shape


@every_network
@every_exact
def test_freely_it_is_hardly_less_for_others(entry, network):
    curve, reduce = NETWORKS[network]
    a_byte = 1 / min(piece.bandwidth for piece in curve.pieces) + reduce
    for shape in few(cases(entry), network):
        form, net = FORMS[entry.name](shape), fabric(shape, network)
        time, most = simulate(entry.build(shape), net).time, bounds(form, net)[1]
        assert time <= most or same(time, most, form), shape
        if network != "bent":
            assert time >= most - form.count * a_byte or same(time, most, form), shape


@every_network
@every_bounded
def test_freely_and_round_by_round_it_is_between_the_bounds(entry, network):
    for shape in (*few(cases(entry), network), *few(equal_cases(entry), network)):
        form, net, schedule = FORMS[entry.name](shape), own_ports(shape, network), entry.build(shape)
        least, most = bounds(form, net)
        for by_rounds in (False, True):
            time = simulate(schedule, net, by_rounds=by_rounds).time
            assert least <= time or same(time, least, form), shape
            assert time <= most or same(time, most, form), shape


@pytest.mark.parametrize("chunks", [1, 4, 16, 64])
@pytest.mark.parametrize("ranks", [4, 7, 8, 16, 33, 64])
def test_bounds_of_double_trees_are_near_one_another(ranks, chunks):
    name, shape = "all_reduce-double_binary_tree", Shape(ranks, 1 << 24, chunks=chunks)
    form, net = FORMS[name](shape), fabric(shape, "even")
    least, most = bounds(form, net)
    time = simulate(COLLECTIVES[name].build(shape), net).time
    assert most <= (1.35 if ranks == 4 else 1.09) * time
    assert time <= (1.1 if chunks in (1, 64) else 1.6) * least


def test_every_collective_has_a_form_and_every_form_a_collective():
    assert set(FORMS) == set(COLLECTIVES)


def test_a_wrong_form_would_be_seen():
    shape = Shape(5, 1000)
    form, net = FORMS["all_reduce-ring"](shape), fabric(shape, "even")
    wrong = replace(form, rounds=(*form.rounds[:1], replace(form.rounds[1], size=form.rounds[1].size - 1)))
    time = simulate(COLLECTIVES["all_reduce-ring"].build(shape), net, by_rounds=True).time
    assert same(time, bounds(form, net)[1], form)
    assert not same(time, bounds(wrong, net)[1], wrong)
