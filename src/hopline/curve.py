"""The atom: time = latency + size / bandwidth, in one piece or several.

What belongs here: the piecewise α-β curve as plain data. Machines hold curves, fits find them, models read them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopline.errors import InputError
from hopline.quantity import NON_NEGATIVE

Floats = NDArray[np.float64]
Line = tuple[float | Floats, float | Floats]
"""(latency in s, bandwidth in byte/s) of one hop; arrays broadcast against the sizes."""


@dataclass(frozen=True, slots=True)
class Piece:
    """time = latency + size / bandwidth from ``low`` bytes (included) up to the next piece; s and byte/s.

    ``bandwidth`` is infinite where time does not grow with size.
    """

    low: float
    latency: float
    bandwidth: float

    def __post_init__(self) -> None:
        NON_NEGATIVE.check("the first size of a piece", self.low)
        NON_NEGATIVE.check("latency", self.latency)
        if not self.bandwidth > 0:
            raise InputError(f"bandwidth is {self.bandwidth!r}: expected a number above 0")


@dataclass(frozen=True, slots=True)
class Curve:
    """Pieces in order of size, the first from 0 bytes. One piece is the plain α-β line."""

    pieces: tuple[Piece, ...]

    def __post_init__(self) -> None:
        lows = [piece.low for piece in self.pieces]
        if not lows or lows[0] != 0 or any(a >= b for a, b in pairwise(lows)):
            raise InputError(f"the pieces of a curve begin at {lows}: expected 0 first, then growing sizes")

    @classmethod
    def line(cls, latency: float, bandwidth: float) -> Curve:
        """The curve of one piece."""
        return cls((Piece(0.0, latency, bandwidth),))

    @property
    def breaks(self) -> tuple[float, ...]:
        """Sizes in bytes at which a new piece begins."""
        return tuple(piece.low for piece in self.pieces[1:])

    def at(self, size: ArrayLike) -> tuple[Floats, Floats]:
        """(latency, bandwidth) of the piece that ``size`` falls into, in the shape of ``size``."""
        index = np.searchsorted(np.array(self.breaks), np.asarray(size, dtype=float), side="right")
        latencies = np.array([piece.latency for piece in self.pieces])
        bandwidths = np.array([piece.bandwidth for piece in self.pieces])
        return np.asarray(latencies[index]), np.asarray(bandwidths[index])

    def piece_at(self, size: float) -> Piece:
        """The piece that one ``size`` in bytes falls into."""
        return next(piece for piece in reversed(self.pieces) if size >= piece.low)

    def time(self, size: ArrayLike) -> Floats:
        """Seconds for ``size`` bytes (any shape)."""
        latency, bandwidth = self.at(size)
        return np.asarray(latency + np.asarray(size, dtype=float) / bandwidth)

    def capped(self, bandwidth: float) -> Curve:
        """The same curve with no piece faster than ``bandwidth``."""
        if math.isinf(bandwidth):
            return self
        return Curve(tuple(Piece(p.low, p.latency, min(p.bandwidth, bandwidth)) for p in self.pieces))

    def delayed(self, latency: float) -> Curve:
        """The same curve with ``latency`` seconds more in each piece."""
        return Curve(tuple(Piece(p.low, p.latency + latency, p.bandwidth) for p in self.pieces))


Hop = Line | Curve
"""What a model needs to know of one hop."""


def line_at(hop: Hop, size: ArrayLike) -> Line:
    """(latency, bandwidth) of ``hop`` for messages of ``size``."""
    if not isinstance(hop, Curve):
        return hop
    if len(hop.pieces) == 1:
        return hop.pieces[0].latency, hop.pieces[0].bandwidth
    return hop.at(size)


def breaks_of(hops: Sequence[Hop]) -> tuple[float, ...]:
    """All sizes at which any hop changes its piece, in order."""
    return tuple(sorted({low for hop in hops if isinstance(hop, Curve) for low in hop.breaks}))


def meeting(low: float, high: float, before: tuple[float, float], after: tuple[float, float]) -> float | None:
    """The size in (low, high] at which two lines, each (latency, bandwidth), cost the same; None where there is none."""
    slope = 1 / after[1] - 1 / before[1]
    met = (before[0] - after[0]) / slope if slope else math.inf
    return met if low < met <= high else None
