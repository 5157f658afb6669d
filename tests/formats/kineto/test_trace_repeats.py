"""Events that stand in a file twice count once; events that are rightly alike count each."""

import json

import numpy as np
import pytest
from trace_texts import EVENTS, call, kernel, span, text

from hopline.formats.kineto.reader import read_trace
from hopline.formats.kineto.repeats import repeats
from hopline.records.trace import Events

SAID = "equal to another in name, place, times and correlation: counted once"


def read(tmp_path, events):
    path = tmp_path / "rank0.json"
    path.write_text(text(events, distributedInfo={"rank": 0}))
    return read_trace(str(path))


def same(one, other):
    columns = ("kind", "name", "start", "end", "lane", "correlation")
    return all(np.array_equal(getattr(one.events, name), getattr(other.events, name)) for name in columns)


COLLECTIVE = kernel(
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 60, 9, 73, **{"Collective name": "allreduce", "Seq": 4}
)
WAIT = span("Stream Wait Event", 70, 2, "cuda_sync", 0, 7, device=0, stream=7, correlation=75, wait_on_stream=20)
NESTED = [span("aten::zeros", 4, 0), span("aten::zeros", 4, 0), span("aten::empty", 4, 0)]
STEP = [*EVENTS, *NESTED, call("cudaLaunchKernel", 50, 4, 73), COLLECTIVE, WAIT]


@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize("together", [False, True])
def test_a_file_that_was_put_together_with_itself(tmp_path, times, together):
    once = read(tmp_path, STEP)
    assert once.told == ()
    events = [event for event in STEP for _ in range(times)] if together else STEP * times
    again = read(tmp_path, events)
    assert same(once, again)
    assert [found.row for found in again.collectives] == [found.row for found in once.collectives]
    assert [found.sequence for found in again.collectives] == [4]
    assert again.syncs.row.tolist() == once.syncs.row.tolist()
    assert again.told == (f"{(times - 1) * len(once.events)} events {SAID}",)


@pytest.mark.parametrize("again", [COLLECTIVE, WAIT, call("cudaLaunchKernel", 5, 10, 71), kernel("gemm", 20, 40, 71)])
def test_work_and_calls_that_were_written_twice(tmp_path, again):
    once, twice = read(tmp_path, STEP), read(tmp_path, [*STEP, again])
    assert same(once, twice)
    assert twice.told == (f"1 event {SAID}",)


def test_any_number_of_times(tmp_path):
    found = read(tmp_path, [*STEP, *[COLLECTIVE] * 4])
    assert len(found.collectives) == 1
    assert found.told == (f"4 events {SAID}",)


ALIKE = {
    "operators within one another": [span("aten::zeros", 4, 8)] * 2,
    "spans of the program": [span("mine", 4, 8, "user_annotation")] * 2,
    "kernels of a graph that take no time": [kernel("add", 30, 0, 71)] * 2,
    "of other streams": [kernel("add", 30, 5, 71, stream=8), kernel("add", 30, 5, 71, stream=9)],
    "of other calls": [kernel("add", 30, 5, 71), kernel("add", 30, 5, 81)],
    "of other names": [kernel("add", 30, 5, 71), kernel("sub", 30, 5, 71)],
    "of other lengths": [kernel("add", 30, 5, 71), kernel("add", 30, 6, 71)],
    "without a number": [kernel("add", 30, 5, None)] * 2,
    "without a number of their own": [call("cudaGetDevice", 30, 0, 0)] * 2,
}


@pytest.mark.parametrize("alike", ALIKE)
def test_what_is_rightly_alike_counts_each(tmp_path, alike):
    found = read(tmp_path, [*EVENTS, *ALIKE[alike]])
    assert len(found.events) == 7
    assert found.told == ()


def test_rows_against_counting():
    """Rows of few values: whatever the order of ties, one of each that cannot be twice is left, and the first."""
    rng = np.random.default_rng(3)
    for _ in range(300):
        rows = np.unique(rng.integers(0, 3, (rng.integers(1, 12), 4)), axis=0)
        number, each = len(rows), rng.integers(1, 4)
        at = rng.permutation(np.repeat(np.arange(number), each))
        at = at[np.lexsort((-rows[at, 1], rows[at, 0]))]
        start, more, name, lane = rows[at].T
        columns = (name.astype("i4"), start, start + more, lane.astype("i4"), np.ones(len(at), "i8"))
        found = repeats(Events(np.full(len(at), 5, "u1"), *columns))
        left = at if found is None else at[~found]
        assert sorted(left.tolist()) == list(range(number))
        if found is not None:
            assert np.array_equal(np.flatnonzero(~found), sorted(np.unique(at, return_index=True)[1]))


def test_nothing_and_one_event(tmp_path):
    empty = [np.empty(0, kind) for kind in ("u1", "i4", "i8", "i8", "i4", "i8")]
    assert repeats(Events(*empty)) is None
    assert json.dumps(read(tmp_path, [kernel("gemm", 20, 40, 71)]).told) == "[]"
