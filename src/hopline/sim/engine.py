"""From a schedule and a fabric to a timeline.

What belongs here: which engine runs what, and what its answer amounts to. The rules are ``reference``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hopline.errors import SimulationError
from hopline.machine.fabric import Fabric
from hopline.records.timeline import Ticks, Timeline
from hopline.sim.mates import match
from hopline.schedule.operations import RECV, SEND, Index, Schedule
from hopline.sim import reference
from hopline.sim.arrays import Outcome, Tasks, tasks, words
from hopline.sim.kernels import walk

ENGINES: dict[str, Callable[[Tasks], Outcome]] = {"reference": reference.run}


def simulate(
    schedule: Schedule,
    fabric: Fabric,
    *,
    eager: int = 0,
    by_rounds: bool = False,
    keep: bool = False,
    way: str | None = None,
) -> Timeline:
    """What ``schedule`` takes on ``fabric``.

    Parameters
    ----------
    eager
        Bytes up to which a message goes without waiting for its Recv; 0: none does.
    by_rounds
        No row of a round begins before all rows of earlier rounds are done.
    keep
        The timeline then has the start and the end of each row.
    way
        A key of ENGINES; None: the fastest that can. All agree exactly.

    Raises
    ------
    InputError
        Where the schedule does not fit the fabric.
    SimulationError
        Where it cannot run to its end.
    """
    work = tasks(schedule, fabric, match(schedule), eager, by_rounds)
    name = way or "reference"
    outcome = ENGINES[name](work)
    _check_done(schedule, outcome.end)
    return _timeline(schedule, fabric, name, work, outcome, keep)


def _check_done(schedule: Schedule, end: Ticks) -> None:
    stuck = end < 0
    if stuck.any():
        raise SimulationError(
            f"{np.count_nonzero(stuck)} of {len(end)} operations of {schedule.name} could not run, the first is "
            f"{words(schedule, int(stuck.argmax()))}; 'hopline schedule check' names the cycle"
        )


def _timeline(schedule: Schedule, fabric: Fabric, name: str, work: Tasks, outcome: Outcome, keep: bool) -> Timeline:
    end, columns = outcome.end, schedule.columns
    finish = np.zeros(schedule.ranks, np.int64)
    np.maximum.at(finish, columns.rank, end)
    used = np.flatnonzero(np.bincount(work.port[work.port >= 0], minlength=1))
    sends = columns.kind == SEND
    return Timeline(
        schedule.name, fabric.name, name, finish, outcome.busy[used], tuple(map(fabric.port, used.tolist())),
        _path(work, outcome), int(np.count_nonzero(sends)), int(columns.size[sends].sum()),
        _start(work, outcome) if keep else None, end if keep else None,
    )  # fmt: skip


def _path(work: Tasks, outcome: Outcome) -> tuple[tuple[int, int, int], ...]:
    if not len(work):
        return ()
    before = walk.above(work.rank, work.lane, _lanes(work))
    rows = walk.walk(
        int(outcome.end.argmax()), work.kind, work.size, work.mate, before, work.after, work.more, work.begun, work.rounds,
        work.work, outcome.end, outcome.ready, outcome.held, work.eager,
    )  # fmt: skip
    rows = rows[::-1]
    end = outcome.end[rows]
    return tuple(zip(rows.tolist(), (end - work.work[rows]).tolist(), end.tolist(), strict=True))


def _lanes(work: Tasks) -> Index:
    return np.full((work.ranks, int(work.lane.max()) + 1), -1, np.int32)


def _start(work: Tasks, outcome: Outcome) -> Ticks:
    """Of a message when it takes its ports; of the Recv of an eager one not before it is ready."""
    start = outcome.end - work.work
    recvs = np.flatnonzero(work.kind == RECV)
    start[recvs] = start[work.mate[recvs]]
    if work.eager:
        start[recvs] = np.maximum(start[recvs], outcome.ready[recvs])
    return start
