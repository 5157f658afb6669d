"""What changes bring, inferred from traces, against steps made anew with the change."""

import json
from dataclasses import replace

import numpy as np
import pytest
from contended import contended
from field import FIELD, needed

from hopline.curve import Curve
from hopline.errors import InputError, UnknownNameError
from hopline.formats.kineto.reader import read_traces
from hopline.jobs.elsewhere import priced_on
from hopline.jobs.made.job import Job
from hopline.jobs.made.steps import make, network
from hopline.jobs.made.tracing import Profiling
from hopline.jobs.what_ifs import answers as answers_of
from hopline.jobs.what_ifs import inferred, question, what_ifs
from hopline.sim.activities import simulate_activities
from hopline.study.what_if import CHANGES, sentence, what_if

TWICE, NOTHING = (Curve.line(4e-6, 40e9), Curve.line(1.5e-6, 400e9)), (Curve.line(0.0, 1e18), Curve.line(0.0, 1e18))
WITHIN = 0.05
MB = 1_000_000


def matrix():
    """Ranks, buckets and bytes from hidden to exposed, with a straggler and without: 36 cases."""
    number = 0
    for ranks, buckets in ((2, 1), (2, 12), (4, 3), (4, 6), (8, 1), (16, 4)):
        for size in (8 * MB, 200 * MB, 800 * MB):
            for slow in ({}, {ranks - 1: 1.3}):
                number += 1
                yield pytest.param(
                    Job(ranks=ranks, buckets=buckets, gradients=size, slow=slow, noise=0.03, seed=number),
                    id=f"{ranks}-{buckets}-{size // MB}MB-{'slow' if slow else 'even'}",
                )


@pytest.mark.parametrize("job", list(matrix()))
def test_changes_are_what_a_new_simulation_gives(job):
    made = make(job, profiling=Profiling(skew=2e-3, seed=job.seed))
    price = priced_on(network(job), {"all_reduce": "recursive_doubling"})
    questions = [question("communication=2"), question("free"), question("network", price)]
    wanted = [
        make(job, network(job, *TWICE)), make(job, network(job, *NOTHING)), make(replace(job, algorithm="recursive_doubling")),
    ]  # fmt: skip
    if job.slow:
        questions.append(question("straggler"))
        wanted.append(make(replace(job, slow={})))
    answers = what_ifs(made.traces, questions)
    assert answers.replayed == pytest.approx(made.truth.makespan, rel=1e-4)
    assert answers.error < 1e-3
    for answer, truth in zip(answers.answers, wanted, strict=True):
        assert answer.after == pytest.approx(truth.truth.makespan, rel=WITHIN), answer.words


@pytest.mark.parametrize("host", [12e-6, 150e-6, 800e-6])
def test_host_and_kernels(host):
    job = Job(noise=0.03, host=host, seed=5, slow_host={2: 1.2})
    made = make(job)
    asked = [question("compute=2"), question("host=2"), question("straggler=2")]
    half = replace(job, forward=job.forward / 2, backward=job.backward / 2, update=job.update / 2)
    wanted = [make(half), make(replace(job, host=host / 2)), make(replace(job, slow_host={}))]
    for answer, truth in zip(what_ifs(made.traces, asked).answers, wanted, strict=True):
        assert answer.after == pytest.approx(truth.truth.makespan, rel=0.02), answer.words


@pytest.mark.parametrize("tensor", [2, 4, 8])
def test_collectives_on_the_stream_of_the_kernels(tensor):
    job = Job(ranks=8, tensor=tensor, noise=0.03, seed=tensor)
    made = make(job, profiling=Profiling(skew=1e-3))
    fast = network(job, *TWICE)
    twice, elsewhere, nothing = what_ifs(
        made.traces, [question("communication=2"), question("network", priced_on(fast)), question("free")]
    ).answers
    assert twice.after == pytest.approx(make(job, fast).truth.makespan, rel=0.01)
    assert elsewhere.after == pytest.approx(make(job, fast).truth.makespan, rel=0.01)
    assert nothing.after == pytest.approx(make(job, network(job, *NOTHING)).truth.makespan, rel=0.01)


@pytest.mark.parametrize(
    "job",
    [
        Job(ranks=4, stages=4, batches=8, buckets=1, noise=0.03, seed=3),
        Job(ranks=8, stages=4, batches=8, layers=16, buckets=4, noise=0.03, seed=4),
        Job(ranks=8, stages=2, tensor=2, batches=4, layers=16, buckets=4, noise=0.03, seed=5),
    ],
    ids=["stages", "stages-and-data", "all"],
)
def test_pipelines(job):
    """Messages wait for ports that gradients hold as well: a replay takes such waiting for transfer."""
    made = make(job, profiling=Profiling(skew=1e-3, seed=3))
    half = replace(job, forward=job.forward / 2, backward=job.backward / 2, update=job.update / 2)
    wanted = [make(job, network(job, *TWICE)), make(job, network(job, *NOTHING)), make(half)]
    answers = what_ifs(made.traces, [question("communication=2"), question("free"), question("compute=2")])
    assert answers.error < 1e-3
    for answer, truth in zip(answers.answers, wanted, strict=True):
        assert answer.after == pytest.approx(truth.truth.makespan, rel=WITHIN), answer.words


@pytest.mark.parametrize(("buckets", "count"), [(1, 2), (1, 4), (2, 2), (3, 4)])
@pytest.mark.parametrize("told", [True, False])
def test_cut_in_buckets(buckets, count, told):
    job = Job(noise=0.03, buckets=buckets, seed=7)
    made = make(job, profiling=Profiling(skew=1e-3))
    answer = what_ifs(made.traces, [question(f"buckets={count}", priced_on(network(job)) if told else None)]).answers[0]
    assert answer.after == pytest.approx(make(replace(job, buckets=buckets * count)).truth.makespan, rel=WITHIN)


def test_what_cannot_be_cut_is_said_with_its_reason():
    job = Job(ranks=4, layers=4, buckets=2)
    with pytest.raises(InputError, match="2 collectives of which transfer cannot be told from waiting"):
        what_ifs(make(job, profiling=Profiling(missing=(3,))).traces, [question("buckets=2")])
    with pytest.raises(InputError, match="no collective is seen on two ranks or more"):
        what_ifs(make(job).traces[:1], [question("buckets=2")])


@pytest.mark.parametrize("early", [12e-6, 900e-6])
def test_no_change_brings_more_than_its_ceiling(early):
    """Also where collectives are launched late, by a host that is in the way."""
    made = make(Job(ranks=4, layers=8, buckets=4, host=early, noise=0.03, seed=8))
    asked = [name for name, change in CHANGES.items() if change.limit and name != "network"]
    values = {"factor": "=3", "number": "=3"}
    for answer in what_ifs(
        made.traces, [question(name + values.get(CHANGES[name].takes, "")) for name in asked]
    ).answers:
        assert answer.ceiling <= answer.after * (1 + 1e-9), answer.words


@pytest.mark.parametrize("factor", [1.0, 1.1, 1.4])
def test_contention_is_found_and_taken_out(factor):
    job = Job(ranks=4, layers=24, buckets=6, noise=0.03, seed=2, gradients=100 * MB)
    factors = np.array([[factor] * 4, [1.0] * 4])
    seen, seconds = contended(make(job).traces, factors)
    answers = what_ifs(seen, [question("free"), question("communication=2")])
    compute = answers.contention[0]
    assert compute.factor == pytest.approx(factor, rel=0.02)
    assert compute.pairs > 20
    assert answers.replayed == pytest.approx(seconds, rel=1e-3)
    assert answers.answers[0].after == pytest.approx(make(job, network(job, *NOTHING)).truth.makespan, rel=0.01)
    assert answers.answers[1].after == pytest.approx(
        contended(make(job, network(job, *TWICE)).traces, factors)[1], rel=0.01
    )


def test_no_slowdown_is_taken_without_evidence_and_that_is_said():
    answers = what_ifs(make(Job(ranks=2, layers=2, buckets=1)).traces, [])
    assert [each.factor for each in answers.contention] == [1.0, 1.0]
    assert "expected at least 4" in answers.contention[0].said
    assert answers.contention[0].unpaired


def shortened(trace, factor):
    """All times so many times as short, in whole microseconds."""
    events = trace.events
    times = (np.rint(column / factor / 1000).astype(np.int64) * 1000 for column in (events.start, events.end))
    steps = tuple(replace(s, start=round(s.start / factor), end=round(s.end / factor)) for s in trace.steps)
    return replace(trace, events=replace(events, **dict(zip(("start", "end"), times, strict=True))), steps=steps)


def test_why_no_slowdown_can_be_told():
    """The same step: with enough pairs, a rank missing, in microseconds of a coarse clock, without communication beside."""
    job = Job(ranks=2, layers=12, buckets=6, noise=0.02, seed=2, gradients=100 * MB)
    made = make(job).traces
    full = what_ifs(made, []).contention[0]
    assert full.pairs >= 4
    assert full.unpaired == ""
    alone = what_ifs(made[:1], []).contention[0]
    assert alone.pairs == 0
    assert "waiting cannot be told from transfer" in alone.unpaired
    coarse = what_ifs([shortened(trace, 200) for trace in made], []).contention[0]
    assert coarse.pairs == 0
    assert "shorter than 20.00 µs (20 steps of the trace's clock)" in coarse.unpaired
    assert int(coarse.unpaired.split()[0]) > 1
    apart = what_ifs(make(replace(job, buckets=1, layers=2)).traces, []).contention[0]
    assert "no kernel is seen both with communication beside it and without" in apart.unpaired


def test_nothing_is_said_of_contention_where_nobody_communicates():
    (trace,) = make(Job(ranks=2)).traces[:1]
    silent = replace(trace, collectives=())
    assert what_ifs([silent], []).contention == ()


def test_what_is_within_the_error_of_the_replay_is_marked():
    """Communication that is all but free brings less than the replay is off by; ten times faster kernels bring more."""
    made = make(Job(ranks=2, gradients=1_000, noise=0.02, seed=4))
    answers = what_ifs(made.traces, [question("earlier"), question("compute=10")])
    small, large = answers.answers
    assert abs(small.gain) <= answers.error < large.gain
    assert (small.within_error, large.within_error) == (True, False)
    assert "no more than the replay is off by" in sentence(small)
    assert "off by" not in sentence(large)


def test_a_missing_rank_makes_a_bound_of_the_answer():
    job = Job(slow={3: 1.3}, noise=0.02)
    made = make(job, profiling=Profiling(missing=(3,)))
    answer = what_ifs(made.traces, [question("communication=2")]).answers[0]
    assert answer.at_most
    assert answer.after <= make(job, network(job, *TWICE)).truth.makespan * 1.001
    assert " or less" in sentence(answer)


def test_vague_clocks_are_told():
    """Stages that only messages join: their clocks are known as well as messages tell."""
    made = make(Job(ranks=4, stages=4, batches=4, buckets=1), profiling=Profiling(skew=1e-3, seed=3))
    assert any("clocks of ranks may be off by" in premise for premise in what_ifs(made.traces, []).premises)
    assert not any("clocks" in premise for premise in what_ifs(make(Job(ranks=4)).traces, []).premises)


def test_a_late_launch_is_what_earlier_takes_away():
    """Hosts so slow that the collective is launched long after its gradients are there."""
    job = Job(ranks=2, layers=4, buckets=2, host=1.5e-3)
    answer = what_ifs(make(job).traces, [question("earlier")]).answers[0]
    assert answer.after < answer.before - 1e-4
    assert answer.after >= answer.ceiling


def test_a_replay_that_is_off_answers_nothing():
    found = inferred(make(Job(ranks=2)).traces)
    late = replace(found, end=found.end * 2)
    answers = what_if(late, [question("free")], simulate_activities)
    assert not answers.answers
    assert (
        "played again from what the traces tell, rank 0 takes 50 % less than measured: expected at most 5 %,"
        in answers.refused
    )


def test_parts_of_the_path_are_the_step():
    answers = what_ifs(make(Job(ranks=4, noise=0.1, slow={1: 1.2})).traces, [question("free"), question("host=3")])
    assert sum(part.time for part in answers.binds) == pytest.approx(answers.replayed)
    for answer in answers.answers:
        assert sum(part.time for part in answer.binds) == pytest.approx(answer.after)


@pytest.mark.parametrize(
    "text", ["communication", "communication=0", "free=2", "communication=x", "buckets=1.5", "network", "straggler=77"]
)
def test_bad_questions_are_one_line(text):
    with pytest.raises(InputError) as error:
        what_ifs(make(Job(ranks=2, layers=2, buckets=1)).traces, [question(text)])
    assert "\n" not in str(error.value)
    assert "expected" in str(error.value)


VALUES = {
    "factor": (
        "1e-10",
        "1e-300",
        "0.0099",
        "0",
        "-2",
        "1e7",
        "1e300",
        "nan",
        "inf",
        "1e400",
        "1_0",
        "rank3",
        "٣",
        "0x2",
        "2 3",
    ),
    "number": ("0", "-1", "2.5", "1025", "1e300", "nan", "inf", "four"),
    "[rank]": ("-1", "0.5", "1e300", "nan", "inf", "rank", "rankx", "99999999"),
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, change in CHANGES.items() for value in VALUES.get(change.takes, ())]
)
def test_values_out_of_range_are_refused_when_they_are_read(name, value):
    """Before a trace is, and without a word of numpy (warnings are errors here)."""
    with pytest.raises(InputError) as error:
        question(f"{name}={value}")
    assert f"--what-if {name}={value}: expected " in str(error.value)
    assert f"as in {name}=" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("value", ["0.01", "1e6", "1E6", ".5", "2x", "1e-2"])
def test_values_at_the_ends_of_the_range_are_answered(value):
    made = make(Job(ranks=2, layers=2, buckets=1))
    answers = what_ifs(
        made.traces, [question(f"{name}={value}") for name in ("communication", "compute", "host")]
    ).answers
    assert all(np.isfinite(answer.after) and answer.after > 0 for answer in answers)
    assert all((answer.after > answer.before) == (answer.value < 1) for answer in answers[:2])


def test_a_span_too_long_for_its_picoseconds_is_refused():
    """At the least factor 12 hours fit, and days do not."""
    made = inferred(make(Job(ranks=2, layers=2, buckets=1)).traces)
    hour = 3600 * 10**9
    for hours, fits in ((12, True), (13, False)):
        long = replace(made, span=(0, hours * hour))
        if fits:
            assert answers_of(long, [question("host=0.01")]).measured == hours * 3600
        else:
            with pytest.raises(InputError, match=r"expected a larger factor.*--step median"):
                answers_of(long, [question("host=0.01")])


def test_unknown_changes_are_listed():
    with pytest.raises(UnknownNameError, match="communication"):
        question("comunication=2")
    assert set(CHANGES) >= {"communication", "free", "earlier", "buckets", "straggler", "network", "host"}


@pytest.mark.parametrize(("text", "meant"), [("network=3", "communication=3"), ("network", "communication=2")])
def test_a_network_is_given_by_its_options(text, meant):
    with pytest.raises(InputError, match=f"expected {meant}.*--machine"):
        question(text)
    with pytest.raises(UnknownNameError) as error:
        question("netwrk=2")
    assert "communication" in str(error.value)
    assert "network" not in str(error.value).partition("known are")[2]


def test_what_collectives_take_there_is_told_by_kind():
    job = Job(ranks=4, buckets=3, tensor=2, noise=0.02, seed=3)
    made = make(job)
    price = priced_on(network(job, *TWICE), {"all_reduce": "recursive_doubling"})
    (answer,) = what_ifs(made.traces, [question("network", price)]).answers
    assert sum(swap.times for swap in answer.prices) == len(
        {(one.group, one.sequence) for trace in made.traces for one in trace.collectives}
    )
    for swap in answer.prices:
        assert (swap.op, swap.ranks, swap.algorithm, swap.waits) == ("all_reduce", 2, "recursive_doubling", False)
        assert swap.there < swap.measured
    assert len({(swap.size, swap.there) for swap in answer.prices}) == len(answer.prices) > 1
    assert what_ifs(made.traces, [question("free")]).answers[0].prices == ()


def without(traces, **changed):
    return [replace(trace, collectives=tuple(replace(one, **changed) for one in trace.collectives)) for trace in traces]


@pytest.mark.parametrize(
    ("changed", "said"), [({"size": None}, "size"), ({"ranks": (), "count": None}, "ranks")], ids=["size", "ranks"]
)
def test_collectives_that_cannot_be_priced_are_counted(changed, said):
    job = Job(ranks=2, buckets=3, seed=3)
    price = priced_on(network(job))
    traces = make(job).traces[:1]
    with pytest.raises(
        InputError, match=f"none of 3 collectives .*: 3 all_reduce of unknown {said}; expected sizes and ranks"
    ):
        what_ifs(without(traces, **changed), [question("network", price)])
    partly = [
        replace(traces[0], collectives=(replace(traces[0].collectives[0], **changed), *traces[0].collectives[1:]))
    ]
    (answer,) = what_ifs(partly, [question("network", price)]).answers
    assert f"1 collective kept their measured time: 1 all_reduce of unknown {said}" in answer.premises
    assert sum(swap.times for swap in answer.prices) == 2


def test_one_rank_alone_is_priced_and_gains_that_or_less():
    job = Job(ranks=2, buckets=3, seed=3, slow={1: 1.3})
    (answer,) = what_ifs(make(job).traces[:1], [question("network", priced_on(network(job)))]).answers
    assert answer.at_most
    assert all(swap.waits for swap in answer.prices)
    assert any("waiting" in premise for premise in answer.premises)


def test_messages_between_stages_are_priced_as_messages():
    job = Job(ranks=2, stages=2, batches=4, buckets=1, seed=3)
    same, fast = network(job), network(job, *TWICE)
    made = make(job)
    answers = [what_ifs(made.traces, [question("network", priced_on(fabric))]).answers[0] for fabric in (same, fast)]
    for answer in answers:
        assert ("send", "message") in {(swap.op, swap.algorithm) for swap in answer.prices}
    assert answers[1].prices[0].there < answers[0].prices[0].there
    assert answers[0].prices[0].there == pytest.approx(answers[0].prices[0].measured, rel=0.05)


def test_a_rank_begins_with_the_first_of_what_it_does():
    """A kernel late in the step whose launch is not told makes no late rank."""
    made = make(Job(ranks=4, buckets=1, seed=3))
    cut = made.traces[2]
    kernels = np.flatnonzero(cut.events.kind == 0)
    correlation = cut.events.correlation.copy()
    correlation[kernels[-1]] = -1
    lane = cut.events.lane.copy()
    lane[kernels[-1]] = len(cut.lanes)
    lanes = (*cut.lanes, replace(cut.lanes[0], number=99))
    traces = list(made.traces)
    traces[2] = replace(cut, lanes=lanes, events=replace(cut.events, correlation=correlation, lane=lane))
    (answer,) = what_ifs(traces, [question("straggler=2")]).answers
    assert not any("begins" in premise for premise in answer.premises)


def test_a_machine_without_the_ranks_is_refused():
    made = make(Job(ranks=4))
    with pytest.raises(InputError, match="rank 3"):
        what_ifs(made.traces, [question("network", priced_on(network(Job(ranks=2))))])


@needed
def test_dlrm():
    """Rank 7 begins late and all wait: the network has next to nothing to give, and the replay is the measured step."""
    traces = read_traces(sorted(map(str, (FIELD / "traces" / "dlrm-8rank").iterdir())))
    answers = what_ifs(traces, [question("free"), question("straggler"), question("host=2")])
    assert answers.error < 0.02
    free, straggler, host = answers.answers
    assert free.gain < 0.01
    assert free.within_error
    assert not host.within_error
    assert "kernels of rank 7: 1.01 times" in straggler.premises[0]
    assert "the trace of rank 7 begins 4.523 ms after the median of the others" in straggler.premises[1]
    assert "why it is late is not in it" in straggler.premises[1]
    assert host.gain > 0.2
    assert json.dumps([answers.errors, answers.ceiling])
