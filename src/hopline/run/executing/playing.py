"""One rank of an executed schedule: repeat after repeat, each filled, carried out and verified.

What belongs here: what every rank does in a job, and ``attend``, the whole of those that do not lead. The rank that leads
is in ``repeating``.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

import numpy as np

from hopline.run.executing import clocks
from hopline.run.executing.line import heard, tell
from hopline.run.executing.memory import HostMemory
from hopline.run.executing.part import Part
from hopline.run.executing.pattern import Difference, Filling
from hopline.run.executing.transport import Transport
from hopline.run.executing.walk import NANO, Stamps, Walk

LEADER = 0
_DRY_ROWS = 20_000
"""Rows of all dry walks together, about."""
_DRY_MOST = 7


@dataclass(frozen=True, slots=True)
class Order:
    """What a rank is to carry out, and the seed of its data; ``shows``: its clock is read first."""

    part: Part
    seed: int
    crowded: bool
    shows: bool = True


@dataclass(frozen=True, slots=True)
class Said:
    """What a rank says after a repeat: when it began and was done (its clock, ns), and what is wrong with its data."""

    begin: int
    finish: int
    difference: Difference | None


@dataclass(frozen=True, slots=True)
class Left:
    """What a rank says in the end: stamps of the repeat that was asked for, its cost of an operation, bytes checked."""

    stamps: Stamps
    cost: float
    checked: int


class Player:
    """A rank, its buffers and its rows; stamps of all repeats are kept."""

    def __init__(self, transport: Transport, order: Order) -> None:
        transport.crowded = transport.line.crowded = order.crowded
        self.transport, self.part = transport, order.part
        self.memory = transport.memory([size for _, size in order.part.buffers])
        self.filling = Filling(order.part, order.seed)
        self.walk = Walk(order.part, self.memory, transport)
        self.kept: dict[int, Stamps] = {}

    def fill(self, repeat: int) -> None:
        """Make the buffers ready."""
        self.memory.load(self.filling.fill(repeat))

    def go(self, at: int, repeat: int) -> Said:
        """Carry out all rows, from ``at`` on this rank's clock on, and verify what came of it."""
        stamps = self.walk.run(at)
        if repeat >= 0:
            self.kept[repeat] = stamps
        return Said(stamps.begin, stamps.finish, self.filling.difference(self.memory.content()))

    def left(self, repeat: int) -> Left:
        """What remains to be said of a repeat."""
        return Left(self.kept[repeat], self._cost(), self.filling.checked)

    def _cost(self) -> float:
        """Seconds of an operation without bytes or peers; nan for a rank without operations."""
        rows = len(self.part)
        if not rows:
            return float(np.nan)
        empty = HostMemory([0 for _ in self.part.buffers])
        walk = Walk(self.part, empty, self.transport.silent(), empty=True)
        times = [walk.run() for _ in range(max(1, min(_DRY_MOST, _DRY_ROWS // rows)))]
        return median(stamps.finish - stamps.begin for stamps in times) * NANO / rows


def attend(transport: Transport) -> None:
    """Every rank but the leader: take part in job after job until told to leave."""
    line = transport.line
    while (order := heard(line, LEADER, patient=True)) is not None:
        _play(transport, order)


def _play(transport: Transport, order: Order) -> None:
    line = transport.line
    player = Player(transport, order)
    if order.shows:
        clocks.show(line)
    while (repeat := heard(line, LEADER)) is not None:
        player.fill(repeat)
        tell(line, LEADER, None)
        tell(line, LEADER, player.go(heard(line, LEADER), repeat))
    clocks.show(line)
    if (chosen := heard(line, LEADER)) is not None:
        tell(line, LEADER, player.left(chosen))
