"""The ping-pong's logic, with both ends in one process."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from fakes import play

from hopline.errors import DataMismatchError
from hopline.run.burst import DATA_TAG, END, FOLLOWER, LEAD_IN, LEADER, Burst
from hopline.run.plan import Plan

SHORT = Plan(sizes=(0, 8, 100_000), seconds=0.3, most=12)


def test_every_size_is_sampled_in_every_pass():
    leader, events = play(SHORT)
    samples = [event for event in events if event["event"] == "sample"]
    assert [event["size"] for event in samples] == SHORT.order()
    assert all(len(event["times"]) >= SHORT.fewest for event in samples)
    assert all(time > 0 for event in samples for time in event["times"])
    assert {size: len(times) for size, times in leader.times.items() if len(times) > 12} == {}


def test_progress_says_where_it_is():
    _, events = play(SHORT)
    turns = [event for event in events if event["event"] == "turn"]
    assert {event["turns"] for event in turns} == {9}
    assert [event["turn"] for event in turns] == sorted(event["turn"] for event in turns)
    assert all(0 <= event["used"] <= 1 for event in turns)


def test_the_batch_is_stated_and_divides_the_clock():
    leader, events = play(SHORT)
    for event in events:
        if event["event"] == "sample":
            assert event["batch"] == leader.batches[event["size"]]
            assert event["clock"] == pytest.approx(leader.reading / (2 * event["batch"]))


def test_a_time_is_half_a_round_trip():
    tick = itertools.count()
    leader, _ = play(Plan(sizes=(64,), passes=1, most=5), clock=lambda: float(next(tick)))
    assert leader.batches == {64: 1024}  # each reading adds 1 s: no batch is ever long enough
    assert set(leader.times[64]) == {1 / 2048}


def test_time_over_still_gives_the_fewest_repeats():
    leader, _ = play(Plan(sizes=(8, 16), seconds=1e-9, passes=3))
    assert {size: len(times) for size, times in leader.times.items()} == {8: 6, 16: 6}


def test_all_sent_data_differs_from_burst_to_burst():
    seen: list[bytes] = []

    def watch(rank, tag, data):
        if tag == DATA_TAG and rank == FOLLOWER and data.nbytes == 32 and (not seen or seen[-1] != data.tobytes()):
            seen.append(data.tobytes())

    play(Plan(sizes=(32,), passes=1, most=20, seconds=0.2), watch)
    assert len(seen) >= 5
    assert all(one != other for one, other in itertools.pairwise(seen))


@pytest.mark.parametrize("victim", [LEADER, FOLLOWER])
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
        if tag == DATA_TAG and rank == FOLLOWER and data.nbytes == 100_000:
            kept.append(data.copy())
            if len(kept) > hit:
                data[:] = kept[hit - 1]

    with pytest.raises(DataMismatchError, match=r"^rank 1 "):
        play(Plan(sizes=(100_000,), passes=1, most=400, seconds=0.3, within=1e-9), corrupt)


def test_orders_survive_the_way():
    for burst in (Burst(2**31 - 1, 1024, 10**12, check=True), Burst(0, 1, 1, check=False), END):
        assert Burst.unpack(burst.pack()) == burst
