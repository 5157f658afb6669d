"""From measured points to a curve: α-β by relative least squares, in one piece or in as many as the data ask for.

What belongs here: finding the curve and telling how far it is off on points it has not seen.

Least squares of (predicted / measured - 1), so that a microsecond counts for a small message and not for a large one.
Breaks are found by dynamic programming over all cuts of the sorted sizes; the number of pieces is the one with the least
Bayesian information criterion, in which residuals below half a per cent count as noise of the measurement.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopline.curve import Curve, Floats, Piece, meeting
from hopline.records.fit import Fit, HeldOut
from hopline.records.table import Measure
from hopline.study.draws import draw
from hopline.study.points import FEWEST_POINTS, Points

MOST_PIECES = 8
FOLDS = 5
_NOISE = 0.005
"""Residuals below it count as noise of the measurement."""
_MISS = 0.5
"""A miss counts for no more where line and pieces are compared."""
_PARAMETERS = 4
"""A piece costs its latency, its bandwidth, and its break twice, because the best of many places was chosen."""


def calibrate(size: ArrayLike, time: ArrayLike, measure: Measure = "time", most_pieces: int = MOST_PIECES) -> Fit:
    """Fit a curve of at most ``most_pieces`` pieces (1: the plain α-β line) to times in s against sizes in bytes.

    Where the pieces do no better than one line on points left out (misses cut off at 50 %), the answer is the line.
    Raises FitError where the points do not carry a fit.
    """
    line, best = line_and_best(size, time, measure, most_pieces)
    return line if most_pieces == 1 else best


def line_and_best(
    size: ArrayLike, time: ArrayLike, measure: Measure = "time", most_pieces: int = MOST_PIECES
) -> tuple[Fit, Fit]:
    """The plain α-β line, and beside it what ``calibrate`` answers. Raises FitError."""
    points = Points.of(size, time)
    line, line_error = _fit(points, measure, 1)
    if most_pieces == 1:
        return line, line
    pieces, pieces_error = _fit(points, measure, most_pieces)
    return line, pieces if pieces_error < line_error else line


def _fit(points: Points, measure: Measure, most_pieces: int) -> tuple[Fit, float]:
    """A fit, and the error by which it is chosen: a break's place is a guess, so one bad miss counts only so much."""
    curve = _curve(points, most_pieces)
    missed = _held_out(points, most_pieces)
    fit = Fit(
        curve=curve,
        measure=measure,
        smallest=float(points.size[0]),
        largest=float(points.size[-1]),
        points=len(points),
        inside=_error(np.abs(curve.time(points.size) / points.time - 1)),
        held_out=_error(missed),
        draws=draw(points, curve),
    )
    return fit, float(np.minimum(missed, _MISS).mean())


def _held_out(points: Points, most_pieces: int) -> Floats:
    """Every inner size is left out once, FOLDS groups in turn, and predicted by the whole procedure from the rest."""
    inner = np.arange(len(points)) - 1
    inner[-1] = -1
    folds = max(1, min(FOLDS, len(points) - 2))
    errors = []
    for fold in range(folds):
        out = (inner >= 0) & (inner % folds == fold)
        kept = points.take(~out)
        if len(kept) >= 2 and out.any():
            errors.append(np.abs(_curve(kept, most_pieces).time(points.size[out]) / points.time[out] - 1))
    return np.concatenate(errors)


def _error(errors: Floats) -> HeldOut:
    return HeldOut(float(errors.mean()), float(errors.max()), len(errors))


# --- one line -----------------------------------------------------------------------------------------------------


def _sums(points: Points) -> tuple[Floats, float]:
    """Prefix sums of x², xy, y², x, y, 1 with x = 1/t and y = m/t in units of the largest size."""
    scale = float(points.size[-1]) or 1.0
    x, y = 1 / points.time, points.size / scale / points.time
    reference = float(np.median(points.time))
    x, y = x * reference, y * reference
    terms = np.stack([x * x, x * y, y * y, x, y, np.ones_like(x)])
    return np.concatenate([np.zeros((6, 1)), np.cumsum(terms, axis=1)], axis=1), scale


def _line(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """(a, b, squared error) of the best a x + b y = 1 with a, b >= 0, for each column of sums (6, ...)."""
    xx, xy, yy, sx, sy, n = sums
    det = xx * yy - xy * xy
    usable = det > 1e-12 * xx * yy
    safe = np.where(usable, det, 1.0)
    a, b = (yy * sx - xy * sy) / safe, (xx * sy - xy * sx) / safe
    only_b = np.where(yy > 0, sy / np.where(yy > 0, yy, 1.0), 0.0)
    only_a = sx / np.where(xx > 0, xx, 1.0)
    choices = [(a, b), (only_a, np.zeros_like(a)), (np.zeros_like(a), only_b)]
    errors = [n - 2 * (p * sx + q * sy) + p * p * xx + 2 * p * q * xy + q * q * yy for p, q in choices]
    errors[0] = np.where(usable & (a >= 0) & (b >= 0), errors[0], np.inf)
    best = np.argmin(np.stack(errors), axis=0)
    picked = [np.choose(best, [c[i] for c in choices]) for i in (0, 1)]
    return picked[0], picked[1], np.maximum(np.choose(best, errors), 0.0)


# --- several pieces -----------------------------------------------------------------------------------------------


def _curve(points: Points, most_pieces: int) -> Curve:
    sums, scale = _sums(points)
    costs = _segment_costs(points, sums)
    cuts = min(_partitions(costs, min(most_pieces, max(1, len(points) // 2))), key=lambda part: part[0])[1]
    reference = float(np.median(points.time))
    lines = []
    for first, after in pairwise(cuts):
        a, b, _ = _line((sums[:, after] - sums[:, first])[:, None])
        slope = float(b[0]) * reference / scale
        lines.append((float(a[0]) * reference, 1 / slope if slope > 0 else math.inf))
    starts = [0.0] + [_break(points, cut, *lines[i : i + 2]) for i, cut in enumerate(cuts[1:-1])]
    return Curve(tuple(Piece(low, *line) for low, line in zip(starts, lines, strict=True)))


def _segment_costs(points: Points, sums: Floats) -> Floats:
    """cost[i, j]: squared relative error of one line through points i..j-1; infinite for segments that are too short.

    A size of 0 bytes may stand alone: an empty message takes its own way through many stacks.
    """
    n = len(points)
    first, after = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    long_enough = (after - first >= FEWEST_POINTS) | ((first == 0) & (after == n))
    long_enough |= (points.size[0] == 0) & (first == 0) & (after == 1)
    costs = np.full((n + 1, n + 1), np.inf)
    i, j = first[long_enough], after[long_enough]
    costs[long_enough] = _line(sums[:, j] - sums[:, i])[2]
    return costs


def _partitions(costs: Floats, most_pieces: int) -> Iterator[tuple[float, list[int]]]:
    """(information criterion, cuts) of the best partition into 1, 2, ... pieces."""
    n = costs.shape[0] - 1
    least = costs[0]
    back: list[NDArray[np.intp]] = []
    for pieces in range(1, most_pieces + 1):
        if pieces > 1:
            through = least[:, None] + costs
            back.append(np.argmin(through, axis=0))
            least = np.min(through, axis=0)
        if not math.isfinite(least[n]):
            continue
        cuts = [n]
        for previous in reversed(back):
            cuts.append(int(previous[cuts[-1]]))
        misfit = n * math.log(float(least[n]) / n + _NOISE**2)
        yield misfit + _PARAMETERS * pieces * math.log(n), [0, *reversed(cuts)]


def _break(points: Points, cut: int, before: tuple[float, float], after: tuple[float, float]) -> float:
    """Whole bytes where the new piece begins: where the lines meet, if between the two points, else half-way in log."""
    low, high = float(points.size[cut - 1]), float(points.size[cut])
    met = meeting(low, high, before, after)
    if met is not None:
        return min(math.ceil(met), high)
    return min(math.ceil(math.sqrt(low * high)), high) if low > 0 else high
