"""Step times that a training program wrote into its log, and what they say.

What belongs here: the steps and timers of a log, and the answer about them. How lines are read is ``formats``; what is slow,
drifts or comes back is ``study``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Seconds = NDArray[np.float64]

Basis = Literal["printed", "stamps", "smoothed"]
BASES: dict[Basis, str] = {
    "printed": "the log's own times",
    "stamps": "the times at which its lines were written",
    "smoothed": "a progress bar's rate, which is averaged over the steps before",
}
"""Where step times come from."""
LIKE = 0.05
"""Levels that differ by less are one for people."""
BEFORE = -1
"""The step of a timer that stands before the first step."""


@dataclass(frozen=True, slots=True, eq=False)
class Timer:
    """One of the program's timers, over ranks.

    Attributes
    ----------
    step
        The step whose line stands before it, shape (lines,); BEFORE the first.
    least, most
        Seconds of the fastest and of the slowest rank, shape (lines,); ``least`` is NaN where only the most is told.
    """

    step: Numbers
    least: Seconds
    most: Seconds


@dataclass(frozen=True, slots=True, eq=False)
class StepLog:
    """The steps of one log, in the order of its lines.

    Attributes
    ----------
    source, kind
        The file, and whose log it is.
    basis
        Where times come from.
    step
        Number of the step, shape (lines,).
    time
        Seconds of a step, shape (lines,): of each line the mean over the steps since the line before.
    stamp
        Seconds since 1970 in the log's own time zone, shape (lines,); NaN where a line has none.
    run
        Which start of the program a line is of, from 0, shape (lines,).
    line
        Number of the line in the file, from 1, shape (lines,).
    timers
        By name.
    told
        What is odd about the file.
    ranks
        Label -> median seconds of a step, where several ranks print; of them ``step`` and the others are one's.
    """

    source: str
    kind: str
    basis: Basis
    step: Numbers
    time: Seconds
    stamp: Seconds
    run: Numbers
    line: Numbers
    timers: Mapping[str, Timer] = field(default_factory=dict)
    told: tuple[str, ...] = ()
    ranks: Mapping[str, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.step)


@dataclass(frozen=True, slots=True)
class Run:
    """One start of the program.

    Attributes
    ----------
    first, last
        Steps of its first and last line.
    lines, warm
        Lines, and how many at its beginning are left out as warm-up.
    median
        Seconds of a step after the warm-up.
    redone
        Steps that the run before had done already.
    gap
        Seconds between the last line of the run before and its own first; None: not told.
    """

    first: int
    last: int
    lines: int
    warm: int
    median: float
    redone: int = 0
    gap: float | None = None


@dataclass(frozen=True, slots=True)
class Level:
    """Lines of a run whose steps take as long: a run has several where the time of a step changes and stays so.

    Attributes
    ----------
    run
        Which start, from 0.
    first, last
        Steps of its first and last line.
    lines
        How many, after the warm-up.
    median
        Seconds of a step.
    """

    run: int
    first: int
    last: int
    lines: int
    median: float


@dataclass(frozen=True, slots=True)
class Slow:
    """A line whose steps took longer than usual: ``excess`` seconds a step above the median of its level."""

    step: int
    line: int
    time: float
    excess: float
    run: int
    every: int | None = None
    """The period that it is part of; None: none."""


@dataclass(frozen=True, slots=True)
class Periodic:
    """Slow steps that come back: those with step % ``every`` == ``phase``.

    Attributes
    ----------
    hits, chances
        How many such steps were slow, of how many.
    extra
        Median seconds above the usual.
    share
        Of the whole time.
    """

    every: int
    phase: int
    hits: int
    chances: int
    extra: float
    share: float


@dataclass(frozen=True, slots=True)
class Drift:
    """A change of usual steps over a run: medians of its first and last third, ``error`` of their difference (one sigma)."""

    run: int
    before: float
    after: float
    error: float

    @property
    def change(self) -> float:
        """Relative; above 0: steps become slower."""
        return self.after / self.before - 1


@dataclass(frozen=True, slots=True)
class TimerShare:
    """A timer over all steps after the warm-up.

    Attributes
    ----------
    name, lines
        Which, and how often it stands there.
    median
        Seconds of the slowest rank.
    share
        Of a step; None: it stands at steps that are not told, or is no part of each.
    spread
        Median over lines of slowest less fastest rank, seconds; None: not told.
    """

    name: str
    lines: int
    median: float
    share: float | None
    spread: float | None


@dataclass(frozen=True, slots=True)
class StepReport:
    """What a log says about its steps.

    Attributes
    ----------
    source, kind, basis, told
        As in StepLog.
    lines, every
        Lines used (without warm-up), and steps a line stands for.
    median, low, high
        Seconds of a step: median, 5 % and 95 % quantiles of the lines of the usual levels.
    usual
        Lines of those: of the level with most lines, and of those as fast within LIKE.
    total
        Seconds of all steps together, warm-up included.
    lost
        Share of ``total`` above the median of each level, after the warm-up: what even steps would save.
    levels
        In the order of the log.
    ranks
        As in StepLog: where several ranks print.
    runs, slow, periodic, drifts, timers
        See there; slow ones by their excess, most first.
    threshold
        Seconds above which a line is slow (of the last run).
    """

    source: str
    kind: str
    basis: Basis
    lines: int
    every: int
    median: float
    low: float
    high: float
    total: float
    lost: float
    runs: tuple[Run, ...]
    slow: tuple[Slow, ...]
    periodic: tuple[Periodic, ...]
    drifts: tuple[Drift, ...]
    timers: tuple[TimerShare, ...]
    threshold: float
    told: tuple[str, ...] = ()
    usual: int = 0
    levels: tuple[Level, ...] = ()
    ranks: Mapping[str, float] = field(default_factory=dict)
