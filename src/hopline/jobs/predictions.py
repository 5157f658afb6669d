"""Predictions of a measured operation, refused or widened where they leave what was measured.

What belongs here: which premise about larger messages goes with which benchmark, and the refusal. The statistics are
``study``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hopline.errors import FitError
from hopline.jobs.benchmarks import is_single, is_stream
from hopline.quantity import show
from hopline.records.fit import Prediction
from hopline.study.beyond import COLLECTIVE, SEND, Growth
from hopline.study.points import Points
from hopline.study.predict import predict


def growth(benchmark: str) -> Growth:
    """How bytes get cheaper beyond the measured sizes: single sends and streams less than collectives."""
    return SEND if is_single(benchmark) or is_stream(benchmark) else COLLECTIVE


def predict_within(what: str, points: Points, sizes: Sequence[float], benchmark: str, extrapolate: bool) -> Prediction:
    """Times of ``sizes`` with their 90 % interval, for ``what`` (as messages call it).

    Raises FitError for sizes outside of the measured range without ``extrapolate``.
    """
    outside = [m for m in sizes if not points.size[0] <= m <= points.size[-1]]
    if outside and not extrapolate:
        raise FitError(
            f"{show(outside[0], 'size')} lies outside of the measured {show(points.size[0], 'size')} to "
            f"{show(points.size[-1], 'size')} of {what}: give --extrapolate to go on beyond it, with the interval that "
            "this is worth"
        )
    return predict(points, np.asarray(sizes, dtype=float), growth(benchmark))
