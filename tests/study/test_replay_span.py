"""What of each rank belongs to a step that is played again: small traces drawn by hand, and what changes then bring."""

from dataclasses import replace

import numpy as np
import pytest

from hopline.formats.kineto.reader import read_traces
from hopline.jobs.explaining import explain
from hopline.jobs.made.files import write
from hopline.jobs.made.job import Job
from hopline.jobs.made.sketch import Mark, sketch
from hopline.jobs.made.steps import make
from hopline.jobs.made.tracing import Profiling
from hopline.jobs.what_ifs import inferred
from hopline.records.meeting import Clocks
from hopline.schedule.activities import COMMUNICATION
from hopline.study.dependencies import depend
from hopline.study.replay_span import edges
from hopline.study.replaying import activities
from hopline.study.what_if import Question

FREE, KERNELS, HOST = Question("free"), Question("compute", 2.0), Question("host", 2.0)
CALL, LATE, BACK = 4, 8, 2
"""Microseconds of a call, from it to the begin of its work, and from the end of work to the return of a call that waited."""


def played(tail, host, steps=2):
    """Two ranks whose steps are a kernel of 200 us, an all-reduce of 100, a kernel of ``tail`` us, a wait for it and then
    ``host`` us (each by rank) until the next step, the collective of which waits for both again.
    """
    marks, edge, now, number = ([], []), ([], []), [0.0, 0.0], 0
    for _ in range(steps):
        begun, ready = list(now), []
        for rank in (0, 1):
            at = now[rank]
            marks[rank].extend(
                Mark("call", "cudaLaunchKernel", at + CALL * k, CALL, 1, number + k + 1) for k in range(3)
            )
            marks[rank].append(Mark("kernel", "gemm", at + LATE, 200, 7, number + 1))
            ready.append(at + LATE + 200)
        for rank in (0, 1):
            until = max(ready) + 100
            marks[rank].append(
                Mark("kernel", "nccl", ready[rank], until - ready[rank], 7, number + 2, op="all_reduce", size=1 << 20)
            )
            marks[rank].append(Mark("kernel", "tail", until, tail[rank], 7, number + 3))
            back = until + tail[rank] + BACK
            sync = begun[rank] + 3 * CALL
            marks[rank].append(Mark("call", "cudaDeviceSynchronize", sync, back - sync, 1, number + 4))
            marks[rank].append(Mark("op", "aten::item", back + 0.5, host[rank] - 0.5, 1))
            now[rank] = back + host[rank]
            edge[rank].append((begun[rank], now[rank]))
        number += 4
    return [sketch(marks[rank], rank, 2, edge[rank]) for rank in (0, 1)]


CASES = {"tail": ((100, 900), (20, 20)), "host": ((100, 100), (10, 260)), "both": ((300, 100), (5, 500))}


@pytest.mark.parametrize("step", ["all", "0", "1", "2"])
@pytest.mark.parametrize("case", list(CASES))
def test_what_is_played_is_the_span_and_only_that(case, step):
    """Of rank 0 the next step has begun when rank 1 ends this one: its collective there waits, and is no part of this."""
    found = explain(played(*CASES[case], steps=3), step, [FREE])
    (free,) = found.what_ifs.answers
    span = found.time * 1e-9
    assert found.what_ifs.measured == pytest.approx(span, abs=1e-12)
    assert free.before == pytest.approx(span, rel=1e-3)
    meetings = 3 if step == "all" else 1
    assert free.before - free.after == pytest.approx(meetings * 100e-6, abs=1e-9)
    assert not free.at_most


@pytest.mark.parametrize(("step", "kernels"), [("0", 200 + 900), ("1", 778 + 200 + 900)])
def test_kernels_of_the_next_step_are_not_made_faster(step, kernels):
    """Those of rank 1, which ends both steps; at the begin of the second, 430 us, its tail of the first has 778 us to go."""
    (half,) = explain(played(*CASES["tail"]), step, [KERNELS]).what_ifs.answers
    assert half.before - half.after == pytest.approx(kernels / 2 * 1e-6, abs=1e-9)


def test_a_rank_without_the_step_is_done_where_it_begins_a_later_one():
    """Rank 0 does not mark step 0, and begins its step 1 before rank 1 ends step 0: the collective there is not played."""
    traces = played(*CASES["host"], steps=2)
    traces[0] = replace(traces[0], steps=traces[0].steps[1:])
    found = explain(traces, "0", [FREE])
    assert traces[0].steps[0].start < found.end
    (free,) = found.what_ifs.answers
    assert free.before == pytest.approx(found.time * 1e-9, rel=1e-3)
    assert free.before - free.after == pytest.approx(100e-6, abs=1e-9)
    assert not free.premises


def ahead(steps=4, kernels=5, time=200):
    """A host that launches ``kernels`` in 100 us and goes on: its GPU falls behind, and no step waits for it."""
    marks, free = [], 0.0
    for step in range(steps):
        begin = 100.0 * step
        for k in range(kernels):
            call, number = begin + 20 * k, step * kernels + k + 1
            free = max(free, call + LATE) + time
            marks.append(Mark("call", "cudaLaunchKernel", call, CALL, 1, number))
            marks.append(Mark("kernel", "gemm", free - time, time, 7, number))
        marks.append(Mark("op", "aten::end", begin + 90, 10, 1))
    return [sketch(marks, steps=[(100.0 * step, 100.0 * (step + 1)) for step in range(steps)])]


@pytest.mark.parametrize("step", ["0", "2"])
def test_a_host_that_runs_ahead_has_steps_as_long_as_their_marks(step):
    """Faster kernels shorten no step that the host marks without waiting, nor a faster host one in which the GPU is busy."""
    found = explain(ahead(), step, [KERNELS, HOST])
    assert found.time == 100_000
    kernels, host = found.what_ifs.answers
    assert (kernels.before, host.before) == (pytest.approx(100e-6), pytest.approx(100e-6))
    assert kernels.after == pytest.approx(100e-6)
    assert host.after == pytest.approx(100e-6, abs=LATE * 1e-6)
    assert any(premise.startswith("the host ran ahead of its GPU") for premise in found.what_ifs.premises)


def test_where_the_gpu_keeps_up_nothing_is_left_out():
    found = explain(ahead(time=10), "1", [HOST])
    (host,) = found.what_ifs.answers
    assert not any("ran ahead" in premise for premise in found.what_ifs.premises)
    assert host.after == pytest.approx(host.before / 2, rel=0.2)


def test_what_waits_for_a_rank_that_comes_after_the_span_only_waits():
    """The collective of rank 0 is on when the step ends; that of rank 1 begins later. Nothing of it is transfer."""
    both = []
    for rank, begin in ((0, 60), (1, 150)):
        marks = [Mark("call", "cudaLaunchKernel", 5 + k, 1, 1, k + 1) for k in range(2)]
        marks.append(Mark("kernel", "gemm", 20, begin - 20, 7, 1))
        marks.append(Mark("kernel", "nccl", begin, 200 - begin, 7, 2, op="all_reduce", size=1 << 20))
        both.append(sketch([*marks, Mark("op", "aten::end", 10, 90, 1)], rank, 2, [(0, 100), (100, 210)]))
    found = explain(both, "0", [FREE])
    (free,) = found.what_ifs.answers
    assert free.after == free.before == pytest.approx(100e-6)
    made = inferred(both, (0, 100_000), step=0)
    (mine,) = np.flatnonzero(made.activities.kind == COMMUNICATION).tolist()
    assert (made.start[mine], made.end[mine], made.activities.work[mine]) == (60_000, 60_000, 0)


def test_work_of_unknown_launch_goes_with_its_stream():
    """Before work that was launched in the step it belongs; else its begin decides."""
    works = {1: (10, None), 2: (20, 5), 3: (105, None), 4: (112, 6), 5: (120, 110), 6: (130, None)}
    marks = [Mark("kernel", str(n), at, 5, 7, n) for n, (at, _) in works.items()]
    marks += [Mark("kernel", str(n), at, 5, 8, n) for n, at in ((7, 40), (8, 115))]
    marks += [Mark("call", "launch", call, 1, 1, n) for n, (_, call) in works.items() if call is not None]
    one = sketch(marks, steps=[(0, 100), (100, 200)])
    zero = np.zeros(1, np.int64)
    (edge,) = edges([one], Clocks(zero, zero, np.zeros(1, np.int32), ("given",)), (0, 140_000), 0)
    launch = depend(one).launch
    rows = edge.work(one, launch, one.events.start, one.events.end)
    assert [one.names[name] for name in one.events.name[rows]] == ["1", "2", "7", "3", "4"]
    assert edge.beyond(one, launch, one.events.start, one.events.end) == 0
    shorter = replace(edge, length=115_000)
    assert shorter.beyond(one, launch, one.events.start, one.events.end) == 2_000


def test_clocks_that_drift_are_straightened():
    """Rank 1's clock is 100 us of 100 ms slow at the end: its times are those of the common clock, as the span is."""
    one = sketch([Mark("call", "launch", 99_000, 4, 1, 1), Mark("kernel", "gemm", 99_010, 500, 7, 1)], 1)
    zero, zeros = sketch([Mark("kernel", "gemm", 0, 5)]), np.zeros(2, np.int64)
    clocks = Clocks(zeros, zeros, np.zeros(2, np.int32), ("meetings",) * 2, (0.0, 1e-3), (0, 0))
    found = activities([zero, one], clocks, [], [depend(zero), depend(one)], (0, 200_000_000))
    assert found.start[found.event != -1].tolist() == [0, round(99_010_000 * 1.001)]


@pytest.mark.parametrize("step", ["all", "median"])
@pytest.mark.parametrize("grain", [1, 1000])
def test_a_made_step_is_played_as_long_as_it_was(tmp_path, step, grain):
    job = Job(ranks=4, buckets=3, noise=0.03, seed=2, slow={2: 1.2})
    *files, _ = write(make(job, profiling=Profiling(skew=1e-3, grain=grain)), str(tmp_path / "made"))
    found = explain(read_traces(files), step, [FREE])
    assert found.what_ifs.answers[0].before == pytest.approx(found.time * 1e-9, rel=1e-3)
