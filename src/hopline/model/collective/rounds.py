"""Closed forms as rounds: how many, what their largest message is, and what that takes on a network of levels.

What belongs here: the form of a closed form, and its time. Which rounds an algorithm has is in the modules beside this one.

A round lasts as long as its largest message, and then as long as the most that one rank adds up and copies:

    t = sum over rounds of (α + size/β + γ reduced + δ copied)

Premises: every rank has a port of its own on each level, one message at a time each way; a round begins when the one before
it has ended. Where ranks wait only for what they need, as simulated, the time is the same if pieces are equal, and never more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hopline.machine.fabric import Levels


@dataclass(frozen=True, slots=True)
class Rounds:
    """``count`` rounds that are alike.

    ``size``: bytes of the largest message; ``level``: the level of the network it goes over, the innermost being 0.
    ``reduced``, ``copied``: the most bytes that one rank adds up and copies in the round.
    """

    count: int
    size: float
    reduced: float = 0.0
    copied: float = 0.0
    level: int = 0


@dataclass(frozen=True, slots=True)
class Form:
    """The closed form of an algorithm.

    Attributes
    ----------
    rounds
        All rounds one after the other.
    sent
        The most bytes that one rank sends.
    least
        Empty: the time of ``rounds`` is exact. Else ``rounds`` is an upper bound, and the largest of these is a lower one.
    """

    rounds: tuple[Rounds, ...]
    sent: float
    least: tuple[tuple[Rounds, ...], ...] = ()

    @property
    def count(self) -> int:
        """Number of rounds."""
        return sum(alike.count for alike in self.rounds)


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of a closed form: start-ups, bytes, adding up, copying; by level where ``levels`` has several."""

    start: tuple[float, ...]
    bytes: tuple[float, ...]
    reduce: float
    copy: float

    @property
    def time(self) -> float:
        """All of it."""
        return math.fsum((*self.start, *self.bytes, self.reduce, self.copy))


def cost(rounds: Sequence[Rounds], fabric: Levels) -> Cost:
    """What ``rounds`` take one after the other. A level that the fabric has not got is its outermost one."""
    levels = len(fabric.curves)
    start, moved = [0.0] * levels, [0.0] * levels
    reduced = copied = 0.0
    for alike in rounds:
        level = min(alike.level, levels - 1)
        piece = fabric.curves[level].piece_at(alike.size)
        start[level] += alike.count * piece.latency
        moved[level] += alike.count * (alike.size / piece.bandwidth)
        reduced += alike.count * alike.reduced
        copied += alike.count * alike.copied
    return Cost(tuple(start), tuple(moved), reduced * fabric.reduce, copied * fabric.copy)


def bounds(form: Form, fabric: Levels) -> tuple[float, float]:
    """(least, most) seconds; the same number twice where the form is exact."""
    most = cost(form.rounds, fabric).time
    return max((cost(rounds, fabric).time for rounds in form.least), default=most), most
