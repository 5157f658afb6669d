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

from hopline.errors import InputError, SimulationError
from hopline.machine.fabric import Fabric
from hopline.records.timeline import Ticks
from hopline.schedule.operations import COMPUTE, COPY, NONE, RECV, REDUCE, SEND, Bytes, Index, Ints, Schedule, channel

BLOCK = 1 << 18
"""Rows that are worked on at a time, so that what lies between fits into caches."""
MOST_ROWS = 2**31 - 1
MOST_TICKS = 2.0**62
TICKS = 1e12
"""Picoseconds of a second."""


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
    _check(schedule, fabric, eager)
    _check_met(schedule, mate)
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
                work[rows + low] = _ticks(size[rows] * rate)
        rows = np.flatnonzero(kind == COMPUTE)
        work[rows + low] = size[rows]
    _check_total(work)
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
        return _ticks(fabric.curves[curve[0]].time(size[:1] if equal else size))
    out = np.empty(len(size), np.int64)
    for number in np.unique(curve):
        rows = curve == number
        out[rows] = _ticks(fabric.curves[number].time(size[rows]))
    return out


def _ticks(seconds: NDArray[np.floating]) -> Ticks:
    whole = np.rint(seconds * TICKS)
    if not np.all(whole < MOST_TICKS):
        raise InputError(f"one operation takes {np.max(seconds):g} s: expected less than {MOST_TICKS / TICKS:.3g} s")
    ticks: Ticks = whole.astype(np.int64)
    return ticks


def _rounds(schedule: Schedule, by_rounds: bool) -> Ints:
    if not by_rounds:
        return np.empty(0, np.int64)
    if len(schedule) and not len(schedule.rounds):
        raise InputError(f"schedule {schedule.name} has no rounds to go by: expected rows at which rounds begin")
    rounds = np.unique(schedule.rounds)
    return rounds[(rounds > 0) & (rounds < len(schedule))]


def _check(schedule: Schedule, fabric: Fabric, eager: int) -> None:
    name, rows = schedule.name, len(schedule)
    if fabric.ranks != schedule.ranks:
        raise InputError(
            f"schedule {name} is for {schedule.ranks} ranks and {fabric.name} has {fabric.ranks}: expected equally many"
        )
    if rows > MOST_ROWS:
        raise InputError(f"schedule {name} has {rows} operations: expected at most {MOST_ROWS}")
    if eager < 0:
        raise InputError(f"eager is {eager} bytes: expected 0 or more")
    if not rows:
        return
    columns = schedule.columns
    _within(schedule, "rank", columns.rank, 0, schedule.ranks)
    _within(schedule, "peer", columns.peer, NONE, schedule.ranks)
    _within(schedule, "after", columns.after, NONE, rows)
    _within(schedule, "kind", columns.kind, SEND, COMPUTE + 1)
    _within(schedule, "size", columns.size, 0, 2**63 - 1)
    for word, pairs in (("more", schedule.more), ("begun", schedule.begun)):
        if len(pairs):
            _within(schedule, word, pairs, 0, rows)


def _within(schedule: Schedule, word: str, values: NDArray[np.integer], low: int, high: int) -> None:
    least, most = int(values.min()), int(values.max())
    if least < low or most >= high:
        wrong = least if least < low else most
        raise InputError(f"schedule {schedule.name}: {word} {wrong} is not in {low} .. {high - 1}")


def _check_met(schedule: Schedule, mate: Index) -> None:
    alone = np.flatnonzero((schedule.columns.kind <= RECV) & (mate < 0))
    if len(alone):
        raise SimulationError(
            f"{len(alone)} of {len(schedule)} operations of {schedule.name} have no other end, the first is "
            f"{words(schedule, int(alone[0]))}; 'hopline schedule check' names them all"
        )


def _check_total(work: Ticks) -> None:
    if (total := float(work.sum(dtype=np.float64))) >= MOST_TICKS:
        raise InputError(
            f"all operations together take {total / TICKS:g} s: expected less than {MOST_TICKS / TICKS:.3g} s"
        )


def words(schedule: Schedule, row: int) -> str:
    """A row in words: ``row 7: rank 1 receives 4096 bytes from rank 0``."""
    columns = schedule.columns
    verb = ("sends", "receives", "reduces", "copies", "computes for")[columns.kind[row]]
    unit = "ps" if columns.kind[row] == COMPUTE else "bytes"
    peer = {SEND: f" to rank {columns.peer[row]}", RECV: f" from rank {columns.peer[row]}"}.get(
        int(columns.kind[row]), ""
    )
    return f"row {row}: rank {columns.rank[row]} {verb} {columns.size[row]} {unit}{peer}"
