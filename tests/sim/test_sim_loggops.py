"""LogGOPS: published numbers, the rules one by one, and the compiled engine against the plain one."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sim_drawn import any_schedule, crowd, message, schedule_of, work

from hopline.errors import InputError, SimulationError
from hopline.machine.loggops import LogGOPS
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.operations import FREE
from hopline.schedule.shape import Shape
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


NANO = 1e-9
PUBLISHED = LogGOPS(L=2500 * NANO, o=1500 * NANO, g=1000 * NANO, G=6 * NANO)
SMALL_S = LogGOPS(L=2500 * NANO, o=1500 * NANO, g=1000 * NANO, G=6 * NANO, O=2 * NANO, S=100)
LOGGOPSIM = {
    "all_reduce-ring": [87668] * 8,
    "all_reduce-recursive_doubling": [34914] * 8,
    "broadcast-binomial": [18276, 25914, 22776, 30414, 22776, 30414, 27276, 34914],
    "reduce-binomial": [34914, 4000, 15638, 4000, 27276, 4000, 15638, 4000],
    "alltoall-pairwise": [43834] * 8,
}
"""What LogGOPSim prints for the same schedules written as GOAL, with SMALL_S: 8 hosts, 1024 bytes, ns."""


@pytest.mark.parametrize("way", ENGINES)
def test_a_binomial_reduce_takes_what_is_published(way):
    timeline = simulate_loggops(COLLECTIVES["reduce-binomial"].build(Shape(8, 1024)), PUBLISHED, way=way)
    assert (timeline.finish // 1000).tolist() == [34914, 1500, 13138, 1500, 24776, 1500, 13138, 1500]
    assert timeline.path[-1][2] == timeline.ticks
    assert all(before[2] <= after[1] for before, after in pairwise(timeline.path))


@pytest.mark.parametrize("way", ENGINES)
@pytest.mark.parametrize("name", LOGGOPSIM)
def test_collectives_take_what_loggopsim_says(name, way):
    timeline = simulate_loggops(COLLECTIVES[name].build(Shape(8, 1024)), SMALL_S, way=way)
    assert (timeline.finish // 1000).tolist() == LOGGOPSIM[name]


PLAIN = LogGOPS(L=10e-12, o=3e-12, g=5e-12, G=2e-12, O=1e-12)


def both(schedule, params=PLAIN, **options):
    """Start and end of each row, the same from both engines."""
    one, two = (simulate_loggops(schedule, params, way=way, keep=True, **options) for way in ENGINES)
    assert (one.start.tolist(), one.end.tolist()) == (two.start.tolist(), two.end.tolist())
    return one.start.tolist(), one.end.tolist()


def test_one_message():
    """It leaves after o, arrives L later, and keeps the receiver for o and its bytes."""
    start, end = both(schedule_of(2, message(0, 1, 4)))
    assert start == [0, 13]
    assert end == [3 + 3 * 1, 13 + 3 + 3 * 2]


def test_a_message_of_no_bytes_costs_what_one_byte_costs():
    assert both(schedule_of(2, message(0, 1, 0))) == both(schedule_of(2, message(0, 1, 1)))


def test_sends_of_one_rank_wait_for_processor_and_nic():
    rows = message(0, 1, 4, lanes=(FREE, FREE)) + message(0, 2, 4, tag=1, lanes=(FREE, FREE))
    start, _ = both(schedule_of(3, rows))
    assert start == [0, 13, 5 + 3 * 2, 11 + 13]


def test_messages_to_one_rank_wait_for_its_nic():
    rows = message(0, 2, 4, lanes=(FREE, FREE)) + message(1, 2, 4, tag=1, lanes=(FREE, FREE))
    start, _ = both(schedule_of(3, rows))
    assert start == [0, 13, 0, 13 + 5 + 3 * 2]


def test_a_recv_that_comes_later_than_its_message_costs_nothing_more():
    rows = [work(1, 100), *message(0, 1, 1)]
    start, end = both(schedule_of(2, rows))
    assert (start[2], end[2]) == (100, 103)
    rows = [work(1, 5), *message(0, 1, 1, lanes=(0, FREE), after_recv=3), work(1, 90, lane=1)]
    start, end = both(schedule_of(2, rows))
    assert (start[2], end[2], end[3]) == (95, 98, 95)


def test_a_large_send_is_done_when_it_meets_its_recv():
    rows = [work(1, 100), *message(0, 1, 4), work(0, 1, lane=0)]
    assert both(schedule_of(2, rows))[0][3] == 6
    start, end = both(schedule_of(2, rows), LogGOPS(L=10e-12, o=3e-12, g=5e-12, G=2e-12, O=1e-12, S=3))
    assert (end[1], start[3]) == (100, 100)
    assert both(schedule_of(2, rows), LogGOPS(L=10e-12, o=3e-12, g=5e-12, G=2e-12, O=1e-12, S=4))[0][3] == 6


def test_reduction_and_copying_keep_the_processor():
    rows = [work(0, 9, kind=2), work(0, 9, kind=3), work(0, 9)]
    assert both(schedule_of(1, rows), reduce=2e-12, copy=1e-12)[1] == [18, 27, 36]


def test_busy_is_told_by_processor_and_nic():
    timeline = simulate_loggops(schedule_of(2, message(0, 1, 4)), PLAIN)
    assert dict(zip(timeline.ports, timeline.busy.tolist(), strict=True)) == {
        "rank 0 cpu": 6, "rank 0 out": 11, "rank 1 cpu": 9, "rank 1 in": 11,
    }  # fmt: skip
    assert timeline.path == ((0, 0, 6), (1, 13, 22))


def test_rows_that_wait_for_another_rank_are_refused():
    with pytest.raises(InputError, match=r"row 1: rank 1 .* waits for row 0: rank 0 .* expected one of the same rank"):
        simulate_loggops(schedule_of(2, [work(0, 1), work(1, 1, after=0)]), PLAIN)


@pytest.mark.parametrize("way", ENGINES)
def test_what_waits_for_itself_is_refused(way):
    there, back = message(0, 1, 5, lanes=(0, 0)), message(1, 0, 5, lanes=(0, 0))
    with pytest.raises(SimulationError, match="4 of 4 operations of drawn could not run"):
        simulate_loggops(schedule_of(2, [back[1], there[1], there[0], back[0]]), PLAIN, way=way)


def test_every_collective_runs_alike():
    for entry in COLLECTIVES.values():
        schedule = entry.build(Shape(8, 1000, levels=(4, 2), chunks=3, channels=2, targets=3))
        answers = [said(schedule, SMALL_S, way, reduce=1e-9) for way in ENGINES]
        assert not isinstance(answers[0], str), entry.name
        assert answers[0] == answers[1], entry.name


def test_no_operations_take_no_time():
    for way in ENGINES:
        timeline = simulate_loggops(schedule_of(2, []), PLAIN, way=way)
        assert (timeline.ticks, timeline.path) == (0, ())
