"""Changes that can only be bounded, and what is said of them: ranks of which there is no trace, and replays that are off."""

from dataclasses import replace

import pytest

from hopline.jobs.elsewhere import priced_on
from hopline.jobs.explaining import explain
from hopline.jobs.made.job import Job
from hopline.jobs.made.sketch import Mark, sketch
from hopline.jobs.made.steps import make, network
from hopline.jobs.what_ifs import inferred, question, what_ifs
from hopline.sim.activities import simulate_activities
from hopline.study.findings import findings
from hopline.study.what_if import Question, what_if

FREE, TWICE, KERNELS = Question("free"), Question("communication", 2.0), Question("compute", 2.0)


def waiting_for(late, seen=2, ranks=3, step=None):
    """Ranks with a kernel of 200 us, an all-reduce of 100 and a kernel of 50; the last of them comes ``late`` us after."""
    traces = []
    for rank in range(seen):
        kernel = 200 + (late if rank == ranks - 1 else 0)
        marks = [Mark("call", "cudaLaunchKernel", 4 * k, 4, 1, k + 1) for k in range(3)]
        marks.append(Mark("kernel", "f", 8, kernel, 7, 1))
        marks.append(Mark("kernel", "nccl", 8 + kernel, 300 + late - kernel, 7, 2, op="all_reduce", size=1 << 20))
        marks.append(Mark("kernel", "g", 308 + late, 50, 7, 3))
        marks.append(Mark("call", "cudaDeviceSynchronize", 12, 348 + late, 1, 4))
        traces.append(sketch(marks, rank, ranks, [(0, step or 360 + late)]))
    return traces


def line(found, begin):
    return next((line for line in found.findings if line.startswith(begin)), "")


def test_what_waits_for_a_rank_without_a_trace_is_no_certain_gain():
    """Rank 2 comes 800 us late: the truth of communication for nothing is 100 us less, and the traces leave 0 to 900."""
    found = explain(waiting_for(800), "0", [FREE, TWICE, KERNELS])
    free, twice, kernels = found.what_ifs.answers
    assert (free.after, free.surely) == (pytest.approx(260e-6), pytest.approx(1160e-6))
    assert free.after <= 1060e-6 <= free.surely
    assert (free.at_most, twice.at_most, kernels.at_most) == (True, True, False)
    assert (free.sure_gain, twice.sure_gain) == (pytest.approx(0), pytest.approx(0))
    assert kernels.sure_gain == kernels.gain > 0
    assert line(found, "what would help most").startswith("what would help most: kernels")
    ceiling = line(found, "the ceiling")
    assert "would take at least 260.0 µs (at most -77.6%, as waiting is in it" in ceiling
    assert found.what_ifs.ceiling_surely == free.surely


def test_with_all_traces_it_is_known():
    found = explain(waiting_for(800, seen=3), "0", [FREE, TWICE])
    free, twice = found.what_ifs.answers
    assert (free.after, twice.after) == (pytest.approx(1060e-6), pytest.approx(1110e-6))
    assert not free.at_most
    assert free.surely is None
    assert free.sure_gain == free.gain
    assert "would take 1.060 ms (-8.6%)" in line(found, "the ceiling")
    assert line(found, "what would help most").endswith("communication for nothing, 1.160 ms -> 1.060 ms (-8.6%)")


def test_a_bound_that_leads_by_what_is_sure_is_told_as_a_bound():
    """Ranks 0 and 1 meet alone for 400 us, then all three for 20: the first is sure, the second is not."""
    traces = []
    for rank in (0, 1):
        marks = [Mark("call", "cudaLaunchKernel", 4 * k, 4, 1, k + 1) for k in range(3)]
        marks += [
            Mark("kernel", "f", 8, 20, 7, 1),
            Mark("kernel", "nccl", 28, 400, 7, 2, op="all_gather", size=1 << 20),
        ]
        marks.append(Mark("kernel", "nccl", 428, 20, 7, 3, op="all_reduce", size=1 << 20))
        one = sketch([*marks, Mark("call", "cudaDeviceSynchronize", 12, 440, 1, 4)], rank, 3, [(0, 452)])
        first, second = one.collectives
        pair = replace(first, group="pair", ranks=(0, 1), count=2)
        traces.append(replace(one, collectives=(pair, second)))
    found = explain(traces, "0", [FREE, KERNELS])
    assert found.what_ifs.answers[0].sure_gain == pytest.approx(400 / 452, abs=1e-3)
    best = line(found, "what would help most")
    assert "communication for nothing, 452.0 µs -> 32.00 µs (at most -92.9%, as waiting is in it" in best


def test_communication_that_makes_no_difference_is_no_bound():
    """What a rank without a trace was waited for is hidden behind a kernel."""
    traces = []
    for rank in (0, 1):
        marks = [Mark("call", "cudaLaunchKernel", 4 * k, 4, 1, k + 1) for k in range(2)]
        marks += [
            Mark("kernel", "f", 8, 900, 7, 1),
            Mark("kernel", "nccl", 20, 100, 20, 2, op="all_reduce", size=1 << 20),
        ]
        traces.append(sketch([*marks, Mark("call", "cudaDeviceSynchronize", 8, 902, 1, 3)], rank, 3, [(0, 910)]))
    (free,) = explain(traces, "0", [FREE]).what_ifs.answers
    assert free.gain == 0
    assert not free.at_most


def test_elsewhere_it_is_a_bound_as_well():
    job = Job(ranks=2, buckets=3, seed=3, slow={1: 1.3})
    (answer,) = what_ifs(make(job).traces[:1], [question("network", priced_on(network(job)))]).answers
    assert answer.at_most
    assert answer.surely == pytest.approx(answer.before)


@pytest.mark.parametrize(("off", "told"), [(0.08, True), (0.1, False)])
def test_a_ceiling_within_the_error_of_the_replay_is_not_told(off, told):
    found = explain(waiting_for(800, seen=3), "0", [FREE])
    vague = replace(found, what_ifs=replace(found.what_ifs, errors=(0.0, -off, 0.0)))
    said = findings(vague, [None] * 3)
    assert any(line.startswith("the ceiling") for line in said) == told


def test_what_is_within_the_error_does_not_help_most():
    found = explain(waiting_for(800, seen=3), "0", [FREE])
    (free,) = found.what_ifs.answers
    vague = replace(found, what_ifs=replace(found.what_ifs, answers=(replace(free, within_error=True),)))
    assert not any(line.startswith("what would help most") for line in findings(vague, [None] * 3))


def test_a_replay_that_is_not_the_span_answers_nothing():
    """Half a millisecond more than the traces show, by whatever was left out."""
    made = inferred(waiting_for(800, seen=3))
    late = replace(made, span=(made.span[0], made.span[1] + 500_000))
    answers = what_if(late, [FREE], simulate_activities)
    assert not answers.answers
    assert answers.refused.startswith("played again, the span takes 30.1 % less than it did: expected at most 0.")
    assert answers.measured == pytest.approx(1660e-6, rel=1e-3)


def test_repeated_correlation_ids_are_named_where_nothing_is_answered():
    marks = []
    for step in range(3):
        at = 400.0 * step
        marks += [Mark("call", "cudaLaunchKernel", at, 4, 1, 1), Mark("kernel", "f", at + 8, 300, 7, 1)]
        marks.append(Mark("call", "cudaDeviceSynchronize", at + 4, 306, 1, 2))
    found = explain([sketch(marks, steps=[(0, 1200)])], questions=[KERNELS])
    assert not found.what_ifs.answers
    assert "the correlation ids of 3 of 3 works on its GPU stand for several calls each" in found.what_ifs.refused
