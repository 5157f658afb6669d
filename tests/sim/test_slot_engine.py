"""The clock of slots beside a tick-by-tick walk, the round beside long runs, and the faulty clock beside the healthy one."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hopline.errors import InputError
from hopline.jobs.verify.slots import SLOT_KINDS
from hopline.machine.slots import Moderation, Slots
from hopline.model.slots import limits, with_timeout
from hopline.sim.slots import simulate_slots
from hopline.sim.slots_faults import Faults, simulate_faults
from hopline.sim.slots_steady import steady

VECTORS = Path(__file__).parents[3] / "shared" / "vectors" / "vectors.json"
BOOK = Slots(8192, 5e-6, 16, 1e-6, 2e-5, 4)


def us(count: int) -> float:
    """Whole microseconds as the float of their decimal."""
    return float(f"{count}e-6")


def drawn(random: random.Random) -> Slots:
    wire = random.choice([None, 1e9, 0.5e9])
    return Slots(
        size=random.choice([0, 1000]),
        turnaround=us(random.randint(0, 30)),
        count=random.randint(1, 12),
        issue=us(random.randint(0, 5)),
        poll=us(random.choice([0, 0, 3, 5, 10, 20])),
        batch=random.choice([None, 1, 2, 4, 9]),
        first_poll=random.choice([None, us(3), 0.0]),
        bandwidth=wire,
    )


def walked(asked: Slots, requests: int) -> tuple[list[int], list[int]]:
    """Tick by tick (a tick is 1 us): at each completions, then a poll, then submits. Submit and release of each."""
    wire = 0 if asked.bandwidth is None else round(asked.size / asked.bandwidth * 1e6)
    turn, issue, poll = (round(t * 1e6) for t in (asked.turnaround, asked.issue, asked.poll))
    first = poll if asked.first_poll is None else round(asked.first_poll * 1e6)
    submit, complete, release, waiting = [], [], {}, []
    free, now, clear = asked.count, 0, 0
    while len(release) < requests:
        while True:
            waiting += [i for i in range(len(submit)) if complete[i] == now and i not in waiting and i not in release]
            if poll == 0:
                for i in waiting:
                    release[i] = now
                free += len(waiting)
                waiting.clear()
            elif now >= first and (now - first) % poll == 0 and not any(s == now for s in submit):
                for i in waiting[: asked.batch]:
                    release[i] = now
                    free += 1
                del waiting[: asked.batch]
            sent = False
            while free and len(submit) < requests and (not submit or now >= submit[-1] + issue):
                begin = max(now, clear)
                clear = begin + wire
                submit.append(now)
                complete.append(begin + max(turn, wire))
                free -= 1
                sent = True
            if not sent:
                break
        now += 1
    return submit, [release[i] for i in range(requests)]


@pytest.mark.parametrize("seed", range(60))
def test_it_is_what_a_tick_by_tick_walk_says(seed):
    asked = drawn(random.Random(seed))
    if asked.turnaround == asked.issue == asked.poll == 0 and not asked.wire:
        asked = replace(asked, issue=us(1))
    submit, release = walked(asked, 30)
    found = simulate_slots(asked, 30)
    assert found.submit.tolist() == [us(t) for t in submit]
    assert found.release.tolist() == [us(t) for t in release]


@pytest.mark.parametrize(
    ("slots", "transfer", "release"), [(16, 20, 80), (8, 48, 80), (4, 68, 80), (3, 105, 120), (1, 305, 320)]
)
def test_the_books_ends(slots, transfer, release):
    found = simulate_slots(replace(BOOK, count=slots), 16)
    assert (found.transfer_end, found.release_end) == (us(transfer), us(release))


def test_vectors_where_they_are():
    if not VECTORS.exists():
        pytest.skip("no vectors beside the repository")
    cases = [c for c in json.loads(VECTORS.read_text())["cases"] if c["kind"] in SLOT_KINDS]
    assert len(cases) >= 25
    for case in cases:
        got = SLOT_KINDS[case["kind"]](case["inputs"])
        for key, value in case["expected"].items():
            assert got[key] == pytest.approx(value, rel=1e-12, abs=0) if value is not None else got[key] is None, case[
                "id"
            ]


def test_a_serial_wire_and_a_window():
    found = simulate_slots(Slots(256, 2e-6, 391, bandwidth=50e9), 98304)
    assert (found.release_end, found.injected) == (0.00050531136, 0.00050331648)
    assert found.average == pytest.approx(98304 * 256 / 0.00050531136, rel=1e-15)
    small = Slots(256, 2e-6, 5, bandwidth=50e9)
    begin = []
    for i in range(40):
        begin.append(max((begin[-1] + 5120) if begin else 0, begin[i - 5] + 2_000_000 if i >= 5 else 0))
    assert simulate_slots(small, 40).begin.tolist() == [b / 1e12 for b in begin]


def test_nothing_to_send_and_too_much():
    found = simulate_slots(BOOK, 0)
    assert (found.transfer_end, found.release_end, found.injected, found.average) == (0, 0, 0, None)
    for wrong in (-1, 10**9):
        with pytest.raises(InputError, match="expected 0 to"):
            simulate_slots(BOOK, wrong)


# --- completions told in groups ------------------------------------------------------------------------------------


def test_an_event_for_so_many_or_after_so_long():
    told = Slots(1, us(10), 8, us(1), moderation=Moderation(4, us(2)))
    found = simulate_slots(told, 10)
    assert found.release.tolist() == [us(t) for t in (12, 12, 12, 15, 15, 15, 18, 18, 24, 24)]
    by_count = simulate_slots(Slots(1, us(10), 8, us(1), moderation=Moderation(4)), 10)
    assert by_count.release.tolist() == [us(t) for t in (13, 13, 13, 13, 17, 17, 17, 17, 24, 24)]


def test_an_event_that_never_comes_is_refused():
    with pytest.raises(InputError, match="an event every 32 completions with 16 slots never comes"):
        Slots(1, us(10), 16, moderation=Moderation(32))


# --- the long run --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("slots", "batch", "rate"),
    [
        (16, 4, 200e3),
        (8, 4, 200e3),
        (4, 4, 200e3),
        (3, 4, 150e3),
        (1, 4, 50e3),
        (16, 32, 800e3),
        (64, 20, 1e6),
        (17, None, 825e3),
    ],
)
def test_the_long_run_is_quantised_by_polls(slots, batch, rate):
    found = steady(replace(BOOK, count=slots, batch=batch))
    assert (found.rate, found.exact) == (rate, True)


@pytest.mark.parametrize("seed", range(60))
def test_the_round_is_that_of_long_runs_and_below_every_limit(seed):
    chance = random.Random(1000 + seed)
    asked = drawn(chance)
    if chance.random() < 0.3:
        count = chance.randint(1, asked.count)
        asked = replace(asked, poll=0.0, moderation=Moderation(count, chance.choice([None, us(3)])))
    elif chance.random() < 0.3:
        asked = replace(asked, loaded=tuple(us(chance.randint(1, 20)) for _ in range(asked.count)))
    found = steady(asked)
    assert found.exact
    if found.rate is None:
        return
    release = simulate_slots(asked, 4000).release
    span = release[-1] - release[2000]
    assert abs(1999 - found.rate * span) <= 2 * (asked.count + (asked.batch or 0)) + 2
    if not asked.loaded:
        assert all(found.rate <= limit.rate * (1 + 1e-12) for limit in limits(asked))


def test_a_shift_between_issue_and_poll_is_followed_to_its_end():
    drifting = Slots(8192, 5e-6, 24, 1.0001e-6, 2e-5)
    found = steady(drifting)
    submit = simulate_slots(drifting, 100_000).submit
    assert found.exact
    assert found.rate == pytest.approx(50_000 / (submit[-1] - submit[-50_001]), rel=1e-3)
    assert steady(Slots(8192, 5e-6, 26, 1.000001e-6, 2e-5)).rate == pytest.approx(1 / 1.000001e-6, rel=1e-15)


def test_without_anything_that_takes_time_there_is_no_rate():
    assert steady(Slots(1, 0.0, 4)).rate is None
    assert steady(Slots(1, 1.0)).rate is None


# --- slots that do not come back -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_without_faults_both_clocks_agree_to_the_tick(seed):
    asked = drawn(random.Random(2000 + seed))
    if asked.turnaround == asked.issue == asked.poll == 0 and not asked.wire:
        return
    found = simulate_faults(asked, Faults(endpoints=1 + seed % 3), 60)
    assert found.answered.tolist() == simulate_slots(asked, 60).release.tolist()
    assert (found.stalled, found.gone) == (None, 0)


POOL = Slots(4096, 1e-5, 64)


@pytest.mark.parametrize("dead", [1, 3, 7])
def test_with_isolation_the_others_keep_the_rest_of_the_slots(dead):
    found = simulate_faults(POOL, Faults(8, dead, cap=8), 6000)
    assert found.rate() == pytest.approx((64 - 8 * dead) / 64 * steady(POOL).rate, rel=1e-9)
    assert found.gone == 8 * dead


def test_where_slots_do_not_bind_the_others_lose_nothing():
    slow = replace(POOL, issue=us(1))
    assert simulate_faults(slow, Faults(8, 1, cap=8), 6000).rate() == pytest.approx(1e6, rel=1e-9)


def test_without_isolation_one_dead_endpoint_stops_all():
    found = simulate_faults(POOL, Faults(8, 1), 6000)
    assert (found.rate(), found.gone) == (0.0, 64)
    assert len(found.answered) == 441
    assert found.stalled == us(350)


@pytest.mark.parametrize(
    ("faults", "share"), [(Faults(8, 1, timeout=1e-3), 1 / 8), (Faults(lost_every=100, timeout=1e-3), 0.01)]
)
def test_with_a_timeout_littles_law_says_what_is_left(faults, share):
    found = simulate_faults(POOL, faults, 40_000)
    assert found.rate() == pytest.approx(with_timeout(64, 1e-5, 1e-3, share), rel=0.01)


def test_each_lost_completion_takes_one_slot():
    found = simulate_faults(replace(POOL, count=5), Faults(lost_every=10), 1000)
    assert (found.gone, len(found.answered)) == (5, 45)
    assert found.stalled is not None


def test_faults_refuse_what_they_do_not_model():
    for wrong in (
        replace(POOL, count=None),
        replace(POOL, moderation=Moderation(2)),
        replace(POOL, loaded=(1e-6,) * 64),
    ):
        with pytest.raises(InputError, match="faults need a number of slots"):
            simulate_faults(wrong, Faults(), 10)
    with pytest.raises(InputError, match="3 dead of 2 endpoints"):
        Faults(2, 3)


def test_times_come_back_as_arrays():
    assert simulate_slots(BOOK, 3).release.dtype == np.float64
