"""Activities inferred from small traces written by hand."""

import numpy as np
import pytest

from hopline.errors import InputError
from hopline.records.meeting import Clocks, Meeting
from hopline.records.trace import CALL, KERNEL, NONE, Collective, Events, Lane, Step, Trace
from hopline.schedule.activities import COMMUNICATION, COMPUTE, HOST, SYNC, TRANSFER
from hopline.sim.activities import simulate_activities
from hopline.study.dependencies import depend
from hopline.study.replay_host import BACK, BLOCK, LAUNCH, host
from hopline.study.replaying import activities

STREAM, OTHER, THREAD, SECOND = range(4)
LANES = (Lane("stream", 0, 7), Lane("stream", 0, 20), Lane("thread", 1, 1), Lane("thread", 1, 2))


def trace(rows, rank=0, collectives=(), steps=()):
    """``rows``: (kind, name, start, end, lane, correlation), in order of start."""
    names = sorted({row[1] for row in rows})
    columns = list(zip(*((row[0], names.index(row[1]), *row[2:]) for row in rows), strict=True))
    kinds = (np.uint8, np.int32, np.int64, np.int64, np.int32, np.int64)
    events = Events(*(np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)))
    return Trace(f"rank{rank}", rank, 2, 0, True, tuple(names), LANES, events, tuple(collectives), tuple(steps))


def clocks(*offsets):
    count = len(offsets)
    return Clocks(
        np.array(offsets, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int32), ("meetings",) * count
    )


ONE = [
    (CALL, "cudaLaunchKernel", 1_000, 3_000, THREAD, 1),
    (KERNEL, "a", 6_000, 50_000, STREAM, 1),
    (CALL, "cudaLaunchKernel", 9_000, 11_000, THREAD, 2),
    (CALL, "cudaDeviceSynchronize", 20_000, 93_000, THREAD, 3),
    (KERNEL, "b", 52_000, 90_000, STREAM, 2),
]


def test_a_host_ahead_of_its_gpu():
    """The kernels fill the time; the host is back 3 us after the last of them, and goes on for 7 us."""
    one = trace(ONE, steps=[Step(1, 0, 100_000)])
    found = activities([one], clocks(0), [], [depend(one)])
    kinds = found.activities.kind.tolist()
    assert [kinds.count(kind) for kind in (COMPUTE, HOST, SYNC)] == [2, 5, 1]
    played = simulate_activities(found.activities)
    assert played.end.max() == 100_000_000
    faster = found.activities.work.copy()
    faster[found.activities.kind == COMPUTE] = 10_000_000
    after = simulate_activities(type(found.activities)(**{**columns(found.activities), "work": faster}))
    assert after.end.max() // 1000 == 6_000 + 10_000 + 2_000 + 10_000 + 3_000 + 7_000


def columns(made):
    return {
        name: getattr(made, name)
        for name in ("ranks", "kind", "rank", "work", "begin", "meeting", "done", "lag", "slowdown")
    }


def two(late):
    """Two ranks with one all-reduce each; that of the second comes ``late`` nanoseconds later, on a clock 500 ns ahead."""
    parts = []
    for rank, shift in ((0, 0), (1, late)):
        ahead = 500 * rank
        rows = [
            (CALL, "cudaLaunchKernel", 1_000 + ahead, 2_000 + ahead, THREAD, 1),
            (CALL, "cudaLaunchKernel", 3_000 + shift + ahead, 4_000 + shift + ahead, THREAD, 2),
            (KERNEL, "a", 5_000 + ahead, 6_000 + ahead, STREAM, 1),
            (KERNEL, "ncclDevKernel_AllReduce", 8_000 + shift + ahead, 28_000 + late + ahead, OTHER, 2),
        ]
        rows.sort(key=lambda row: row[2])
        row = next(place for place, event in enumerate(rows) if event[1].startswith("nccl"))
        parts.append(trace(rows, rank, [Collective(row, "all_reduce", 100, ranks=(0, 1), count=2)]))
    rows = np.array([part.collectives[0].row for part in parts], np.int32)
    start, end = (
        np.array(
            [
                getattr(part.events, name)[row] - 500 * rank
                for rank, (part, row) in enumerate(zip(parts, rows, strict=True))
            ]
        )
        for name in ("start", "end")
    )
    return parts, [start, end], rows


@pytest.mark.parametrize("missing", [(), (2,)])
def test_transfer_begins_when_the_last_has_come(missing):
    parts, (start, end), rows = two(40_000)
    met = Meeting("all_reduce", "", 0, np.array([0, 1], np.int32), rows, start, end, missing, 100, 2 + len(missing))
    found = activities(parts, clocks(0, -500), [met], [depend(part) for part in parts])
    mine = np.flatnonzero(found.activities.meeting != NONE)
    assert found.activities.kind[mine].tolist() == [COMMUNICATION if missing else TRANSFER] * 2
    assert found.activities.work[mine].tolist() == [20_000_000] * 2
    played = simulate_activities(found.activities)
    assert played.start[mine].tolist() == [played.ready[mine].max()] * 2
    assert bool(missing) == any("no trace" in premise for premise in found.premises)


def test_what_does_not_wait_for_all_keeps_its_duration():
    parts, (start, end), rows = two(40_000)
    end = np.array([start[0] + 1_000, end[1]])
    met = Meeting("broadcast", "", 0, np.array([0, 1], np.int32), rows, start, np.array([9_000, end[1]]), (), 100, 2)
    events = parts[0].events
    ends = events.end.copy()
    ends[rows[0]] = 9_000
    parts[0] = trace(
        [
            (kind, parts[0].names[name], begin, until, lane, number)
            for kind, name, begin, until, lane, number in zip(
                events.kind, events.name, events.start, ends, events.lane, events.correlation, strict=True
            )
        ],
        0, parts[0].collectives,
    )  # fmt: skip
    found = activities(parts, clocks(0, -500), [met], [depend(part) for part in parts])
    assert (found.activities.meeting == NONE).all()
    assert found.activities.work[found.activities.kind == COMMUNICATION].tolist() == [1_000_000, 20_000_000]
    assert "done with it before another came" in found.premises[0]


def test_threads_hand_over_and_back():
    """Thread 2 goes on where thread 3 is silent; while one stands in a wait the other calls on by itself."""
    start = np.array([0, 10, 20, 25, 50, 60])
    end = np.array([1, 11, 45, 26, 51, 61])
    thread = np.array([2, 3, 2, 3, 3, 2], np.int32)
    points = host(start, end, thread, np.array([0, 1, 3, 4, 5], np.int32), np.array([2], np.int32))
    assert points.time.tolist() == [0, 10, 20, 25, 45, 50, 60]
    assert points.what.tolist() == [LAUNCH, LAUNCH, BLOCK, LAUNCH, BACK, LAUNCH, LAUNCH]
    assert points.after.tolist() == [NONE, 0, 1, 2, 3, 3, 5]


def points(calls):
    """(what, call) in order, and what each came after; ``calls``: (start, end, thread, waits)."""
    start, end, thread, waits = (np.array(column) for column in zip(*calls, strict=True))
    found = host(start, end, thread.astype(np.int32), np.flatnonzero(~waits), np.flatnonzero(waits))
    return list(zip(found.what.tolist(), found.call.tolist(), strict=True)), found.after.tolist()


def test_at_one_time_stamp_what_returns_comes_first():
    found, after = points([(0, 100, 2, True), (100, 104, 2, False), (104, 200, 2, True), (200, 210, 2, True)])
    assert found == [(BLOCK, 0), (BACK, 0), (LAUNCH, 1), (BLOCK, 2), (BACK, 2), (BLOCK, 3), (BACK, 3)]
    assert after == [NONE, 0, 1, 2, 3, 4, 5]


def test_calls_without_length_keep_their_order():
    """In whole microseconds four calls may share a time stamp with the return of another and the begin of one that goes on."""
    calls = [(0, 50, 2, True), (50, 90, 2, True), (50, 50, 2, False), (50, 50, 2, True), (50, 50, 2, False)]
    found, _ = points(calls)
    assert found == [
        (BLOCK, 0), (BACK, 0), (LAUNCH, 2), (BLOCK, 3), (BACK, 3), (LAUNCH, 4), (BLOCK, 1), (BACK, 1),
    ]  # fmt: skip
    nested, _ = points([(0, 50, 2, True), (10, 50, 2, True)])
    assert nested == [(BLOCK, 0), (BLOCK, 1), (BACK, 1), (BACK, 0)]


def loop(grain=1, later=0, steps=3):
    """A launch at the very moment at which the wait before it returns, ``steps`` times: kernels of 1000 us, each waited for.

    ``later``: by how many nanoseconds kernels end after the calls that waited for them, as clocks differ; ``grain``: of the clock.
    """
    rows, now = [], 0
    for number in range(steps):
        end = now + 1_008_000
        rows.append((CALL, "cudaLaunchKernel", now, now + 4_000, THREAD, 2 * number + 1))
        rows.append(
            (CALL, "cudaDeviceSynchronize", now + 4_000, end + 2_000 - 2_000 * bool(later), THREAD, 2 * number + 2)
        )
        rows.append((KERNEL, "a", now + 8_000, end + later, STREAM, 2 * number + 1))
        now = end + 2_000 - 2_000 * bool(later)
    rows = [(*row[:2], *(at // grain * grain for at in row[2:4]), *row[4:]) for row in rows]
    rows.sort(key=lambda row: (row[2], -row[3]))
    return trace(rows, steps=[Step(1, 0, now)])


@pytest.mark.parametrize(("grain", "later"), [(1, 0), (1000, 0), (1, 700)])
def test_a_launch_as_a_wait_returns_comes_after_it(grain, later):
    """Kernels twice as fast: all of their time is waited for, 1500 of 3000 us."""
    one = loop(grain, later)
    seen = activities([one], clocks(0), [], [depend(one)])
    found, played = seen.activities, simulate_activities(seen.activities)
    assert (played.end // 1000 == seen.end).all()
    assert seen.end.max() == pytest.approx(one.steps[0].end, abs=1)
    work = np.where(found.kind == COMPUTE, found.work // 2, found.work)
    after = simulate_activities(type(found)(**{**columns(found), "work": work}))
    assert (played.end.max() - after.end.max()) // 1000 == pytest.approx(1_500_000, abs=2 * later + 1)


def repeating(again):
    """Two launches, one after the other, and their kernels: of one id, or of two; the first call is one of the driver in one
    of the runtime.
    """
    ids = (1, 1) if again else (1, 2)
    rows = [
        (CALL, "cudaLaunchKernel", 1_000, 3_000, THREAD, ids[0]),
        (CALL, "cuLaunchKernel", 1_500, 2_500, THREAD, ids[0]),
        (KERNEL, "a", 6_000, 50_000, STREAM, ids[0]),
        (CALL, "cudaLaunchKernel", 60_000, 63_000, THREAD, ids[1]),
        (KERNEL, "b", 66_000, 90_000, STREAM, ids[1]),
    ]
    return trace(rows, steps=[Step(1, 0, 100_000)])


@pytest.mark.parametrize("again", [False, True])
def test_repeated_correlation_ids_are_named(again):
    one = repeating(again)
    assert depend(one).repeated == (2 if again else 0)
    doubt = activities([one], clocks(0), [], [depend(one)]).doubt
    told = "in the trace of rank 0 the correlation ids of 2 of 2 works on its GPU stand for several calls each"
    assert doubt.startswith(told) if again else not doubt


def test_nothing_in_the_span_and_clocks_that_nothing_joins():
    one = trace(ONE)
    with pytest.raises(InputError, match="nothing happens"):
        activities([one], clocks(0), [], [depend(one)], (10**9, 2 * 10**9))
    apart = Clocks(np.zeros(2, np.int64), np.zeros(2, np.int64), np.array([0, 1], np.int32), ("given",) * 2)
    with pytest.raises(InputError, match="joins the clocks"):
        activities([one, one], apart, [], [depend(one)] * 2)
