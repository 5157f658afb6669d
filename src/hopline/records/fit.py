"""Fits: a curve that was learnt from points, with its error on points it had not seen.

What belongs here: the fitted curve, how well it holds, what it predicts, and what is odd about its points. Finding them is
``study``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopline.curve import Curve, Floats
from hopline.records.table import Measure


def interval(values: Sequence[float], level: float = 0.9) -> tuple[float, float]:
    """The order statistics that enclose the middle ``level`` of drawn values, which may be infinite."""
    ordered = sorted(values)
    outside = max(int((len(ordered) + 1) * (1 - level) / 2) - 1, 0)
    return ordered[outside], ordered[-1 - outside]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Relative errors |predicted / measured - 1| on points left out of the fit: mean, largest, of how many points."""

    mean: float
    worst: float
    points: int


@dataclass(frozen=True, slots=True)
class Fit:
    """A curve with its evidence.

    Attributes
    ----------
    curve
        The piecewise α-β curve.
    measure
        ``time`` or ``gap`` (see records.table): a gap's "latency" is the least time per message, not a latency.
    smallest, largest
        The measured range in bytes; outside of it a prediction is an extrapolation.
    points
        How many points the curve was fitted to.
    inside, held_out
        Its error on those points, and on points left out, each in turn, of the same procedure.
    draws
        Curves of as many pieces that are equally likely given the points: what is known of all parameters together.
    """

    curve: Curve
    measure: Measure
    smallest: float
    largest: float
    points: int
    inside: HeldOut
    held_out: HeldOut
    draws: tuple[Curve, ...] = ()

    def intervals(self, piece: int, level: float = 0.9) -> tuple[tuple[float, float], tuple[float, float]]:
        """((low, high) of the latency in s, (low, high) of the bandwidth in byte/s) of one piece, from the draws."""
        drawn = [curve.pieces[piece] for curve in self.draws] or [self.curve.pieces[piece]]
        return interval([p.latency for p in drawn], level), interval([p.bandwidth for p in drawn], level)

    def extrapolates(self, size: ArrayLike) -> NDArray[np.bool_]:
        """True where ``size`` lies outside of the measured range."""
        sizes = np.asarray(size, dtype=float)
        return np.asarray((sizes < self.smallest) | (sizes > self.largest))


@dataclass(frozen=True, slots=True)
class Finding:
    """Something odd about a table: its kind in a word, what it is in a line, and the sizes in bytes that it is about."""

    kind: str
    text: str
    smallest: float
    largest: float


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """What a repeat of the measurement would show, for several sizes.

    Attributes
    ----------
    size, time
        Bytes and seconds, of one length.
    low, high
        The 90 % interval of a new measured median, in seconds: how sure the model is and how much such medians scatter.
    """

    size: Floats
    time: Floats
    low: Floats
    high: Floats
