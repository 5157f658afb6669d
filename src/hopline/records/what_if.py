"""What a change would bring, found by playing a measured step again.

What belongs here: the answers. How they are found is ``study/what_if``.
"""

from __future__ import annotations

from dataclasses import dataclass

from hopline.records.contention import Slowdown

WRONG = 0.05
"""Relative error of a rank's replay beyond which nothing is concluded from it."""


STILL = 0.2
"""Share of the critical path that may stand still unexplained."""
UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True)
class Part:
    """Seconds of the critical path by what they went to: ``compute``, ``copy``, ``transfer``, ``communication``, ``host``,
    ``launch``, ``sync``, ``gap`` (between works of a stream), ``before`` (until the rank began) or ``unexplained``: work that
    began later than its launch and all that it is known to have waited for let it. That stays as it was in every answer.
    """

    name: str
    time: float


@dataclass(frozen=True, slots=True)
class WhatIf:
    """One change.

    Attributes
    ----------
    name, value
        Of CHANGES, and how much of it (None: it takes none).
    words
        The change in words.
    before, after
        Seconds of the step, as replayed without and with the change.
    ceiling
        Seconds if what the change speeds up cost nothing at all; None where there is no such thing.
    binds
        Parts of the critical path after the change, the largest first.
    premises
        What the answer takes to be so, a sentence each.
    at_most
        Whether waiting that the traces cannot tell from transfer is in what was made faster: the change brings this or less.
    """

    name: str
    value: float | None
    words: str
    before: float
    after: float
    ceiling: float | None
    binds: tuple[Part, ...]
    premises: tuple[str, ...] = ()
    at_most: bool = False

    @property
    def gain(self) -> float:
        """Share of the step that is saved; negative where it gets longer."""
        return 1 - self.after / self.before if self.before else 0.0

    @property
    def speedup(self) -> float:
        """Before over after."""
        return self.before / self.after if self.after else float("inf")

    @property
    def next(self) -> str:
        """What the largest part of the step then goes to."""
        return self.binds[0].name if self.binds else ""


@dataclass(frozen=True, slots=True)
class WhatIfs:
    """All changes that were asked about, and what they stand on.

    Attributes
    ----------
    measured, replayed
        Seconds of the step; played again, with what is unexplained kept as it was.
    errors
        By what share each rank's time is off, in the order of the traces, where it is played with what explains it only:
        works, waits, launches and successions as they usually are.
    ceiling
        Seconds of the step if all communication cost nothing.
    binds
        Parts of the critical path as replayed without a change.
    contention
        How kernels and transfers slow one another down.
    answers
        In the order of the questions; empty where the replay is off by more than WRONG.
    premises
        What all answers take to be so.
    refused
        Why nothing is answered; "" where it is.
    """

    measured: float
    replayed: float
    errors: tuple[float, ...]
    ceiling: float
    binds: tuple[Part, ...]
    contention: tuple[Slowdown, ...]
    answers: tuple[WhatIf, ...]
    premises: tuple[str, ...] = ()
    refused: str = ""

    @property
    def unexplained(self) -> float:
        """Share of the critical path that stood still for no reason that the traces tell."""
        return (
            sum(part.time for part in self.binds if part.name == UNEXPLAINED) / self.replayed if self.replayed else 0.0
        )

    @property
    def error(self) -> float:
        """The largest of the ranks' errors, as a share."""
        return max(map(abs, self.errors), default=0.0)
