"""What no engine can run: refused in one line before it begins, so that kernels need not look where they read.

What belongs here: checks of schedules, and rows in words.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hopline.errors import InputError, SimulationError
from hopline.records.timeline import Ticks
from hopline.schedule.operations import COMPUTE, NONE, RECV, SEND, Index, Schedule

MOST_ROWS = 2**31 - 1
MOST_TICKS = 2.0**62
TICKS = 1e12
"""Picoseconds of a second."""


def check(schedule: Schedule, mate: Index) -> None:
    """Raises InputError for rows of which a number is none, SimulationError for messages with one end."""
    rows = len(schedule)
    if rows > MOST_ROWS:
        raise InputError(f"schedule {schedule.name} has {rows} operations: expected at most {MOST_ROWS}")
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
    _check_met(schedule, mate)


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


def check_ranks(schedule: Schedule) -> None:
    """Raises InputError where a row waits for one of another rank, which only messages can do."""
    rank, after = schedule.columns.rank, schedule.columns.after
    given = np.flatnonzero(after != NONE)
    for pairs in (np.stack([given, after[given]], axis=1), schedule.more, schedule.begun):
        apart = np.flatnonzero(rank[pairs[:, 0]] != rank[pairs[:, 1]])
        if len(apart):
            one, two = (words(schedule, int(row)) for row in pairs[apart[0]])
            raise InputError(f"schedule {schedule.name}: {one} waits for {two}: expected one of the same rank")


def check_total(work: Ticks) -> None:
    """Raises InputError where clocks might run over."""
    if (total := float(work.sum(dtype=np.float64))) >= MOST_TICKS:
        raise InputError(
            f"all operations together take {total / TICKS:g} s: expected less than {MOST_TICKS / TICKS:.3g} s"
        )


def check_done(schedule: Schedule, end: Ticks) -> None:
    """Raises SimulationError where a row has no end."""
    if end.min(initial=0) < 0:
        stuck = end < 0
        raise SimulationError(
            f"{np.count_nonzero(stuck)} of {len(end)} operations of {schedule.name} could not run, the first is "
            f"{words(schedule, int(stuck.argmax()))}; 'hopline schedule check' names the cycle"
        )


def ticks(seconds: NDArray[np.floating]) -> Ticks:
    """Whole picoseconds. Raises InputError where one is more than clocks can hold."""
    with np.errstate(over="ignore"):
        whole = np.rint(seconds * TICKS)
    if not np.all(whole < MOST_TICKS):
        raise InputError(f"one operation takes {np.max(seconds):g} s: expected less than {MOST_TICKS / TICKS:.3g} s")
    out: Ticks = whole.astype(np.int64)
    return out


def words(schedule: Schedule, row: int) -> str:
    """A row in words: ``row 7: rank 1 receives 4096 bytes from rank 0``."""
    columns = schedule.columns
    verb = ("sends", "receives", "reduces", "copies", "computes for")[columns.kind[row]]
    unit = "ps" if columns.kind[row] == COMPUTE else "bytes"
    peer = {SEND: f" to rank {columns.peer[row]}", RECV: f" from rank {columns.peer[row]}"}.get(
        int(columns.kind[row]), ""
    )
    return f"row {row}: rank {columns.rank[row]} {verb} {columns.size[row]} {unit}{peer}"
