"""How far healthy pairs and ranks scatter, learnt from the data with causes unnamed still among them.

What belongs here: the two-way polish and the noise that follows. Naming causes is ``suspects``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopline.curve import Floats
from hopline.study import chance
from hopline.study.centres import Centres, own_error

HEALTHY_RANKS = 0.01
"""Relative standard deviation between healthy ranks that is always allowed for; more where the data show more."""
HEALTHY_PAIRS = 0.015
"""The same between healthy pairs, as a first guess; the data overrule it, see PRIOR."""
PRIOR = 6.0
"""What that guess weighs, in degrees of freedom (a moderated variance, after Smyth 2004)."""
ENOUGH_RANKS = 5
"""With fewer, pairs leave no freedom to tell noise from ranks: the guess stands alone."""
_EFFICIENCY = 0.8
"""Of a robust variance, beside a plain one of as many residuals."""
_MEDIANS, _MEANS = 4, 3
"""Turns of a polish by medians, then by means."""
_REACH = 2.0
"""Standard deviations from which on a residual pulls no harder."""


@dataclass(frozen=True, slots=True, eq=False)
class Noise:
    """How far healthy pairs scatter.

    Attributes
    ----------
    pair
        (n, n) standard deviation of one pair's centre; infinite where nothing was measured.
    freedom
        (kinds,) degrees of freedom behind it, and ``ranks`` those of all kinds together.
    kind
        (kinds,) its root mean square over each kind.
    rank
        Standard deviation between healthy ranks.
    sender, receiver
        (n,) healthy differences of ranks, shrunk by how well they are known; 0 on the whole.
    """

    pair: Floats
    freedom: Floats
    ranks: float
    kind: Floats
    rank: float
    sender: Floats
    receiver: Floats

    @property
    def known(self) -> float:
        """How much of the healthy differences of ranks is known, at the median rank: from 0 to 1."""
        if not self.sender.any():
            return 0.0
        error = 1 / np.maximum((self.pair**-2.0).sum(axis=1), 1e-12)
        return float(self.rank**2 / (self.rank**2 + np.median(error)))


def polish(rest: Floats, there: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """Effects of rows and columns, each of median 0, and what is left (nan where nothing was measured).

    Median polish (Tukey 1977), which outliers do not tilt, then a few steps towards Huber's estimate, which loses little
    to a mean: residuals of medians alone are too small (by a third for 6 ranks).
    """
    left = np.where(there, rest, 0.0)
    rows, columns = np.zeros((2, len(rest)))
    for turn in range(_MEDIANS + _MEANS):
        weight = there.astype(float) if turn < _MEDIANS else _weights(left, there)
        centre = _medians if turn < _MEDIANS else _means
        step = centre(left, weight)
        rows, left = rows + step, left - step[:, None]
        step = centre(left.T, weight.T)
        columns, left = columns + step, left - step
    return rows - np.median(rows), columns - np.median(columns), np.where(there, left, np.nan)


def _weights(left: Floats, there: NDArray[np.bool_]) -> Floats:
    reach = _REACH * chance.scale(left[there]) / math.sqrt(_share(there, 1) or 1.0)
    return np.where(there, chance.huber(left, reach or 1.0), 0.0)


def _medians(left: Floats, weight: Floats) -> Floats:
    return np.nan_to_num(chance.row_medians(left, weight > 0))


def _means(left: Floats, weight: Floats) -> Floats:
    return np.asarray((weight * left).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-300))


def _share(there: NDArray[np.bool_], kinds: int) -> float:
    """The part of the pairs that is free once kinds, senders and receivers are fitted."""
    return float(max(0.0, 1 - (2 * len(there) - 2 + kinds) / there.sum()))


def noise(data: Centres, rest: Floats) -> Noise:
    """From what the named causes leave. Robust: a cause not yet named moves it little."""
    there, n, kinds = data.there, len(data.ranks), len(data.labels)
    rows, columns, left = polish(rest, there)
    own = np.nan_to_num(own_error(data))
    share = _share(there, kinds) if n >= ENOUGH_RANKS else 0.0
    variance, freedom = np.zeros((2, kinds))
    for c in range(kinds):
        of = data.label == c
        known = np.mean(own[of] ** 2)
        seen = chance.scale(left[of]) ** 2 / share if share else 0.0
        free = _EFFICIENCY * share * of.sum()
        guess = known + HEALTHY_PAIRS**2
        variance[c] = max((free * seen + PRIOR * guess) / (free + PRIOR), known)
        freedom[c] = free + PRIOR
    index = np.maximum(data.label, 0)
    fixed = np.array([np.mean(own[data.label == c] ** 2) for c in range(kinds)])
    pair = np.where(there, np.sqrt((variance - fixed)[index] + own**2), np.inf)
    ranks = float(freedom.sum() - PRIOR * (kinds - 1))
    between, sender, receiver = (
        _between(rows, columns, pair) if n >= ENOUGH_RANKS else (HEALTHY_RANKS, *np.zeros((2, n)))
    )
    return Noise(pair, freedom, ranks, np.sqrt(variance), between, sender, receiver)


def _between(rows: Floats, columns: Floats, pair: Floats) -> tuple[float, Floats, Floats]:
    """The healthy standard deviation between ranks, and their effects shrunk by it (best linear prediction)."""
    weight = pair**-2.0
    errors = [1 / np.maximum(weight.sum(axis=axis), 1e-12) for axis in (1, 0)]
    both, known = np.concatenate([rows, columns]), np.concatenate(errors)
    there = known < 1e6
    seen = (chance.MAD * float(np.median(np.abs(both[there])))) ** 2
    variance = max(HEALTHY_RANKS**2, seen - float(np.median(known[there])))
    shrunk = [effect * variance / (variance + error) for effect, error in zip((rows, columns), errors, strict=True)]
    return math.sqrt(variance), shrunk[0], shrunk[1]
