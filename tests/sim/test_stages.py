"""Pipelines: the schedule gone through against the closed form, the order itself, and what hops add."""

import itertools

import pytest

from hopline.errors import InputError, SimulationError
from hopline.model.bubble import bubble, closed
from hopline.sim.stages import Pipeline, _ends, order, simulate_stages

SHAPES = [
    (p, m, v)
    for p, m, v in itertools.product((1, 2, 3, 4, 8), (1, 2, 4, 6, 8, 16), (1, 2, 3))
    if closed(p, m, v) and (p > 1 or v == 1)
]


@pytest.mark.parametrize(("stages", "batches", "virtual"), SHAPES)
def test_the_closed_form_is_the_schedule(stages, batches, virtual):
    for ways in ((1e-3, 2e-3), (3e-3, 1e-3), (1e-3, 0.0)):
        formula, found = bubble(stages, batches, *ways, virtual), simulate_stages(stages, batches, *ways, virtual)
        assert found.makespan == pytest.approx(formula.makespan, rel=1e-12)


def test_the_document_and_both_denominators():
    found = bubble(8, 32, 1e-3, 2e-3)
    assert (found.makespan, found.ideal) == (0.117, 0.096)
    assert found.over_ideal == pytest.approx(7 / 32)
    assert found.over_total == pytest.approx(7 / 39)
    cut = bubble(4, 8, 1e-3, 2e-3, 2)
    assert cut.over_ideal == pytest.approx(3 / 16)
    assert cut.over_total == pytest.approx(3 / 19)


@pytest.mark.parametrize(
    ("stages", "batches", "virtual"), [(4, 8, 1), (4, 8, 2), (3, 9, 3), (4, 6, 2), (2, 1, 1), (5, 3, 1)]
)
def test_every_stage_does_everything_once_and_forward_first(stages, batches, virtual):
    for stage in range(stages):
        tasks = order(stages, stage, batches, virtual)
        assert len(tasks) == len(set(tasks)) == 2 * batches * virtual
        for task in tasks:
            if not task[0]:
                assert tasks.index((True, *task[1:])) < tasks.index(task)


def test_a_stage_holds_no_more_than_the_stages_after_it():
    """What 1F1B is for: activations of at most p - r micro-batches."""
    for stage in range(4):
        held = list(itertools.accumulate(1 if forward else -1 for forward, _, _ in order(4, stage, 16)))
        assert max(held) == 4 - stage


def test_hops():
    """One micro-batch goes there and back."""
    assert simulate_stages(4, 1, 1.0, 2.0, hop=0.5).makespan == 4 * 3 + 2 * 3 * 0.5
    assert simulate_stages(1, 4, 1.0, 2.0, hop=0.5).makespan == 12
    times = [simulate_stages(4, 16, 1.0, 2.0, hop=hop).makespan for hop in (0.0, 0.1, 1.0)]
    assert times[0] == 57
    assert times[0] + 0.6 <= times[1] < times[2]


def test_two_stages_by_hand():
    """F0 F1 | . F0 B0 F1 B1, then B0 and B1 of stage 0 behind hops of 1."""
    assert simulate_stages(2, 2, 2.0, 3.0, hop=1.0).makespan == (2 + 1) + 2 + 3 + 2 + 3 + (1 + 3)


def test_groups_that_are_not_whole_have_no_closed_form():
    assert not closed(4, 6, 2)
    with pytest.raises(InputError, match="no whole groups of 4 stages"):
        bubble(4, 6, 1.0, 2.0, 2)
    assert simulate_stages(4, 6, 1.0, 2.0, 2).makespan >= 18 + 4.5


@pytest.mark.parametrize("shape", [(0, 1, 1), (1, 0, 1), (1, 1, 0), (1 << 11, 1 << 11, 1)])
def test_no_such_pipeline(shape):
    stages, batches, virtual = shape
    with pytest.raises(InputError, match="expected at"):
        bubble(stages, batches, 1.0, 1.0, virtual)


@pytest.mark.parametrize(("stages", "batches", "virtual"), [(4, 8, 1), (4, 8, 2), (3, 6, 3), (4, 5, 2), (2, 7, 1)])
def test_a_pipeline_that_is_asked_again_answers_as_a_new_one(stages, batches, virtual):
    pipeline = Pipeline(stages, batches, virtual)
    for hop in (0.0, 1.0, 0.1, 0.5, 0.05, 5.0, 0.3, 0.15, 0.55, 0.02, 3.0, 0.0):
        for scale in (1.0, 0.25):
            ways = scale, 2 * scale, hop * scale
            found = pipeline.bubble(*ways)
            assert found == simulate_stages(stages, batches, ways[0], ways[1], virtual, ways[2])


def test_the_longest_way_is_as_long_as_the_last_stage_takes():
    """Against the clocks of the schedule, in ticks."""
    for shape in ((4, 8, 2), (3, 5, 1), (2, 6, 3)):
        orders = [order(shape[0], stage, *shape[1:]) for stage in range(shape[0])]
        for forward, backward, wire in ((2, 4, 0), (2, 4, 1), (3, 1, 7), (1, 0, 2)):
            _, clocks = _ends(orders, shape[2], {True: forward, False: backward}, wire)
            found = Pipeline(*shape).bubble(forward * shape[2], backward * shape[2], wire)
            assert found.makespan == max(clocks)


def test_what_waits_for_ever_says_what_would_not():
    with pytest.raises(SimulationError, match=r"5 micro-batches in 3 .* on 4 stages .* a multiple of stages, like 8"):
        simulate_stages(4, 5, 1.0, 2.0, 3)
