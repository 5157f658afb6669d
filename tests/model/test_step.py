"""A step's course: the document's example, what hides and what does not, contention, and a clock that ticks."""

import random
from fractions import Fraction

import pytest

from hopline.errors import InputError
from hopline.model.step import Slow, bucketed, evenly, overlapped, quick, serial

MS = 1e-3


def test_the_documents_steps():
    assert [float(serial(0.02, comm, 0.002).step) for comm in (0.0076, 0.0013, 0.0023)] == [0.0296, 0.0233, 0.0243]
    assert float(overlapped(0.02, 0.017, 0.0013, 0.002).step) == 0.022
    assert float(overlapped(0.02, 0.017, 0.0076, 0.002).step) == 0.0266
    ready = evenly(0.02, 0.008, 8)
    assert ready == pytest.approx([0.0095, 0.011, 0.0125, 0.014, 0.0155, 0.017, 0.0185, 0.02])
    assert float(bucketed(0.02, ready, [0.0076 / 8] * 8, 0.002).step) == pytest.approx(0.02295)


def test_what_is_just_hidden_is_hidden():
    """0.1 + 0.2 is 0.3 here: times are rationals."""
    assert overlapped(0.3, 0.1, 0.2).exposed == 0
    assert overlapped(0.3, 0.1, 0.2).slack == 0
    assert overlapped(0.3, 0.1, 0.2000001).exposed == Fraction("0.0000001")


def test_part_of_it_hides_whenever_it_is_ready_before_the_end():
    found = overlapped(0.02, 0.017, 0.005, 0.002)
    assert (found.hidden, found.exposed) == (Fraction("0.003"), Fraction("0.002"))
    assert found.step < serial(0.02, 0.005, 0.002).step


def test_the_last_bucket_is_exposed_however_fast_the_others_are():
    found = bucketed(0.02, [0.01, 0.02], [0.0, 0.001])
    assert found.exposed == Fraction("0.001")
    assert found.step > max(0.02, 0.01 + 0.001)


def test_contention_moves_what_is_ready_and_slows_both():
    found = bucketed(0.02, [0.01, 0.015, 0.02], [0.002] * 3, 0.002, Slow(1.2, 1.5))
    assert [float(bucket.start) for bucket in found.buckets] == [0.01, 0.0155, 0.021]
    assert float(found.slowed) == 0.001
    assert found.cost == found.step - found.ceiling


def test_contention_ends_with_compute():
    found = bucketed(0.02, [0.019], [0.01], 0.0, Slow(1.0, 2.0))
    assert found.comm_end == Fraction("0.02") + Fraction("0.01") - Fraction("0.0005")


def test_nothing_to_send():
    assert bucketed(0.02, [], [], 0.002).step == Fraction("0.022")
    assert bucketed(0.02, [], []).comm_end == 0
    assert serial(0.0, 0.0).step == 0


def test_buckets_go_as_they_are_ready_not_as_they_are_told():
    found = bucketed(0.02, [0.02, 0.01], [0.001, 0.015])
    assert [float(bucket.start) for bucket in found.buckets] == [0.025, 0.01]


def ticked(compute, ready, comm, slow, tick):
    """A clock that ticks: compute and the first bucket that is ready each do what they can in a tick."""
    now = done = 0.0
    left, queue, ends = list(comm), [], [0.0] * len(comm)
    while done < compute - 1e-12 or any(part > 1e-12 for part in left):
        queue += [
            i for i in sorted(range(len(ready)), key=ready.__getitem__) if ready[i] <= done + 1e-12 and i not in queue
        ]
        sending = next((i for i in queue if left[i] > 1e-12), None)
        both = sending is not None and done < compute - 1e-12
        if sending is not None:
            left[sending] -= tick / (slow.comm if both else 1)
            ends[sending] = now + tick
        if done < compute - 1e-12:
            done += tick / (slow.compute if both else 1)
        now += tick
    return now


@pytest.mark.parametrize("seed", range(12))
def test_against_a_clock_that_ticks(seed):
    drawn = random.Random(seed)
    count, tick = drawn.randint(1, 5), 1 / 256
    ready = sorted(drawn.uniform(0, 20) for _ in range(count))
    comm = [drawn.uniform(0, 6) for _ in range(count)]
    slow = Slow(drawn.choice([1.0, 1.25, 2.0]), drawn.choice([1.0, 1.5, 3.0]))
    found = bucketed(20.0, ready, comm, 0.0, slow)
    assert float(found.step) == pytest.approx(ticked(20.0, ready, comm, slow, tick), abs=8 * (count + 1) * tick)
    assert quick(20.0, ready, comm, 0.0, slow) == pytest.approx(float(found.step), rel=1e-12)
    assert found.hidden + found.exposed == found.busy
    assert found.busy >= found.comm


@pytest.mark.parametrize("seed", range(8))
def test_without_contention_the_end_is_the_longest_chain(seed):
    drawn = random.Random(100 + seed)
    ready = sorted(drawn.randint(0, 2000) / 100 for _ in range(6))
    comm = [drawn.randint(0, 500) / 100 for _ in range(6)]
    longest = max(ready[i] + sum(comm[i:]) for i in range(6))
    assert float(bucketed(20.0, ready, comm).step) == pytest.approx(max(20.0, longest), rel=1e-14)


BAD = {
    "negative": (lambda: serial(-1.0, 0.0), "compute is -1.0"),
    "ready too late": (
        lambda: overlapped(0.02, 0.021, 0.001),
        "gradients ready at 21.00 ms, and compute takes 20.00 ms",
    ),
    "no times": (lambda: bucketed(1.0, [0.5], []), "1 buckets are ready and 0 travel"),
    "faster beside it": (lambda: bucketed(1.0, [0.5], [0.1], 0.0, Slow(0.9)), "slowdown of compute is 0.9"),
    "not finite": (lambda: serial(1.0, float("inf")), "communication is inf"),
    "too many": (lambda: bucketed(1.0, [0.5] * 100_001, [0.1] * 100_001), "expected at most 100,000"),
}


@pytest.mark.parametrize(("bad", "said"), BAD.values(), ids=BAD)
def test_what_cannot_be_is_named(bad, said):
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        bad()
