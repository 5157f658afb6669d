"""What step times of a log say: what is usual, which steps are slow, which come back, whether it drifts, what restarts cost.

What belongs here: statistics of steps. A line is slow above median + max(SIGMAS robust standard deviations, LEAST of the
median), taken over its level after the warm-up; the robust deviation is 1.4826 times the median absolute deviation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopline.errors import InputError
from hopline.records.step_log import (
    BEFORE,
    LIKE,
    Drift,
    Level,
    Numbers,
    Periodic,
    Run,
    Seconds,
    Slow,
    StepLog,
    StepReport,
    Timer,
    TimerShare,
)
from hopline.study.step_levels import cuts
from hopline.study.step_periods import periods

SIGMAS, LEAST = 6.0, 0.05
MOST_WARM = 20
"""Lines at the beginning of a run that may be warm-up."""
DRIFT_LEAST, DRIFT_SIGMAS, DRIFT_LINES = 0.02, 6.0, 30
"""A drift is told from this relative change on, where it is so many standard errors (which few blocks tell
poorly: of t with 8 degrees of freedom, six are passed once in 3,000), in runs of so many lines."""
BLOCKS = 5
"""Parts of a third of a run: neighbouring steps are slow together."""
_ROBUST = 1.4826
_MEDIAN_ERROR = 1.2533
"""Standard error of a median over that of a mean, of normal values: sqrt(pi / 2)."""

Marks = NDArray[np.bool_]


def report(log: StepLog) -> StepReport:
    """What the log says. Raises InputError where it has no step with a time."""
    if not len(log):
        raise InputError(f"{log.source} has no step with a time: expected at least one")
    warm, runs = _runs(log)
    used = ~warm
    part, levels = _levels(log, used)
    slow_marks, excess, threshold = _slow(log, used, part)
    main = _main(levels)
    common = used & np.isin(part, main)
    low, median, high = np.quantile(log.time[common], (0.05, 0.5, 0.95))
    steps = _steps(log)
    total = float((log.time * steps).sum())
    periodic = periods(log.step[used], slow_marks[used], (excess * steps)[used], excess[used], total)
    lost = float((np.clip(excess, 0, None) * steps)[used].sum())
    even = [number for number in range(len(runs)) if sum(level.run == number for level in levels) == 1]
    return StepReport(
        log.source, log.kind, log.basis, int(used.sum()), _every(log), float(median), float(low), float(high), total,
        lost / total, runs, _listed(log, slow_marks, excess, periodic), periodic,
        _drifts(log, used & ~slow_marks & np.isin(log.run, even)), _timers(log, used, float(median)), threshold, log.told,
        int(common.sum()), levels, log.ranks,
    )  # fmt: skip


def _levels(log: StepLog, used: Marks) -> tuple[Numbers, tuple[Level, ...]]:
    """Number of the level of each line (BEFORE of warm-up), and the levels."""
    part = np.full(len(log), BEFORE, np.int64)
    found: list[Level] = []
    for number in np.unique(log.run[used]):
        rows = np.flatnonzero(used & (log.run == number))
        for mine in np.split(rows, cuts(log.time[rows])):
            part[mine] = len(found)
            first, last = int(log.step[mine[0]]), int(log.step[mine[-1]])
            found.append(Level(int(number), first, last, len(mine), float(np.median(log.time[mine]))))
    return part, tuple(found)


def _main(levels: Sequence[Level]) -> list[int]:
    """The usual levels: that with most lines of all that are alike."""

    def alike(one: Level) -> list[int]:
        return [place for place, level in enumerate(levels) if abs(level.median / one.median - 1) < LIKE]

    return max(map(alike, levels), key=lambda places: sum(levels[place].lines for place in places))


def _every(log: StepLog) -> int:
    """Steps from one line to the next."""
    apart = np.diff(log.step)[np.diff(log.run) == 0]
    return int(np.median(apart)) if len(apart) else 1


def _steps(log: StepLog) -> Numbers:
    """Steps that each line stands for; the first of a run as many as usual."""
    out = np.full(len(log), _every(log), np.int64)
    same = np.diff(log.run) == 0
    out[1:][same] = np.diff(log.step)[same]
    return out


# --- runs and warm-up ---------------------------------------------------------------------------------------------


def _runs(log: StepLog) -> tuple[Marks, tuple[Run, ...]]:
    """Which lines are warm-up, and the runs."""
    warm = np.zeros(len(log), np.bool_)
    runs: list[Run] = []
    reached = -1
    for number in range(int(log.run[-1]) + 1):
        rows = np.flatnonzero(log.run == number)
        if not len(rows):
            continue
        count = _warm(log.time[rows])
        warm[rows[:count]] = True
        first, last = int(log.step[rows[0]]), int(log.step[rows[-1]])
        median = float(np.median(log.time[rows[count:]]))
        redone = max(0, reached - first + 1) if runs else 0
        runs.append(Run(first, last, len(rows), count, median, redone, _gap(log, int(rows[0])) if runs else None))
        reached = max(reached, last)
    return warm, tuple(runs)


def _warm(time: Seconds) -> int:
    """Slow lines before the first usual one, not more than half of all."""
    limit = _limit(time[: 3 * MOST_WARM])
    most = min(MOST_WARM, len(time) // 2)
    usual = np.flatnonzero(time[: most + 1] <= limit)
    return int(usual[0]) if len(usual) else most


def _limit(time: Seconds) -> float:
    median = float(np.median(time))
    return median + max(SIGMAS * _ROBUST * float(np.median(np.abs(time - median))), LEAST * median)


def _gap(log: StepLog, row: int) -> float | None:
    gap = float(log.stamp[row] - log.stamp[row - 1])
    return gap if np.isfinite(gap) and gap >= 0 else None


# --- slow steps ---------------------------------------------------------------------------------------------------


def _slow(log: StepLog, used: Marks, part: Numbers) -> tuple[Marks, Seconds, float]:
    """Which lines are slow, seconds above the median of their level, and the limit of the last level."""
    slow, excess, limit = np.zeros(len(log), np.bool_), np.zeros(len(log)), float("inf")
    for number in np.unique(part[used]):
        rows = used & (part == number)
        time = log.time[rows]
        limit = _limit(time)
        slow[rows] = time > limit
        excess[rows] = time - np.median(time)
    return slow, excess, limit


def _listed(log: StepLog, slow: Marks, excess: Seconds, periodic: Sequence[Periodic]) -> tuple[Slow, ...]:
    rows = np.flatnonzero(slow)
    rows = rows[np.argsort(-excess[rows], kind="stable")]
    return tuple(
        Slow(
            int(log.step[row]), int(log.line[row]), float(log.time[row]), float(excess[row]), int(log.run[row]),
            max((one.every for one in periodic if log.step[row] % one.every == one.phase), default=None),
        ) for row in rows
    )  # fmt: skip


# --- drift --------------------------------------------------------------------------------------------------------


def _drifts(log: StepLog, usual: Marks) -> tuple[Drift, ...]:
    """Runs whose last third is slower or faster than their first."""
    found = []
    for number in np.unique(log.run[usual]):
        time = log.time[usual & (log.run == number)]
        if len(time) < DRIFT_LINES:
            continue
        third = len(time) // 3
        (before, a), (after, b) = (_centre(part) for part in (time[:third], time[-third:]))
        error = float(np.hypot(a, b))
        if abs(after - before) > max(DRIFT_LEAST * before, DRIFT_SIGMAS * error):
            found.append(Drift(int(number), before, after, error))
    return tuple(found)


def _centre(time: Seconds) -> tuple[float, float]:
    """Median and its standard error: the larger of that of independent lines and of that of BLOCKS neighbours together."""
    median = float(np.median(time))
    spread = _ROBUST * float(np.median(np.abs(time - median)))
    alone = _MEDIAN_ERROR * spread / float(np.sqrt(len(time)))
    blocks = [float(np.median(block)) for block in np.array_split(time, BLOCKS)]
    return median, max(alone, float(np.std(blocks, ddof=1)) / float(np.sqrt(BLOCKS)))


# --- timers -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Used:
    """Steps after the warm-up, their median time, and steps of a line."""

    steps: frozenset[int]
    median: float
    lines: int


def _timers(log: StepLog, used: Marks, median: float) -> tuple[TimerShare, ...]:
    side = _Used(frozenset(log.step[used].tolist()), median, int(used.sum()))
    found = [_timer(name, timer, side) for name, timer in log.timers.items()]
    return tuple(sorted(found, key=lambda one: (one.share is None, -one.median)))


def _timer(name: str, timer: Timer, used: _Used) -> TimerShare:
    """Of a timer that stands at most lines, its share of a step; of others (a checkpoint) the time alone."""
    inside = np.array([step in used.steps for step in timer.step.tolist()], np.bool_)
    often = inside.sum() >= 0.5 * used.lines
    rows = inside if often else np.ones(len(inside), np.bool_)
    most, least = timer.most[rows], timer.least[rows]
    spread = float(np.median(most - least)) if np.isfinite(least).all() else None
    median = float(np.median(most))
    return TimerShare(name, len(most), median, median / used.median if often else None, spread)
