"""Times beyond the largest measured size, and below the smallest: what extrapolation is worth.

What belongs here: the draws of a curve that goes on where the points end, and the premises behind their width.

Beyond the end the time grows by the slope of the last octaves, relative least squares, with Student's uncertainty. A
table that ends while latency still makes up much of the time has not shown its bandwidth: libraries turn to leaner
protocols and more channels with larger messages. So beyond REACH times the largest size each further byte is cheaper by
a factor exp(g), g normal with mean and width that grow with the latency's share of the last time. ``Growth`` holds the
numbers. They describe 40 NCCL tables of H100 and GB200 nodes cut off at 512 KiB to 16 MiB (``make validate`` repeats it);
for single sends the effect is smaller. Nothing here is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hopline.curve import Floats
from hopline.study.points import Points

DRAWS = 400
REACH = 2.0
_OCTAVES = 4.0
_FEWEST = 4
_PRIOR_POINTS = 2.0
_PRIOR_NOISE = 0.03
_LEAST_SLOPE = 0.12
"""Least share of the last time that grows with size: a flatter line says only that bandwidth is far off."""
_FIRST_POINTS = 4


@dataclass(frozen=True, slots=True)
class Growth:
    """How much cheaper a byte becomes beyond the end: exp(g) with g ~ normal(most · (1 - exp(-share / scale)), width(share)).

    ``bend`` is the width (in log time, of the whole) that is gone into on the way to REACH.
    """

    most: float
    scale: float = 0.15
    narrow: float = 0.08
    wide: float = 0.6
    bend: float = 0.25

    def drawn(self, share: Floats, rng: np.random.Generator) -> Floats:
        """One g for each share of latency in the last measured time."""
        mean = self.most * (1 - np.exp(-share / self.scale))
        width = self.narrow + self.wide * np.minimum(share, 0.5)
        return np.asarray(mean + width * rng.standard_normal(share.shape))


COLLECTIVE, SEND = Growth(0.7), Growth(0.15, wide=0.4)


def above(points: Points, size: Floats, growth: Growth, seed: int = 0) -> Floats:
    """(DRAWS, sizes) seconds for ``size`` (1-D) beyond the last point; the same seed gives the same draws."""
    rng = np.random.default_rng(seed)
    largest = float(points.size[-1])
    tail = points.take(_tail(points))
    level, slope = _last_lines(tail, rng)
    share = 1 - slope / level
    gain = growth.drawn(share, rng)
    reach = np.asarray(size, dtype=float)[None, :] / largest
    near, far = np.minimum(reach, REACH), np.maximum(reach - REACH, 0.0)
    seconds = (level - slope)[:, None] + slope[:, None] * (near + far * np.exp(-gain)[:, None])
    way = np.clip(np.log(reach) / np.log(REACH), 0, 1)
    return np.asarray(seconds * np.exp(growth.bend * way * rng.standard_normal((DRAWS, 1))))


def _tail(points: Points) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    inside = points.size >= points.size[-1] / 2**_OCTAVES
    if inside.sum() < _FEWEST:
        inside = np.arange(len(points)) >= len(points) - _FEWEST
    return np.asarray(inside)


def _last_lines(tail: Points, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """DRAWS of (time at the largest size, part of it that grows with size)."""
    rows = np.stack([1 / tail.time, tail.size / tail.size[-1] / tail.time], axis=1)
    line = np.linalg.lstsq(rows, np.ones(len(tail)), rcond=None)[0]
    free = max(len(tail) - 2, 1) + _PRIOR_POINTS
    rest = rows @ line - 1
    variance = (rest @ rest + _PRIOR_POINTS * _PRIOR_NOISE**2) / free
    covariance = np.linalg.pinv(rows.T @ rows) * variance
    student = np.sqrt(free / rng.chisquare(free, DRAWS))
    drawn = line + rng.multivariate_normal(np.zeros(2), covariance, DRAWS) * student[:, None]
    level = np.maximum(drawn.sum(axis=1), 0.2 * tail.time[-1])
    return level, np.clip(drawn[:, 1] / level, _LEAST_SLOPE, 1.0) * level


def below(points: Points, size: Floats, seed: int = 0) -> Floats:
    """(DRAWS, sizes) seconds for ``size`` (1-D) below the first point: between it and where its line meets 0 bytes."""
    rng = np.random.default_rng(seed)
    first = points.take(np.arange(len(points)) < _FIRST_POINTS)
    scatter = float(np.std(np.log(first.time / np.median(first.time))))
    slope = max(0.0, float((first.time[-1] - first.time[0]) / (first.size[-1] - first.size[0])))
    start = first.time[0] - slope * (first.size[0] - np.asarray(size, dtype=float))
    start = np.clip(start, 0.5 * first.time[0], first.time[0])
    noise = (_PRIOR_NOISE + min(scatter, 0.5)) * rng.standard_normal((DRAWS, 1))
    return np.asarray(start[None, :] * np.exp(noise))
