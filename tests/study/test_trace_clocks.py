"""Clocks: offsets and drift found again within the stated error, for jobs whose true clocks are known."""

import numpy as np
import pytest
from made_traces import job, trace

from hopline.study.clocks import solve
from hopline.study.matching import match
from hopline.study.meetings import meet


def solved(traces):
    return solve(traces, match(traces)[0])


def off(clocks, truth):
    """Of all pairs of traces: by how much their difference is off, and the error that is stated."""
    one, other = np.triu_indices(len(truth), 1)
    wrong = clocks.offset - truth
    return np.abs(wrong[one] - wrong[other]), np.hypot(clocks.error[one], clocks.error[other])


SHAPES = [
    (1, 2, 1, 1),
    (1, 2, 1, 20),
    (1, 8, 1, 3),
    (2, 4, 1, 3),
    (4, 2, 1, 1),
    (2, 2, 2, 2),
    (2, 1, 4, 2),
    (4, 4, 4, 1),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("skew", [0, 3e3, 1e5, 3e9])
def test_offsets_lie_within_the_stated_error(shape, skew):
    rng = np.random.default_rng([*shape, int(skew)])
    inside = []
    for jitter in (0, 1e3, 5e3, 1e4):
        traces, truth, _ = job(*shape, rng, skew=skew, jitter=jitter)
        clocks = solved(traces)
        assert set(clocks.part.tolist()) == {0}
        wrong, stated = off(clocks, truth)
        inside += (wrong <= stated).tolist()
    assert np.mean(inside) >= 0.95


@pytest.mark.parametrize("skew", [1e5, 3e9])
def test_errors_are_no_larger_than_what_ends_scatter_by(skew):
    traces, truth, _ = job(1, 8, 1, 70, np.random.default_rng(3), skew=skew, jitter=1e4)
    clocks = solved(traces)
    assert np.all(clocks.error < 1e4)
    assert off(clocks, truth)[0].max() < 3e3


def test_clocks_that_agree_are_left_alone():
    traces, truth, _ = job(2, 4, 1, 5, np.random.default_rng(4), skew=0, jitter=1e4)
    clocks = solved(traces)
    assert np.array_equal(clocks.offset, truth)
    assert set(clocks.basis) == {"given"}


def test_who_always_ends_late_has_no_other_clock():
    """Rank 2 ends 8 us after the others every time: the clocks, which are one, are left alone."""
    rows = [[("all_reduce", k * 10**6, k * 10**6 + 50_000 + 8_000 * (r == 2), {}) for k in range(50)] for r in range(4)]
    clocks = solved([trace(r, (), row, world=4, base=10**18) for r, row in enumerate(rows)])
    assert clocks.offset.tolist() == [0, 0, 0, 0]
    assert clocks.error[2] >= 8_000 > 3 * clocks.error[:2].max()


def test_clocks_that_do_not_agree_are_not_believed():
    traces, truth, _ = job(2, 4, 1, 5, np.random.default_rng(4), skew=5e5, jitter=1e4)
    clocks = solved(traces)
    assert set(clocks.basis) == {"meetings"}
    assert off(clocks, truth)[0].max() < 1e4


def test_clocks_of_unknown_origin_are_brought_together():
    traces, truth, _ = job(1, 4, 1, 9, np.random.default_rng(5), skew=4e17, jitter=2e3, absolute=False)
    assert off(solved(traces), truth)[0].max() < 2e3


def test_pipeline_stages_are_joined_by_messages_both_ways():
    traces, truth, _ = job(2, 2, 3, 2, np.random.default_rng(6), skew=1e9, jitter=5e3)
    clocks = solved(traces)
    assert clocks.basis == ("meetings",) * 4 + ("messages",) * 8
    wrong, stated = off(clocks, truth)
    assert np.all(wrong <= stated)
    assert clocks.error[4:].min() > clocks.error[:4].max()


def messages(rows):
    return [(op, start, end, {"peer": peer}) for op, start, end, peer in rows]


def test_bounds_of_messages_by_hand():
    """Rank 1 is 1000 behind. 0→1: sent at 0, there by 40; 1→0: sent at 100, there by 120: its clock lies in [960, 1020]."""
    one = trace(0, (), messages([("send", 0, 40, 1), ("recv", 90, 120, 1)]), world=2, absolute=False)
    other = trace(1, (), messages([("recv", -980, -960, 0), ("send", -900, -880, 0)]), world=2, absolute=False)
    clocks = solved([one, other])
    assert clocks.offset.tolist() == [0, (960 + 1020) // 2]
    assert clocks.error.tolist() == [0, 30]
    assert clocks.basis == ("given", "messages")


def test_messages_round_a_ring_bound_clocks_too():
    """0→1→2→0 and no message back."""
    rows = [
        [("send", 0, 10, 1), ("recv", 190, 210, 2)],
        [("recv", 0, 10, 0), ("send", 100, 110, 2)],
        [("recv", 100, 110, 1), ("send", 200, 210, 0)],
    ]
    clocks = solved([trace(r, (), messages(row), world=3, absolute=False) for r, row in enumerate(rows)])
    assert clocks.part.tolist() == [0, 0, 0]
    assert np.all(np.abs(clocks.offset) <= clocks.error)
    assert clocks.error.max() <= 30


@pytest.mark.parametrize("ways", ["one way", "contradiction", "none"])
def test_what_nothing_joins_stays_apart(ways):
    sent, back = [("send", 0, 40, 1)], [("recv", 0, 40, 0)]
    if ways == "contradiction":
        sent, back = [*sent, ("recv", 60, 70, 1)], [("recv", -500, -460, 0), ("send", 100, 140, 0)]
    if ways == "none":
        sent = back = []
    matched = meet([trace(0, (), messages(sent), world=2), trace(1, (), messages(back), world=2)])
    assert matched.clocks.part.tolist() == [0, 1]
    assert any("nothing joins the clocks of rank 0; rank 1" in sentence for sentence in matched.told)


@pytest.mark.parametrize(("drift", "jitter"), [(2e-5, 0), (2e-5, 5e3), (0, 5e3)])
def test_drift_is_corrected_where_it_shows(drift, jitter):
    traces, _, rate = job(1, 8, 1, 560, np.random.default_rng(7), skew=1e6, jitter=jitter, drift=drift)
    matched = meet(traces)
    assert max(int(np.ptp(meeting.end)) for meeting in matched.meetings) < max(1.3 * jitter, 100)
    if drift:
        assert matched.clocks.drift == pytest.approx((rate[0] - rate).tolist(), abs=1.5e-6 if not jitter else 1.2e-5)
        assert any("clocks drift" in sentence for sentence in matched.told)
    else:
        assert matched.clocks.drift == ()


@pytest.mark.parametrize(("rates", "most"), [((1, 1.0004), 4e-4), ((1, 1, 1, 1.00045), 4.5e-4)])
def test_what_clocks_may_drift_is_corrected(rates, most):
    matched = meet(repeating(rates))
    assert max(np.abs(matched.clocks.drift)) == pytest.approx(most, rel=0.01)
    assert matched.clocks.apart is None


@pytest.mark.parametrize("rates", [(1, 1.001), (1, 1.0006), (1, 1, 1.0008, 1), (1, 1, 1, 1, 1, 1, 1, 1.0007)])
def test_no_clock_drifts_by_more_than_half_a_millisecond_per_second(rates):
    matched = meet(repeating(rates))
    assert matched.clocks.drift == ()
    rate, _, other = matched.clocks.apart
    assert rate == pytest.approx(max(rates) - 1, rel=0.01)
    assert rates[other] > 1
    (said,) = (sentence for sentence in matched.told if "diverge" in sentence)
    assert f"rank {other}" in said
    assert "not of one run" in said
    assert not any("corrected" in sentence and "nothing is" not in sentence for sentence in matched.told)


def test_ends_that_scatter_in_a_short_trace_are_not_said_to_diverge():
    """15 us apart at the end of 2 ms is what ends of one collective may be."""
    rows = [[("all_reduce", k * 10**5, k * 10**5 + 50_000 + late * k, {}) for k in range(20)] for late in (0, 750)]
    matched = meet([trace(r, (), row, world=2, base=10**18) for r, row in enumerate(rows)])
    assert matched.clocks.apart is None


def repeating(rates, count=200):
    """200 collectives, a millisecond apart on the first rank and so many times as much on the others."""
    return [
        trace(
            rank, (), [("all_reduce", round(k * 1e6 * rate), round(k * 1e6 * rate) + 50_000, {}) for k in range(count)],
            world=len(rates), base=10**18,
        )
        for rank, rate in enumerate(rates)
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_last_arrivals_are_the_true_ones(seed):
    """Skewed clocks, noisy ends: wherever one rank is named without rivals, it truly came last."""
    rng = np.random.default_rng(seed)
    traces, truth, _ = job(2, 4, 1, 6, rng, skew=1e9, jitter=1e4)
    meetings = meet(traces).meetings
    named = right = 0
    for meeting in meetings:
        came = [traces[t].events.start[row] + truth[t] for t, row in zip(meeting.traces, meeting.row, strict=True)]
        transfer = np.median(
            [traces[t].events.end[r] + truth[t] for t, r in zip(meeting.traces, meeting.row, strict=True)]
        ) - max(came)
        assert abs(meeting.transfer - transfer) <= 1e4
        if not meeting.rivals:
            named += 1
            right += meeting.last == meeting.traces[int(np.argmax(came))]
    assert named > len(meetings) // 2
    assert right >= 0.95 * named
