"""Steps: by number over ranks, cut at their marks, compared with one another."""

from made_traces import trace

from hopline.study.clocks import solve
from hopline.study.step_spans import compare, outside, step_spans


def steps_of(*traces):
    return step_spans(traces, solve(traces, ()))


def test_a_step_is_from_the_first_rank_to_the_last_and_cut_at_its_marks():
    one = trace(0, [(0, 60, 7), (90, 130, 7)], [("all_reduce", 50, 80, {})], steps=[(4, 0, 100), (5, 100, 180)])
    other = trace(1, steps=[(5, 90, 200)])
    first, second = steps_of(one, other)
    assert (first.number, first.time, sorted(first.breakdowns)) == (4, 100, [0])
    found = first.breakdowns[0]
    assert (found.compute, found.exposed, found.idle, found.outside) == (70, 20, 10, 30)
    assert (second.number, sorted(second.breakdowns)) == (5, [0])


def test_the_slowest_step_and_what_it_has_more_of():
    kernels = [(100 * k, 100 * k + 40, 7) for k in range(3)] + [(350, 390, 7)]
    talks = [("all_reduce", 100 * k + 40, 100 * k + 50, {}) for k in range(3)] + [("all_reduce", 390, 440, {})]
    marks = [(k, 100 * k, 100 * k + 60) for k in range(3)] + [(3, 350, 450)]
    found = compare(steps_of(trace(0, kernels, talks, steps=marks)))
    assert (found.steps, found.median, found.shortest, found.longest, found.slowest) == (4, 60, 60, 100, 3)
    assert (found.trace, found.more, found.due) == (0, {"compute": 0, "exposed": 40, "idle": 0}, "exposed")
    assert found.variation == 40 / 60


def test_one_step_is_not_compared():
    assert compare(steps_of(trace(0, [(0, 9, 7)], steps=[(1, 0, 10)]))) is None


def test_steps_without_a_gpu_are_compared_by_their_time_alone():
    found = compare(steps_of(trace(0, steps=[(1, 0, 10), (2, 10, 30)])))
    assert (found.slowest, found.trace, found.more, found.due) == (2, None, {}, None)


def test_work_outside_of_the_marks_is_said():
    inside = trace(0, [(0, 90, 7)], steps=[(1, 0, 100)])
    half = trace(1, [(0, 50, 7), (100, 150, 7)], steps=[(1, 0, 100)])
    assert outside([inside, trace(2), trace(3, [(0, 9, 7)])]) == ()
    assert outside([half]) == ("rank 1: 50.0 ns (50%) of its GPU's work lies outside of the marked step",)
