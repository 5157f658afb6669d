"""Turns, batches and checks, with two ranks in one process."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from fakes import play

from hopline.errors import DataMismatchError
from hopline.run import clock
from hopline.run.burst import END, Burst
from hopline.run.cells import cells_of, order
from hopline.run.comm import DATA_TAG
from hopline.run.ends import LEAD_IN
from hopline.run.plan import Plan

SHORT = Plan(sizes=(0, 8, 100_000), seconds=0.3, most=12)


def test_every_size_is_sampled_in_every_pass():
    played = play(SHORT)
    assert [cell for cell, _ in played.samples] == order(SHORT, cells_of(SHORT, 2))
    assert all(len(event["times"]) >= SHORT.fewest for _, event in played.samples)
    assert all(time > 0 for _, event in played.samples for time in event["times"])
    assert max(len(times) for times in played.course.times.values()) <= 12


def test_progress_says_where_it_is():
    turns = [event for event in play(SHORT).events if event["event"] == "turn"]
    assert {event["turns"] for event in turns} == {9}
    assert [event["turn"] for event in turns] == sorted(event["turn"] for event in turns)
    assert all(0 <= event["used"] <= 1 for event in turns)


def test_the_batch_is_found_once_stated_and_divides_the_clock():
    played = play(SHORT)
    for cell, event in played.samples:
        assert event["batch"] == played.course.batches["latency", cell.size, 2]
        assert event["clock"] == pytest.approx(played.leader.reading / (2 * event["batch"]))


def test_a_time_is_half_a_round_trip(monkeypatch):
    monkeypatch.setattr(clock, "LARGEST_BATCH", 64)
    tick = itertools.count()
    played = play(Plan(sizes=(64,), passes=1, most=5), clock=lambda: float(next(tick)))
    ((_, event),) = played.samples
    assert event["batch"] == 64  # a reading costs 1 s of this clock, and no batch takes more: the largest is taken
    assert set(event["times"]) == {round(1 / 128, 12)}


def test_time_over_still_gives_the_fewest_repeats():
    played = play(Plan(sizes=(8, 16), seconds=1e-9, passes=3))
    assert {cell.size: len(times) for cell, times in played.course.times.items()} == {8: 6, 16: 6}


def test_all_sent_data_differs_from_burst_to_burst():
    seen: list[bytes] = []

    def watch(rank, tag, data):
        if tag == DATA_TAG and rank == 1 and data.nbytes == 32 and (not seen or seen[-1] != data.tobytes()):
            seen.append(data.tobytes())

    play(Plan(sizes=(32,), passes=1, most=20, seconds=0.2), watch)
    assert len(seen) >= 5
    assert all(one != other for one, other in itertools.pairwise(seen))


@pytest.mark.parametrize("victim", [0, 1])
@pytest.mark.parametrize(("size", "offset"), [(1, 0), (8, 7), (LEAD_IN, 100), (200_000, 150_001)])
def test_one_corrupted_byte_is_found(victim, size, offset):
    def corrupt(rank, tag, data):
        if tag == DATA_TAG and rank == victim and data.nbytes == size:
            data[offset] ^= 0x10

    with pytest.raises(DataMismatchError) as caught:
        play(Plan(sizes=(size,), seconds=0.2), corrupt)
    found = re.match(
        rf"rank {victim} received other bytes than were sent: offset {offset} of {size} is 0x(..), expected 0x(..) ",
        str(caught.value),
    )
    assert found
    assert int(found[1], 16) ^ int(found[2], 16) == 0x10


@pytest.mark.parametrize("hit", [3, 40, 41, 42, 43])
def test_stale_bytes_of_a_late_burst_are_found_in_the_last_check(hit):
    """A message that is replaced by an older one, at any time from some burst on, does not get past the checks."""
    kept: list[np.ndarray] = []

    def corrupt(rank, tag, data):
        if tag == DATA_TAG and rank == 1 and data.nbytes == 100_000:
            kept.append(data.copy())
            if len(kept) > hit:
                data[:] = kept[hit - 1]

    with pytest.raises(DataMismatchError, match=r"^rank 1 "):
        play(Plan(sizes=(100_000,), passes=1, most=400, seconds=0.3, within=1e-9), corrupt)


def test_orders_survive_the_way():
    for burst in (Burst(1024, 10**12, check=True), Burst(1, 1, check=False), END):
        assert Burst.unpack(burst.pack()) == burst


def test_who_stops_listening_ends_the_turn_for_all():
    played = play(Plan(sizes=(8,), seconds=60, most=10**6, within=1e-9), most=1)
    assert [event["event"] for event in played.events] == ["turn"]


def test_asked_to_stop_it_keeps_the_turn_it_is_in():
    asked, events = iter([False] * 6), []
    with pytest.raises(KeyboardInterrupt):
        play(Plan(sizes=(8,), passes=2, seconds=60, most=10**6), events=events, stop=lambda: next(asked, True))
    (kept,) = [event for event in events if event["event"] == "sample"]
    assert len(kept["times"]) == 6


def test_a_turn_without_a_time_gives_no_sample():
    events = []
    with pytest.raises(KeyboardInterrupt):
        play(Plan(sizes=(8,)), events=events, stop=lambda: True)
    assert events == []
