"""Real traces against their list: busy times of each, and who waits for whom in the set of eight ranks."""

from dataclasses import replace

import numpy as np
import pytest
from field import FIELD, manifest, needed

from hopline.formats.kineto.reader import read_traces
from hopline.study.busy import breakdown
from hopline.study.meetings import meet
from hopline.study.stragglers import sentences, stragglers

FIGURES = {
    "gpu_span_us": "span", "gpu_busy_union_us": "busy", "compute_union_us": "compute", "compute_kernel_union_us": "compute_kernel",
    "nccl_sum_us": "communication_sum", "nccl_union_us": "communication", "exposed_comm_us": "exposed",
}  # fmt: skip
TRACES = [row for row in manifest("traces/") if "gpu_work_events=" in row.values[1]]


def counts(text):
    return dict(part.split("=", 1) for part in text.split() if "=" in part)


@needed
@pytest.mark.parametrize(("path", "computed"), TRACES)
def test_breakdown_has_the_figures_of_the_list(path, computed):
    expected = counts(computed)
    (trace,) = read_traces([str(path)])
    found = breakdown(trace)
    if expected["gpu_work_events"] == "0":
        assert found is None
        return
    figures = {name: getattr(found, attribute) / 1e3 for name, attribute in FIGURES.items()}
    assert figures == pytest.approx({name: float(expected[name]) for name in FIGURES}, abs=1e-3)
    assert found.hidden == found.communication - found.exposed
    assert found.idle == found.span - found.busy


@pytest.fixture(scope="module")
def dlrm():
    return read_traces([str(path) for path in sorted((FIELD / "traces" / "dlrm-8rank").iterdir())])


@needed
def test_eight_ranks_wait_for_rank_7(dlrm):
    matched = meet(dlrm)
    assert matched.told == ()
    assert [trace.rank for trace in dlrm] == list(range(8))
    assert [meeting.last for meeting in matched.meetings] == [7, 7, 7, 7, 7, 5, 5, 4]
    assert [meeting.transfer for meeting in matched.meetings] == [1000 * t for t in (10, 8, 7, 7, 86, 10, 20, 69)]
    assert all(not meeting.rivals for meeting in matched.meetings)
    assert matched.clocks.basis == ("given",) * 8
    said = sentences(stragglers(dlrm, matched.meetings))
    assert said[0].startswith("ranks wait for rank 7: ")
    assert "also last came rank 5 (2 times), rank 4 (once)" in said[1]
    assert not any("bound" in sentence or "rank 1" in sentence for sentence in said)


@needed
def test_exposed_communication_of_three_ranks(dlrm):
    assert {rank: breakdown(dlrm[rank]).exposed // 1000 for rank in (0, 1, 7)} == {0: 5537, 1: 11056, 7: 1580}


@needed
def test_clocks_that_are_off_give_the_same_answer(dlrm):
    skewed = [replace(trace, base=trace.base + 37_000_000 * (trace.rank - 3)) for trace in dlrm]
    matched = meet(skewed)
    assert matched.clocks.basis == ("meetings",) * 8
    assert [meeting.transfer for meeting in matched.meetings] == [1000 * t for t in (10, 8, 7, 7, 86, 10, 20, 69)]
    assert [meeting.last for meeting in matched.meetings] == [7, 7, 7, 7, 7, 5, 5, 4]
    truth = np.array([trace.base - dlrm[0].base for trace in dlrm])
    error = np.hypot(matched.clocks.error, matched.clocks.error[0])
    assert np.all(np.abs(matched.clocks.offset - truth) <= error)


@needed
def test_a_rank_that_is_missing_is_said(dlrm):
    matched = meet([trace for trace in dlrm if trace.rank != 7])
    assert all(
        meeting.missing == (7,) and meeting.transfer is None and meeting.last is None for meeting in matched.meetings
    )
    assert [meeting.shortest // 1000 for meeting in matched.meetings][:3] == [514, 517, 169]
    assert any("no trace of rank 7" in sentence for sentence in matched.told)
