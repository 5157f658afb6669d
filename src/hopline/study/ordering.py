"""Two groups of numbers compared by their order alone: Mann and Whitney's count, its exact chances and intervals.

What belongs here: rank statistics of two groups.

What is exact: for independent repeats without ties, and up to MOST_EXACT of them, the chance of a count, hence the
interval's level, whatever the distribution. Ties make it wider than need be, never narrower. Above
MOST_EXACT the normal approximation is used, with a correction for continuity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from hopline.curve import Floats

MOST_EXACT = 60
"""Repeats of both groups together up to which chances are counted."""
_MOST_DIFFERENCES = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """Two groups of logs compared: all differences (second less first) in order, and how many of each there are."""

    differences: Floats
    first: int
    second: int

    @classmethod
    def of(cls, before: Floats, after: Floats) -> Ordered:
        """Very many repeats are thinned to evenly spaced order statistics, which is approximate."""
        thin = max(1.0, math.sqrt(len(before) * len(after) / _MOST_DIFFERENCES))
        groups = [
            np.quantile(group, (np.arange(kept := max(1, int(len(group) / thin))) + 0.5) / kept) if thin > 1 else group
            for group in (before, after)
        ]
        return cls(np.sort(np.subtract.outer(groups[1], groups[0]).ravel()), len(before), len(after))

    @property
    def shift(self) -> float:
        """Hodges and Lehmann's estimate: the median difference."""
        return float(np.median(self.differences))

    def interval(self, alpha: float) -> tuple[float, float]:
        """The shift's interval of level 1 - alpha; unbounded where there are too few repeats for that level."""
        cut = critical(alpha / 2, self.first, self.second)
        if cut < 1:
            return -math.inf, math.inf
        place = int(cut * len(self.differences) / (self.first * self.second))
        place = min(max(place, 1), len(self.differences))
        return float(self.differences[place - 1]), float(self.differences[len(self.differences) - place])


def critical(tail: float, first: int, second: int) -> int:
    """The largest C for which at most C - 1 of the first * second pairs being in one order has a chance of ``tail`` or less.

    0 where there is none; the chance is that where nothing differs.
    """
    if first + second <= MOST_EXACT:
        return int(np.searchsorted(_chances(first, second), tail, side="right"))
    mean, sd = _moments(first, second)
    return max(0, math.floor(NormalDist(mean, sd).inv_cdf(tail) + 0.5))


def _moments(first: int, second: int) -> tuple[float, float]:
    return first * second / 2, math.sqrt(first * second * (first + second + 1) / 12)


@lru_cache(maxsize=256)
def _chances(first: int, second: int) -> tuple[float, ...]:
    """Cumulative chances of the count, from the Gaussian binomial coefficient in whole numbers."""
    length = first * second + 1
    ways = [1] + [0] * (length - 1)
    for i in range(1, first + 1):
        step = second + i
        for j in range(length - 1, step - 1, -1):
            ways[j] -= ways[j - step]
        for j in range(i, length):
            ways[j] += ways[j - i]
    total, so_far, out = math.comb(first + second, first), 0, []
    for way in ways:
        so_far += way
        out.append(so_far / total)
    return tuple(out)
