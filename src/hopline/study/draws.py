"""Joint draws of a fitted curve's parameters: how far latencies, bandwidths and breaks are known, together.

What belongs here: uncertainty of what was fitted, and how measured times scatter about it. That of a prediction between the
points is ``local``'s, beyond them ``beyond``'s.

Each piece is a relative least-squares line, so its parameters are drawn from the bivariate t of that regression (the
usual non-informative posterior), with two allowances: pieces of three points borrow noise from the others, and residuals
that lie on one side in rows (a smooth misfit) count for fewer points than there are, by (1 + r) / (1 - r) of their lag-one
correlation r. Where two pieces meet between measured sizes the break is drawn with them; where they do not, anywhere
between the two sizes. Parameters below 0 are set to 0. Approximate throughout.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np

from hopline.curve import Curve, Floats, Piece, meeting
from hopline.study.chance import lag_one
from hopline.study.lines import Line
from hopline.study.points import Points

KEPT = 100
"""Curves that are drawn."""
_DIGITS = 6
"""Of a drawn parameter: a machine file holds no more."""
_BORROWED = 2.0
"""Degrees of freedom of the noise that a piece borrows from the others."""
_LEAST_NOISE = 0.002
"""Relative scatter that printed digits and the like leave at least."""
_MOST_INFLATION = 5.0
_MOST_LOG = 20.0
"""Of the variance, for residuals that hang together."""
NEAR = 7
"""Sizes from which the scatter at one of them is learnt."""
_MOST_TAKEN = 0.75
"""Part of the scatter that a fit can have taken up at most, where pieces are many and points few."""

_Lines = list[tuple[float, float]]


def draw(points: Points, curve: Curve, seed: int = 0) -> tuple[Curve, ...]:
    """KEPT curves of as many pieces as ``curve``, equally likely given ``points``. The same seed gives the same draws."""
    rng = np.random.default_rng(seed)
    owner = np.searchsorted(np.array(curve.breaks), points.size, side="right")
    parts = [points.take(owner == piece) for piece in range(len(curve.pieces))]
    noise = _noise(points, curve)
    drawn = [_lines(part, curve.pieces[i], noise, rng) for i, part in enumerate(parts)]
    gaps = [(float(a.size[-1]), float(b.size[0])) for a, b in pairwise(parts)]
    return tuple(_curve([lines[k] for lines in drawn], gaps, rng) for k in range(KEPT))


def _noise(points: Points, curve: Curve) -> float:
    """Variance of a relative residual, with the allowance for residuals that hang together."""
    rest = curve.time(points.size) / points.time - 1
    free = max(len(points) - 2 * len(curve.pieces), 1)
    follows = lag_one(rest) if len(points) > 2 else 0.0
    together = min(max((1 + follows) / max(1 - follows, 1e-9), 1.0), _MOST_INFLATION)
    return max(float(rest @ rest) / free, _LEAST_NOISE**2) * together


def _lines(part: Points, piece: Piece, noise: float, rng: np.random.Generator) -> _Lines:
    """KEPT of (latency, bandwidth) for one piece."""
    if len(part) == 1:
        times = part.time[0] * np.exp(np.clip(math.sqrt(noise) * rng.standard_normal(KEPT), -_MOST_LOG, _MOST_LOG))
        return [(_rounded(float(t)), piece.bandwidth) for t in times]
    line = Line.through(part.size, part.time)
    line = replace(line, parameters=np.array([piece.latency, line.scale / piece.bandwidth]))
    free = len(part) - 2 + _BORROWED
    variance = max((line.squares + _BORROWED * noise) / free, noise / 4)
    return [_line(float(a), float(b), line.scale, part) for a, b in line.draws(KEPT, variance, free, rng)]


def _line(latency: float, slope: float, scale: float, part: Points) -> tuple[float, float]:
    """One drawn line within bounds; one that both bounds would make free costs what the first point did."""
    if latency <= 0 and slope <= 0:
        return _rounded(float(part.time[0])), math.inf
    return _rounded(max(latency, 0.0)), _rounded(scale / slope) if slope > 0 else math.inf


def scatter_near(size: Floats, time: Floats, curve: Curve, at: float) -> float:
    """How measured times scatter about a fitted curve near ``at`` bytes: a standard deviation of their log.

    Root mean square over the NEAR nearest sizes, with what the fit itself took up given back.
    """
    near = np.argsort(np.abs(np.log2(1 + size) - np.log2(1 + at)))[:NEAR]
    measured, fitted = time[near], curve.time(size[near])
    known = fitted > 0
    if not known.any():
        return 0.0
    taken = min(2 * len(curve.pieces) / len(size), _MOST_TAKEN)
    return float(np.sqrt(np.mean(np.log(measured[known] / fitted[known]) ** 2) / (1 - taken)))


def _curve(lines: _Lines, gaps: list[tuple[float, float]], rng: np.random.Generator) -> Curve:
    starts = [0.0]
    for i, (low, high) in enumerate(gaps):
        met = meeting(low, high, *lines[i : i + 2])
        at = (
            met
            if met is not None
            else low + (high - low) * rng.random()
            if low <= 0
            else low * (high / low) ** rng.random()
        )
        starts.append(float(min(math.ceil(at), high)))
    return Curve(tuple(Piece(low, *line) for low, line in zip(starts, lines, strict=True)))


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
