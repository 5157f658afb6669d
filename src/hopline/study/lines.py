"""One line through a few points by relative least squares, and draws of what else it might be.

What belongs here: the regression of 1 on 1/t and m/t, whose residuals are predicted / measured - 1. Which points and which
noise go in is the callers' business. Draws are made with our own two-by-two root, so that the same seed gives the same
numbers on every machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hopline.curve import Floats

_SINGULAR = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """t = latency + growth · m / scale through points of ``rows``; ``parameters`` are (latency, growth), both in s."""

    rows: Floats
    parameters: Floats
    scale: float

    @classmethod
    def through(cls, size: Floats, time: Floats, weight: Floats | None = None, scale: float | None = None) -> Line:
        """The best line; ``weight`` multiplies residuals, ``scale`` is the size that growth is told at (default: the last)."""
        scale = scale or float(size[-1]) or 1.0
        rows = np.stack([1 / time, size / scale / time], axis=1)
        ones = np.ones(len(size)) if weight is None else weight
        parameters = np.linalg.lstsq(rows * ones[:, None], ones, rcond=None)[0]
        return cls(rows, np.asarray(parameters, dtype=float), scale)

    def at(self, size: float) -> float:
        """Seconds for ``size`` bytes."""
        return float(self.parameters[0] + self.parameters[1] * size / self.scale)

    @property
    def slope(self) -> float:
        """Seconds a byte."""
        return float(self.parameters[1]) / self.scale

    @property
    def squares(self) -> float:
        """Sum of squared relative residuals."""
        rest = self.rows @ self.parameters - 1
        return float(rest @ rest)

    def draws(self, count: int, variance: float, free: float, rng: np.random.Generator) -> Floats:
        """(count, 2) parameters: Student's t of ``free`` degrees about the line, for residuals of ``variance``."""
        a, b, c = (float(self.rows[:, i] @ self.rows[:, j]) for i, j in ((0, 0), (0, 1), (1, 1)))
        determinant = a * c - b * b
        if determinant <= _SINGULAR * a * c:
            return np.tile(self.parameters, (count, 1))
        first = math.sqrt(c / determinant)
        slant = -b / determinant / first
        second = math.sqrt(max(a / determinant - slant * slant, 0.0))
        normal = rng.standard_normal((count, 2)) * np.sqrt(variance * free / rng.chisquare(free, (count, 1)))
        return np.asarray(self.parameters + normal @ np.array([[first, slant], [0.0, second]]))
