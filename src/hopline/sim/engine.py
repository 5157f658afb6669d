"""From a schedule and a fabric to a timeline.

What belongs here: which engine runs what, and what its answer amounts to. The rules are ``reference``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hopline.errors import SimulationError, UnknownNameError
from hopline.machine.fabric import Fabric
from hopline.records.timeline import Ticks, Timeline
from hopline.schedule.matching import match
from hopline.schedule.operations import RECV, Schedule
from hopline.sim import reference
from hopline.sim.arrays import Outcome, Tasks, index, tasks
from hopline.sim.checks import check_done
from hopline.sim.kernels import walk
from hopline.sim.loading import kernel

FEW = 24_000
"""Rows that plain Python is through with before numba would be imported."""


def _in_order(work: Tasks) -> Outcome | None:
    done, end, ready, busy, finish = kernel("in_order:run")(*work.arrays())
    return Outcome(end, ready, index(0), busy, finish) if done else None


def _events(work: Tasks) -> Outcome:
    return Outcome(*kernel("events:run")(*work.arrays()))


ENGINES: dict[str, Callable[[Tasks], Outcome | None]] = {
    "reference": reference.run,
    "in order": _in_order,
    "events": _events,
}
"""Ways to the same answer; None: it cannot be had in this way."""


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
        A key of ENGINES; None: the fastest that can. All agree to the picosecond.

    Raises
    ------
    InputError
        Where the schedule does not fit the fabric.
    SimulationError
        Where it cannot run to its end, or not in this way.
    """
    if way is not None and way not in ENGINES:
        raise UnknownNameError("way to simulate", way, ENGINES)
    work = tasks(schedule, fabric, match(schedule), eager, by_rounds)
    for name in (way,) if way else ("reference",) if len(work) <= FEW else ("in order", "events"):
        outcome = ENGINES[name](work)
        if outcome is not None:
            check_done(schedule, outcome.end)
            return _timeline(schedule, fabric, name, work, outcome, keep)
    raise SimulationError(
        f"{schedule.name} cannot be run {way}: a row waits for a later one, or ports are shared; use events"
    )


def _timeline(schedule: Schedule, fabric: Fabric, name: str, work: Tasks, outcome: Outcome, keep: bool) -> Timeline:
    return Timeline(
        schedule.name, fabric.name, name, outcome.finish, outcome.busy[work.used],
        tuple(map(fabric.port, np.flatnonzero(work.used).tolist())), path(work, outcome), work.messages, work.bytes,
        starts(work, outcome) if keep else None, outcome.end if keep else None,
    )  # fmt: skip


def path(work: Tasks, outcome: Outcome) -> tuple[tuple[int, int, int], ...]:
    """The critical path, as ``Timeline.path`` has it."""
    if not len(work):
        return ()
    few = len(work) <= FEW
    above, back = (walk.above, walk.walk) if few else (kernel("far_walk:above"), kernel("far_walk:walk"))
    before, path, last = index(len(work)), np.empty(len(work), np.int32), index(work.ranks * work.lanes)
    above(work.rank, work.lane, last.reshape(work.ranks, -1), before)
    length = back(
        int(outcome.end.argmax()), work.kind, work.size, work.mate, before, work.after, work.more, work.begun, work.rounds,
        work.work, outcome.end, outcome.ready, outcome.held, work.eager, path,
    )  # fmt: skip
    rows = path[:length][::-1]
    ends = outcome.end[rows]
    return tuple(zip(rows.tolist(), (ends - work.work[rows]).tolist(), ends.tolist(), strict=True))


def starts(work: Tasks, outcome: Outcome) -> Ticks:
    """When each row began: a message when it takes its ports; of the Recv of an eager one not before it is ready."""
    start = outcome.end - work.work
    recvs = np.flatnonzero(work.kind == RECV)
    start[recvs] = start[work.mate[recvs]]
    if work.eager and len(outcome.ready):
        start[recvs] = np.maximum(start[recvs], outcome.ready[recvs])
    return start
