"""What models say beside what was measured, size by size.

What belongs here: the record, its errors and their summary. Who says what is ``model``, ``sim`` and ``study``; who asks them
is ``jobs``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hopline.curve import Floats
from hopline.errors import InputError
from hopline.records.estimate import Premise

RANKS_FIT = "ranks <= cores"
"""The premise without which no figure of real ranks is judged."""
APART = 0.15
"""Relative error from which a model and a measurement count as apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One model's times.

    Attributes
    ----------
    model, basis
        How it is called, and what it goes by in a line.
    time
        Seconds, shape (sizes,); NaN where it says nothing.
    ways
        What it takes at each size (an algorithm, a protocol), shape (sizes,); empty where there is nothing to choose.
    """

    model: str
    basis: str
    time: Floats
    ways: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """One measured operation and all that is said of it.

    Attributes
    ----------
    title, source
        What was measured, in a line, and where that comes from (a file, real ranks).
    size, time
        Bytes and measured seconds (medians), shape (sizes,), in order of size.
    low, high
        Seconds that 5 % and 95 % of the repeats do not exceed; NaN where there are no repeats.
    columns
        Models, in the order in which they are shown.
    premises
        What the figures stand on.
    left
        Models that say nothing at all, and why: (model, reason).
    notes
        What was left out of the measurement.
    size_is
        What ``size`` counts, as heads of tables say it.
    """

    title: str
    source: str
    size: Floats
    time: Floats
    low: Floats
    high: Floats
    columns: tuple[Column, ...]
    premises: tuple[Premise, ...] = ()
    left: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    size_is: str = "size"

    def __post_init__(self) -> None:
        shapes = {len(array) for array in (self.size, self.time, self.low, self.high, *(c.time for c in self.columns))}
        if len(shapes) != 1:
            raise InputError(f"comparison {self.title!r}: columns of {sorted(shapes)} sizes, expected one length")

    def column(self, model: str) -> Column:
        """The column of a model. Raises InputError where it has none."""
        for column in self.columns:
            if column.model == model:
                return column
        raise InputError(f"comparison {self.title!r} has no model {model!r}: it has {[c.model for c in self.columns]}")

    def errors(self, column: Column) -> Floats:
        """Relative errors of time, shape (sizes,): above 0 where the model is too slow; NaN where it says nothing."""
        found: Floats = column.time / self.time - 1.0
        return found

    def inside(self, column: Column) -> Floats:
        """1.0 where a time lies between ``low`` and ``high``, else 0.0; NaN where one of them is not known."""
        known = ~np.isnan(column.time + self.low + self.high)
        within = (self.low <= column.time) & (column.time <= self.high)
        return np.where(known, within.astype(float), np.nan)

    def summary(self, column: Column) -> Summary | None:
        """All sizes of a model; None where it says nothing."""
        errors = self.errors(column)
        known = np.flatnonzero(~np.isnan(errors))
        if not len(known):
            return None
        off = np.abs(errors[known])
        worst = int(known[off.argmax()])
        inside = self.inside(column)
        share = None if np.isnan(inside).all() else float(np.nanmean(inside))
        return Summary(
            len(known), float(off.mean()), float(np.median(off)), float(errors[worst]), float(self.size[worst]),
            int(np.count_nonzero(off > APART)), share,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Summary:
    """Errors of a model over sizes.

    Attributes
    ----------
    sizes
        Number of sizes of which it says something.
    mean, median
        Of the absolute relative errors.
    worst, worst_size
        The relative error that is farthest from 0, with its sign, and its size in bytes.
    apart
        Sizes at which the error is more than APART.
    inside
        Part of the sizes at which the model lies within 5 to 95 % of the repeats; None: no repeats.
    """

    sizes: int
    mean: float
    median: float
    worst: float
    worst_size: float
    apart: int
    inside: float | None
