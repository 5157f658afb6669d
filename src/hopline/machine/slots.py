"""Request slots: what holds a request until its place can be used again.

What belongs here: the ways in which a queue of requests is set up, at rest. What they give is worked out by ``model.slots``
and ``sim.slots``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hopline.errors import InputError
from hopline.quantity import NON_NEGATIVE, POSITIVE, exact, show

MOST_SLOTS = 100_000


@dataclass(frozen=True, slots=True)
class Moderation:
    """One completion event for ``count`` completions, or ``time`` s after the oldest that waits (None: no such rule)."""

    count: int
    time: float | None = None

    def __post_init__(self) -> None:
        if self.count < 1:
            raise InputError(f"an event every {self.count} completions: expected at least 1")
        if self.time is not None:
            NON_NEGATIVE.check("time after which completions are told", self.time)


@dataclass(frozen=True, slots=True)
class Slots:
    """A sender with slots: a request holds one from its submit until its completion is released.

    Attributes
    ----------
    size
        Bytes of a request.
    turnaround
        Seconds from the begin of its transmission to its completion; it does not depend on the load.
    count
        Slots; None: as many as are asked for.
    issue
        Least seconds between two submits.
    poll, batch, first_poll
        Completions are looked at every ``poll`` s, first at ``first_poll`` (None: after one interval), at most ``batch``
        at a time (None: all there are). 0: each is released when it completes.
    moderation
        Completions are told in groups instead.
    bandwidth
        Byte/s of a serial wire that each request crosses; None: it does not bind.
    loaded
        Turnaround by requests in flight, its own included: entry k - 1 is for k, for every number of slots there can be.
        Empty: it is ``turnaround``.
    """

    size: float
    turnaround: float = 0.0
    count: int | None = None
    issue: float = 0.0
    poll: float = 0.0
    batch: int | None = None
    first_poll: float | None = None
    moderation: Moderation | None = None
    bandwidth: float | None = None
    loaded: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name, value in (("size", self.size), ("turnaround", self.turnaround), ("issue interval", self.issue)):
            NON_NEGATIVE.check(name, value)
        for time in (self.poll, self.first_poll or 0.0, *self.loaded):
            NON_NEGATIVE.check("time", time)
        if self.bandwidth is not None:
            POSITIVE.check("bandwidth", self.bandwidth)
        if self.count is not None and not 1 <= self.count <= MOST_SLOTS:
            raise InputError(f"{self.count} slots: expected 1 to {MOST_SLOTS:,}, or none told for no limit")
        if self.batch is not None and self.batch < 1:
            raise InputError(f"a batch of {self.batch} completions: expected at least 1")
        self._check_loaded()
        self._check_moderation()

    def _check_loaded(self) -> None:
        known = len(self.loaded)
        if known and (self.count is None or self.count > known):
            told = "no number of slots" if self.count is None else f"{self.count} slots"
            raise InputError(
                f"the turnaround is told for up to {known} in flight, with {told}: expected at most {known} slots"
            )

    def _check_moderation(self) -> None:
        if self.moderation is None:
            return
        if self.poll:
            raise InputError(
                f"completions are polled every {show(self.poll, 'time')} and told by events: expected one way"
            )
        if self.moderation.time is None and self.count is not None and self.count < self.moderation.count:
            raise InputError(
                f"an event every {self.moderation.count} completions with {self.count} slots never comes: "
                f"expected at most {self.count}, or a time after which those that wait are told"
            )

    @property
    def wire(self) -> Fraction:
        """Seconds that a request keeps the wire busy, exactly."""
        return exact(self.size) / exact(self.bandwidth) if self.bandwidth is not None else Fraction(0)

    def turn(self, in_flight: int) -> Fraction:
        """Seconds from the begin of its transmission to its completion, with ``in_flight`` requests: at least the wire's."""
        told = self.loaded[in_flight - 1] if self.loaded else self.turnaround
        return max(exact(told), self.wire)
