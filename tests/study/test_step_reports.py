"""Step times with a known answer: what is usual, slow, comes back, drifts, restarts."""

import dataclasses
import json

import numpy as np
import pytest

from hopline.errors import InputError
from hopline.records.step_log import StepLog, Timer
from hopline.show.document import plain
from hopline.show.step_log import as_json, page
from hopline.study.step_log import report


def made(step, time, run=None, stamp=None, timers=None):
    step = np.asarray(step, np.int64)
    run = np.zeros(len(step), np.int64) if run is None else np.asarray(run, np.int64)
    stamp = np.full(len(step), np.nan) if stamp is None else np.asarray(stamp, float)
    line = np.arange(1, len(step) + 1)
    return StepLog("it.log", "megatron", "printed", step, np.asarray(time, float), stamp, run, line, timers or {})


def noisy(count, seed=0, mean=1.0, spread=0.01):
    return mean + spread * np.random.default_rng(seed).standard_normal(count)


@pytest.mark.parametrize("seed", range(5))
def test_even_steps_are_told_as_even(seed):
    time = noisy(1000, seed)
    found = report(made(range(1000), time))
    assert found.median == np.median(time)
    assert (found.slow, found.periodic, found.drifts, found.runs[0].warm) == ((), (), (), 0)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(time, (0.05, 0.95))))
    assert found.lost == pytest.approx(float(np.clip(time - np.median(time), 0, None).sum() / time.sum()))


def test_warm_up_is_left_out():
    time = noisy(100)
    time[:3] = 30, 5, 2
    time[50] = 4
    found = report(made(range(1, 101), time))
    assert found.runs[0].warm == 3
    assert found.lines == 97
    assert [(one.step, one.every) for one in found.slow] == [(51, None)]
    assert found.slow[0].excess == pytest.approx(4 - np.median(time[3:]))


def test_checkpoints_are_found_among_other_slow_steps():
    time = noisy(1000)
    step = np.arange(1, 1001)
    time[step % 100 == 0] += 5
    time[step % 250 == 7] += 2
    time[[13, 444, 871]] += 3
    found = report(made(step, time))
    assert [(one.every, one.phase, one.hits, one.chances) for one in found.periodic] == [
        (100, 0, 10, 10),
        (250, 7, 4, 4),
    ]
    assert found.periodic[0].extra == pytest.approx(5, rel=0.01)
    assert found.periodic[0].share == pytest.approx(50 / time.sum(), rel=0.01)
    assert sorted(one.step for one in found.slow if one.every is None) == [14, 445, 872]


@pytest.mark.parametrize("seed", range(30))
def test_slow_steps_at_random_have_no_period(seed):
    time = noisy(600, seed)
    time[np.random.default_rng(seed).choice(range(1, 600), 25, replace=False)] += 3
    found = report(made(range(600), time))
    assert found.periodic == ()
    assert len(found.slow) == 25


def test_lines_that_stand_for_ten_steps():
    step = np.arange(10, 1010, 10)
    time = noisy(100)
    time[step % 200 == 0] += 1
    found = report(made(step, time))
    assert found.every == 10
    assert [(one.every, one.phase) for one in found.periodic] == [(200, 0)]
    assert found.total == pytest.approx(10 * time.sum())


def test_a_drift_and_its_direction():
    slower = report(made(range(300), noisy(300) * np.linspace(1, 1.2, 300)))
    assert len(slower.drifts) == 1
    assert slower.drifts[0].change == pytest.approx(1.167 / 1.033 - 1, abs=0.01)
    faster = report(made(range(300), noisy(300) * np.linspace(1.2, 1, 300)))
    assert faster.drifts[0].change < 0


@pytest.mark.parametrize("seed", range(30))
def test_noise_that_hangs_together_is_no_drift(seed):
    """Neighbours alike over 40 steps: a few blocks only, so thirds differ by chance."""
    rng = np.random.default_rng(seed)
    time = 1 + 0.02 * np.repeat(rng.standard_normal(15), 40) + 0.001 * rng.standard_normal(600)
    assert report(made(range(600), time)).drifts == ()


def levels(found):
    return [(one.run, one.first, one.last, round(one.median, 1)) for one in found.levels]


@pytest.mark.parametrize("at", [60, 300, 600, 950])
def test_a_change_that_lasts(at):
    time = noisy(1000)
    time[at - 1 :] *= 1.4
    found = report(made(range(1, 1001), time))
    assert levels(found) == [(0, 1, at - 1, 1.0), (0, at, 1000, 1.4)]
    assert (found.slow, found.drifts) == ((), ())
    text = plain(page(found))
    assert f"From step {at} on, to the end, a step takes" in text
    assert "(+40%)" in text


def test_a_change_at_once_is_no_warm_up():
    time = noisy(500)
    time[:200] *= 2
    found = report(made(range(500), time))
    assert (found.runs[0].warm, levels(found)) == (0, [(0, 0, 199, 2.0), (0, 200, 499, 1.0)])


def test_a_phase_of_slow_steps_with_checkpoints():
    time = noisy(1000)
    step = np.arange(1, 1001)
    time[399:519] += 0.6
    time[step % 100 == 0] += 5
    found = report(made(step, time))
    assert levels(found) == [(0, 1, 399, 1.0), (0, 400, 519, 1.6), (0, 520, 1000, 1.0)]
    assert [(one.every, one.hits) for one in found.periodic] == [(100, 10)]
    assert found.median == pytest.approx(1, abs=0.01)
    assert "From step 520 on it takes" in plain(page(found))


@pytest.mark.parametrize("seed", range(20))
def test_drifts_and_noise_are_no_change(seed):
    rng = np.random.default_rng(seed)
    time = noisy(900, seed) * np.linspace(1, 1.2, 900)
    assert len(report(made(range(900), time)).levels) == 1
    time = 1 + 0.03 * np.repeat(rng.standard_normal(30), 30) + 0.01 * rng.standard_normal(900)
    assert len(report(made(range(900), time)).levels) == 1
    time = noisy(900, seed)
    time[rng.choice(900, 100, replace=False)] += 1
    assert len(report(made(range(900), time)).levels) == 1


def test_starts_of_different_speed_have_no_common_time():
    found = report(made([*range(1, 200), *range(1, 201)], [*noisy(199), *noisy(200, 1, 2.0)], [0] * 199 + [1] * 200))
    assert [round(run.median, 2) for run in found.runs] == [1.0, 2.0]
    assert found.median == pytest.approx(2, abs=0.01)
    assert found.usual == 200
    assert "of start 2 on, to the end, a step takes" in plain(page(found))


def test_two_periods_have_each_their_own():
    time = noisy(2000)
    step = np.arange(1, 2001)
    time[step % 50 == 0] += 0.3
    time[step % 200 == 0] += 4
    found = report(made(step, time))
    assert [(one.every, one.hits, one.chances) for one in found.periodic] == [(50, 40, 40), (200, 10, 10)]
    assert [one.extra for one in found.periodic] == pytest.approx([0.3, 4], rel=0.05)
    assert [one.share for one in found.periodic] == pytest.approx([12 / time.sum(), 40 / time.sum()], rel=0.05)
    assert {one.every for one in found.slow if one.step % 200 == 0} == {200}


def test_warm_up_is_not_what_even_steps_would_save():
    time = noisy(100)
    time[:3] = 30, 5, 2
    assert report(made(range(100), time)).lost < 0.01


def test_a_slow_rank_is_named():
    log = made(range(100), noisy(100))
    ranks = {"0": 1.0, "1": 1.01, "2": 0.99, "3": 1.5}
    found = report(dataclasses.replace(log, ranks=ranks))
    assert "Slower than most of 4 ranks" in plain(page(found))
    assert "rank 3 (1.500 s, +4" in plain(page(found))
    assert as_json(found)["ranks"] == ranks
    even = report(dataclasses.replace(log, ranks=dict(ranks, **{"3": 1.0})))
    assert "have like times" in plain(page(even))


def test_restarts_cost_what_was_done_twice():
    step = [*range(1, 61), *range(51, 101), *range(101, 121)]
    run = [0] * 60 + [1] * 50 + [2] * 20
    stamp = np.cumsum(np.ones(130))
    stamp[60:] += 300
    found = report(made(step, noisy(130), run, stamp))
    assert [(one.first, one.last, one.redone) for one in found.runs] == [(1, 60, 0), (51, 100, 10), (101, 120, 0)]
    assert [one.gap for one in found.runs] == [None, 301, 1]
    text = plain(page(found))
    assert "3 starts; 10 steps done again; 302.0 s between their lines" in text


def test_timers_and_which_rank_is_slow():
    step = np.arange(50)
    timers = {
        "forward-backward": Timer(step, np.full(50, 0.7), np.full(50, 0.8)),
        "save-checkpoint": Timer(np.array([20, 40]), np.array([9.0, 9.0]), np.array([10.0, 12.0])),
    }
    found = report(made(step, np.ones(50), timers=timers))
    share = {one.name: (one.median, one.share, one.spread) for one in found.timers}
    assert share["forward-backward"] == pytest.approx((0.8, 0.8, 0.1))
    assert share["save-checkpoint"][:2] == (11.0, None)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_steps(count):
    found = report(made(range(count), noisy(count)))
    assert found.lines >= 1
    assert json.loads(json.dumps(as_json(found)))["median"] == found.median
    assert "A step takes" in plain(page(found))


def test_no_steps():
    with pytest.raises(InputError, match="no step with a time"):
        report(made([], []))
