"""Stragglers: who the others wait for.

What belongs here: how often each rank came last, and what that cost the others. How it is counted is ``study/stragglers``.
"""

from __future__ import annotations

from dataclasses import dataclass

ALWAYS = 0.9
"""Share of collectives in which the last was the same rank that counts as always."""
ENOUGH = 3
"""Collectives below which nothing is said of always."""


@dataclass(frozen=True, slots=True)
class Straggler:
    """A rank that others waited for.

    Attributes
    ----------
    trace, label
        Its number, and how people speak of it.
    times
        Collectives in which it surely came last.
    waited
        Nanoseconds that the others waited for it, added up over them.
    longest
        Nanoseconds that the longest waiter of each of these collectives waited, added up over the collectives.
    """

    trace: int
    label: str
    times: int
    waited: int
    longest: int


@dataclass(frozen=True, slots=True)
class Stragglers:
    """Who came last in those collectives of which it can be told.

    Attributes
    ----------
    ranks
        Those that came last at least once, whom the others waited for most first.
    collectives
        How many tell who came last, those included in which two came too close together.
    undecided, undecided_wait
        How many of them leave it open between two or more, within the clocks' error, and the nanoseconds waited there.
    waited
        Nanoseconds waited in all of them, over all ranks.
    time
        Nanoseconds that all ranks spent in them, waiting and transfer together.
    """

    ranks: tuple[Straggler, ...]
    collectives: int
    undecided: int
    undecided_wait: int
    waited: int
    time: int

    @property
    def always(self) -> Straggler | None:
        """The rank that came last (nearly) every time; None where there is none, or too few collectives."""
        most = max(self.ranks, key=lambda one: one.times, default=None)
        decided = self.collectives - self.undecided
        return most if most is not None and decided >= ENOUGH and most.times >= ALWAYS * decided else None
