"""Made steps: what their truth says against what can be worked out by hand, and against what their traces show."""

import json
from pathlib import Path

import numpy as np
import pytest

from hopline.curve import Curve
from hopline.errors import InputError, OutputError
from hopline.formats.kineto.reader import read_traces
from hopline.jobs.made.files import write
from hopline.jobs.made.job import Job
from hopline.jobs.made.steps import PARTS, make, network, order
from hopline.jobs.made.tracing import BASE, Profiling
from hopline.jobs.what_ifs import question, what_ifs
from hopline.records.trace import KERNEL, NONE
from hopline.study.busy import breakdown

QUIET = Curve.line(0.0, 1e18)


def test_without_communication_a_step_is_its_kernels():
    job = Job(ranks=2, layers=4, buckets=2, host=1e-6)
    made = make(job, network(job, QUIET))
    kernels = job.layers * (job.forward + job.backward) + job.update
    assert made.truth.makespan == pytest.approx(kernels + job.host + job.lag + 4e-6, rel=1e-6)


def test_an_exposed_all_reduce_is_what_the_ring_takes():
    """One bucket is ready when all backward kernels are through: 2 (N - 1) rounds of latency and a piece, all of it exposed."""
    job = Job(ranks=4, layers=4, buckets=1, gradients=40_000_000)
    made = make(job, network(job, Curve.line(5e-6, 1e10)))
    ring = 6 * (5e-6 + 10_000_000 / 1e10)
    (met,) = made.truth.met
    assert met.transfer == pytest.approx(ring * 1e9, abs=2)
    assert made.truth.exposed == pytest.approx([ring * 1e9] * 4, abs=2)


def test_a_slow_rank_is_the_last_to_come_and_the_others_wait():
    job = Job(ranks=4, layers=4, buckets=1, slow={2: 1.5})
    made = make(job)
    (met,) = made.truth.met
    late = job.layers * (job.forward + job.backward) * 0.5
    assert met.last == 2
    assert met.margin == pytest.approx(late * 1e9, rel=1e-3)
    assert made.truth.exposed[0] - made.truth.exposed[2] == pytest.approx(late * 1e9, rel=1e-3)


def test_traces_show_what_the_truth_says():
    made = make(Job(ranks=4, noise=0.05, slow={1: 1.2}, seed=3), profiling=Profiling(skew=5e-3, seed=2))
    for rank, trace in enumerate(made.traces):
        shown = breakdown(trace)
        assert shown.exposed == pytest.approx(made.truth.exposed[rank], abs=2)
        ends = [trace.events.end[each.row] + trace.base for each in trace.collectives]
        wanted = [met.end[rank] + BASE + made.truth.ahead[rank] for met in made.truth.met]
        assert np.abs(np.array(ends) - np.array(wanted)).max() <= 1


def test_kernels_come_after_their_launches_one_at_a_time_on_a_stream():
    for trace in make(Job(ranks=4, tensor=2, noise=0.1)).traces:
        events = trace.events
        calls = {c: row for row, c in enumerate(events.correlation.tolist()) if c != NONE and events.kind[row] > 3}
        kernels = np.flatnonzero(events.kind == KERNEL)
        assert len(kernels) == 12 * 2 * len(PARTS) + 24 + 6 + 1
        assert all(events.start[row] > events.start[calls[events.correlation[row]]] for row in kernels)
        for lane in np.unique(events.lane[kernels]):
            mine = kernels[events.lane[kernels] == lane]
            assert (events.start[mine][1:] >= events.end[mine][:-1]).all()


def test_draws_do_not_turn_on_the_network():
    job = Job(ranks=2, noise=0.3, seed=4)
    slow, fast = make(job), make(job, network(job, QUIET))
    kernels = [made.traces[1].events for made in (slow, fast)]
    times = [sorted((e.end - e.start)[(e.kind == KERNEL) & (e.lane == 0)].tolist()) for e in kernels]
    assert np.abs(np.array(times[0]) - np.array(times[1])).max() <= 1


def test_the_bubble_of_a_pipeline():
    """1F1B without communication: (batches + stages - 1) passes of a stage, forwards and backwards."""
    job = Job(ranks=4, stages=4, layers=8, batches=6, buckets=1, host=1e-7, lag=0.0)
    made = make(job, network(job, QUIET))
    passes = (job.batches + job.stages - 1) * (job.layers / job.stages) * (job.forward + job.backward) / job.batches
    assert made.truth.makespan == pytest.approx(passes + job.update + 4e-6, rel=2e-3)
    assert order(4, 3, 2) == [(False, 0), (True, 0), (False, 1), (True, 1)]
    assert order(4, 0, 2) == [(False, 0), (False, 1), (True, 0), (True, 1)]


def test_missing_ranks_and_coarse_clocks():
    made = make(Job(ranks=4), profiling=Profiling(missing=(1, 3), grain=1000))
    assert [trace.rank for trace in made.traces] == [0, 2]
    assert not (made.traces[0].events.start % 1000).any()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ranks": 0}, "ranks is 0"), ({"buckets": 13}, "13 buckets of 12 layers"), ({"ranks": 6, "tensor": 4}, "groups of 4"),
        ({"forward": 0.0}, "forward"), ({"slow": {9: 2.0}}, "rank 9 is slow"), ({"noise": float("nan")}, "noise"),
    ],
)  # fmt: skip
def test_bad_jobs_are_refused(changes, words):
    with pytest.raises(InputError, match=words):
        Job(**changes)


def test_files_of_a_step(tmp_path):
    made = make(Job(ranks=2, layers=2, buckets=2, slow={1: 1.5}), profiling=Profiling(skew=1e-3))
    paths = write(made, str(tmp_path / "made"))
    traces = read_traces(paths[:-1])
    assert [trace.rank for trace in traces] == [0, 1]
    truth = json.loads(Path(paths[-1]).read_text())
    assert truth["makespan"] == made.truth.makespan
    assert truth["collectives"][0]["last"] == 1
    assert truth["job"]["slow"] == {"1": 1.5}
    with pytest.raises(OutputError, match="exists"):
        write(made, str(tmp_path / "made"))


def test_stamps_that_are_late_do_not_move_the_answer():
    job = Job(noise=0.03, slow={3: 1.2}, seed=4)
    made = make(job, profiling=Profiling(skew=2e-3, seed=1, jitter=10e-6))
    answers = what_ifs(made.traces, [question("free")])
    assert answers.error < 0.01
    assert answers.answers[0].after == pytest.approx(make(job, network(job, QUIET)).truth.makespan, rel=0.01)


def test_waits_that_the_trace_does_not_show_are_refused():
    """Ends of collectives stamped so late that what waited for them seems not to have."""
    made = make(Job(noise=0.03, seed=4), profiling=Profiling(seed=1, jitter=50e-6))
    answers = what_ifs(made.traces, [question("free")])
    assert not answers.answers
    assert "stood still" in answers.refused or "of what was measured" in answers.refused
