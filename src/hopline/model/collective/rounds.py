"""Closed forms as rounds: how many, what their largest message is, and what that takes on a network of levels.

What belongs here: the form of a closed form, and its time. Which rounds an algorithm has is in the modules beside this one.

A round lasts as long as its largest message, and then as long as the most that one rank adds up and copies:

    t = sum over rounds of (α + size/β + γ reduced + δ copied)

Premises: every rank has a port of its own on each level, one message at a time each way; a round begins when the one before
it has ended. Where ranks wait only for what they need, as simulated, the time is the same if pieces are equal, and never more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hopline.curve import Piece
from hopline.machine.fabric import Levels

Choose = Callable[..., int]
"""max or min."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """``count`` rounds that are alike.

    ``size``: bytes of the largest message; ``level``: the level of the network that they go over, the innermost being 0;
    None: not told, so that on several levels only bounds are known. ``reduced``, ``copied``: the most bytes that one rank
    adds up and copies in the round.
    """

    count: int
    size: float
    reduced: float = 0.0
    copied: float = 0.0
    level: int | None = None


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


def cost(rounds: Sequence[Rounds], fabric: Levels, choose: Choose = max) -> Cost:
    """What ``rounds`` take one after the other.

    Where a round's level is not told, it is that of the largest time (``choose`` max) or of the least (min). A level that the
    fabric has not got is its outermost one.
    """
    levels = range(len(fabric.curves))
    start, moved = [0.0 for _ in levels], [0.0 for _ in levels]
    reduced = copied = 0.0
    for alike in rounds:
        pieces = [curve.piece_at(alike.size) for curve in fabric.curves]
        told = alike.level if alike.level is not None else choose(levels, key=_times(pieces, alike.size).__getitem__)
        level = min(told, levels[-1])
        start[level] += alike.count * pieces[level].latency
        moved[level] += alike.count * (alike.size / pieces[level].bandwidth)
        reduced += alike.count * alike.reduced
        copied += alike.count * alike.copied
    return Cost(tuple(start), tuple(moved), reduced * fabric.reduce, copied * fabric.copy)


def _times(pieces: Sequence[Piece], size: float) -> list[float]:
    return [piece.latency + size / piece.bandwidth for piece in pieces]


def bounds(form: Form, fabric: Levels) -> tuple[float, float]:
    """(least, most) seconds; the same number twice where the form is exact."""
    most = cost(form.rounds, fabric).time
    if form.least:
        return max(cost(rounds, fabric, min).time for rounds in form.least), most
    return cost(form.rounds, fabric, min).time, most
