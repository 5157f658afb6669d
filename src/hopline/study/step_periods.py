"""Slow steps that come back: checkpoints, evaluation, garbage collection.

What belongs here: finding periods among slow steps, and not finding them among steps that are slow at random.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from hopline.records.step_log import Numbers, Periodic, Seconds

MOST_PERIOD, MOST_TRIED = 100_000, 500
RIGHT, MINE, CHANCE = 0.75, 3, 1e-3
"""A period holds where this share of its steps is slow, in at least so many cases, and where slow steps thrown at random would
show one as good less often than CHANCE, over all periods and phases that were tried."""
SIGMAS, LEAST = 6.0, 0.5
"""A step of a period is slow for another reason, too: so many robust deviations, and this share, above the others."""
_ROBUST = 1.4826
Marks = NDArray[np.bool_]


def periods(steps: Numbers, slow: Marks, cost: Seconds, over: Seconds, total: float) -> tuple[Periodic, ...]:
    """Periods of slow steps, one after the other: what one explains is taken away before the next, of steps that are slower
    than it explains its own extra.

    steps, slow: of each line. over, cost: seconds above the usual, of a step and of all of a line. total: seconds in all.
    A period is a difference of slow steps; see RIGHT.
    """
    left, above, each = slow.copy(), over.copy(), cost.copy()
    found: list[Periodic] = []
    while left.sum() >= MINE and len(found) < 4:
        best = _best(steps, left)
        if best is None:
            break
        every, phase = best
        mine = steps % every == phase
        hit = mine & left
        extra = float(np.median(above[hit]))
        rest = hit & (above - extra > _more(above[hit]))
        own = np.where(rest, each * extra / np.where(above > 0, above, 1.0), each)
        found.append(Periodic(every, phase, int(hit.sum()), int(mine.sum()), extra, float(own[hit].sum()) / total))
        above[rest] -= extra
        each[rest] -= own[rest]
        left = (left & ~mine) | rest
    return tuple(found)


def _more(above: Seconds) -> float:
    """How much above the usual extra of a period a step is slow for another reason, too."""
    middle = float(np.median(above))
    return max(SIGMAS * _ROBUST * float(np.median(np.abs(above - middle))), LEAST * middle)


def _best(steps: Numbers, slow: Marks) -> tuple[int, int] | None:
    """The period (and phase) that explains most slow steps, of as many the longest."""
    at = np.unique(steps[slow])
    usual = int(np.median(np.diff(np.unique(steps)))) if len(steps) > 1 else 1
    apart = {int(gap) for lag in (1, 2, 3) for gap in at[lag:] - at[:-lag] if usual < gap <= MOST_PERIOD}
    tried = sorted(apart)[:MOST_TRIED]
    best: tuple[int, int, int] | None = None
    for every in tried:
        phase = int(np.bincount(at % every).argmax())
        mine = steps % every == phase
        hits, chances = int((mine & slow).sum()), int(mine.sum())
        by_chance = _by_chance(hits, chances, len(at) / len(steps)) * len(tried) * min(every, len(at))
        good = hits >= MINE and hits >= RIGHT * chances and by_chance < CHANCE
        if good and (best is None or (hits, every) > best[:2]):
            best = (hits, every, phase)
    return None if best is None else best[1:]


def _by_chance(hits: int, chances: int, share: float) -> float:
    """Probability of at least ``hits`` of ``chances``, each with the probability ``share`` (binomial)."""
    if chances > 1000:
        return 0.0 if hits > 2 * share * chances else 1.0
    return sum(comb(chances, k) * share**k * (1 - share) ** (chances - k) for k in range(hits, chances + 1))
