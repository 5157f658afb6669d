"""What a change would bring, found by playing a measured step again.

What belongs here: the answers. How they are found is ``study/what_if``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hopline.records.contention import Slowdown

WRONG = 0.05
"""Relative error of a rank's replay beyond which nothing is concluded from it."""
STILL = 0.2
"""Share of the critical path that may stand still unexplained."""
UNSEEN = 0.5
"""Share of the critical path in which nothing may be seen of the host, with what is unexplained."""
UNEXPLAINED, SILENT = "unexplained", "silent"


@dataclass(frozen=True, slots=True)
class Part:
    """Seconds of the critical path by what they went to: ``compute``, ``copy``, ``transfer``, ``communication``, ``host``,
    ``launch``, ``sync``, ``gap`` (between works of a stream), ``before`` (until the rank began), ``silent`` (nothing is seen
    of the host) or ``unexplained``: work that began later than its launch and all that it is known to have waited for let it.
    The last three stay as they were in every answer.
    """

    name: str
    time: float


@dataclass(frozen=True, slots=True)
class Swap:
    """Collectives of one kind, priced on another machine or by another algorithm.

    Attributes
    ----------
    op, size, ranks
        What, bytes as benchmarks count them, and how many take part.
    times
        How many of them there are.
    measured, there
        Seconds of one after its last rank had come: the mean of what was measured, and what one would take.
    algorithm
        By which it goes there.
    waits
        Whether waiting that cannot be told from transfer is in ``measured``.
    """

    op: str
    size: int
    ranks: int
    times: int
    measured: float
    there: float
    algorithm: str
    waits: bool = False


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
        Whether waiting that the traces cannot tell from transfer is in what was made faster, and makes a difference: the
        change brings this or less.
    surely
        Seconds of the step if all of that is waiting, which stays: the change brings this or more. None where ``after`` is.
    within_error
        Whether the replay without a change is off by as much as the change brings: it may as well bring nothing.
    prices
        What collectives take where they were put on another machine, those with most measured time first; else ().
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
    within_error: bool = False
    prices: tuple[Swap, ...] = ()
    surely: float | None = None

    @property
    def gain(self) -> float:
        """Share of the step that is saved; negative where it gets longer."""
        return 1 - self.after / self.before if self.before else 0.0

    @property
    def sure_gain(self) -> float:
        """What of it is no bound: what is saved even if all that may be waiting stays."""
        return 1 - self.surely / self.before if self.surely is not None and self.before else self.gain

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
        Seconds of the span; played again, with what is unexplained kept as it was.
    errors
        By what share each rank's time is off, in the order of the traces, where it is played with what explains it only:
        works, waits, launches and successions as they usually are.
    ceiling
        Seconds of the step if all communication cost nothing.
    ceiling_surely
        The same if all that may be waiting stays: the ceiling is a bound, and the step takes at least that long. None where
        waiting is known from transfer, or makes no difference.
    binds
        Parts of the critical path as replayed without a change.
    contention
        How kernels and transfers slow one another down.
    answers
        In the order of the questions; empty where nothing is concluded (``refused``).
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
    ceiling_surely: float | None = None

    @property
    def unexplained(self) -> float:
        """Share of the critical path that stood still for no reason that the traces tell."""
        return share(self.binds, UNEXPLAINED)

    @property
    def silent(self) -> float:
        """Share of the critical path in which nothing is seen of the host."""
        return share(self.binds, SILENT)

    @property
    def error(self) -> float:
        """The largest of the ranks' errors, as a share."""
        return max(map(abs, self.errors), default=0.0)


def share(parts: Sequence[Part], name: str) -> float:
    """How much of a path one of its parts is."""
    whole = sum(part.time for part in parts)
    return sum(part.time for part in parts if part.name == name) / whole if whole else 0.0
