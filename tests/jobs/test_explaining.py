"""Made steps, written as files and explained: what comes out is what was so. And the eight ranks of the field collection."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from field import FIELD, needed

from hopline.errors import HoplineError
from hopline.formats.kineto.reader import read_traces
from hopline.jobs.explaining import explain
from hopline.jobs.made.files import write
from hopline.jobs.made.job import Job
from hopline.jobs.made.sketch import Mark, sketch
from hopline.jobs.made.steps import make
from hopline.jobs.made.tracing import Profiling
from hopline.records.launch_order import LaunchOrder
from hopline.study.launch_order import launch_order

US = 1000


def explained_back(tmp_path, job, seen, **asked):
    """(Explained, truth.json) of a made step that went through files."""
    *files, truth = write(make(job, profiling=seen), str(tmp_path / "made"))
    return explain(read_traces(files), **asked), json.loads(Path(truth).read_text())


SLOW = Job(ranks=6, buckets=4, gradients=48 << 20, noise=0.03, seed=3, slow={2: 1.3})
HIDDEN = Job(ranks=4, buckets=8, gradients=8 << 20, noise=0.02, seed=4)
TENSOR = Job(ranks=8, tensor=2, buckets=3, gradients=96 << 20, noise=0.02, seed=5, slow={7: 1.2})


@pytest.mark.parametrize("job", [SLOW, HIDDEN, TENSOR], ids=["slow", "hidden", "tensor"])
@pytest.mark.parametrize("skew", [0.0, 3e-3])
def test_made_steps_are_explained_back(tmp_path, job, skew):
    found, truth = explained_back(tmp_path, job, Profiling(skew=skew, seed=7))
    for part, exposed in zip(found.breakdowns, truth["exposed_ns"], strict=True):
        assert part.exposed == pytest.approx(exposed, abs=10)
    told = {(meeting.group, meeting.number): meeting for meeting in found.meetings}
    decided = 0
    for was in truth["collectives"]:
        meeting = told[was["group"], was["number"]]
        assert meeting.transfer == pytest.approx(was["transfer_ns"], rel=0.02, abs=5 * US)
        assert meeting.size == was["bytes"]
        if not meeting.rivals:
            decided += 1
            assert found.traces[meeting.last].rank == was["last"]
    assert decided >= len(told) // 3
    assert found.time * 1e-9 == pytest.approx(truth["makespan"], rel=0.01)
    assert sum(stretch.time for stretch in found.path.stretches) == found.time


def test_a_straggler_is_named_with_what_the_others_lose(tmp_path):
    found, _ = explained_back(tmp_path, SLOW, Profiling(skew=1e-3))
    assert found.findings[0].startswith("ranks wait for rank 2: it comes last always")
    assert "without that wait" in found.findings[1]


def test_where_all_are_alike_nobody_is_blamed(tmp_path):
    job = replace(SLOW, slow={}, noise=0.0, gradients=256 << 20)
    found, _ = explained_back(tmp_path, job, Profiling())
    assert any(line.startswith("ranks hardly wait for one another") for line in found.findings)
    assert found.findings[0].startswith("the critical path")
    assert not any("without that wait" in line for line in found.findings)


def test_a_missing_rank_is_said_and_nothing_is_guessed(tmp_path):
    found, _ = explained_back(tmp_path, SLOW, Profiling(missing=(2,)))
    assert all(meeting.transfer is None and meeting.last is None for meeting in found.meetings)
    assert all(meeting.missing == (2,) for meeting in found.meetings)
    assert any("no trace of rank 2" in line for line in found.unmatched)
    assert not any("wait for rank" in line for line in found.findings)


def steps_of(rank):
    """Three steps, each one kernel beside a host that launched it; the second is longer, on rank 1 most of all."""
    marks, steps = [], []
    for step, time in enumerate((100, 150 + 50 * rank, 100)):
        begin = 400.0 * step
        steps.append((begin, begin + 20 + time + 80))
        marks.append(Mark("call", "cudaLaunchKernel", begin, 10, 1, step + 1))
        marks.append(Mark("kernel", "gemm", begin + 20, time, 7, step + 1))
        nccl = Mark("kernel", "ncclDevKernel_AllReduce", begin + 20 + time, 80 + 50 * (step == 1 and rank == 0), 20)
        marks.append(replace(nccl, op="all_reduce", size=1 << 20))
    return sketch(marks, rank, 2, steps)


@pytest.mark.parametrize(("asked", "number"), [("slowest", 1), ("1", 1), ("0", 0), ("fastest", 0)])
def test_steps_are_asked_for_by_word_and_by_number(asked, number):
    found = explain([steps_of(0), steps_of(1)], asked, ())
    assert found.what == f"step {number}"
    assert {meeting.number for meeting in found.meetings} == {number}


def test_the_slowest_step_is_told_with_what_it_has_more_of():
    found = explain([steps_of(0), steps_of(1)], questions=())
    assert found.what == "3 steps"
    slowest = next(line for line in found.findings if line.startswith("of 3 steps"))
    assert "the slowest is 1" in slowest
    assert "compute time of rank 1 is 100.0 µs above its median" in slowest


@pytest.mark.parametrize("asked", ["7", "worst", "-1", ""])
def test_a_step_that_is_not_there_is_refused_with_those_that_are(asked):
    with pytest.raises(HoplineError, match=r"expected all, median, slowest, fastest or a number \(0 to 2\)"):
        explain([steps_of(0), steps_of(1)], asked, ())


def test_traces_without_steps_have_none_to_choose():
    with pytest.raises(HoplineError, match="mark no steps"):
        explain([sketch([Mark("kernel", "gemm", 0, 10)])], "3")


def test_no_work_of_a_gpu_is_unknown_and_not_nothing():
    found = explain([sketch([Mark("op", "aten::mm", 0, 10, 1)])])
    assert found.breakdowns == (None,)
    assert any("no work of a GPU" in line for line in found.findings)


def queued(on_one_queue):
    """Twelve kernels and collectives in turn, all launched at once; each collective waits for the kernel before it."""
    marks, compute, network = [], 100.0, 0.0
    for i in range(12):
        marks += [Mark("call", "launch", 2.0 * (2 * i + k), 1, 1, 2 * i + k + 1) for k in (0, 1)]
        marks.append(Mark("kernel", "gemm", compute, 50, 7, 2 * i + 1))
        begun = max(compute + 50, network)
        network = begun + 40
        marks.append(Mark("kernel", "ncclKernel", begun, 40, 20, 2 * i + 2, op="reduce_scatter"))
        compute = network if on_one_queue else compute + 50
    return sketch(marks)


def test_one_hardware_queue_is_told_and_several_are_not():
    one, several = (explain([queued(way)], questions=()) for way in (True, False))
    assert any("CUDA_DEVICE_MAX_CONNECTIONS" in line for line in one.findings)
    assert not any("CUDA_DEVICE_MAX_CONNECTIONS" in line for line in several.findings)


def test_launch_order_counts_pairs_that_could_have_gone_the_other_way():
    trace = queued(True)
    calls = {int(trace.events.correlation[row]): row for row in range(len(trace.events)) if trace.events.kind[row] == 4}
    launch = np.array(
        [
            calls[int(c)] if kind == 0 else -1
            for c, kind in zip(trace.events.correlation, trace.events.kind, strict=True)
        ]
    )
    assert launch_order(trace, launch, 0.0) == LaunchOrder(23, 23, 0.0)
    assert not LaunchOrder(23, 23, 0.5).is_one_queue
    assert not LaunchOrder(9, 9, 0.0).is_one_queue


@needed
def test_the_eight_ranks_of_the_collection():
    found = explain(read_traces(sorted(map(str, (FIELD / "traces" / "dlrm-8rank").glob("*.gz")))))
    assert [found.traces[meeting.last].rank for meeting in found.meetings] == [7, 7, 7, 7, 7, 5, 5, 4]
    assert found.meetings[0].transfer <= 10 * US
    exposed = {trace.rank: part.exposed for trace, part in zip(found.traces, found.breakdowns, strict=True)}
    assert (exposed[0], exposed[1], exposed[7]) == (5537 * US, 11056 * US, 1580 * US)
    assert any(line.startswith("ranks wait for rank 7") for line in found.findings)
    assert not any("rank 1 is" in line for line in found.findings)
