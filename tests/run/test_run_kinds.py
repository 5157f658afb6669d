"""Every kind of measurement, with all ranks in one process."""

from __future__ import annotations

import itertools

import pytest
from fakes import play

from hopline.errors import DataMismatchError, InputError, UnknownNameError
from hopline.records.sample import GAPS
from hopline.run import acts, burst, clock, leading
from hopline.run.comm import ACK_TAG, DATA_TAG
from hopline.run.ends import IN_FLIGHT, Cell
from hopline.run.kinds import ALL, BY_NAME, KINDS, WORDS, kinds_of
from hopline.run.plan import DEFAULT_SIZES, Plan

MOVING = [kind.name for kind in KINDS if kind.sized]
SENDING = [name for name in MOVING if BY_NAME[name].needs > 1]


def plan(name, size=64, **changes):
    usual = {"sizes": (size,), "pair_sizes": (size,), "seconds": 0.05, "passes": 1, "most": 5, "window": 4}
    return Plan(**{**usual, "kinds": (name,), **changes})


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_kind_times_each_of_its_groups(kind):
    played = play(plan(kind.name), ranks=5)
    assert sorted(cell.ranks for cell, _ in played.samples) == sorted(kind.groups(5))
    assert {cell.kind for cell, _ in played.samples} == {kind.name}
    assert all(len(event["times"]) == 5 and min(event["times"]) > 0 for _, event in played.samples)


@pytest.mark.parametrize("name", MOVING)
def test_every_request_is_freed(name):
    played = play(plan(name), ranks=4)
    requests = [request for comm in played.comms for request in comm.requests]
    assert all(request.freed for request in requests)
    assert bool(requests) is BY_NAME[name].windowed


@pytest.mark.parametrize("name", SENDING)
@pytest.mark.parametrize("size", [64, 20_000])
def test_one_corrupted_byte_is_found_whoever_gets_it(name, size):
    victims = {cell[-1] for cell in BY_NAME[name].groups(4)}
    for victim in sorted(victims):

        def corrupt(rank, tag, data, victim=victim):
            if tag == DATA_TAG and rank == victim and data.nbytes == size:
                data[size // 2] ^= 1

        with pytest.raises(DataMismatchError, match=rf"^rank {victim} received other bytes .* \({name}, burst"):
            play(plan(name, size), corrupt, ranks=4)


def test_both_directions_are_checked():
    def corrupt(rank, tag, data):
        if tag == DATA_TAG and rank == 0:
            data[0] ^= 1

    with pytest.raises(DataMismatchError, match=r"^rank 0 "):
        play(plan("bibw"), corrupt)
    assert play(plan("bw"), corrupt).samples, "one way, rank 0 receives no data"


@pytest.mark.parametrize("name", ["bw", "bibw"])
def test_each_message_of_a_window_is_checked(name):
    count = itertools.count()

    def corrupt(rank, tag, data):
        if tag == DATA_TAG and rank == 1 and data.nbytes == 64 and next(count) % 4 == 2:
            data[9] ^= 1

    with pytest.raises(DataMismatchError, match="offset 9 of 64"):
        play(plan(name), corrupt)


def test_messages_of_a_window_in_another_order_are_found():
    last = {}

    def corrupt(rank, tag, data):
        if tag == DATA_TAG and data.nbytes == 64:
            data[:], last["data"] = last.get("data", data).copy(), data.copy()

    with pytest.raises(DataMismatchError):
        play(plan("bw"), corrupt)


def test_sums_that_are_wrong_are_found(monkeypatch):
    def wrong(addend, target):
        target += addend
        target[3] += 1

    monkeypatch.setattr("fakes.add", wrong)
    with pytest.raises(DataMismatchError, match=r"^rank 0 .* \(reduce, burst"):
        play(plan("reduce"))


def test_copies_that_are_wrong_are_found(monkeypatch):
    real = acts.copy

    def wrong(end, cell, iteration):
        act = real(end, cell, iteration)

        def run(steps):
            act.run(steps)
            end.inbox[5] ^= 1

        return acts.Act(run, act.received)

    monkeypatch.setitem(BY_NAME, "copy", type(BY_NAME["copy"])(**{**_fields(BY_NAME["copy"]), "act": wrong}))
    with pytest.raises(DataMismatchError, match=r"offset 5 of 64 .* \(copy, burst"):
        play(plan("copy"))


def _fields(kind):
    return {name: getattr(kind, name) for name in kind.__dataclass_fields__}


def test_a_gap_is_the_time_of_a_window_over_its_messages(monkeypatch):
    monkeypatch.setattr(clock, "LARGEST_BATCH", 16)
    tick = itertools.count()
    for name, window in (("bw", 4), ("bw", 1), ("bibw", 3)):
        played = play(plan(name, window=window), clock=lambda: float(next(tick)))
        ((cell, event),) = played.samples
        assert cell.window == window
        assert set(event["times"]) == {round(1 / (event["batch"] * window), 12)}


def test_bytes_in_flight_are_bounded():
    assert Cell("bw", 8, (0, 1), 64).in_flight == 64
    assert Cell("bw", IN_FLIGHT // 16, (0, 1), 64).in_flight == 16
    assert Cell("bw", 2 * IN_FLIGHT, (0, 1), 64).in_flight == 1
    assert Cell("bw", 0, (0, 1), 64).in_flight == 64


def test_a_stream_goes_one_way_with_one_acknowledgement_a_window():
    post = play(plan("bw", window=8)).comms[0].post
    data = [entry for entry in post.seen if entry[2] == DATA_TAG and entry[3] == 64]
    acks = [entry for entry in post.seen if entry[2] == ACK_TAG]
    assert {entry[:2] for entry in data} == {(0, 1)}
    assert {entry[:2] for entry in acks} == {(1, 0)}
    assert all(entry[3] == 1 for entry in acks)
    lead_ins = len(acks) * 8 - len(data)
    assert lead_ins > 0
    assert lead_ins % 7 == 0, "lead-ins have one message and one acknowledgement, bursts eight messages a window"


def test_halves_send_to_their_counterparts_and_the_odd_rank_rests():
    post = play(plan("mbw"), ranks=5).comms[0].post
    assert {entry[:2] for entry in post.seen if entry[2] == DATA_TAG} == {(0, 2), (1, 3)}


def test_the_slowest_rank_of_a_group_counts(monkeypatch):
    steps, real = (1.0, 3.0, 0.5, 0.25), burst.play
    readings = [itertools.count(0.0, step) for step in steps]

    def timed(end, cell, order, clock=None):
        return real(end, cell, order, lambda: next(readings[end.rank]))

    for module in (burst, leading):
        monkeypatch.setattr(module, "play", timed)
    ((_, event),) = play(plan("mbw", window=1, seconds=1e-9), ranks=4).samples
    assert set(event["times"]) == {round(3.0 / event["batch"], 12)}


def test_barriers_of_growing_groups():
    assert BY_NAME["barrier"].groups(2) == [(0, 1)]
    assert [len(group) for group in BY_NAME["barrier"].groups(6)] == [2, 4, 6]
    assert [len(group) for group in BY_NAME["barrier"].groups(8)] == [2, 4, 8]


def test_words():
    assert kinds_of(["latency"]) == ("latency",)
    assert kinds_of(["pairs", "bw"]) == ("bw", "pair-latency", "pair-bw")
    assert kinds_of([ALL]) == tuple(BY_NAME)
    assert set(WORDS) == {"latency", "bw", "bibw", "mbw", "barrier", "copy", "reduce", "pairs", "all"}
    with pytest.raises(UnknownNameError, match="did you mean 'barrier'"):
        kinds_of(["barier"])


def test_measures_are_those_of_the_tables():
    assert {kind.name for kind in KINDS if kind.benchmark in GAPS} == {"bw", "bibw", "mbw", "pair-bw"}


def test_sizes_that_a_kind_cannot_take_are_left_out():
    everything = Plan(kinds=tuple(BY_NAME))
    assert everything.sizes_of(BY_NAME["latency"]) == DEFAULT_SIZES
    assert everything.sizes_of(BY_NAME["bw"]) == DEFAULT_SIZES[1:]
    assert everything.sizes_of(BY_NAME["reduce"]) == DEFAULT_SIZES[2:]
    assert everything.sizes_of(BY_NAME["barrier"]) == (0,)
    assert everything.sizes_of(BY_NAME["pair-latency"]) == (8,)
    assert Plan(kinds=("pair-bw",), pair_sizes=(16, 32)).sizes_of(BY_NAME["pair-bw"]) == (16, 32)


@pytest.mark.parametrize(("name", "sizes"), [("bw", (0,)), ("reduce", (0, 1, 6)), ("copy", (0,))])
def test_no_size_that_a_kind_can_take_is_an_error(name, sizes):
    with pytest.raises(InputError, match=f"^{name}: none of the sizes can be measured; expected multiples of"):
        Plan(kinds=(name,), sizes=sizes)
