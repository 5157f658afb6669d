"""What headroom is made of, and what is found about the thresholds of a switch.

What belongs here: the account of a headroom, the point at which ECN and PFC fire, and faults of settings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Term:
    """One part of a headroom: what it is, why, and bytes."""

    name: str
    why: str
    size: float


@dataclass(frozen=True, slots=True)
class Headroom:
    """An account by the rules of ``name``: terms, their sum in bytes, seconds from stop to silence, and bytes of cable."""

    name: str
    terms: tuple[Term, ...]
    total: float
    loop: float
    cable: float


@dataclass(frozen=True, slots=True)
class Firing:
    """What a congested egress queue meets first as it grows.

    Attributes
    ----------
    queues
        Congested egress queues, all alike.
    threshold
        Bytes in an ingress buffer at which it sends pause, with that many.
    pause
        Bytes in each egress queue at that moment.
    first
        ``ECN``: marks begin before; ``ECN at pmax``: they also reach their full slope before; ``PFC``: pauses come before
        any mark.
    """

    queues: int
    threshold: float
    pause: float
    first: Literal["ECN at pmax", "ECN", "PFC"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A setting that does not hold: what was found, what was expected, and how to mend it."""

    name: str
    found: str
    remedy: str
