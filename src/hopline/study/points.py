"""Measured points as studies take them: one time for each size, in order of size.

What belongs here: the points, their checks, and nothing that is concluded from them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopline.curve import Floats
from hopline.errors import FitError

FEWEST_POINTS = 3
MOST_POINTS = 1000
"""Of more distinct sizes evenly spaced ones are kept: searching for breaks takes the square of them in memory."""


@dataclass(frozen=True, slots=True)
class Points:
    """Distinct sizes in growing order with their median times."""

    size: Floats
    time: Floats

    @classmethod
    def of(cls, size: ArrayLike, time: ArrayLike) -> Points:
        """Raises FitError for times that are not above 0 and for fewer than FEWEST_POINTS distinct sizes."""
        sizes, times = np.asarray(size, dtype=float), np.asarray(time, dtype=float)
        if not np.all(np.isfinite(times) & (times > 0) & np.isfinite(sizes) & (sizes >= 0)):
            raise FitError("the points hold times or sizes that are not positive numbers")
        distinct, middle = medians(sizes, times)
        kept = np.unique(np.linspace(0, len(distinct) - 1, min(MOST_POINTS, len(distinct))).round().astype(int))
        distinct, middle = distinct[kept], middle[kept]
        if len(distinct) < FEWEST_POINTS:
            few = f"{len(distinct)} distinct size{'s are' if len(distinct) > 1 else ' is'} too few for a fit"
            raise FitError(f"{few}: expected at least {FEWEST_POINTS}")
        return cls(distinct, middle)

    def take(self, mask: NDArray[np.bool_]) -> Points:
        """The points where ``mask`` is true."""
        return Points(self.size[mask], self.time[mask])

    def __len__(self) -> int:
        return len(self.size)


def medians(size: Floats, time: Floats) -> tuple[Floats, Floats]:
    """Distinct sizes in growing order, and the median of the times of each."""
    distinct, index = np.unique(size, return_inverse=True)
    if not len(distinct):
        return distinct, distinct
    starts = np.cumsum(np.bincount(index, minlength=len(distinct)))[:-1]
    groups = np.split(time[np.argsort(index, kind="stable")], starts)
    return distinct, np.array([float(np.median(group)) for group in groups])
