"""Times beyond the largest measured size, and below the smallest: what extrapolation is worth.

What belongs here: the draws of a curve that goes on where the points end, and the premises behind their width.

Beyond the end the time grows by the slope of the last octaves, relative least squares, with Student's uncertainty. A
table that ends while latency still makes up much of the time has not shown its bandwidth: libraries turn to leaner
protocols and more channels with larger messages. So beyond REACH times the largest size each further byte is cheaper by
a factor exp(g), g normal with mean and width that grow with the latency's share of the last time. ``Growth`` holds the
numbers. They describe 40 NCCL tables of H100 and GB200 nodes cut off at 512 KiB to 16 MiB (``make validate`` repeats it);
for single sends the effect is smaller.

Below the first size the line of the first points leads on, down to a tenth of the first time at most; how far off that may
be grows over the first octaves, and with the part of the first time that grows with size. The same tables, cut off below
at 1 KiB to 4 MiB, have 85 to 99 % of their smaller sizes in such intervals. Nothing here is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hopline.curve import Floats
from hopline.study.lines import Line
from hopline.study.points import Points

DRAWS = 400
REACH = 2.0
"""Times the largest size up to which bytes cost what they did before."""
_OCTAVES = 4.0
_FEWEST = 4
"""The line of an end goes through the points of so many octaves, or so many points at least."""
_PRIOR_POINTS = 2.0
_PRIOR_NOISE = 0.03
"""Relative scatter that is believed before, and how many points that counts for."""
_LEAST_LEVEL = 0.2
"""Least part of the time at the end that a drawn line has there."""
_LEAST_SLOPE = 0.12
"""Least share of the last time that grows with size: a flatter line says only that bandwidth is far off."""
_LEAST_START = 0.1
"""Least part of the first time that a smaller message costs."""
_OCTAVES_BELOW = 3.0
_BELOW, _BELOW_SHARE = 0.22, 1.2
"""Width (in log time) of what lies so far below, and more of it for the part of the first time that grows with size."""


@dataclass(frozen=True, slots=True)
class Growth:
    """How much cheaper a byte becomes beyond the end: exp(g) with g ~ normal(most · (1 - exp(-share / scale)), width(share)).

    ``bend`` is the width (in log time, of the whole) that is gone into on the way to REACH.
    """

    most: float
    scale: float = 0.15
    narrow: float = 0.08
    wide: float = 0.6
    bend: float = 0.22

    def drawn(self, share: Floats, rng: np.random.Generator) -> Floats:
        """One g for each share of latency in the last measured time."""
        mean = self.most * (1 - np.exp(-share / self.scale))
        width = self.narrow + self.wide * np.minimum(share, 0.5)
        return np.asarray(mean + width * rng.standard_normal(share.shape))


COLLECTIVE, SEND = Growth(0.7), Growth(0.15, wide=0.4)


def above(points: Points, size: Floats, growth: Growth, end: float | None = None, seed: int = 0) -> Floats:
    """(DRAWS, sizes) seconds for ``size`` (1-D) beyond the last point; the same seed gives the same draws.

    ``end`` is the time in s that is predicted for the last point itself (its own by default): the draws begin around it.
    """
    rng = np.random.default_rng(seed)
    lines = _lines(points.take(_tail(points)), -1, rng)
    level, slope = lines.level, np.clip(lines.share, _LEAST_SLOPE, 1.0) * lines.level
    gain = growth.drawn(1 - slope / level, rng)
    reach = np.asarray(size, dtype=float)[None, :] / points.size[-1]
    near, far = np.minimum(reach, REACH), np.maximum(reach - REACH, 0.0)
    seconds = (level - slope)[:, None] + slope[:, None] * (near + far * np.exp(-gain)[:, None])
    way = np.clip(np.log(reach) / np.log(REACH), 0, 1)
    return np.asarray(seconds * lines.strayed(points.time[-1] if end is None else end, way, growth.bend * way, rng))


def below(points: Points, size: Floats, end: float | None = None, seed: int = 0) -> Floats:
    """(DRAWS, sizes) seconds for ``size`` (1-D) below the first point, down the line of the first points.

    ``end`` is the time in s that is predicted for the first point itself (its own by default).
    """
    rng = np.random.default_rng(seed)
    lines = _lines(points.take(np.arange(len(points)) < _FEWEST), 0, rng)
    share = np.clip(lines.share, 0.0, 1.0)[:, None]
    sizes = np.asarray(size, dtype=float)[None, :]
    seconds = lines.level[:, None] * np.maximum(1 - share * (1 - sizes / points.size[0]), _LEAST_START)
    way = np.clip(np.log2(points.size[0] / np.maximum(sizes, 1.0)) / _OCTAVES_BELOW, 0, 1)
    way = np.where(points.size[0] <= 1, 1.0, way)
    width = (_BELOW + _BELOW_SHARE * share) * way
    return np.asarray(seconds * lines.strayed(points.time[0] if end is None else end, way, width, rng))


def _tail(points: Points) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    inside = points.size >= points.size[-1] / 2**_OCTAVES
    if inside.sum() < _FEWEST:
        inside = np.arange(len(points)) >= len(points) - _FEWEST
    return np.asarray(inside)


@dataclass(frozen=True, slots=True)
class _Lines:
    """DRAWS of the line at an end: ``level``, its seconds there, and ``share``, the part of them that grows with size.

    ``middle`` is the level of the best line, ``noise`` how far points scatter around it (relative).
    """

    level: Floats
    share: Floats
    middle: float
    noise: float

    def strayed(self, end: float, way: Floats, width: Floats, rng: np.random.Generator) -> Floats:
        """(DRAWS, sizes) factors that lead from ``end`` to the line on the ``way``, with ``width`` of the way's own.

        A new point has its noise, and ``end`` has had its own.
        """
        anchor = (1 - way) * np.log(end / self.middle)
        noise = self.noise * np.sqrt(1 + (1 - way) ** 2)
        wander = width * rng.standard_normal((DRAWS, 1)) + noise * rng.standard_normal((DRAWS, 1))
        return np.asarray(np.exp(anchor + wander))


def _lines(part: Points, end: int, rng: np.random.Generator) -> _Lines:
    """The line of ``part`` at its point ``end``, by relative least squares with Student's uncertainty."""
    line = Line.through(part.size, part.time, scale=float(part.size[end]) or 1.0)
    at = np.array([1.0, part.size[end] / line.scale])
    free = max(len(part) - 2, 1) + _PRIOR_POINTS
    variance = (line.squares + _PRIOR_POINTS * _PRIOR_NOISE**2) / free
    drawn = line.draws(DRAWS, variance, free, rng)
    least = _LEAST_LEVEL * float(part.time[end])
    level = np.maximum(drawn @ at, least)
    return _Lines(level, drawn[:, 1] * at[1] / level, max(float(line.parameters @ at), least), math.sqrt(variance))
