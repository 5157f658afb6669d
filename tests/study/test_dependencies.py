"""What events of a trace waited for: planted causes, and what HTA's own tests know of real files."""

from dataclasses import replace

import numpy as np
import pytest
from dag_traces import BACKWARD, COMMUNICATE, COMPUTE, FOLLOW, LAUNCH, MAIN, Rank, drawn, trace_of
from field import FIELD, needed

from hopline.formats.kineto.reader import read_trace
from hopline.records.trace import CALL, KERNEL, NONE, SYNC, Events, Lane, Syncs, Trace
from hopline.study.dependencies import depend
from hopline.study.streams import BASES


def flat(rows, lanes=None):
    """A trace of (kind, name, lane, start, end, correlation) in microseconds; lanes 0 and 1 are threads, others streams."""
    lanes = lanes or (
        Lane("thread", 1, 1),
        Lane("thread", 1, 2),
        *(Lane("stream", 0, number) for number in (7, 20, 21)),
    )
    rows = sorted(rows, key=lambda row: (row[3], -row[4]))
    names = sorted({row[1] for row in rows})
    kind, name, lane, start, end, correlation = zip(
        *((row[0], names.index(row[1]), row[2], row[3] * 1000, row[4] * 1000, row[5]) for row in rows), strict=True
    )
    small = [np.array(column, dtype) for column, dtype in ((kind, np.uint8), (name, np.int32), (lane, np.int32))]
    start, end, correlation = (np.array(column, np.int64) for column in (start, end, correlation))
    return Trace(
        "made.json", 0, None, 0, True, tuple(names), lanes, Events(*small[:2], start, end, small[2], correlation)
    )


def launched(number, stream, call, begun, ended, *, name="gemm", by="cudaLaunchKernel", thread=0):
    """A call and its kernel."""
    return [(CALL, by, thread, call, call + 4, number), (KERNEL, name, stream, begun, ended, number)]


def row_of(trace, correlation, *, kind=KERNEL):
    """The row with a correlation."""
    (row,) = np.flatnonzero((trace.events.correlation == correlation) & (trace.events.kind == kind))
    return int(row)


def pairs(trace, found):
    """Pairs as correlations."""
    return {tuple(trace.events.correlation[list(pair)].tolist()) for pair in found.tolist()}


@pytest.mark.parametrize("by", ["cudaLaunchKernel", "hipExtModuleLaunchKernel", "cuLaunchKernelEx", "INVALID"])
def test_a_call_launches_the_work_of_its_correlation(by):
    trace = flat([*launched(5, 2, 10, 20, 30, by=by), *launched(6, 2, 14, 31, 40, by=by)])
    found = depend(trace)
    for number in (5, 6):
        assert found.launch[row_of(trace, number)] == row_of(trace, number, kind=CALL)
    assert found.before[row_of(trace, 6)] == row_of(trace, 5)
    assert found.before[row_of(trace, 5)] == NONE


def test_one_call_starts_all_kernels_of_a_graph():
    kernels = [(KERNEL, "k", 2, 20 + 10 * at, 29 + 10 * at, 9) for at in range(300)]
    trace = flat([(CALL, "hipGraphLaunch", 0, 5, 12, 9), *kernels])
    found = depend(trace)
    assert set(found.launch[trace.work].tolist()) == {row_of(trace, 9, kind=CALL)}
    assert found.before[trace.work].tolist() == [NONE, *trace.work[:-1].tolist()]


def test_a_launch_that_is_not_in_the_trace_is_unknown():
    trace = flat([(KERNEL, "k", 2, 20, 29, 9), (KERNEL, "k", 2, 30, 39, NONE), *launched(10, 2, 1, 40, 50)])
    assert depend(trace).launch[trace.work].tolist() == [NONE, NONE, row_of(trace, 10, kind=CALL)]


def test_a_correlation_of_zero_that_many_calls_have_is_none():
    calls = [(CALL, "cudaPeekAtLastError", 0, at, at, 0) for at in range(5)]
    trace = flat([*calls, (KERNEL, "k", 2, 20, 29, 0)])
    assert depend(trace).launch[trace.work].tolist() == [NONE]
    alone = flat([*launched(0, 2, 1, 40, 50)])
    assert depend(alone).launch[alone.work].tolist() == [0]


def test_costs_of_launching_and_following_are_learnt():
    rank = Rank(0)
    rank.warm_up()
    found = depend(trace_of(rank))
    assert (found.launching, found.following) == (LAUNCH, FOLLOW)


@pytest.mark.parametrize("seed", range(6))
def test_waits_of_events_are_those_that_were_made(seed):
    """The made graph has a cause ``sync`` for every wait; the trace tells it by events."""
    (rank,) = drawn(np.random.default_rng(seed), 1, 60)
    trace = trace_of(rank)
    at = {id(row.end): row.correlation for row in rank.rows if row.kind == KERNEL}
    made = {
        (row.correlation, at[id(cause)])
        for row in rank.rows
        if row.kind == KERNEL
        for cause, _, part in row.start.causes
        if part == "sync"
    }
    assert pairs(trace, depend(trace).waits) == made
    assert made


@pytest.mark.parametrize("seed", range(6))
def test_calls_are_held_by_what_they_were_made_to_wait_for(seed):
    (rank,) = drawn(np.random.default_rng(seed), 1, 60)
    trace = trace_of(rank)
    at = {id(row.end): row.correlation for row in rank.rows if row.kind == KERNEL}
    made = {
        (row.correlation, at[id(cause)])
        for row in rank.rows
        if row.kind == CALL and "Synchronize" in row.name
        for cause, _, part in row.end.causes
        if part == "sync"
    }
    assert pairs(trace, depend(trace).blocked) == made
    assert made


def handed_over(*, wait=True, other_end=100, begun=103, call=20):
    """A collective on stream 20 that begins right after a kernel on stream 7, long after its launch."""
    rows = [*launched(1, 2, 0, 8, other_end), (CALL, "cudaEventRecord", 0, 10, 11, 2)]
    rows += [(CALL, "cudaStreamWaitEvent", 0, 12, 13, 3)] if wait else []
    return flat([*rows, *launched(4, 3, call, begun, 150), *launched(5, 2, 30, other_end + 1, 160)])


def test_a_wait_without_events_is_inferred_from_calls_and_times():
    trace = handed_over()
    found = depend(trace)
    assert pairs(trace, found.waits) == {(4, 1)}
    assert [BASES[basis] for basis in found.waits_basis] == ["calls"]


def test_a_wait_without_calls_is_inferred_from_times():
    trace = handed_over(wait=False)
    found = depend(trace)
    assert pairs(trace, found.waits) == {(4, 1)}
    assert [BASES[basis] for basis in found.waits_basis] == ["times"]


@pytest.mark.parametrize(
    "options",
    [{"begun": 140, "wait": False}, {"begun": 104, "call": 101}, {"begun": 104, "call": 101, "wait": False}],
    ids=["long after, no calls", "right after its launch", "right after its launch, no calls"],
)
def test_what_is_explained_otherwise_is_not_inferred(options):
    trace = handed_over(**options)
    assert not len(depend(trace).waits)


def test_a_wait_that_held_nothing_up_is_taken_from_a_call_right_before_the_launch():
    """A change can make it bind: what the replay of a faster or slower step needs."""
    trace = handed_over(begun=140)
    found = depend(trace)
    assert pairs(trace, found.waits) == {(4, 1)}
    assert [BASES[basis] for basis in found.waits_basis] == ["calls"]


@pytest.mark.parametrize("thread", [0, 1], ids=["the thread", "another thread"])
def test_a_call_to_wait_is_for_the_next_launch_of_its_thread(thread):
    """A launch in between took the wait; one of another thread did not."""
    rows = [*launched(1, 2, 0, 8, 100), (CALL, "cudaStreamWaitEvent", 0, 12, 13, 3)]
    rows += [*launched(4, 4, 14, 105, 110, thread=thread), *launched(5, 3, 22, 140, 150)]
    trace = flat(rows)
    assert ((5, 1) in pairs(trace, depend(trace).waits)) is (thread == 1)


def test_a_succession_shows_its_cost_only_where_no_other_stream_held_it():
    """Every work of stream 20 waits for one of stream 7: the gaps before them are no cost of following."""
    rows = [*launched(1, 2, 0, 8, 100), *launched(2, 3, 5, 12, 20)]
    for at in range(4):
        begun = 100 * (at + 1)
        rows += [(CALL, "cudaStreamWaitEvent", 0, 10 + 10 * at, 11 + 10 * at, 20 + at)]
        rows += launched(30 + at, 3, 12 + 10 * at, begun + 1, begun + 40)
        rows += launched(40 + at, 2, 17 + 10 * at, begun, begun + 100)
    assert depend(flat(rows)).following == 0


def test_work_that_began_long_before_the_other_ended_did_not_wait_for_it():
    rank = Rank(0)
    rank.launch(COMPUTE, 500_000)
    rank.join(COMMUNICATE, COMPUTE)
    rank.launch(COMMUNICATE, 10_000)
    assert len(depend(trace_of(rank)).waits) == 1
    rank.rows[-1].start.causes = rank.rows[-1].start.causes[:1]
    for row in rank.rows:
        row.start.at = row.end.at = None
    assert not len(depend(trace_of(rank)).waits)


def test_a_copy_of_pageable_memory_holds_its_call():
    copy = ("Memcpy DtoH (Device -> Pageable)", "Memcpy DtoH (Device -> Pinned)")
    trace = flat([
        (CALL, "cudaMemcpyAsync", 0, 0, 60, 1), (1, copy[0], 2, 10, 55, 1),
        (CALL, "cudaMemcpyAsync", 0, 70, 140, 2), (1, copy[1], 2, 80, 130, 2),
        (CALL, "hipMemcpyWithStream", 0, 150, 190, 3), (1, "CopyDeviceToHost", 2, 160, 185, 3),
        (CALL, "cudaMemcpyAsync", 0, 200, 210, 4), (1, copy[0], 2, 220, 230, 4),
    ])  # fmt: skip
    assert pairs(trace, depend(trace).blocked) == {(1, 1), (3, 3)}


def test_a_call_to_synchronise_a_stream_is_held_by_what_ended_while_it_ran():
    rows = [*launched(1, 2, 0, 8, 100), *launched(2, 3, 10, 20, 70), (CALL, "cudaStreamSynchronize", 0, 20, 103, 3)]
    trace = flat([*rows, *launched(4, 2, 110, 118, 120), (CALL, "hipStreamSynchronize", 0, 130, 133, 5)])
    assert pairs(trace, depend(trace).blocked) == {(3, 1)}


def test_threads_launch_into_one_stream_in_the_order_of_time():
    rank = Rank(0)
    for thread in (MAIN, BACKWARD, MAIN):
        rank.switch(thread)
        rank.launch(COMPUTE, 50_000)
    rank.hold()
    trace = trace_of(rank)
    assert pairs(trace, depend(trace).blocked) == {(4, 3)}


@needed
def test_the_wait_that_htas_test_knows_of_alexnet():
    trace = read_trace(str(FIELD / "traces" / "hta-critpath-alexnet.json.gz"))
    found = depend(trace)
    assert (5629, 5606) in pairs(trace, found.waits)
    assert not found.waits_basis.any()


@needed
def test_the_calls_that_htas_test_knows_to_be_held():
    trace = read_trace(str(FIELD / "traces" / "hta-critpath-event-sync.json.gz"))
    found = depend(trace)
    names = [
        tuple(trace.names[name] for name in trace.events.name[list(pair)].tolist()) for pair in found.blocked.tolist()
    ]
    spin = "at::cuda::(anonymous namespace)::spin_kernel(long)"
    assert {call for call, work in names if work == spin} == {"cudaEventSynchronize", "cudaDeviceSynchronize"}
    assert "cudaEventQuery" not in {call for call, _ in names}
    assert not len(found.waits)


def test_a_synchronised_device_is_waited_for_and_no_other():
    lanes = (Lane("thread", 1, 1), Lane("stream", 0, 7), Lane("stream", 1, 7), Lane("stream", 0, -1))
    rows = [*launched(1, 1, 0, 8, 50), *launched(2, 2, 5, 12, 90)]
    synchronised = [(CALL, "cudaDeviceSynchronize", 0, 20, 52, 3), (SYNC, "Context Sync", 3, 21, 52, 3)]
    trace = flat([*rows, *synchronised, (CALL, "cudaDeviceSynchronize", 0, 60, 92, 4)], lanes)
    told = Syncs(np.flatnonzero(trace.events.kind == SYNC).astype(np.int32), np.array([NONE]), np.array([NONE]))
    assert pairs(trace, depend(replace(trace, syncs=told)).blocked) == {(3, 1), (4, 1), (4, 2)}
