"""A rank as fast as the others: kernel by kernel where they run the same ones, against steps simulated anew."""

from dataclasses import replace

import numpy as np
import pytest

from hopline.jobs.made.job import Job
from hopline.jobs.made.steps import make
from hopline.jobs.what_ifs import question, what_ifs
from hopline.records.trace import KERNEL


def answered(traces, text="straggler=1"):
    """The answer to one question."""
    (answer,) = what_ifs(traces, [question(text)]).answers
    return answer


@pytest.mark.parametrize("kernel", ["gemm_forward", "gemm_backward", "elementwise_backward", "adam_update", ""])
@pytest.mark.parametrize("size", [8_000_000, 400_000_000], ids=["hidden", "exposed"])
def test_what_is_slow_in_one_kind_of_kernel_becomes_fast_in_it_alone(kernel, size):
    """With one ratio for all kernels the parts of the step would be of wrong lengths, and so what is hidden by them."""
    job = Job(ranks=4, buckets=4, gradients=size, slow={1: 2.5}, slow_in=kernel)
    answer = answered(make(job).traces)
    assert answer.after == pytest.approx(make(replace(job, slow={})).truth.makespan, rel=1e-3)
    assert answer.premises[0].startswith("kernels of rank 1: ")


def test_a_rank_with_kernels_that_others_do_not_run():
    """They have no fellows; the others' sum has nothing left for them, so they stay and the rest is made faster."""
    made = make(Job(ranks=4, buckets=2, slow={1: 1.5}, slow_in="gemm_backward"))
    names = (*made.traces[1].names, "only_here")
    events = made.traces[1].events
    name = events.name.copy()
    mine = np.flatnonzero((events.kind == KERNEL) & (name == made.traces[1].names.index("gemm_forward")))
    name[mine[:1]] = len(names) - 1
    traces = list(made.traces)
    traces[1] = replace(made.traces[1], names=names, events=replace(events, name=name))
    answer = answered(traces)
    assert answer.after == pytest.approx(make(Job(ranks=4, buckets=2)).truth.makespan, rel=0.01)
    assert any("no other rank runs as often" in text for text in answer.premises)


def test_the_faster_and_the_equal_change_nothing():
    for slow in ({}, {1: 0.7}):
        answer = answered(make(Job(ranks=4, buckets=2, slow=slow)).traces)
        assert answer.premises == ("rank 1 is neither later nor slower than the others: nothing changes",)
        assert answer.after == answer.before
