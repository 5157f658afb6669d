"""All ways to run a schedule give one answer, whatever it looks like."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sim_drawn import any_fabric, any_schedule, crowd

from hopline.curve import Curve
from hopline.errors import SimulationError
from hopline.machine.fabric import Level, Levels
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.shape import Shape
from hopline.sim.engine import ENGINES, simulate

RANDOM = st.integers(0, 2**32 - 1).map(Random)


def said(schedule, fabric, way, **options):
    """Everything that a timeline says, or what is wrong."""
    try:
        t = simulate(schedule, fabric, way=way, keep=True, **options)
    except SimulationError as error:
        return str(error)
    return [*(part.tolist() for part in (t.finish, t.busy, t.start, t.end)), t.ports, t.path, t.messages, t.size]


@settings(max_examples=400, deadline=None)
@given(RANDOM, st.sampled_from([0, 0, 1, 5]), st.booleans())
def test_events_agree_with_the_reference(random, eager, by_rounds):
    schedule = any_schedule(random)
    fabric = any_fabric(random, schedule.ranks)
    answers = [said(schedule, fabric, way, eager=eager, by_rounds=by_rounds) for way in ("reference", "events")]
    assert answers[0] == answers[1]


@settings(max_examples=30, deadline=None)
@given(RANDOM, st.sampled_from([0, 2]))
def test_crowds_at_few_ports_begin_in_one_order(random, eager):
    schedule = crowd(random)
    fabric = any_fabric(random, schedule.ranks)
    reference = said(schedule, fabric, "reference", eager=eager)
    assert not isinstance(reference, str)
    assert said(schedule, fabric, "events", eager=eager) == reference


@settings(max_examples=400, deadline=None)
@given(RANDOM, st.booleans())
def test_in_order_agrees_where_it_can(random, by_rounds):
    schedule = any_schedule(random, tidy=True)
    nics = random.randint(1, 2)
    fabric = Levels.uniform(schedule.ranks, Curve.line(random.choice([0, 2e-12]), 1e12), nics, reduce=1e-12)
    found = said(schedule, fabric, "in order", by_rounds=by_rounds)
    if nics == 2 and not by_rounds:
        assert not isinstance(found, str)
    if not isinstance(found, str):
        assert found == said(schedule, fabric, "reference", by_rounds=by_rounds)


@pytest.mark.parametrize("name", COLLECTIVES)
def test_every_collective_runs_alike_in_all_ways(name):
    shape = Shape(8, 1000, levels=(4, 2), chunks=3, channels=2, targets=3)
    schedule = COLLECTIVES[name].build(shape)
    uniform = Levels.uniform(8, Curve.line(1e-6, 1e9), reduce=1e-10, copy=1e-11)
    nodes = Levels([Level(4, Curve.line(1e-6, 1e9)), Level(2, Curve.line(4e-6, 1e8), 2)])
    for fabric in (uniform, nodes):
        for options in ({}, {"eager": 200}, {"by_rounds": True} if len(schedule.rounds) else {}):
            reference = said(schedule, fabric, "reference", **options)
            assert not isinstance(reference, str), reference
            assert said(schedule, fabric, "events", **options) == reference
            in_order = said(schedule, fabric, "in order", **options)
            assert in_order == reference or isinstance(in_order, str)


def test_the_ways_are_what_is_tested():
    assert list(ENGINES) == ["reference", "in order", "events"]
