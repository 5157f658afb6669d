"""The main job on this machine: measure, fit on part of the sizes, predict the rest.

What belongs here: the order of things in ``hopline demo`` and what is concluded from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as File

import numpy as np

from hopline.curve import Floats
from hopline.jobs import measuring
from hopline.jobs.measuring import Watcher
from hopline.records.fit import Fit
from hopline.records.sample import Sample
from hopline.run.plan import Plan
from hopline.study.calibrate import line_and_best

FITTED_SIZES = tuple(sorted([2**power for power in range(3, 27)] + [3 * 2**power for power in range(2, 25)]))
HELD_OUT_SIZES = tuple(5 * 2**power for power in range(1, 24, 2))
"""Each between two of the fitted sizes."""
_PASSES = 10
"""Visits of each size: a slow drift of the machine then touches all sizes alike."""
_WITHIN = 0.004
_MOST_REPEATS = 3000


@dataclass(frozen=True, slots=True)
class Demonstration:
    """Samples of all sizes, the fits on FITTED_SIZES alone, and what they say of HELD_OUT_SIZES."""

    samples: list[Sample]
    line: Fit
    pieces: Fit
    predicted: list[tuple[Sample, float]]
    all_size: Floats
    all_time: Floats

    @property
    def errors(self) -> list[float]:
        """Relative error of each prediction."""
        return [time / sample.median - 1 for sample, time in self.predicted]


def plan(seconds: float) -> Plan:
    """Fitted and held-out sizes together, with repeats enough to use the time."""
    sizes = FITTED_SIZES + HELD_OUT_SIZES
    return Plan(sizes=sizes, seconds=seconds, passes=_PASSES, most=_MOST_REPEATS, within=_WITHIN)


def measure(seconds: float, file: File, watch: Watcher) -> list[Sample]:
    """Measure all sizes. Raises KeyboardInterrupt when it was interrupted; what was measured is in ``file``."""
    measured = measuring.measure(plan(seconds), file, watch)
    if measured.interrupted:
        raise KeyboardInterrupt
    return measured.samples


def conclude(samples: Sequence[Sample]) -> Demonstration:
    """Fit on the fitted sizes and predict the held-out ones."""
    known = [s for s in samples if s.size in FITTED_SIZES]
    unseen = [s for s in samples if s.size in HELD_OUT_SIZES]
    size, time = [float(s.size) for s in known], [s.median for s in known]
    line, pieces = line_and_best(size, time)
    predicted = [(s, float(t)) for s, t in zip(unseen, pieces.curve.time([float(s.size) for s in unseen]), strict=True)]
    every = np.array([float(s.size) for s in samples]), np.array([s.median for s in samples])
    return Demonstration(list(samples), line, pieces, predicted, *every)
