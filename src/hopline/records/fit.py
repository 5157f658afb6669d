"""Fits: a time against size that was learnt from points, with its error on points it had not seen.

What belongs here: the fitted curve as data and how to read it. Finding it is ``study/calibrate``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hopline.errors import FitError
from hopline.records.table import Floats, Measure


@dataclass(frozen=True, slots=True)
class Piece:
    """time = latency + size / bandwidth for sizes from ``low`` (included) up to ``high`` (excluded), in SI.

    ``bandwidth`` is infinite where time does not grow with size.
    """

    low: float
    high: float
    latency: float
    bandwidth: float

    def time(self, size: ArrayLike) -> Floats:
        """Seconds for ``size`` bytes, inside the piece or not."""
        return np.asarray(self.latency + np.asarray(size, dtype=float) / self.bandwidth)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Relative errors |predicted/measured - 1| on points left out of the fit: mean, largest, and of how many points."""

    mean: float
    worst: float
    points: int


@dataclass(frozen=True, slots=True)
class Fit:
    """A piecewise α-β curve.

    Attributes
    ----------
    pieces
        In order of size, without gaps; one piece is the plain α-β line.
    measure
        ``time`` or ``gap`` (see records.table): a gap's "latency" is the least time per message, not a latency.
    smallest, largest
        The measured range in bytes; outside of it a prediction is an extrapolation.
    points
        How many points the curve was fitted to.
    held_out
        Its error on points left out, in turn, of the same procedure.
    """

    pieces: tuple[Piece, ...]
    measure: Measure
    smallest: float
    largest: float
    points: int
    held_out: HeldOut

    def __post_init__(self) -> None:
        if not self.pieces or any(a.high != b.low for a, b in zip(self.pieces, self.pieces[1:], strict=False)):
            raise FitError("the pieces of a fit must follow one another without gaps")

    @property
    def breaks(self) -> tuple[float, ...]:
        """Sizes in bytes at which a new piece begins."""
        return tuple(piece.low for piece in self.pieces[1:])

    def time(self, size: ArrayLike) -> Floats:
        """Predicted seconds for ``size`` bytes (any shape)."""
        sizes = np.asarray(size, dtype=float)
        index = np.searchsorted(np.array(self.breaks), sizes, side="right")
        latency = np.array([p.latency for p in self.pieces])[index]
        return np.asarray(latency + sizes / np.array([p.bandwidth for p in self.pieces])[index])

    def extrapolates(self, size: ArrayLike) -> np.ndarray:
        """True where ``size`` lies outside of the measured range."""
        sizes = np.asarray(size, dtype=float)
        return np.asarray((sizes < self.smallest) | (sizes > self.largest))
