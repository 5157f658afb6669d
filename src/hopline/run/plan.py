"""What a real run measures, in which order and for how long.

What belongs here: the plan a user sets, the order of turns, and how the time is divided. Sizes are visited in several
passes, each in another order, so that a slow drift of the machine does not look like an effect of size.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from hopline.errors import InputError
from hopline.run.clock import Clock, is_settled, now

RANKS = 2
"""A ping-pong takes two."""
DEFAULT_SIZES = (0, 1, *(2**power for power in range(3, 27)))
"""0 B to 64 MiB."""
LARGEST_SIZE = 2**31 - 1
"""MPI counts are C ints."""
FEWEST_REPEATS = 5
SETTLING_REPEATS = 10
"""Repeats of one turn before a narrow interval may end it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure.

    Attributes
    ----------
    sizes
        Message sizes in bytes.
    seconds
        Time for all sizes together, start-up aside. Each size gets FEWEST_REPEATS repeats even where this overruns it.
    passes
        Visits of each size.
    most
        Repeats kept of one size, over all passes.
    within
        A size is done early when the 95 % interval of its median lies within this fraction of it.
    seed
        Of the order of sizes and of the bytes that are sent.
    """

    sizes: tuple[int, ...] = DEFAULT_SIZES
    seconds: float = 30.0
    passes: int = 3
    most: int = 400
    within: float = 0.02
    seed: int = 1

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

    def order(self) -> list[int]:
        """The size of every turn: each pass holds all sizes, shuffled anew."""
        shuffled = random.Random(self.seed)
        return [size for _ in range(self.passes) for size in shuffled.sample(self.sizes, len(self.sizes))]

    def turn_limit(self, kept: int, visit: int) -> int:
        """Repeats that turn ``visit`` (from 0) of a size may add when ``kept`` are kept already."""
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
    """Whether a turn ends: ``before`` are the size's times of earlier turns, ``here`` those of this one."""
    if len(here) < plan.fewest:
        return False
    if late or len(here) >= limit:
        return True
    return len(here) >= SETTLING_REPEATS and is_settled((*before, *here), plan.within)
