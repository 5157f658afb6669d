"""Flat algorithms on nested levels: which level each round goes over, what ports carry, and bounds that hold simulated times."""

import pytest

from hopline.curve import Curve
from hopline.machine.fabric import Level, Levels
from hopline.model.collective.nested import Load, nested, seen
from hopline.model.collective.rounds import Form, Rounds, bounds
from hopline.model.collective.table import FORMS
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.shape import Shape
from hopline.sim.engine import simulate

NODES = Levels([Level(4, Curve.line(1e-6, 450e9)), Level(2, Curve.line(2e-6, 50e9))])
FLAT = [entry for entry in COLLECTIVES.values() if "levels" not in entry.uses]


def look(name, size=8 << 20):
    return seen(COLLECTIVES[name].build(Shape(8, size)), NODES, size)


def test_each_round_has_its_levels():
    assert look("all_reduce-recursive_doubling").rounds == ((0,), (0,), (1,))
    assert look("all_gather-ring").rounds == ((0, 1),) * 7


def test_the_busiest_ports_of_each_level():
    assert set(look("all_reduce-ring").loads) == {Load(0, 14, 14 / 8), Load(1, 14, 14 / 8)}
    assert set(look("all_reduce-recursive_doubling").loads) == {Load(0, 2, 2.0), Load(1, 1, 1.0)}


def test_a_schedule_without_messages():
    none = seen(COLLECTIVES["all_reduce-ring"].build(Shape(1, 8)), NODES, 8)
    assert (none.rounds, none.loads) == ((), ())


def test_nothing_seen_is_between_all_on_the_fastest_and_all_on_the_slowest():
    low, high = bounds(nested(Form((Rounds(3, 1e6),), 0), None, 1 << 20, 1), NODES)
    assert (low, high) == (pytest.approx(3 * (1e-6 + 1e6 / 450e9)), pytest.approx(3 * (2e-6 + 1e6 / 50e9)))


def test_rounds_on_one_level_each_are_exact():
    size = 1 << 20
    form = nested(
        FORMS["all_reduce-recursive_doubling"](Shape(8, size)), look("all_reduce-recursive_doubling"), size, 1
    )
    expected = 2 * (1e-6 + size / 450e9) + 2e-6 + size / 50e9
    assert bounds(form, NODES) == (pytest.approx(expected), pytest.approx(expected))


CASES = [
    pytest.param(entry, size, chunks, id=f"{entry.name}, {size} B, {chunks}")
    for entry in FLAT
    for size in ((0,) if entry.benchmark == "barrier" else (0, 1 << 12, 3 << 20))
    for chunks in ((1, 5) if "chunks" in entry.uses and size else (1,))
]


@pytest.mark.parametrize(("entry", "size", "chunks"), CASES)
def test_bounds_hold_simulated_times(entry, size, chunks):
    shape = Shape(8, size, chunks=chunks)
    form = nested(FORMS[entry.name](shape), look(entry.name), size, chunks)
    low, high = bounds(form, NODES)
    time = simulate(entry.build(shape), NODES).time
    assert low * (1 - 1e-6) <= time <= high * (1 + 1e-6)


SLOW_INSIDE = Levels([Level(4, Curve.line(4e-6, 64e9)), Level(2, Curve.line(1e-6, 170e9))])
"""As GH200 with Slingshot: a message inside a node takes longer to start than one between nodes."""


@pytest.mark.parametrize(("entry", "size", "chunks"), CASES)
def test_bounds_hold_where_the_inner_level_is_the_slower_one(entry, size, chunks):
    shape = Shape(8, size, chunks=chunks)
    flat = seen(entry.build(Shape(8, 8 << 20)), SLOW_INSIDE, 8 << 20)
    low, high = bounds(nested(FORMS[entry.name](shape), flat, size, chunks), SLOW_INSIDE)
    time = simulate(entry.build(shape), SLOW_INSIDE).time
    assert low * (1 - 1e-6) <= time <= high * (1 + 1e-6)


def test_unequal_pieces_do_not_lift_the_lower_bound():
    net = Levels([Level(3, Curve.line(0.0, 450e9)), Level(5, Curve.line(2e-9, 1e9))])
    shape = Shape(15, 16)
    flat = seen(COLLECTIVES["gather-direct"].build(Shape(15, 15 << 20)), net, 15 << 20)
    low, high = bounds(nested(FORMS["gather-direct"](shape), flat, 16, 1), net)
    time = simulate(COLLECTIVES["gather-direct"].build(shape), net).time
    assert low - 1e-11 <= time <= high + 1e-11
