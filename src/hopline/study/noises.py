"""Levels and intervals of log ratios, by what their noise is learnt from.

What belongs here: the arithmetic of ``changes`` for runs and for single numbers; that of repeats is ``repeats``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hopline.curve import Floats
from hopline.study import chance
from hopline.study.running import THREE, nearby, steady

PRIOR = 3.0
"""What that median weighs, in degrees of freedom."""
_EFFICIENCY = 0.5
"""Of second differences, beside as many independent ones."""
_WINDOW = 9
"""Second differences of which the scatter near a size is learnt."""
_WHOLE = 2 / 3
"""Of the bound: what the mean over all sizes is judged by."""
ONE_RUN = "one run each: it is told whether these two runs differ; a level that every run has of its own is not known"
_LEAST, DIGITS = 0.005, 0.002
"""Scatter that printed digits and the like leave at least: where it is learnt from few numbers, and from repeats."""


@dataclass(frozen=True, slots=True)
class Level:
    """A log ratio with its interval."""

    middle: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Judged:
    """Each size, the mean over them, what it rests on in words, and notes.

    ``alone``: where one number stands off its neighbours, which may be a spike or a change of that size.
    """

    sizes: tuple[Level, ...]
    whole: Level
    said: str
    notes: tuple[str, ...]
    alone: tuple[bool, ...] = ()


def share_of_whole(alpha: float) -> float:
    """The part of the bound that the mean over all sizes is judged by."""
    return alpha * _WHOLE


def share_of_sizes(alpha: float, whole: Level) -> float:
    """What is left for the sizes: all of it where the mean was beyond its part (Wiens' fallback, 2003)."""
    return alpha if side_of(whole) else alpha * (1 - _WHOLE)


def side_of(level: Level) -> int:
    """1 where it lies above 0, -1 below, 0 where it may be either."""
    return int(level.low > 0) - int(level.high < 0)


def by_t(middle: Floats, error: Floats, freedom: Floats, alpha: float) -> tuple[Level, ...]:
    """Student's t intervals that hold for all sizes together by Bonferroni's bound."""
    each = alpha / len(middle)
    rows = zip(middle.tolist(), error.tolist(), freedom.tolist(), strict=True)
    return tuple(t_level(m, e, f, each) for m, e, f in rows)


def t_level(middle: float, error: float, freedom: float, alpha: float) -> Level:
    """A log ratio with Student's t interval of level 1 - alpha."""
    half = chance.t_quantile(alpha / 2, round(freedom, 2)) * error
    return Level(middle, middle - half, middle + half)


def by_runs(before: Floats, after: Floats, alpha: float) -> Judged:
    """From (runs, sizes) log times of each side, three runs or more in all."""
    freedom = len(before) + len(after) - 2
    share = 1 / len(before) + 1 / len(after)
    centred = np.concatenate([side - side.mean(axis=0) for side in (before, after)])
    common = centred.mean(axis=1)
    level = float((common**2).sum() / freedom)
    sizes = centred.shape[1]
    own = ((centred - common[:, None]) ** 2).sum(axis=0) / freedom * sizes / max(1, sizes - 1)
    single = moderated(own, freedom)
    middle = after.mean(axis=0) - before.mean(axis=0)
    variance = level + single
    known = np.maximum(variance, 1e-300) ** 2 / (level**2 / freedom + single**2 / (freedom + PRIOR) + 1e-300)
    error = np.sqrt(variance * share)
    whole = t_level(float(middle.mean()), math.sqrt(level * share), freedom, share_of_whole(alpha))
    alpha = share_of_sizes(alpha, whole)
    runs = f"{len(before)} and {len(after)} runs"
    beyond = percent(math.sqrt(float(np.median(own))))
    said = f"{runs}: a run's level varies by {percent(math.sqrt(level))}, a size beyond that by {beyond}"
    if min(len(before), len(after)) == 1:
        levels, alone = _among_neighbours(middle, error, known, alpha)
        return Judged(levels, whole, said, _notes_of(alone), alone)
    return Judged(by_t(middle, error, known, alpha), whole, said, ())


def moderated(variance: Floats, freedom: float | Floats) -> Floats:
    """Variances of single sizes with PRIOR degrees of freedom of those nearby beside their own ``freedom``."""
    return np.asarray((freedom * variance + PRIOR * np.maximum(nearby(variance), DIGITS**2)) / (freedom + PRIOR))


def by_scatter(ratio: Floats, twin: Floats | None, alpha: float) -> Judged:
    """From (sizes,) log ratios of single numbers, and those of the second halves."""
    second = (ratio[:-2] - 2 * ratio[1:-1] + ratio[2:]) / math.sqrt(6)
    everywhere = chance.scale(second)
    near = np.array([chance.scale(part) for part in _windows(second, len(ratio))])
    spread = np.maximum(np.maximum(near, everywhere), _LEAST)
    said = f"one number a size and side: the ratio scatters by {percent(everywhere)} about a smooth change"
    if twin is not None:
        halves = chance.scale(twin - ratio - np.median(twin - ratio)) / math.sqrt(2)
        spread = np.maximum(spread, halves)
        said += f", the two halves by {percent(halves)}"
    freedom = np.full(len(ratio), max(1.0, _EFFICIENCY * len(second)))
    whole = _mean_in_order(steady(ratio), float(np.median(spread)), share_of_whole(alpha))
    levels, alone = _among_neighbours(ratio, spread, freedom, share_of_sizes(alpha, whole))
    return Judged(levels, whole, said, (ONE_RUN, *_notes_of(alone)), alone)


def _among_neighbours(
    ratio: Floats, error: Floats, freedom: Floats, alpha: float
) -> tuple[tuple[Level, ...], tuple[bool, ...]]:
    """Each size's level, and whether it is beyond noise though the running median of three sizes is not (or is not there)."""
    own, near = by_t(ratio, error, freedom, alpha), by_t(steady(ratio), error, freedom, alpha)
    few = len(ratio) < THREE
    return own, tuple(bool(side_of(o)) and (few or side_of(o) != side_of(n)) for o, n in zip(own, near, strict=True))


def _notes_of(alone: tuple[bool, ...]) -> tuple[str, ...]:
    if not any(alone):
        return ()
    return ("a size that stands off its neighbours in a single run may be a spike or a change: repeat the measurement",)


def _windows(second: Floats, count: int) -> list[Floats]:
    half = _WINDOW // 2
    return [second[max(0, min(i - 1 - half, len(second) - _WINDOW)) :][:_WINDOW] for i in range(count)]


def _mean_in_order(ratio: Floats, spread: float, alpha: float) -> Level:
    """The mean over sizes, of which neighbours are alike and so count for fewer; at least the noise of single sizes."""
    away = ratio - ratio.mean()
    alike = max(0.0, chance.lag_one(away))
    count = max(2.0, len(ratio) * (1 - alike) / (1 + alike))
    variance = max(float(away @ away) / (len(ratio) - 1), spread**2) / count
    return t_level(float(ratio.mean()), math.sqrt(variance), count - 1, alpha)


def percent(share: float) -> str:
    """``0.0123`` as ``1.2 %``."""
    return f"{100 * share:.2g} %"
