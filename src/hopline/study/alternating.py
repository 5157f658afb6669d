"""What a table says of its own sizes where every second of them is left out.

What belongs here: leaving out, and the two ways of reading the rest: one α-β line, and hopline's reading between neighbours.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hopline.curve import Curve, Floats
from hopline.errors import FitError
from hopline.quantity import counted
from hopline.study.calibrate import calibrate
from hopline.study.points import FEWEST_POINTS, Points
from hopline.study.predict import predict

FEWEST = FEWEST_POINTS + 1
"""Sizes of a table: with one of the inner ones left out, as many stay as a fit needs."""


def line_of(points: Points) -> Curve:
    """α and β by relative least squares. Raises FitError for too few points."""
    return calibrate(points.size, points.time, most_pieces=1).curve


def line(points: Points) -> Floats:
    """Each inner size by one line through the table without every second size, see ``alternating``."""
    return alternating(points, lambda known, sizes: line_of(known).time(sizes))


def reading(points: Points) -> Floats:
    """Each inner size read between its neighbours, see ``alternating``."""
    return alternating(points, lambda known, sizes: predict(known, sizes).time)


def alternating(points: Points, way: Callable[[Points, Floats], Floats]) -> Floats:
    """Seconds of each inner size by ``way`` from the points without every second size, shape (sizes,).

    The ends are never left out, and NaN. Raises FitError for fewer than FEWEST points.
    """
    if len(points) < FEWEST:
        raise FitError(f"{counted(len(points), 'size')}: expected at least {FEWEST}, so that some can be left out")
    found = np.full(len(points), np.nan)
    inner = np.arange(1, len(points) - 1)
    for half in (0, 1):
        out = inner[inner % 2 == half]
        known = points.take(~np.isin(np.arange(len(points)), out))
        found[out] = way(known, points.size[out])
    return found
