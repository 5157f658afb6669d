"""Critical paths: equal to the longest chain of made graphs, planted causes named, and exact on real files."""

from dataclasses import replace

import numpy as np
import pytest
from dag_traces import (
    COMMUNICATE,
    COMPUTE,
    FOLLOW,
    MAIN,
    TRANSFER,
    Rank,
    brought_together,
    drawn,
    joined,
    longest,
    meet,
    trace_of,
)
from field import FIELD, needed

from hopline.errors import FormatError, InputError
from hopline.formats.kineto.reader import read_trace, read_traces
from hopline.records.meeting import Clocks, Meeting
from hopline.records.trace import KERNEL, NONE, Events
from hopline.study.critical_path import critical_path
from hopline.study.dependencies import depend
from hopline.study.meetings import meet as bring_together

ALONE = Clocks(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int32), ("given",))


def stretches(path):
    return joined((stretch.part, stretch.trace, stretch.start, stretch.end) for stretch in path.stretches)


def assert_tiled(path):
    """Stretches fill the span without gap or overlap, and none is empty."""
    times = [path.start, *(stretch.end for stretch in path.stretches)]
    assert [stretch.start for stretch in path.stretches] == times[:-1]
    assert times[-1] == path.end
    assert all(stretch.time > 0 for stretch in path.stretches)


@pytest.mark.parametrize("seed", range(80))
def test_the_walk_is_the_longest_chain(seed):
    """Several ranks with skewed clocks, two threads, two streams, waits of both and collectives: to the nanosecond."""
    rng = np.random.default_rng(seed)
    ranks = drawn(rng, int(rng.integers(1, 5)), int(rng.integers(5, 60)))
    shifts = [int(shift) for shift in rng.integers(-1_000_000, 1_000_000, len(ranks))]
    traces, clocks, meetings = brought_together(ranks, shifts)
    path = critical_path(traces, clocks, meetings)
    true = joined(
        (part, rank, max(start, path.start), end) for part, rank, start, end in longest(ranks) if end > path.start
    )
    assert_tiled(path)
    assert stretches(path) == true
    assert (path.skew, path.inferred, path.told) == (0, 0, ())


@pytest.mark.parametrize("seed", range(20))
def test_any_span_is_tiled(seed):
    rng = np.random.default_rng(seed)
    traces, clocks, meetings = brought_together(drawn(rng, 3, 30))
    whole = critical_path(traces, clocks, meetings)
    start, end = sorted(rng.integers(whole.start, whole.end, 2).tolist())
    path = critical_path(traces, clocks, meetings, (start, end), [depend(trace) for trace in traces])
    assert (path.start, path.end) == (start, end)
    assert_tiled(path)


def late(rank, time):
    """A step of one rank: a kernel of ``time``, then the collective that waits for it, and the host waits for all."""
    rank.launch(COMPUTE, time, "forward")
    rank.join(COMMUNICATE, COMPUTE)
    rank.launch(COMMUNICATE, None, "ncclDevKernel_AllReduce_Sum_f32_RING_LL")
    rank.join(COMPUTE, COMMUNICATE)
    rank.launch(COMPUTE, 40_000, "optimizer")
    rank.hold()


def job(times):
    """Ranks of one step each with a kernel of so many nanoseconds."""
    ranks = [Rank(number) for number in range(len(times))]
    for rank, time in zip(ranks, times, strict=True):
        rank.warm_up()
        late(rank, time)
    meet(ranks)
    return ranks


def test_the_path_goes_to_the_rank_that_came_last_and_no_wait_is_on_it():
    """All ranks end together, so the walk begins on the last of them; the first holds up all."""
    traces, clocks, meetings = brought_together(job([900_000, 300_000, 500_000]), [0, 77_000, -5_000])
    path = critical_path(traces, clocks, meetings)
    named = [(stretch.part, stretch.trace, stretch.time) for stretch in path.stretches]
    at = named.index(("transfer", 2, TRANSFER))
    assert named[at - 2 : at] == [("compute", 0, 900_000), ("sync", 0, FOLLOW)]
    assert {trace for _, trace, _ in named[:at]} == {0}
    assert {trace for _, trace, _ in named[at:]} == {2}
    assert ("compute", 2, 40_000) in named
    assert "communication" not in {part for part, _, _ in named}


def test_a_collective_of_unknown_transfer_stays_on_its_rank():
    traces, clocks, meetings = brought_together(job([300_000, 900_000]))
    known = [replace(meeting, transfer=None, last=None, missing=(2,)) for meeting in meetings]
    path = critical_path(traces, clocks, known)
    assert_tiled(path)
    assert len({stretch.trace for stretch in path.stretches}) == 1
    assert sum(stretch.time for stretch in path.stretches if stretch.part == "communication") >= TRANSFER


def test_a_trace_alone():
    trace = trace_of(job([300_000])[0])
    path = critical_path([trace], ALONE, ())
    assert_tiled(path)
    assert [stretch.time for stretch in path.stretches if stretch.part == "communication"] == [TRANSFER]


def test_traces_that_nothing_joins_are_left_out_and_named():
    traces, clocks, _ = brought_together(job([300_000, 900_000, 500_000]))
    parted = replace(clocks, part=np.array([0, 1, 0], np.int32))
    path = critical_path(traces, parted, [])
    assert_tiled(path)
    assert {stretch.trace for stretch in path.stretches} <= {0, 2}
    assert path.told == ("The path is through 2 of 3 traces: no collective joins their clocks to rank 1.",)


def test_who_came_last_is_said_to_be_undecided_within_the_error_of_the_clocks():
    traces, clocks, meetings = brought_together(job([900_000, 300_000]))
    assert critical_path(traces, clocks, meetings).told == ()
    told = critical_path(traces, clocks, [replace(meeting, rivals=(1,)) for meeting in meetings]).told
    assert told[0].startswith("Of 1 changes of rank on the path 1 could be to another")


def test_the_receiver_of_a_message_waits_for_the_sender():
    sender, receiver = Rank(0), Rank(1)
    for rank, time in ((sender, 800_000), (receiver, 100_000)):
        rank.warm_up()
        rank.launch(COMPUTE, time)
        rank.launch(COMPUTE, None, "ncclDevKernel_SendRecv")
    ends = [rank.collectives[0] for rank in (sender, receiver)]
    ends[0].end.causes = [(ends[0].start, 20_000, "communication")]
    ends[1].end.causes = [(ends[0].start, 30_000, "communication")]
    for rank in (sender, receiver):
        rank.hold()
    traces, clocks, _ = brought_together([sender, receiver])
    rows = np.array([trace.collectives[0].row for trace in traces], np.int32)
    start, end = (np.array([getattr(row, side).time() for row in ends]) for side in ("start", "end"))
    message = Meeting("send", "", 0, np.arange(2, dtype=np.int32), rows, start, end, ranks=2)
    path = critical_path(traces, clocks, [message])
    assert_tiled(path)
    true = joined((part, rank, max(start, path.start), end) for part, rank, start, end in longest([sender, receiver]))
    assert stretches(path) == true
    assert (30_000, 1) in {
        (stretch.time, stretch.trace) for stretch in path.stretches if stretch.part == "communication"
    }


def test_kernels_that_begin_before_their_launch_are_counted_and_taken_as_zero():
    """Tiny all-to-alls back to back, whose kernels begin 1 us before the call that launched them: clocks of CUPTI disagree."""
    rank = Rank(0)
    for _ in range(64):
        rank.launch(COMMUNICATE, 20_000, "ncclDevKernel_SendRecv")
        rank.hold(COMMUNICATE)
    skewed = earlier(trace_of(rank), 8_000)
    path = critical_path([skewed], ALONE, ())
    assert_tiled(path)
    assert path.skew == 64
    assert sum(stretch.time for stretch in path.stretches if stretch.part == "compute") == 64 * 20_000


def earlier(trace, time):
    """A trace whose kernels are so much earlier than its calls say."""
    events = trace.events
    move = np.where(events.kind == KERNEL, time, 0)
    start, end = events.start - move, events.end - move
    order = np.lexsort((-end, start))
    columns = events.kind, events.name, start, end, events.lane, events.correlation
    row = np.argsort(order)[trace.syncs.row].astype(np.int32)
    return replace(trace, events=Events(*(column[order] for column in columns)), syncs=replace(trace.syncs, row=row))


def test_the_host_thread_that_handed_over_is_followed():
    rank = Rank(0)
    rank.operator("forward", 50_000)
    rank.switch(1)
    rank.operator("backward", 70_000)
    rank.switch(MAIN)
    rank.operator("step", 30_000)
    rank.launch(COMPUTE, 10_000)
    rank.hold()
    path = critical_path([trace_of(rank)], ALONE, ())
    lanes = [path_lane(rank, stretch) for stretch in path.stretches if stretch.part == "host"]
    assert lanes == [0, 1, 0]
    assert path.end - path.start == sum(stretch.time for stretch in path.stretches)
    assert "idle" not in {stretch.part for stretch in path.stretches}


def path_lane(rank, stretch):
    return int(trace_of(rank).events.lane[stretch.row])


def test_a_delay_that_nothing_explains_is_idle_not_launch():
    rank = Rank(0)
    rank.warm_up()
    rank.launch(COMPUTE, 30_000)
    rank.rows[-1].start.causes.append((rank.rows[-2].start, 400_000, "idle"))
    rank.hold()
    path = critical_path([trace_of(rank)], ALONE, ())
    idle = [stretch.time for stretch in path.stretches if stretch.part == "idle"]
    assert idle == [400_000 - 7_000]
    assert max(stretch.time for stretch in path.stretches if stretch.part == "launch") == 7_000


def test_nothing_in_the_span_is_an_error():
    trace = trace_of(job([300_000])[0])
    with pytest.raises(InputError, match=r"nothing ends between -9 and -5 ns of .* expected a span in"):
        critical_path([trace], ALONE, (), (-9, -5))
    nothing = replace(
        trace, events=Events(*(getattr(trace.events, name)[:0] for name in Events.__dataclass_fields__)), collectives=()
    )
    nothing = replace(
        nothing,
        syncs=replace(trace.syncs, row=trace.syncs.row[:0], on=trace.syncs.on[:0], record=trace.syncs.record[:0]),
    )
    with pytest.raises(FormatError, match="no path to find"):
        critical_path([nothing], ALONE, ())


def field_traces():
    if not FIELD.is_dir():
        return []
    names = (path for path in sorted((FIELD / "traces").glob("*.json*")) if "et.json" not in path.name)
    return [pytest.param(path, id=path.name) for path in names]


@needed
@pytest.mark.parametrize("path", field_traces())
def test_real_traces_are_tiled(path):
    trace = read_trace(str(path))
    if not len(trace.work):
        return
    found = critical_path([trace], ALONE, ())
    assert_tiled(found)
    assert all(stretch.row != NONE for stretch in found.stretches if stretch.part != "idle")


@needed
def test_the_eight_ranks_wait_for_rank_seven():
    traces = read_traces([str(path) for path in sorted((FIELD / "traces" / "dlrm-8rank").iterdir())])
    matched = bring_together(traces)
    path = critical_path(traces, matched.clocks, matched.meetings)
    assert_tiled(path)
    time = {number: sum(stretch.time for stretch in path.stretches if stretch.trace == number) for number in range(8)}
    assert {number for number in time if time[number]} == {4, 7}
    assert sum(stretch.time for stretch in path.stretches if stretch.part == "transfer") < 10_000
    assert max(time, key=time.get) == 7
