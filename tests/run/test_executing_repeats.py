"""The course of a job: repeats, clocks, what is wrong with data, and ends before the end."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from rooms import Held, hold

from hopline.errors import DataMismatchError, InputError
from hopline.run.executing import clocks, repeating, walk
from hopline.run.executing.clocks import Aligned, Reading
from hopline.run.executing.repeating import Finished, Job, Repeated
from hopline.run.executing.transport import CONTROL_TAGS
from hopline.schedule.collectives.table import find
from hopline.schedule.shape import Shape


def job(name="all_reduce-ring", ranks=3, size=100, repeats=4, **more) -> Job:
    return Job(find(name).build(Shape(ranks, size)), repeats, **more)


def test_repeats_are_told_as_they_come_and_warm_ups_are_not():
    held = hold([job(warmups=3), job("broadcast-binomial", repeats=2)], 3)
    told = [(event.job, event.repeat) for event in held.events if isinstance(event, Repeated)]
    assert told == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1)]
    assert [event.job for event in held.events if isinstance(event, Finished)] == [0, 1]
    first = held.executed[0]
    assert len(first.times) == len(first.late) == 4
    assert all(0 <= late < took for took, late in zip(first.times, first.late, strict=True))
    sent = [message for group in held.transports[0].seen for message in group if message.sends]
    assert len(sent) == 7 * 4 + 4 * 2, "7 times a ring's 4 sends, 4 times 2 sends of a broadcast"


def test_the_timeline_is_of_the_repeat_with_the_lower_median():
    executed = hold([job(repeats=4)], 3).executed[0]
    middle = sorted(executed.times)[1]
    assert executed.timeline.ticks * 1e-12 <= middle
    assert executed.timeline.ticks * 1e-12 > 0.3 * middle
    assert executed.timeline.messages == 12
    assert executed.cost > 0
    assert executed.checked == 300
    assert executed.quantile(0) == min(executed.times)


@pytest.mark.parametrize("repeat", [-1, 0, 2])
def test_one_corrupted_byte_is_caught_and_named(repeat):
    seen = []

    def corrupt(rank, message, data):
        if (rank, message.peer, message.tag) == (1, 2, CONTROL_TAGS + 3):
            seen.append(data)
            if len(seen) == repeat + 3:
                data[5] ^= 0x10

    held = Held()
    with pytest.raises(DataMismatchError) as caught:
        hold([job(size=300, repeats=3), job()], 3, held=held, corrupt=corrupt)
    said = str(caught.value)
    which = f"repeat {repeat + 1}" if repeat >= 0 else "a warm-up"
    assert f"all_reduce-ring over room, {which}: rank 2 holds a wrong byte: buffer data, offset " in said
    assert "ranks hold" not in said
    assert len([event for event in held.events if isinstance(event, Repeated)]) == max(repeat, 0)
    assert not held.executed


def test_a_byte_that_spreads_is_told_of_the_first_rank_with_the_number_of_ranks():
    def corrupt(rank, message, data):
        if rank == 0 and message.tag == CONTROL_TAGS:
            data[0] += 2

    with pytest.raises(
        DataMismatchError, match=r"rank 0 holds a wrong byte.*expected 0x[0-9a-f]{2}; 3 ranks hold wrong"
    ):
        hold([job(size=300)], 3, corrupt=corrupt)


def test_the_right_expected_and_got_bytes_are_told():
    def corrupt(rank, message, data):
        if message.peer == 2:
            data[7] = 0

    with pytest.raises(DataMismatchError, match=r"rank 2 .* offset 7 is 0x00, expected 0x[0-9a-f][13579bdf];"):
        hold([job("broadcast-binomial", size=300)], 3, corrupt=corrupt)


def test_asked_to_stop_it_ends_after_a_repeat_with_what_it_has():
    held = Held()
    with pytest.raises(KeyboardInterrupt):
        hold([job(repeats=50), job()], 3, held=held, stop=lambda: len(held.events) >= 2)
    assert [len(one.times) for one in held.executed] == [2]


def test_asked_to_stop_before_the_first_repeat_nothing_is_finished():
    held = Held()
    with pytest.raises(KeyboardInterrupt):
        hold([job()], 3, held=held, stop=lambda: True)
    assert held.events == []


def test_who_closes_the_events_lets_all_ranks_go():
    held = hold([job(repeats=50), job()], 3, most=3)
    assert len(held.events) == 3


@pytest.mark.parametrize(("repeats", "warmups"), [(0, 1), (-1, 0), (1, -1)])
def test_repeats_that_are_none_are_refused(repeats, warmups):
    with pytest.raises(InputError, match="expected at least 1 and 0"):
        job(repeats=repeats, warmups=warmups)


AHEAD, GAIN = (0, 5_000_000_000, -3_000_000_000), (0.0, 0.02, -0.01)
"""Nanoseconds that ranks' clocks are ahead, and how much faster they go: far more than the room's round trip hides."""


def test_clocks_that_are_off_and_drift_are_put_on_one_axis(monkeypatch):
    zero = time.perf_counter_ns()

    def skewed() -> int:
        name = threading.current_thread().name
        rank = int(name.removeprefix("rank ")) if name.startswith("rank ") else 0
        at = time.perf_counter_ns()
        return at + AHEAD[rank] + int(GAIN[rank] * (at - zero))

    for module in (clocks, walk, repeating):
        monkeypatch.setattr(module, "now", skewed)
    executed = hold([job(size=100_000, repeats=30)], 3).executed[0]
    assert executed.clock.error < 0.02
    assert abs(abs(executed.clock.offset) - 5) < 0.5
    assert max(executed.times) < 2.5, "seconds of offset are not in the times"
    start, end = executed.timeline.start, executed.timeline.end
    assert start.min() > -1e12 * executed.clock.error
    assert end.max() < 2e12
    assert abs(executed.clock.drift - 0.02) < 2 * executed.clock.drift_error + 0.005


def test_times_between_two_readings_are_interpolated():
    one = Aligned(Reading(1000.0, 10.0, 0.0), Reading(2000.0, 30.0, 1e6))
    assert one.drift == pytest.approx(1e-3)
    assert one.drift_error == pytest.approx(4e-5)
    assert one.error == pytest.approx(30e-9)
    assert one.on_rank_0(np.array([1000, 1_002_000, 501_500])).tolist() == [0, 1_000_000, 500_000]


def test_one_reading_alone_has_no_drift():
    reading = Reading(1000.0, 10.0, 5.0)
    one = Aligned(reading, reading)
    assert (one.drift, one.drift_error) == (0.0, 0.0)
    assert one.on_rank_0(np.array([1500])).tolist() == [500]


def test_a_single_rank_is_its_own_clock():
    executed = hold([job(ranks=1, size=10)], 1).executed[0]
    assert executed.clock.error == 0
    assert executed.checked == 10
