"""A step from question to answer: every number that is solved for reaches what was asked, and no more than it."""

import itertools
import math
from dataclasses import replace

import pytest

from hopline.errors import InputError, SimulationError
from hopline.jobs.bucket_counts import best as best_buckets
from hopline.jobs.bucket_counts import most, reaching
from hopline.jobs.step_inputs import changed, inputs
from hopline.jobs.step_parts import Parts, Pipe, Price, Sending, Window
from hopline.jobs.step_solving import Aim
from hopline.jobs.stepping import answer, naive
from hopline.model.step import Slow

BOOK = Parts(0.02, Sending(0.0076), 0.002)
LINE = Sending(size=192 * 2.0**20, latency=30e-6, bandwidth=50e9)
WINDOW = Parts(
    0.02, Sending(size=24 * 2.0**20, latency=0.0, bandwidth=50e9, window=Window(256, 2e-6, 128)), 0.002, ready=0.019
)
CASES = {
    "serial": (BOOK, 0.025),
    "overlapped": (replace(BOOK, ready=0.017), 0.024),
    "buckets": (replace(BOOK, ready=0.0095, buckets=8), 0.0225),
    "on a line": (Parts(0.02, LINE, 0.002, buckets=8), 0.0222),
    "contention": (Parts(0.02, LINE, 0.002, buckets=8, slow=Slow(1.3, 1.5)), 0.0235),
    "a window": (WINDOW, 0.0222),
    "a pipeline": (Parts(0.096, Sending(0.004), 0.002, pipe=Pipe(8, 32, 2, 1e-5)), 0.11),
}


@pytest.mark.parametrize(("parts", "target"), CASES.values(), ids=CASES)
def test_what_is_solved_for_reaches_it_and_a_little_worse_does_not(parts, target):
    found = answer(parts, aim=Aim(target))
    assert float(found.now.step) > target
    rows = [row for row in found.reached if row.name in inputs(parts)]
    assert rows
    for row in rows:
        told = inputs(parts)[row.name]
        if row.value is None:
            assert row.best > target
            continue
        nudge = 1 - 1e-6 if told.more else 1 + 1e-6
        worse = row.value - 1 if row.name == "requests in flight" else row.value * nudge
        if row.name.startswith("slowdown"):
            worse = row.value + 1e-6
        assert float(changed(parts, row.name, row.value).stepped().step) <= target
        assert float(changed(parts, row.name, worse).stepped().step) > target


def reached(found):
    return {row.name: row.value for row in found.reached}


def test_the_books_budget():
    found = answer(replace(BOOK, ready=0.017), aim=Aim(0.022))
    assert reached(found)["communication"] == 0.003
    assert reached(found)["gradients ready"] == 0.0124
    assert reached(found)["update"] is None
    assert reached(answer(BOOK, aim=Aim(0.021)))["communication"] is None


def test_requests_in_flight_for_a_budget():
    """24 MiB in 1 ms need 25.17 GB/s: 197 requests of 256 B that are 2 µs on their way; in full rate 391."""
    assert reached(answer(WINDOW, aim=Aim(1e-3, budget=True)))["requests in flight"] == 197
    line = answer(WINDOW, aim=Aim(24 * 2**20 / 50e9 * (1 + 1e-12), budget=True))
    assert reached(line)["requests in flight"] == 391
    assert reached(line)["bandwidth"] is None


def test_the_buckets_that_reach_it():
    parts = Parts(0.02, LINE, 0.002, buckets=8)
    (row,) = (row for row in answer(parts, aim=Aim(0.02215)).reached if row.name == "buckets")
    steps = {n: float(replace(parts, buckets=n).stepped().step) for n in (33, 34, 313, 314, 315, 316, 317)}
    assert (row.value, row.until) == (34, max(n for n, step in steps.items() if step <= 0.02215))
    assert steps[34] <= 0.02215 < min(steps[33], steps[row.until + 1])
    (size,) = (row for row in answer(parts, aim=Aim(0.02215)).reached if row.name == "bucket size")
    assert (size.value, size.until) == (math.ceil(192 * 2**20 / 34), math.ceil(192 * 2**20 / row.until))
    for one in (size.value, size.until):
        assert float(replace(parts, buckets=None, bucket=one).stepped().step) <= 0.02215


def test_more_buckets_of_a_time_alone_are_ever_better():
    (row,) = (
        row for row in answer(replace(BOOK, ready=0.0095, buckets=8), aim=Aim(0.0225)).reached if row.name == "buckets"
    )
    assert (row.value, row.until) == (16, None)


def priced(size):
    """A collective by the faster of two algorithms."""
    return min(Price(5e-6, size / 2e9), Price(150e-6, size / 6e9), key=lambda price: price.time)


def falling(size):
    """A fitted curve that falls where its protocol changes."""
    return Price(5e-6, size / 2e9) if size < 1e6 else Price(150e-6, size / 6e9)


@pytest.mark.parametrize(
    "parts",
    [
        Parts(0.02, Sending(size=64 * 2.0**20, latency=400e-6, bandwidth=20e9), buckets=4),
        Parts(0.02, Sending(size=64 * 2.0**20, latency=400e-6, bandwidth=20e9), buckets=4, slow=Slow(1.2, 1.4)),
        Parts(0.02, Sending(size=64 * 2.0**20, latency=90e-6, bandwidth=20e9), buckets=4, slow=Slow(1.0, 3.0)),
        Parts(0.02, Sending(size=100_000_007.0, price=priced), buckets=4),
        Parts(0.02, Sending(size=100_000_007.0, price=priced), buckets=4, backward=0.004),
        Parts(0.02, Sending(size=100_000_007.0, price=falling, rises=False), buckets=4, backward=0.004),
        Parts(0.02, Sending(size=97.0, latency=1e-5, bandwidth=1e4), buckets=4),
    ],
)
def test_the_best_number_of_buckets_is_the_best(parts):
    """Against every number up to 200, or as many as are looked at, by the exact course."""
    high = min(200, most(parts))
    begin = parts.begin(parts.whole, parts.amounts())
    told = replace(parts, backward=parts.whole - begin)
    steps = {n: round(float(replace(told, buckets=n).stepped().step), 12) for n in range(1, high + 1)}
    best = min(steps, key=lambda n: (steps[n], n))
    assert best_buckets(parts) == best
    target = (min(steps.values()) + steps[4]) / 2
    good = [n for n, step in steps.items() if step <= target]
    found = reaching(parts, target)
    assert found.first == good[0]
    if found.last is not None and found.last < high:
        assert found.last == good[-1]


def test_compute_is_solved_for_where_hops_do_not_shrink_with_it():
    parts = Parts(0.02, Sending(0.00065), ready=0.007, buckets=8, slow=Slow(1.0, 2.0), pipe=Pipe(4, 8, 1, 1e-4))
    found = answer(parts, aim=Aim(0.027))
    (row,) = (row for row in found.reached if row.name == "compute")
    assert 0.018 <= row.value < 0.02
    assert (
        changed(parts, "compute", row.value).seconds()
        <= 0.027
        < changed(parts, "compute", row.value * 1.00001).seconds()
    )
    assert all(math.isfinite(row.best) for row in found.reached)
    small = changed(parts, "compute", 1e-4)
    assert small.ready / small.whole == pytest.approx(parts.ready / parts.whole)
    assert small.seconds() < 0.027


def test_levers_that_lock_are_left_out():
    found = answer(Parts(0.096, Sending(0.004), pipe=Pipe(4, 5, 2)))
    assert {effect.name for effect in found.choices} >= {"micro-batches"}
    with pytest.raises(SimulationError, match="micro-batches must be a multiple of stages"):
        Parts(0.1, pipe=Pipe(*lock())).stepped()


def lock():
    """Stages, micro-batches and chunks that wait for one another for ever."""
    shapes = itertools.product(range(2, 6), range(1, 12), range(2, 5))
    return next(shape for shape in shapes if _locks(*shape))


def _locks(*shape):
    try:
        Parts(0.1, pipe=Pipe(*shape)).stepped()
    except SimulationError:
        return True
    return False


def test_a_choice_that_is_worse_is_no_better_one():
    parts = Parts(0.02, LINE, 0.002, buckets=best_buckets(Parts(0.02, LINE, 0.002, buckets=8)))
    (buckets,) = answer(parts).choices
    assert (buckets.better, buckets.gain) == (buckets.now, 0)
    assert all(effect.gain >= 0 for case, _ in CASES.values() for effect in answer(case).choices)


def test_a_price_of_bounds_makes_a_range():
    sending = Sending(size=100.0, price=lambda size: Price(1e-3, size * 1e-5, 0.0, 1e-3))
    found = answer(Parts(0.02, sending, 0.002))
    assert (float(found.now.step), found.least) == (pytest.approx(0.024), pytest.approx(0.023))
    assert answer(BOOK).least is None


def test_next_to_nothing_is_nothing():
    """What has to be gone is 0, not a picosecond's part of one."""
    found = answer(Parts(0.02, Sending(0.0076), 0.002), aim=Aim(0.022))
    assert reached(found)["communication"] == 0.0


def test_amdahl_is_of_what_is_exposed():
    found = answer(replace(BOOK, ready=0.017), replace(BOOK, ready=0.017, sending=Sending(0.0013)))
    assert found.speedup.speedup == pytest.approx(26.6 / 22)
    assert found.speedup.reduction == pytest.approx(4.6 / 26.6)
    assert found.speedup.part_reduction == 1
    hidden = [effect for effect in found.effects if effect.name == "communication"]
    assert (hidden[0].gain, hidden[0].loss) == (0, 0)


def test_ranking_of_the_book():
    found = answer(BOOK)
    assert [(effect.name, round(effect.gain, 6)) for effect in found.effects] == [
        ("compute", round(2 / 29.6, 6)), ("communication", round(0.76 / 29.6, 6)), ("update", round(0.2 / 29.6, 6)),
    ]  # fmt: skip
    (beside,) = found.choices
    assert beside.better_time == pytest.approx(0.022 + 0.0076 / 8)


def test_what_overlooks_the_last_bucket_is_shorter():
    found = replace(BOOK, ready=0.0095, buckets=8).stepped()
    assert naive(found) == 0.022
    assert float(found.step) == pytest.approx(0.02295)


def test_buckets_of_a_size_leave_the_rest_to_the_last():
    parts = Parts(0.02, replace(LINE, size=25 * 2.0**20), 0.0, bucket=10 * 2.0**20)
    assert [amount / 2**20 for amount in parts.amounts()] == [10, 10, 5]
    ready = [float(bucket.ready) for bucket in parts.stepped().buckets]
    begin = 0.02 / 3
    assert ready == pytest.approx([begin + 0.4 * (0.02 - begin), begin + 0.8 * (0.02 - begin), 0.02])


def test_gradients_are_accumulated_and_come_in_the_last_micro_batch():
    alone, four = (Parts(0.02, Sending(0.004), buckets=8, pipe=Pipe(1, n)) for n in (1, 4))
    assert float(alone.stepped().buckets[0].ready) == pytest.approx(0.02 - 0.02 * 2 / 3 * 7 / 8)
    assert float(four.stepped().buckets[0].ready) == pytest.approx(0.02 - 0.02 / 6 * 7 / 8)
    assert four.stepped().exposed > alone.stepped().exposed


def test_the_bubble_is_part_of_compute():
    found = answer(Parts(0.096, Sending(0.004), pipe=Pipe(8, 32, 2)))
    assert found.bubble.bubble == pytest.approx(0.0105)
    assert float(found.now.step) == pytest.approx(0.096 + 0.0105 + 0.004)
    hops = Parts(0.096, pipe=Pipe(8, 32, 2, 1e-4))
    assert hops.whole > 0.1065
    assert Parts(0.096, pipe=Pipe(4, 6, 2)).whole > 0.096


def test_a_price_is_scaled_by_part():
    priced = Sending(size=100.0, price=lambda size: Price(1e-3, size * 1e-5, 5e-4))
    assert Parts(0.02, priced).stepped().comm == pytest.approx(2.5e-3)
    assert changed(Parts(0.02, priced), "bandwidth of the network", 2.0).stepped().comm == pytest.approx(2e-3)
    assert changed(Parts(0.02, priced), "start-ups of the network", 0.5).stepped().comm == pytest.approx(2e-3)


def test_when_compute_changes_gradients_are_ready_as_early_in_it():
    parts = changed(replace(BOOK, ready=0.017), "compute", 0.01)
    assert parts.ready == 0.0085


def test_a_first_bucket_cannot_be_ready_before_it_is_made():
    with pytest.raises(InputError, match=r"the first of 8 buckets ready at 1\.000 ms.*expected 2\.500 ms or more"):
        replace(BOOK, ready=0.001, buckets=8).stepped()
    assert replace(BOOK, ready=0.0025, buckets=8).stepped().buckets[0].ready == pytest.approx(0.0025)
