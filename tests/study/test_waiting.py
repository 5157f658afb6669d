"""Waiting in exposed communication: what is known of it, and what may be waiting or transfer."""

import numpy as np
import pytest
from made_traces import trace

from hopline.records.meeting import Clocks, Meeting
from hopline.study.busy import breakdown
from hopline.study.waiting import untold, waited


def two(first, second, *, kernels=()):
    """Two traces with an all-reduce each at every (start, end); the first also has kernels."""
    reduces = [[("all_reduce", start, end, {}) for start, end in own] for own in (first, second)]
    return [trace(0, kernels, reduces[0]), trace(1, (), reduces[1])]


def meeting(traces, number, transfer):
    rows = [t.collectives[number].row for t in traces]
    start = np.array([t.events.start[row] for t, row in zip(traces, rows, strict=True)])
    end = np.array([t.events.end[row] for t, row in zip(traces, rows, strict=True)])
    return Meeting("all_reduce", "", number, np.arange(2), np.array(rows), start, end, transfer=transfer)


def parts(traces, start=None, end=None):
    return [breakdown(one, start, end) for one in traces]


def test_exposed_time_is_waiting_transfer_or_either():
    """The first waits 70 of 100 in the first meeting; the second meeting, 50 long, is not told."""
    traces = two([(0, 100), (200, 250)], [(70, 100), (210, 250)])
    met = [meeting(traces, 0, 30), meeting(traces, 1, None)]
    assert waited(traces, met, parts(traces)) == (70, 0)
    assert untold(traces, met, parts(traces)) == (50, 40)
    assert [part.exposed for part in parts(traces)] == [150, 70]


def test_what_work_covers_is_neither():
    traces = two([(0, 100), (200, 250)], [(70, 100), (210, 250)], kernels=[(20, 60, 7), (240, 300, 7)])
    met = [meeting(traces, 0, 30), meeting(traces, 1, None)]
    assert waited(traces, met, parts(traces))[0] == 30
    assert untold(traces, met, parts(traces))[0] == 40


def test_all_is_untold_where_nobody_meets():
    traces = two([(0, 100)], [(70, 100)])
    assert waited(traces, (), parts(traces)) == (0, 0)
    assert untold(traces, (), parts(traces)) == (100, 30)


def test_a_span_cuts_both_and_is_each_trace_s_own():
    traces = two([(0, 100), (200, 250)], [(70, 100), (210, 250)])
    met = [meeting(traces, 0, 30), meeting(traces, 1, None)]
    own = [breakdown(traces[0], 40, 220), breakdown(traces[1], 90, 215)]
    assert waited(traces, met, own) == (30, 0)
    assert untold(traces, met, own) == (20, 5)
    assert untold(traces, met, [None, own[1]]) == (0, 5)


@pytest.mark.parametrize("ahead", [0, 5_000_000])
def test_clocks_do_not_matter(ahead):
    """Meetings are on the common clock, breakdowns on the trace's own."""
    traces = two([(0, 100)], [(70, 100)])
    clocks = Clocks(np.array([ahead, ahead]), np.zeros(2, np.int64), np.zeros(2, np.int32), ("given",) * 2)
    there = meeting(traces, 0, 30)
    moved = Meeting(
        "all_reduce", "", 0, there.traces, there.row, clocks.common(0, there.start), clocks.common(1, there.end), transfer=30
    )  # fmt: skip
    assert waited(traces, [moved], parts(traces)) == (70, 0)
    assert untold(traces, [moved], parts(traces)) == (0, 0)
