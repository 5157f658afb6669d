"""Predictions of measured times, each with its 90 % interval, inside and outside of the measured range.

What belongs here: putting ``local`` and ``beyond`` together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hopline.curve import Floats
from hopline.errors import InputError
from hopline.records.fit import Prediction
from hopline.study import beyond
from hopline.study.beyond import Growth
from hopline.study.chance import LEVEL
from hopline.study.local import AGAIN, Local
from hopline.study.points import Points


def predict(points: Points, size: ArrayLike, growth: Growth | None = None) -> Prediction:
    """Times in s of ``size`` bytes (1-D); ``growth`` says how to go on beyond the points, None: not at all.

    Raises InputError for sizes outside of the measured range without ``growth``.
    """
    sizes = np.asarray(size, dtype=float)
    inside = (sizes >= points.size[0]) & (sizes <= points.size[-1])
    if growth is None and not inside.all():
        raise InputError(f"{sizes[~inside][0]:g} bytes lie outside of the measured range")
    time, low, high = (np.empty(len(sizes)) for _ in range(3))
    local = Local.of(points)
    first, last = local.time(points.size[[0, -1]]).tolist()
    if inside.any():
        middle, half = local.time(sizes[inside]), local.spread(sizes[inside])
        half = np.where(np.isin(sizes[inside], points.size), np.minimum(half * AGAIN, local.noise()), half)
        time[inside], low[inside], high[inside] = middle, middle * np.exp(-half), middle * np.exp(half)
    above, under = sizes > points.size[-1], sizes < points.size[0]
    if above.any():
        drawn = beyond.above(points, sizes[above], growth or beyond.COLLECTIVE, last)
        time[above], low[above], high[above] = _middle(drawn)
    if under.any():
        time[under], low[under], high[under] = _middle(beyond.below(points, sizes[under], first))
    return Prediction(sizes, time, low, high)


def _middle(drawn: Floats) -> Floats:
    """(median, low, high) of each column."""
    return np.asarray(np.quantile(drawn, (0.5, (1 - LEVEL) / 2, (1 + LEVEL) / 2), axis=0))
