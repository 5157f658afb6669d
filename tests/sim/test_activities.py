"""Activities played: against recursion where nothing slows down, against small steps of time where something does."""

import time
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from hopline.errors import InputError, SimulationError
from hopline.schedule.activities import COMPUTE, COPY, HOST, NONE, TRANSFER, Activities
from hopline.sim.activities import simulate_activities


def activities(ranks, rows, pairs=(), slowdown=None):
    """``rows``: (kind, rank, work, begin, meeting); ``pairs``: (row, row it waits for, lag)."""
    table = np.array(rows, np.int64).reshape(-1, 5)
    edges = np.array(pairs, np.int64).reshape(-1, 3)
    kind, rank, work, begin, meeting = table.T
    factors = np.ones((2, ranks)) if slowdown is None else np.array(slowdown, np.float64)
    return Activities(
        ranks, kind.astype(np.uint8), rank.astype(np.int32), work.copy(), begin.copy(), meeting.astype(np.int32),
        edges[:, :2].astype(np.int32), edges[:, 2].copy(), factors,
    )  # fmt: skip


def drawn(seed, rows=40, ranks=3):
    """Random activities; of every meeting one part a rank, and all waits go to earlier rows."""
    draw = Random(seed)
    made, pairs, meeting = [], [], 0
    while len(made) < rows:
        first = len(made)
        if draw.random() < 0.3:
            made += [(TRANSFER, rank, draw.randrange(50), 0, meeting) for rank in range(ranks)]
            meeting += 1
        else:
            made.append(
                (
                    draw.choice((COMPUTE, COPY, HOST)),
                    draw.randrange(ranks),
                    draw.randrange(50),
                    draw.randrange(60),
                    NONE,
                )
            )
        for row in range(first, len(made)):
            pairs += [
                (row, other, draw.randrange(9)) for other in draw.sample(range(first), min(first, draw.randrange(4)))
            ]
    return made, pairs


def by_recursion(made, pairs):
    """Ends by the rules of order alone."""
    waits = {row: [(other, lag) for who, other, lag in pairs if who == row] for row in range(len(made))}
    ends = {}

    def ready(row):
        return max([made[row][3], *(end(other) + lag for other, lag in waits[row])])

    def end(row):
        if row not in ends:
            number = made[row][4]
            together = [row] if number == NONE else [other for other, values in enumerate(made) if values[4] == number]
            ends[row] = max(map(ready, together)) + made[row][2]
        return ends[row]

    return [end(row) for row in range(len(made))]


def by_small_steps(made, pairs, slowdown, ranks):
    """Ends, a tick at a time: what is on does as much of its work as its rate says."""
    left, end, start = [float(values[2]) for values in made], [None] * len(made), [None] * len(made)
    waits = {row: [(other, lag) for who, other, lag in pairs if who == row] for row in range(len(made))}
    ready = [None] * len(made)
    now = 0
    while None in end:
        moved = True
        while moved:
            moved = False
            for row, values in enumerate(made):
                if (
                    ready[row] is None
                    and values[3] <= now
                    and all(end[o] is not None and end[o] + lag <= now for o, lag in waits[row])
                ):
                    ready[row], moved = now, True
                together = [row] if values[4] == NONE else [other for other, v in enumerate(made) if v[4] == values[4]]
                if start[row] is None and all(ready[other] is not None for other in together):
                    start[row], moved = now, True
                if start[row] is not None and end[row] is None and left[row] <= 1e-7:
                    end[row], moved = now, True
        on = [row for row in range(len(made)) if start[row] is not None and end[row] is None]
        kernels, moves = ({made[row][1] for row in on if made[row][0] == kind} for kind in (COMPUTE, TRANSFER))
        for row in on:
            kind, rank, _, _, number = made[row]
            factor = 1.0
            if kind == COMPUTE and rank in moves:
                factor = slowdown[0][rank]
            if kind == TRANSFER:
                members = {made[other][1] for other in on if made[other][4] == number} if number != NONE else {rank}
                factor = max([slowdown[1][other] for other in members & kernels], default=1.0)
            left[row] -= 1 / factor
        now += 1
    return end


@pytest.mark.parametrize("seed", range(30))
def test_both_ways_are_what_the_rules_say(seed):
    made, pairs = drawn(seed)
    wanted = by_recursion(made, pairs)
    for way in ("pass", "events"):
        played = simulate_activities(activities(3, made, pairs), way=way)
        assert played.end.tolist() == wanted
        assert (played.start >= played.ready).all()


@pytest.mark.parametrize("seed", range(20))
def test_slowed_down_is_what_small_steps_give(seed):
    """Works in hundreds, so that a step of one is small; ends may be off by the steps in which rates change."""
    made, pairs = drawn(seed, rows=16)
    made = [(kind, rank, work * 40, begin * 40, number) for kind, rank, work, begin, number in made]
    slowdown = [[1.5, 1.25, 1.0], [1.2, 2.0, 1.0]]
    wanted = np.array(by_small_steps(made, pairs, slowdown, 3))
    played = simulate_activities(activities(3, made, pairs, slowdown))
    assert np.abs(played.end - wanted).max() <= 2 * len(made)
    plain = simulate_activities(activities(3, made, pairs))
    assert (played.end >= plain.end - 1).all()


def test_a_kernel_beside_a_transfer_by_hand():
    """A kernel of 100 and a transfer of 30 that comes at 20: 20 + 30 at 2/3 (20 done) + 60."""
    made = activities(1, [(COMPUTE, 0, 100, 0, NONE), (TRANSFER, 0, 30, 20, 0)], slowdown=[[1.5], [1.0]])
    assert simulate_activities(made).end.tolist() == [110, 50]


def test_the_kernel_of_any_member_slows_a_transfer():
    """Members of rank 0 and 1; a kernel of rank 1 is on for the first 20: 10 done by then, 20 left."""
    rows = [(TRANSFER, 0, 30, 0, 0), (TRANSFER, 1, 30, 0, 0), (COMPUTE, 1, 20, 0, NONE)]
    made = activities(2, rows, slowdown=[[1.0, 1.0], [1.0, 2.0]])
    assert simulate_activities(made).end.tolist() == [40, 40, 20]


def test_waiting_for_the_last_is_no_transfer():
    """While rank 0 waits its kernel goes on as fast as ever."""
    rows = [(TRANSFER, 0, 10, 0, 0), (TRANSFER, 1, 10, 100, 0), (COMPUTE, 0, 50, 0, NONE)]
    played = simulate_activities(activities(2, rows, slowdown=[[3.0, 3.0], [1.0, 1.0]]))
    assert played.end.tolist() == [110, 110, 50]
    assert played.last.tolist() == [1, 1, 2]


def test_a_circle_is_refused():
    rows = [(HOST, 0, 1, 0, NONE)] * 2
    with pytest.raises(SimulationError, match="2 of 2 activities never end"):
        simulate_activities(activities(1, rows, [(0, 1, 0), (1, 0, 0)]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"work": np.array([-1])}, "negative work"),
        ({"done": np.array([[0, 1]], np.int32), "lag": np.zeros(1, np.int64)}, "outside of 0..0"),
        ({"slowdown": np.array([[0.5], [1.0]])}, "at least 1"),
        ({"rank": np.array([3], np.int32)}, "beyond the 1"),
    ],
)
def test_bad_activities_are_refused(change, words):
    with pytest.raises(InputError, match=words):
        replace(activities(1, [(HOST, 0, 1, 0, NONE)]), **change)


def test_two_hundred_thousand_take_less_than_a_second():
    rows, ranks = 200_000, 8
    number = np.arange(rows)
    before = np.stack([number[ranks:], number[:-ranks]], 1)
    twice = np.concatenate([before, np.stack([number[16:], number[:-16]], 1)]).astype(np.int32)
    meeting = np.where(number // ranks % 50 == 0, number // ranks, NONE).astype(np.int32)
    made = Activities(
        ranks, np.where(meeting != NONE, TRANSFER, COMPUTE).astype(np.uint8), (number % ranks).astype(np.int32), number % 997 + 1,
        np.zeros(rows, np.int64), meeting, twice, np.zeros(len(twice), np.int64),
    )  # fmt: skip
    began = time.process_time()
    simulate_activities(made)
    assert time.process_time() - began < 2
