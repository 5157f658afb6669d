"""Times of steps from when their lines were written.

What belongs here: clocks of whole seconds, and clocks that go back.
"""

from __future__ import annotations

import numpy as np

from hopline.quantity import counted
from hopline.records.step_log import Numbers, Seconds

_GRAIN = 1.0
"""Seconds between the marks of a clock that has whole seconds only."""
_GRAINS = 20
"""Marks that a time should span, so that the clock is off by a twentieth of it at most."""
FEWEST = 5
"""Times that should be left of a run."""


def between(step: Numbers, stamp: Seconds, run: Numbers, told: list[str]) -> tuple[Numbers, Seconds]:
    """Which lines have a time, and seconds a step since the line before that has one; NaN for the first of a run.

    step, stamp, run: as in StepLog, shape (lines,). Where the clock has whole seconds only and a step takes a few, several
    lines are taken together.
    """
    apart = np.diff(stamp)
    same = np.diff(run) == 0
    back = same & (apart < 0)
    told.append("times are those between lines: what stood between them (checkpoints, evaluation) is in them")
    if back.any():
        told.append(
            f"the clock goes back {counted(int(back.sum()), 'time')} (as in autumn, or where it was set): how long "
            f"{'that step' if back.sum() == 1 else 'those steps'} took is not known"
        )
    piece = np.concatenate(([0], np.cumsum(~same | back)))
    taken = _taken(stamp, apart[same & (apart >= 0)], piece, told)
    time = np.full(len(taken), np.nan)
    known = np.diff(piece[taken]) == 0
    time[1:][known] = np.diff(stamp[taken])[known] / np.diff(step[taken])[known]
    return taken, time


def _taken(stamp: Seconds, apart: Seconds, piece: Numbers, told: list[str]) -> Numbers:
    """Lines from which times are taken: all, or of a coarse clock the first of each piece and every so many after it.

    Where nine of ten lines are as many whole seconds apart, the clock is fine enough; else the grain is what they differ by.
    """
    every = np.arange(len(stamp), dtype=np.int64)
    known = stamp[np.isfinite(stamp)]
    if not len(apart) or (known != np.floor(known)).any():
        return every
    low, usual, high = np.quantile(apart, (0.05, 0.5, 0.95))
    need = int(np.ceil(_GRAINS * _GRAIN / max(float(usual), _GRAIN))) if low < high else 1
    lines = max(1, min(need, int(np.bincount(piece).max()) // FEWEST))
    told.append("the clock has whole seconds only" + (f": {lines} lines are taken together" if lines > 1 else ""))
    begins = np.flatnonzero(np.concatenate(([True], np.diff(piece) > 0)))
    return np.asarray(every[(every - begins[piece]) % lines == 0], np.int64)
