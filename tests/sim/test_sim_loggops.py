"""LogGOPS: published numbers, the rules one by one, and the compiled engine against the plain one."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from sim_drawn import any_schedule, crowd

from hopline.errors import InputError, SimulationError
from hopline.machine.loggops import LogGOPS
from hopline.sim.loggops import ENGINES, simulate_loggops

SEEDS = st.integers(0, 2**32 - 1)


def said(schedule, params, way, **options):
    """Everything that a timeline says, or what is wrong."""
    try:
        t = simulate_loggops(schedule, params, way=way, keep=True, **options)
    except (InputError, SimulationError) as error:
        return str(error)
    return [*(part.tolist() for part in (t.finish, t.busy, t.start, t.end)), t.ports, t.path, t.messages, t.size]


def any_params(random: Random) -> LogGOPS:
    ticks = [random.choice([0, 1, 2, 5, 30]) * 1e-12 for _ in range(5)]
    return LogGOPS(*ticks, S=random.choice([None, 0, 1, 4]))


@settings(max_examples=500, deadline=None)
@given(SEEDS)
def test_both_engines_agree(seed):
    random = Random(seed)
    schedule, params = any_schedule(random, tidy=seed % 2 == 0), any_params(random)
    answers = [said(schedule, params, way, reduce=1e-12, copy=2e-12) for way in ENGINES]
    assert answers[0] == answers[1]


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_both_engines_agree_on_crowds(seed):
    random = Random(seed)
    schedule, params = crowd(random), any_params(random)
    answers = [said(schedule, params, way) for way in ENGINES]
    assert not isinstance(answers[0], str)
    assert answers[0] == answers[1]
