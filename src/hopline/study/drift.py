"""What the whole system did while pairs were measured: a level that all of them share, taken out before they are compared.

What belongs here: levels by round and by time stamp. A pair's own change over time is not one of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hopline.curve import Floats
from hopline.study import chance

_FEWEST_PAIRS = 6
"""That a round must have for its median to count."""
_SURE = 3.0
"""A level's variance over what noise alone gives it, from which drift is told."""
_DEGREE = 3
"""Of the polynomial in time: a drift that turns twice."""
_APART = 0.5
"""Repeats of a pair are spread over the run where they span more than this part of it."""
_HUBER = 1.345
"""Huber's constant: 95 % as good as least squares where the noise is normal."""
_TURNS = 12
"""By Huber's weights, and as many by Tukey's."""


def level_of_rounds(logs: Floats, there: NDArray[np.bool_]) -> tuple[Floats, float]:
    """(repeats,) level of the repeats of the same number over all pairs, and its range as a factor.

    Where repeat r of every pair was taken at about the same time, it is the drift of the system; where it was not, it is
    the same small number for all pairs and harms nothing. Rounds that fewer than half of the pairs have are left alone.
    """
    counts = there.sum(axis=0)
    enough = (counts >= _FEWEST_PAIRS) & (2 * counts >= len(logs))
    if logs.shape[1] < 2 or enough.sum() < 2:
        return np.zeros(logs.shape[1]), 1.0
    away = logs - chance.row_medians(logs, there)[:, None]
    level = np.where(enough, chance.row_medians(away.T, there.T), 0.0)
    own = chance.scale((away - level)[there & (away != 0)]) if np.any(there & (away != 0)) else 0.0
    expected = np.pi / 2 * own**2 / counts[enough].mean()
    told = np.var(level[enough], ddof=1) > _SURE * expected
    return level, float(np.exp(np.ptp(level[enough]))) if told else 1.0


def level_of_time(
    logs: Floats, there: NDArray[np.bool_], stamps: Floats, kinds: NDArray[np.int_]
) -> tuple[Floats, float]:
    """(pairs, repeats) level as a cubic in the time stamp, and its range as a factor.

    Where each pair's repeats are spread over the run, it is learnt from how a pair differs from itself, which no slow
    pair can tilt. Where a pair was measured all at once, it is learnt from all pairs beside the means of their kinds, by a
    regression that drops outliers: what changes smoothly with time is taken for drift, what stands out for a slow pair
    or rank. In an order by sender, drift and ranks that grow slower one after another look the same.
    """
    first, last = stamps[there].min(), stamps[there].max()
    if last <= first:
        return np.zeros(logs.shape), 1.0
    basis = np.polynomial.legendre.legvander(2 * (stamps - first) / (last - first) - 1, _DEGREE)[..., 1:]
    own = np.where(there, stamps, -np.inf).max(axis=1) - np.where(there, stamps, np.inf).min(axis=1)
    middles = (basis * there[..., None]).sum(axis=1) / there.sum(axis=1)[:, None]
    centres = chance.row_medians(logs, there)
    if np.median(own) > _APART * (last - first):
        coefficients = _regress((basis - middles[:, None])[there], (logs - centres[:, None])[there])
    else:
        means = (kinds[:, None] == np.arange(kinds.max() + 1)).astype(float)
        coefficients = _regress(np.concatenate([middles, means], axis=1), centres)[:_DEGREE]
    level = basis @ coefficients
    return level, float(np.exp(np.ptp(level[there])))


def _regress(x: Floats, y: Floats) -> Floats:
    """Robust regression without a constant: Huber's, then Tukey's biweight, which drops outliers."""
    weight = np.ones(len(y))
    found: Floats = np.zeros(x.shape[1])
    for turn in range(2 * _TURNS):
        root = np.sqrt(weight)
        found = np.asarray(np.linalg.lstsq(x * root[:, None], y * root, rcond=1e-6)[0])
        away = np.abs(y - x @ found)
        spread = chance.MAD * float(np.median(away))
        if not spread > 0:
            break
        away = away / spread
        weight = chance.huber(away, _HUBER) if turn < _TURNS else chance.biweight(away / chance.BIWEIGHT)
    return found
