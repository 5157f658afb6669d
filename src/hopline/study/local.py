"""What a measurement of a size between the measured ones would show: a curve through the points, and how far it is off.

What belongs here: reading between points. The α-β curve that explains them is ``calibrate``; what lies outside of the
measured range is ``beyond``.

Between two measured sizes the time lies on or near their chord. Where the lines of the next interval on either side both
pass below it (or both above), the truth lies between them and the chord, and BEND of the way is gone towards them. One
point that stands out from both of its neighbours counts as noise. How far this is off is measured on the table itself:
every inner size is left out once and predicted from the others, and these errors, large where the table is rough, make
the interval (split-conformal: distribution-free where errors are exchangeable, approximate where they are not).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopline.curve import Floats
from hopline.study.chance import LEVEL, NINETY
from hopline.study.lines import Line
from hopline.study.points import Points

BEND = 0.4
SPIKE = 1.25
"""A point this factor beyond both of its neighbours is taken for noise."""
DENSE = 60
"""From so many sizes on neighbours are close enough for smoothing to be tried."""
_FEW = (6.31, 2.32, 1.66, 1.40, 1.25, 1.16, 1.09, 1.04)
"""What encloses LEVEL of normal errors, in units of the largest of 1, 2, ... 8 others: too few for a quantile."""
_NEAR, _NEAR_DENSE = 5, 40
"""Neighbours whose errors tell how rough a place is: of sparse sizes, of dense ones."""
_SHARED = 0.6
"""Part of a place's roughness that is taken from the whole table: few neighbours tell little."""
_LEAST = 1e-3
"""What printed digits leave at least."""
_NORMAL = NINETY / 0.6745
"""From the median of absolute errors to what holds LEVEL of them, where they are normal."""
AGAIN = math.sqrt(2 / 1.5)
"""A new point against a single old one, over a left-out point against a mean of two."""
_UNDER = 1.22
"""The least of two estimates of noise is too small by about this (simulated; independent normal noise)."""
"""Noise of the difference of two points over that of one from the mean of two others."""
_CAP = 0.5
"""A miss counts for no more where ways of reading are compared."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How points are read: ``window`` neighbours on each side smooth a point, ``bend`` of the way leads off the chord."""

    window: int = 0
    bend: float = BEND


_SPARSE_SHAPES = (Shape(),)
_DENSE_SHAPES = (Shape(0, 0.0), Shape(4, 0.0), Shape(8, 0.0), Shape())


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """A reading of points: the knots it goes through, and its errors on each size when that was left out.

    Attributes
    ----------
    knots
        The points after smoothing; the curve goes through them.
    shape
        How they are joined.
    places, errors
        log2(1 + size) of the inner sizes, and |log(measured / predicted)| there with the size left out.
    """

    knots: Points
    shape: Shape
    places: Floats
    errors: Floats

    @classmethod
    def of(cls, points: Points) -> Local:
        """Read ``points``; of several ways of reading them, the one that predicts left-out sizes best."""
        shapes = _DENSE_SHAPES if len(points) >= DENSE else _SPARSE_SHAPES
        tried = [(shape, _left_out(points, shape)) for shape in shapes]
        shape, errors = min(tried, key=lambda pair: float(np.minimum(pair[1], _CAP).mean()))
        return cls(_knots(points, shape), shape, np.log2(1 + points.size[1:-1]), errors)

    def time(self, size: ArrayLike) -> Floats:
        """Seconds for sizes inside of the measured range, in the shape of ``size``."""
        return _between(self.knots, self.shape.bend, np.asarray(size, dtype=float))

    def spread(self, size: ArrayLike) -> Floats:
        """H such that a fraction LEVEL of new medians lies within time · exp(±h)."""
        return self._quantile() * self._scale(np.log2(1 + np.asarray(size, dtype=float)))

    def noise(self) -> float:
        """The same for a size that was measured: nothing is read between points there, so only their scatter counts.

        From the median error, as if errors were normal; a left-out point is compared with a mean of two others, a new one
        with a single other. Bends of the curve make it too large rather than too small.
        """
        return _NORMAL * AGAIN * _UNDER * float(np.median(self.errors)) + _LEAST

    def _quantile(self) -> float:
        """Of the errors in units of their neighbours' scale, with the conformal (n + 1) correction."""
        own = np.arange(len(self.errors))
        ratios = np.sort(self.errors / self._scale(self.places, without=own))
        if len(ratios) <= len(_FEW):
            return float(ratios[-1]) * _FEW[len(ratios) - 1]
        return float(np.interp((len(ratios) + 1) * LEVEL - 1, own, ratios))

    def _scale(self, places: Floats, without: NDArray[np.intp] | None = None) -> Floats:
        """Typical error near ``places``: the mean of the nearest ones, drawn to that of all."""
        flat = np.atleast_1d(places).reshape(-1)
        apart = np.abs(flat[:, None] - self.places[None, :])
        if without is not None:
            apart[np.arange(len(flat)), without] = math.inf
        near = min(_NEAR_DENSE if len(self.knots) >= DENSE else _NEAR, len(self.places))
        nearest = np.argpartition(apart, near - 1, axis=1)[:, :near]
        local = self.errors[nearest].mean(axis=1)
        mixed = (1 - _SHARED) * local + _SHARED * self.errors.mean() + _LEAST
        return np.asarray(mixed.reshape(np.shape(places)))


def _left_out(points: Points, shape: Shape) -> Floats:
    """|log(measured / predicted)| of each inner size, left out alone, or with every third one where there are many."""
    n = len(points)
    errors = np.zeros(n)
    groups = [np.array([i]) for i in range(1, n - 1)] if n < DENSE else [np.arange(1 + j, n - 1, 3) for j in range(3)]
    for group in groups:
        kept = np.ones(n, dtype=bool)
        kept[group] = False
        predicted = _between(_knots(points.take(kept), shape), shape.bend, points.size[group])
        errors[group] = np.abs(np.log(points.time[group] / predicted))
    return errors[1:-1]


def _knots(points: Points, shape: Shape) -> Points:
    time = _without_spikes(points)
    if shape.window:
        time = _smoothed(points.size, time, shape.window)
    return Points(points.size, time)


def _without_spikes(points: Points) -> Floats:
    """Times with each point that stands out from both neighbours moved onto their chord.

    The one that stands out most goes first, since a neighbour of it may only seem to.
    """
    size, time = points.size, points.time.copy()
    way = (size[1:-1] - size[:-2]) / (size[2:] - size[:-2])
    kept = np.ones(len(way), dtype=bool)
    while kept.any():
        before, here, after = time[:-2], time[1:-1], time[2:]
        stands = np.maximum(here / np.maximum(before, after), np.minimum(before, after) / here) * kept
        worst = int(np.argmax(stands))
        if stands[worst] <= SPIKE:
            break
        kept[worst] = False
        time[worst + 1] = before[worst] * (1 - way[worst]) + after[worst] * way[worst]
    return time


def _smoothed(size: Floats, time: Floats, window: int) -> Floats:
    """Each point on the α-β line of its neighbours (relative least squares, nearer ones weigh more)."""
    n = len(size)
    smooth = np.empty(n)
    for i in range(n):
        near = slice(max(0, i - window), min(n, i + window + 1))
        weight = np.sqrt(1 - np.abs(np.arange(n)[near] - i) / (window + 1))
        line = Line.through(size[near], time[near], weight)
        smooth[i] = np.clip(line.at(float(size[i])), time[near].min(), time[near].max())
    return smooth


def _between(knots: Points, bend: float, size: Floats) -> Floats:
    """Times at ``size`` (any shape), which lies inside of the knots."""
    s, t = knots.size, knots.time
    last = len(s) - 2
    i = np.clip(np.searchsorted(s, size, side="right") - 1, 0, last)
    slope = np.diff(t) / np.diff(s)
    way = (size - s[i]) / (s[i + 1] - s[i])
    chord = t[i] * (1 - way) + t[i + 1] * way
    if bend == 0 or last < 1:
        return np.asarray(chord)
    before = np.where(i > 0, t[i] + slope[np.maximum(i - 1, 0)] * (size - s[i]), chord)
    after = np.where(i < last, t[i + 1] + slope[np.minimum(i + 1, last)] * (size - s[i + 1]), chord)
    nearer = np.where(before < chord, np.maximum(before, after), np.minimum(before, after))
    same_side = (before - chord) * (after - chord) > 0
    bound = np.clip(nearer, np.minimum(t[i], t[i + 1]), np.maximum(t[i], t[i + 1]))
    return np.asarray(np.where(same_side, chord + bend * (bound - chord), chord))
