"""Contests: all algorithms of a collective side by side, on one network.

What belongs here: the form of the answer: times, winners by size, what binds them, what was left out, what would help.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hopline.records.estimate import Estimate, Premise

TIE = 1e-9
"""Relative difference up to which two times are the same."""
DIFFERS = 0.01
"""Relative difference from which a simulated time is told apart from the closed form's."""

NO_GAIN = 1.005
"""Ratio of two times up to which a change is none."""
Parts = Literal["", "chunk", "ring"]
CHUNK: Parts = "chunk"
RING: Parts = "ring"
"""What an algorithm may make several of: cut into chunks, or go over rings at once."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One algorithm at one size.

    Attributes
    ----------
    estimate
        By closed form; ``low`` and ``high`` are its bounds where the form is not exact, ``value`` then is the upper one.
    chunks, channels
        Pieces that a pipeline cuts the message into, and rings that go on at once.
    beside, parts
        Seconds with half and with twice as many of its ``parts``; None: their number was not searched.
    simulated
        Seconds; None: not simulated, for the reason ``skipped``.
    reasons
        Why the two differ.
    """

    algorithm: str
    size: int
    estimate: Estimate
    chunks: int = 1
    beside: tuple[float, float] | None = None
    channels: int = 1
    parts: Parts = ""
    simulated: float | None = None
    skipped: str = ""
    reasons: tuple[str, ...] = ()

    @property
    def number(self) -> int:
        """Of its parts; 1 where it has none."""
        return self.chunks if self.parts == CHUNK else self.channels if self.parts == RING else 1

    @property
    def time(self) -> float:
        """Simulated, else by the closed form (of bounds the upper one)."""
        return self.estimate.value if self.simulated is None else self.simulated

    @property
    def least(self) -> float:
        """The time, or its lower bound where only the closed form is known."""
        bound = self.estimate.low if self.simulated is None else None
        return self.time if bound is None else bound

    @property
    def difference(self) -> float | None:
        """Simulated over the nearest time that the closed form allows, less 1; None: not simulated, or nothing to divide."""
        if self.simulated is None or not self.estimate.value > 0:
            return None
        low = self.estimate.value if self.estimate.low is None else self.estimate.low
        nearest = min(max(self.simulated, low), self.estimate.value)
        return self.simulated / nearest - 1 if nearest > 0 else None


@dataclass(frozen=True, slots=True)
class Row:
    """All algorithms at one size, in the order of the contest."""

    size: int
    times: tuple[Timed, ...]

    @property
    def best(self) -> Timed:
        """The first of the fastest."""
        return self.fastest[0]

    @property
    def fastest(self) -> tuple[Timed, ...]:
        """Those that no other beats."""
        least = min(timed.time for timed in self.times)
        return tuple(timed for timed in self.times if timed.time <= least * (1 + TIE))

    @property
    def perhaps(self) -> tuple[Timed, ...]:
        """Others whose lower bound is below the best time."""
        best = self.best
        return tuple(t for t in self.times if t not in self.fastest and t.least < best.time)


@dataclass(frozen=True, slots=True)
class Span:
    """What holds from ``low`` to ``high`` bytes, both included."""

    low: int
    high: int
    name: str


@dataclass(frozen=True, slots=True)
class Changed:
    """What a change makes of one size: the algorithm that is then fastest, its time, and the time before over it."""

    size: int
    algorithm: str
    time: float
    gain: float


@dataclass(frozen=True, slots=True)
class Lever:
    """A change, worked out anew at several sizes; ``why``: what there is to know of it, else ""."""

    name: str
    changed: tuple[Changed, ...]
    why: str = ""

    @property
    def gain(self) -> float:
        """At the last size."""
        return self.changed[-1].gain if self.changed else 1.0


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An algorithm that the network, the ranks or the size do not allow."""

    algorithm: str
    reason: str


@dataclass(frozen=True, slots=True)
class Contest:
    """All algorithms of ``benchmark`` on a network.

    Attributes
    ----------
    network, prices
        In words: machine and layout, and what a message costs there.
    algorithms
        Those that took part, first those that win, in the order of size.
    winners, limits
        Which algorithm is fastest, and what takes most of its time, from which size to which; by closed form.
    levers
        For ``lever_algorithm``; empty: for whichever is fastest.
    sized
        Whether sizes mean anything: a barrier has none.
    """

    benchmark: str
    network: str
    prices: str
    ranks: int
    algorithms: tuple[str, ...]
    rows: tuple[Row, ...]
    left_out: tuple[LeftOut, ...] = ()
    winners: tuple[Span, ...] = ()
    limits: tuple[Span, ...] = ()
    levers: tuple[Lever, ...] = ()
    lever_algorithm: str = ""
    premises: tuple[Premise, ...] = ()
    simulated: bool = False
    sized: bool = True
