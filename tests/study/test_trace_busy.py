"""Unions of intervals and breakdowns: by hand, and against marking every nanosecond."""

import numpy as np
import pytest
from made_traces import trace

from hopline.records.trace import KERNEL, MEMCPY, SYNC
from hopline.study.busy import breakdown, breakdowns, length, union


def marked(intervals, low, high):
    """Which nanoseconds of [low, high) any interval covers."""
    line = np.zeros(high - low, bool)
    for start, end in intervals:
        line[max(start - low, 0) : max(end - low, 0)] = True
    return line


@pytest.mark.parametrize("seed", range(30))
def test_union_is_what_every_nanosecond_says(seed):
    rng = np.random.default_rng(seed)
    start = rng.integers(0, 200, rng.integers(0, 40))
    end = start + rng.integers(0, 12, len(start))
    starts, ends = union(start, end)
    line = marked(zip(start, end, strict=True), 0, 300)
    assert np.array_equal(marked(zip(starts, ends, strict=True), 0, 300), line)
    assert np.all(starts[1:] > ends[:-1])
    assert length(start, end) == line.sum()


def test_breakdown_by_hand():
    """Kernel 0-10, copy 8-14, collective 12-30 beside a kernel 20-25, a sync that is no work, a second collective 28-33."""
    one = trace(
        0,
        [(0, 10, 7), (8, 14, 8, MEMCPY), (20, 25, 7), (33, 90, 7, SYNC)],
        [("all_reduce", 12, 30, {}), ("all_reduce", 28, 33, {})],
    )
    found = breakdown(one)
    assert (found.start, found.end, found.span) == (0, 33, 33)
    assert (found.busy, found.idle) == (33, 0)
    assert (found.compute, found.compute_kernel) == (19, 15)
    assert (found.communication_sum, found.communication) == (23, 21)
    assert (found.exposed, found.hidden) == (14, 7)
    assert found.outside == 0


def test_communication_on_the_stream_of_compute_hides_nothing():
    found = breakdown(trace(0, [(0, 10, 20), (30, 40, 20)], [("all_reduce", 10, 30, {})]))
    assert (found.exposed, found.hidden) == (20, 0)


def test_a_trace_without_work_is_unknown():
    assert breakdown(trace(0)) is None
    assert breakdown(trace(0, [(0, 5, 7, SYNC)]), 0, 9) is None


def test_a_span_without_work_is_idle():
    found = breakdown(trace(0, [(0, 10, 7)]), 20, 50)
    assert (found.span, found.busy, found.idle, found.outside) == (30, 0, 30, 10)


@pytest.mark.parametrize("seed", range(20))
def test_spans_are_cut_where_they_end(seed):
    rng = np.random.default_rng(seed)
    kernels = [
        (s, s + d, int(k))
        for s, d, k in zip(rng.integers(0, 150, 20), rng.integers(0, 20, 20), rng.integers(1, 4, 20), strict=True)
    ]
    kernels = [(int(s), int(e), k, KERNEL if k < 3 else MEMCPY) for s, e, k in kernels]
    talks = [
        ("all_gather", int(s), int(s + d), {})
        for s, d in zip(rng.integers(0, 150, 6), rng.integers(1, 30, 6), strict=True)
    ]
    one = trace(0, kernels, talks)
    spans = [(10, 60), (60, 120), (0, 200)]
    for (low, high), found in zip(spans, breakdowns(one, spans), strict=True):
        compute = marked([k[:2] for k in kernels], low, high)
        talking = marked([t[1:3] for t in talks], low, high)
        assert found.busy == (compute | talking).sum()
        assert found.compute == compute.sum()
        assert found.compute_kernel == marked([k[:2] for k in kernels if k[3] == KERNEL], low, high).sum()
        assert found.communication == talking.sum()
        assert found.exposed == (talking & ~compute).sum()
        assert found.communication_sum == sum(marked([t[1:3]], low, high).sum() for t in talks)
        assert found.busy + found.outside == breakdown(one, 0, 300).busy
