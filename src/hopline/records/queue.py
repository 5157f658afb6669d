"""What a queue went through: its occupancy over time, what left it, and what it lost.

What belongs here: the answers about queues, episodes of late feedback and reorder buffers. All times and levels of a
``Course`` are exact rationals, so that what falls on one instant does so.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from hopline.errors import InputError
from hopline.quantity import exact

Steps = tuple[tuple[Fraction, Fraction], ...]
"""(from second, byte/s), ascending from 0: a rate that changes in steps."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Bytes that a full queue dropped from ``start`` to ``end`` (s)."""

    start: Fraction
    end: Fraction
    size: Fraction


@dataclass(frozen=True, slots=True)
class Course:
    """One queue over time, linear between its breakpoints.

    Attributes
    ----------
    times, levels
        Breakpoints (s) and bytes in the queue there; the last is the end of what was looked at.
    departs
        Byte/s that leave it.
    lost
        Each time that it was full and more came than left.
    emptied
        Last instant at which it became empty; 0 where it starts empty and never fills, None where there is none.
    """

    times: tuple[Fraction, ...]
    levels: tuple[Fraction, ...]
    departs: Steps
    lost: tuple[Lost, ...]
    emptied: Fraction | None

    @property
    def dropped(self) -> Fraction:
        """Bytes."""
        return sum((part.size for part in self.lost), Fraction(0))

    @property
    def first_drop(self) -> Fraction | None:
        """Second at which the first byte is dropped."""
        return self.lost[0].start if self.lost else None

    @property
    def most(self) -> Fraction:
        """Bytes when it is fullest."""
        return max(self.levels)

    @property
    def final(self) -> Fraction:
        """Bytes at the end."""
        return self.levels[-1]

    def at(self, time: float) -> Fraction:
        """Bytes at ``time`` (s). Raises InputError for one outside of what was looked at."""
        now = exact(time)
        if not 0 <= now <= self.times[-1]:
            raise InputError(f"a sample at {time!r} s: expected a time from 0 to the end, {float(self.times[-1])!r} s")
        after = min(bisect_right(self.times, now), len(self.times) - 1)
        if after == 0:
            return self.levels[0]
        start, end = self.times[after - 1], self.times[after]
        low, high = self.levels[after - 1], self.levels[after]
        return high if end == start else low + (high - low) * (now - start) / (end - start)


@dataclass(frozen=True, slots=True)
class Bound:
    """How late feedback may come, and what the delay that it has costs; ``longest`` None: it may come at any time.

    ``excess`` is what comes on top of what leaves until then, ``dropped`` the part of it that does not fit (bytes).
    """

    longest: float | None
    excess: float
    dropped: float
    overflow: bool


@dataclass(frozen=True, slots=True)
class Episode:
    """From too much to feedback to empty; None: never, or without end.

    Attributes
    ----------
    dropped
        Bytes lost in all; None: it goes on losing.
    first_drop
        Second of the first loss.
    occupancy
        Bytes in the queue when the feedback takes effect.
    drain
        Seconds from then until it is empty.
    empty
        Second at which it is.
    """

    dropped: float | None
    first_drop: float | None
    occupancy: float
    drain: float | None
    empty: float | None


@dataclass(frozen=True, slots=True)
class Remedies:
    """What alone would avoid the loss, or drain in time; None: nothing of the kind does.

    Attributes
    ----------
    delay
        Longest delay of the feedback (s).
    capacity
        Least bytes of buffer, with what is in it now.
    threshold
        Most bytes in the queue at which the feedback may be sent.
    arrival
        Most byte/s that may come until the feedback takes effect.
    after
        Byte/s that may come afterwards, so that it is empty in the time wanted.
    """

    delay: float | None
    capacity: float
    threshold: float | None
    arrival: float
    after: float | None


@dataclass(frozen=True, slots=True)
class Reordered:
    """What a receiver holds of packets that come over paths of unequal delay.

    ``packets`` and ``size`` (bytes) are the most at one time, ``wait`` the longest (s); ``fluid`` is Σ r_i (d_max - d_i),
    ``bound`` rate x (d_max - d_min).
    """

    packets: int
    size: int
    fluid: float
    bound: float
    wait: float


@dataclass(frozen=True, slots=True, eq=False)
class Looped:
    """A queue under a law that sees it late: samples over time.

    Attributes
    ----------
    delay
        Seconds by which the law is late.
    times, levels, rates
        s, bytes in the queue, byte/s that arrive at it; equally long.
    dropped, idle
        Bytes that did not fit, and bytes that the service could have carried when the queue was empty.
    swing
        Bytes between the highest and the lowest level in the last quarter.
    trend
        Swing of the last quarter over that of the second; below 1 it calms down; None: there was none.
    """

    delay: float
    times: Sequence[float]
    levels: Sequence[float]
    rates: Sequence[float]
    dropped: float
    idle: float
    swing: float
    trend: float | None
