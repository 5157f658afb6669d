"""What a real run measures, in which order and for how long.

What belongs here: the plan a user sets, and how the time is divided. Cells are visited in several passes (``cells``), each in
another order, so that a slow drift of the machine does not look like an effect of size or of a rank.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from hopline.errors import InputError
from hopline.run.clock import Clock, is_settled, now
from hopline.run.kinds import BY_NAME, Kind, fitting_sizes

DEFAULT_SIZES = (0, 1, *(2**power for power in range(3, 27)))
"""0 B to 64 MiB."""
LARGEST_SIZE = 2**31 - 1
"""MPI counts are C ints."""
FEWEST_REPEATS = 5
DEFAULT_WINDOW = 64
"""As the OSU benchmarks have it."""
LARGEST_WINDOW = 4096
MOST_RANKS = 256
"""That are started here; a launcher may give more."""
SETTLING_REPEATS = 10
"""Repeats of one turn before a narrow interval may end it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure.

    Attributes
    ----------
    sizes
        Message sizes in bytes; a kind leaves out those that it cannot take.
    seconds
        Time for all cells together, start-up aside. Each gets FEWEST_REPEATS repeats even where this overruns it.
    passes
        Visits of each cell.
    most
        Repeats kept of one cell, over all passes.
    within
        A visit ends early when the 95 % interval of the cell's median lies within this fraction of it.
    seed
        Of the order of cells and of the bytes that are sent.
    kinds
        Names of what is measured, see ``kinds.KINDS``.
    window
        Messages in flight at most, in the kinds that stream.
    ranks
        Ranks to start for kinds that are about as many as there are.
    pair_sizes
        Sizes for all pairs; None takes each kind's own.
    """

    sizes: tuple[int, ...] = DEFAULT_SIZES
    seconds: float = 30.0
    passes: int = 3
    most: int = 400
    within: float = 0.02
    seed: int = 1
    kinds: tuple[str, ...] = ("latency",)
    window: int = DEFAULT_WINDOW
    ranks: int = 2
    pair_sizes: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if not self.sizes or len(set(self.sizes)) != len(self.sizes):
            raise InputError(f"sizes {list(self.sizes)}: expected at least one, and each of them once")
        for size in self.sizes:
            if size != int(size) or not 0 <= size <= LARGEST_SIZE:
                raise InputError(f"size {size}: expected whole bytes from 0 to {LARGEST_SIZE} (2 GiB - 1)")
        if not (math.isfinite(self.seconds) and self.seconds > 0):
            raise InputError(f"time to measure {self.seconds}: expected seconds above 0")
        if self.passes < 1 or self.most < FEWEST_REPEATS or not self.within > 0:
            raise InputError(
                f"passes {self.passes}, most repeats {self.most}, within {self.within}: expected at least 1 pass, "
                f"{FEWEST_REPEATS} repeats and a fraction above 0"
            )
        self._check_kinds()

    def _check_kinds(self) -> None:
        if not self.kinds or not set(self.kinds) <= set(BY_NAME):
            raise InputError(f"kinds {list(self.kinds)}: expected at least one of {', '.join(BY_NAME)}")
        if not 1 <= self.window <= LARGEST_WINDOW:
            raise InputError(f"window {self.window}: expected 1 to {LARGEST_WINDOW} messages in flight")
        if not 2 <= self.ranks <= MOST_RANKS:
            raise InputError(f"{self.ranks} ranks: expected 2 to {MOST_RANKS}")
        for kind in self.chosen:
            self.sizes_of(kind)

    @property
    def chosen(self) -> list[Kind]:
        """The kinds, in the order of their table."""
        return [kind for name, kind in BY_NAME.items() if name in self.kinds]

    def sizes_of(self, kind: Kind) -> tuple[int, ...]:
        """Sizes that the kind is measured at. Raises InputError where it can take none."""
        asked = (self.pair_sizes or kind.sizes) if kind.paired else self.sizes
        return fitting_sizes(kind, asked)

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Plan:
        """From plain values."""
        given: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
        return cls(**given)

    def turn_limit(self, kept: int, visit: int) -> int:
        """Repeats that turn ``visit`` (from 0) of a cell may add when ``kept`` are kept already."""
        return max(self.fewest, math.ceil(self.most * (visit + 1) / self.passes) - kept)

    @property
    def fewest(self) -> int:
        """Repeats of every turn, whatever the time says."""
        return math.ceil(FEWEST_REPEATS / self.passes)


@dataclass(slots=True)
class Budget:
    """The plan's time: what is left is divided evenly over the turns left, so who ends early gives to all others."""

    seconds: float
    turns: int
    clock: Clock = now
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    @property
    def used(self) -> float:
        """Fraction of the time gone, at most 1."""
        return min((self.clock() - self.started) / self.seconds, 1.0)

    def end_of_turn(self) -> float:
        """Clock reading at which the next turn has had its share; counts the turn."""
        at = self.clock()
        left = max(self.started + self.seconds - at, 0.0)
        share = left / max(self.turns, 1)
        self.turns -= 1
        return at + share


def is_over(before: Sequence[float], here: Sequence[float], plan: Plan, limit: int, late: bool) -> bool:
    """Whether a turn ends: ``before`` are the cell's times of earlier turns, ``here`` those of this one."""
    if len(here) < plan.fewest:
        return False
    if late or len(here) >= limit:
        return True
    return len(here) >= SETTLING_REPEATS and is_settled((*before, *here), plan.within)
