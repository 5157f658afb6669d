"""All ways to run a schedule give one answer, whatever it looks like."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sim_drawn import any_fabric, any_schedule

from hopline.errors import SimulationError
from hopline.sim.engine import ENGINES, simulate

RANDOM = st.randoms(use_true_random=False)


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


@settings(max_examples=400, deadline=None)
@given(RANDOM, st.booleans())
def test_in_order_agrees_where_it_can(random, by_rounds):
    schedule = any_schedule(random, tidy=True)
    fabric = any_fabric(random, schedule.ranks)
    found = said(schedule, fabric, "in order", by_rounds=by_rounds)
    if isinstance(found, str):
        assert "cannot be run in order" in found
    else:
        assert found == said(schedule, fabric, "reference", by_rounds=by_rounds)
