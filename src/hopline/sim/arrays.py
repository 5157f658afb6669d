"""A schedule on a fabric as the engines read it: what each row takes, and the ports its message goes by.

What belongs here: from columns, curves and ports to arrays of one entry a row, checked so that no engine need look again;
and what an engine hands back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopline.errors import InputError
from hopline.machine.fabric import Fabric
from hopline.records.timeline import Ticks
from hopline.schedule.operations import COMPUTE, COPY, NONE, REDUCE, SEND, Bytes, Index, Schedule, channel
from hopline.schedule.pieces import Ints
from hopline.sim.checks import check, check_total, ticks

BLOCK = 1 << 18
"""Rows that are worked on at a time, so that what lies between fits into caches."""


@dataclass(frozen=True, slots=True)
class Tasks:
    """One entry a row, in the order of the schedule.

    Attributes
    ----------
    work
        Picoseconds that the row takes once it has begun: of a Send those of the message, of a Recv 0.
    port
        Port that a Send leaves by, a Recv comes in by; NONE for the rest.
    mate
        The other end of a message; NONE for the rest.
    rounds
        Rows at which a round begins that waits for the rounds before it; empty where none does.
    more, begun
        Pairs as in the schedule, sorted by the row that waits.
    used
        By port, whether a message goes by it.
    eager
        Bytes up to which a message goes without its Recv; 0: none does.
    messages, bytes
        How many, and of all together.
    """

    ranks: int
    kind: Bytes
    lane: Bytes
    rank: Index
    after: Index
    size: Ints
    mate: Index
    work: Ticks
    port: Index
    rounds: Ints
    more: Index
    begun: Index
    used: NDArray[np.bool_]
    eager: int
    messages: int
    bytes: int

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def lanes(self) -> int:
        """Lanes of a rank, used or not."""
        return int(self.lane.max(initial=0)) + 1

    def arrays(self) -> tuple[Any, ...]:
        """What kernels take."""
        return (
            self.kind, self.lane, self.rank, self.after, self.size, self.mate, self.work, self.port, self.rounds,
            self.more, self.begun, len(self.used), self.ranks, self.eager,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an engine found, one entry a row; -1: it could not run.

    Attributes
    ----------
    end
        When the row was done.
    ready
        When it could begin; empty where nobody asks (no eager messages, no ``begun``).
    held
        Send rows: the Send whose message held a port until this one began; NONE where it began when it was ready. Empty where
        no two messages ever wanted one port.
    busy
        How long each port carried messages.
    finish
        When the last row of each rank was done.
    """

    end: Ticks
    ready: Ticks
    held: Index
    busy: Ticks
    finish: Ticks


def index(rows: int) -> Index:
    """NONE for each of ``rows``."""
    return np.full(rows, NONE, np.int32)


def tasks(schedule: Schedule, fabric: Fabric, mate: Index, eager: int, by_rounds: bool) -> Tasks:
    """Raises InputError where the schedule does not fit the fabric, SimulationError for messages with one end."""
    name, ranks = schedule.name, schedule.ranks
    if fabric.ranks != ranks:
        raise InputError(
            f"schedule {name} is for {ranks} ranks and {fabric.name} has {fabric.ranks}: expected equally many"
        )
    if eager < 0:
        raise InputError(f"eager is {eager} bytes: expected 0 or more")
    check(schedule, mate)
    columns = schedule.columns
    work, port = np.zeros(len(columns), np.int64), index(len(columns))
    messages = total = 0
    for low, high in _blocks(len(columns)):
        kind, size = columns.kind[low:high], columns.size[low:high]
        sends = np.flatnonzero(kind == SEND) + low
        ways = fabric.ways(columns.rank[sends], columns.peer[sends], channel(columns.lane[sends]))
        port[sends], port[mate[sends]] = ways.out, ways.into
        work[sends] = _message(fabric, ways.curve, columns.size[sends])
        messages, total = messages + len(sends), total + int(columns.size[sends].sum())
        for number, rate in ((REDUCE, fabric.reduce), (COPY, fabric.copy)):
            if rate:
                rows = np.flatnonzero(kind == number)
                work[rows + low] = ticks(size[rows] * rate)
        rows = np.flatnonzero(kind == COMPUTE)
        work[rows + low] = size[rows]
    check_total(work)
    used = np.zeros(fabric.ports + 1, np.bool_)
    used[port] = True
    more, begun = (pairs[np.argsort(pairs[:, 0], kind="stable")] for pairs in (schedule.more, schedule.begun))
    return Tasks(
        schedule.ranks, columns.kind, columns.lane, columns.rank, columns.after, columns.size, mate, work, port,
        _rounds(schedule, by_rounds), more, begun, used[:-1], eager, messages, total,
    )  # fmt: skip


def _blocks(rows: int) -> Iterator[tuple[int, int]]:
    return ((low, min(low + BLOCK, rows)) for low in range(0, rows, BLOCK))


def _message(fabric: Fabric, curve: Index, size: Ints) -> Ticks:
    """Picoseconds of messages, each on the curve of its number."""
    if not len(size):
        return np.empty(0, np.int64)
    if curve.min() == curve.max():
        equal = size.min() == size.max()
        return ticks(fabric.curves[curve[0]].time(size[:1] if equal else size))
    out = np.empty(len(size), np.int64)
    for number in np.unique(curve):
        rows = curve == number
        out[rows] = ticks(fabric.curves[number].time(size[rows]))
    return out


def _rounds(schedule: Schedule, by_rounds: bool) -> Ints:
    if not by_rounds:
        return np.empty(0, np.int64)
    if len(schedule) and not len(schedule.rounds):
        raise InputError(f"schedule {schedule.name} has no rounds to go by: expected rows at which rounds begin")
    rounds = np.unique(schedule.rounds)
    return rounds[(rounds > 0) & (rounds < len(schedule))]
