"""Closed forms as rounds: how many, what their largest message is, and what that takes on a network of levels.

What belongs here: the form of a closed form, and its time. Which rounds an algorithm has is in the modules beside this one.

A round lasts as long as its largest message, and then as long as the most that one rank adds up and copies:

    t = sum over rounds of (α + size/β + γ reduced + δ copied)

Premises: every rank has a port of its own on each level, one message at a time each way; a round begins when the one before
it has ended. Where ranks wait only for what they need, as simulated, the time is the same if pieces are equal, and never more.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce

from hopline.errors import InputError
from hopline.machine.fabric import Level, Levels

Choose = Callable[..., tuple[int, float, float]]
"""max or min."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """``count`` rounds that are alike.

    ``size``: bytes of the largest message; None: there is none, a rank only copies. ``level``: the level of the network that
    they go over, the innermost being 0; several: some of each, so that only bounds are known; None: of any. ``reduced``,
    ``copied``: the most bytes that one rank adds up and copies in the round. ``channels``: those that a rank sends on in the
    round, one such message on each; those that share a NIC go one after the other.
    """

    count: int
    size: float | None
    reduced: float = 0.0
    copied: float = 0.0
    level: int | tuple[int, ...] | None = None
    channels: tuple[int, ...] = (0,)

    def turns(self, nics: int) -> int:
        """How many messages go one after the other, at most, where a rank has ``nics`` NICs."""
        return 1 if len(self.channels) == 1 else _turns(self.channels, nics)


@lru_cache(maxsize=4096)
def _turns(channels: tuple[int, ...], nics: int) -> int:
    return max(Counter(channel % nics for channel in channels).values(), default=0)


@dataclass(frozen=True, slots=True)
class Abreast:
    """Sequences that go on at the same time, each on one level or port; what follows waits for the slowest.

    ``count``: rounds of the schedule that all of this is; a sequence may have several messages in each of them.
    """

    count: int
    ways: tuple[tuple[Rounds, ...], ...]


Step = Rounds | Abreast


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

    rounds: tuple[Step, ...]
    sent: float
    least: tuple[tuple[Rounds, ...], ...] = ()

    @property
    def count(self) -> int:
        """Number of rounds with messages."""
        return sum(step.count for step in self.rounds if isinstance(step, Abreast) or step.size is not None)

    @property
    def messages(self) -> int:
        """Messages that a rank sends, at most; of sequences abreast those of the longest."""
        longest = (max(step.ways, key=_messages) if isinstance(step, Abreast) else (step,) for step in self.rounds)
        return sum(_messages(way) for way in longest)

    @property
    def adds(self) -> bool:
        """Whether anything is added up."""
        parts = [step.ways if isinstance(step, Abreast) else ((step,),) for step in self.rounds]
        return any(alike.reduced for ways in parts for way in ways for alike in way)


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

    def __add__(self, other: Cost) -> Cost:
        start, moved = (
            tuple(a + b for a, b in zip(*pair, strict=True))
            for pair in ((self.start, other.start), (self.bytes, other.bytes))
        )
        return Cost(start, moved, self.reduce + other.reduce, self.copy + other.copy)


def cost(steps: Sequence[Step], fabric: Levels, choose: Choose = max) -> Cost:
    """What ``steps`` take one after the other.

    Where a round's level is not told, it is that of the largest time (``choose`` max) or of the least (min). A level that the
    fabric has not got is its outermost one; raises InputError where then sequences abreast would want the same port.
    """
    costs = [
        _slowest(step, fabric, choose) if isinstance(step, Abreast) else _alike(step, fabric, choose) for step in steps
    ]
    none = (0.0,) * len(fabric.curves)
    return reduce(Cost.__add__, costs) if costs else Cost(none, none, 0.0, 0.0)


def _slowest(step: Abreast, fabric: Levels, choose: Choose) -> Cost:
    if _meet(step, fabric):
        raise InputError(f"the closed form is for levels with ports of their own: on {fabric.name} they share some")
    return max((cost(way, fabric, choose) for way in step.ways), key=lambda found: found.time)


def _meet(step: Abreast, fabric: Levels) -> bool:
    """Whether levels of the form are one level of ``fabric``, on which channels of theirs share a NIC."""
    last = len(fabric.levels) - 1
    outer = [alike for way in step.ways for alike in way if isinstance(alike.level, int) and alike.level >= last]
    folded = {alike.level for alike in outer}
    channels = {channel for alike in outer for channel in alike.channels}
    return len(folded) > 1 and len(channels) > len({channel % fabric.levels[last].nics for channel in channels})


def holds(form: Form, fabric: Levels) -> bool:
    """Whether ``fabric`` has ports for all that the form has go on at the same time. Where not, ``cost`` raises InputError."""
    return not any(_meet(step, fabric) for step in form.rounds if isinstance(step, Abreast))


def _messages(way: Sequence[Rounds]) -> int:
    return sum(alike.count * len(alike.channels) for alike in way if alike.size is not None)


def _alike(alike: Rounds, fabric: Levels, choose: Choose) -> Cost:
    start, moved = [0.0 for _ in fabric.levels], [0.0 for _ in fabric.levels]
    if alike.size is not None:
        among = _among(alike.level, len(fabric.levels) - 1)
        found = [(level, *_moving(alike.size, alike, fabric.levels[level])) for level in among]
        level, start_ups, bytes_ = choose(found, key=lambda one: one[1] + one[2])
        start[level], moved[level] = start_ups, bytes_
    reduced, copied = alike.count * alike.reduced, alike.count * alike.copied
    return Cost(tuple(start), tuple(moved), reduced * fabric.reduce, copied * fabric.copy)


def _moving(size: float, alike: Rounds, level: Level) -> tuple[float, float]:
    """Seconds of start-ups and of bytes, over ``level``."""
    piece, messages = level.curve.piece_at(size), alike.count * alike.turns(level.nics)
    return messages * piece.latency, messages * (size / piece.bandwidth)


def _among(told: int | tuple[int, ...] | None, last: int) -> Sequence[int]:
    """The levels that a round may go over, of which ``last`` is the outermost."""
    if told is None:
        return range(last + 1)
    return sorted({min(level, last) for level in ((told,) if isinstance(told, int) else told)})


def bounds(form: Form, fabric: Levels) -> tuple[float, float]:
    """(least, most) seconds; the same number twice where the form is exact."""
    most = cost(form.rounds, fabric).time
    if form.least:
        return max(cost(rounds, fabric, min).time for rounds in form.least), most
    return cost(form.rounds, fabric, min).time, most
