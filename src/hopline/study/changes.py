"""Is a change real or noise: two measurements of one table, size by size and as a whole.

What belongs here: the choice of what noise is learnt from, and the verdicts.

- ``runs``: several runs a side. A run's repeats share the run's own level, so each run gives one number a size, and the
  variance is that between runs: of the level all sizes share, with the few degrees of freedom that the runs have, plus
  that of single sizes, moderated by sizes nearby (after Smyth 2004). Student's t: approximate.
- ``repeats``: one run a side, repeats in it. Mann and Whitney's rank test and interval, exact for independent repeats (see
  ``ordering``); where repeats follow one another they are taken in blocks, which is approximate. It tells whether the two
  runs differ, not whether a third would.
- ``scatter``: one number a size and side. The scatter of the log ratio about a smooth change over sizes (second
  differences), or that of the two halves of a table about one another where that is more. Student's t: approximate. It
  tells the same as ``repeats``, with less to go by.

The intervals of a table's sizes hold together, by Bonferroni's bound, and a size has changed where its interval leaves out 1
(Holm's rule would find little more, and its intervals would not hold together). The mean over all sizes is judged first,
by two thirds of the false-alarm bound; where it is real the sizes get the whole of it, else the rest (Wiens' fallback
procedure), so that the bound holds for all verdicts of a table together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hopline.curve import Floats
from hopline.errors import InputError
from hopline.records.change import Basis, Change, SizeChange, Verdict
from hopline.study.noises import Judged, Level, by_runs, by_scatter
from hopline.study.repeats import by_repeats

THRESHOLD = 0.05
FALSE_ALARMS = 0.05
FEWEST_REPEATS = 4
"""Repeats (or blocks of them) of a size from which on one run a side can be judged."""
FEWEST_SIZES = 6
"""Sizes from which on the scatter over sizes says something."""
_PART = 0.9
"""Of the false-alarm bound: what is approximate has some room."""
_LARGEST = 700.0
"""Logs above this are no floats any more."""
_VAGUE = math.log(10.0)
"""An interval that holds both ten times slower and ten times faster tells nothing."""
Run = Mapping[float, Sequence[float]]
"""One run: size -> repeated times in seconds."""


@dataclass(frozen=True, slots=True)
class Side:
    """One measurement: its runs, and those of a second half measured beside (in-place), for its scatter only."""

    runs: Sequence[Run]
    twins: Sequence[Run] = ()

    @property
    def sizes(self) -> set[float]:
        """Sizes that every run has, times above 0."""
        usable = [{m for m, t in run.items() if len(t) and min(t) > 0} for run in self.runs]
        return set.intersection(*usable) if usable else set()


def compare(before: Side, after: Side, threshold: float = THRESHOLD, false_alarms: float = FALSE_ALARMS) -> Change:
    """Raises InputError where no size is common, or where threshold or false_alarms is no sensible share."""
    if not (0 <= threshold < math.inf and 0 < false_alarms < 1):
        raise InputError(f"threshold {threshold:g}, false alarms {false_alarms:g}: expected shares from 0, and below 1")
    sizes = np.array(sorted(before.sizes & after.sizes))
    if not len(sizes):
        raise InputError("the two have no size in common with times above 0: nothing can be compared")
    basis, judged = _judge(before, after, sizes, _PART * false_alarms)
    marks = judged.alone or (False,) * len(sizes)
    rows = tuple(
        _row(float(m), float(b), float(a), level, "cannot tell" if alone else _verdict(level, threshold, basis))
        for m, b, a, level, alone in zip(
            sizes, *(_typical(side, sizes) for side in (before, after)), judged.sizes, marks, strict=True
        )
    )
    of_before, of_after = ({m for run in side.runs for m in run} for side in (before, after))
    dropped = len((of_before & of_after) - set(sizes.tolist()))
    notes = [*judged.notes, *([f"{dropped} sizes left out: not in every run, or with times of 0"] if dropped else [])]
    left = tuple(tuple(sorted(some)) for some in (of_before - of_after, of_after - of_before))
    whole = _verdict(judged.whole, threshold, basis)
    return Change(
        rows, *_exp(judged.whole), whole, basis, judged.said, threshold, false_alarms, left[0], left[1], tuple(notes)
    )


def _judge(before: Side, after: Side, sizes: Floats, alpha: float) -> tuple[Basis, Judged]:
    """By the best basis that the measurements carry."""
    freedom = len(before.runs) + len(after.runs) - 2
    repeats = min(len(run[m]) for side in (before, after) for run in side.runs for m in sizes)
    if freedom > 1 or (freedom == 1 and repeats < FEWEST_REPEATS):
        return "runs", by_runs(_levels(before.runs, sizes), _levels(after.runs, sizes), alpha)
    if repeats >= FEWEST_REPEATS:
        found = by_repeats(_logs(before, sizes), _logs(after, sizes), alpha, FEWEST_REPEATS)
        if found is not None:
            return "repeats", found
    ratio = _typical(after, sizes) - _typical(before, sizes)
    if len(sizes) >= FEWEST_SIZES:
        return "scatter", by_scatter(ratio, _twin_ratio(before, after, sizes), alpha)
    said = f"one number a size and {len(sizes)} sizes: too few to tell a change from noise; repeat the measurement"
    unknown = Level(math.nan, math.nan, math.nan)
    return "nothing", Judged(tuple(Level(float(r), -math.inf, math.inf) for r in ratio), unknown, said, ())


def _levels(runs: Sequence[Run], sizes: Floats) -> Floats:
    """(runs, sizes) log median time."""
    return np.array([[math.log(np.median(run[m])) for m in sizes] for run in runs])


def _typical(side: Side, sizes: Floats) -> Floats:
    return np.asarray(np.median(_levels(side.runs, sizes), axis=0))


def _logs(side: Side, sizes: Floats) -> list[Floats]:
    """The repeats of all runs (one, or two a side at most) of each size, as logs in the order of measuring."""
    return [np.log(np.concatenate([np.asarray(run[m], dtype=float) for run in side.runs])) for m in sizes]


def _twin_ratio(before: Side, after: Side, sizes: Floats) -> Floats | None:
    """The log ratio of the second halves; None where they have not all sizes."""
    both = [Side(side.twins) for side in (before, after)]
    if not all(set(sizes.tolist()) <= side.sizes for side in both):
        return None
    return _typical(both[1], sizes) - _typical(both[0], sizes)


def _row(size: float, before: float, after: float, level: Level, verdict: Verdict) -> SizeChange:
    return SizeChange(size, math.exp(before), math.exp(after), *_exp(level), verdict)


def _exp(level: Level) -> tuple[float, float, float]:
    middle, low, high = (math.inf if v > _LARGEST else math.exp(v) for v in (level.middle, level.low, level.high))
    return middle, low, high


def _verdict(level: Level, threshold: float, basis: Basis) -> Verdict:
    if basis == "nothing" or math.isnan(level.middle) or (level.low < -_VAGUE and level.high > _VAGUE):
        return "cannot tell"
    if level.low <= 0 <= level.high:
        return "noise"
    if abs(level.middle) < math.log1p(threshold):
        return "small"
    return "slower" if level.middle > 0 else "faster"
