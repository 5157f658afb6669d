"""From a schedule and LogGOPS parameters to a timeline.

What belongs here: what each row costs, and what the answer amounts to. The rules are ``loggops_reference``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hopline.errors import InputError, UnknownNameError
from hopline.machine.loggops import LogGOPS
from hopline.records.timeline import Ticks, Timeline
from hopline.schedule.matching import match
from hopline.schedule.operations import COMPUTE, COPY, NONE, REDUCE, SEND, Bytes, Index, Schedule
from hopline.sim.checks import MOST_ROWS, check, check_done, check_ranks, check_total, ticks
from hopline.sim.costs import PORTS, Costs, Outcome
from hopline.sim.loading import kernel
from hopline.sim.loggops_reference import run

FEW = 12_000
"""Rows that plain Python is through with before numba would be imported."""


def simulate_loggops(
    schedule: Schedule,
    params: LogGOPS,
    *,
    reduce: float = 0.0,
    copy: float = 0.0,
    keep: bool = False,
    way: str | None = None,
) -> Timeline:
    """What ``schedule`` takes under LogGOPS.

    Parameters
    ----------
    reduce, copy
        Seconds a byte that a Reduce and a Copy keep the processor.
    keep
        The timeline then has the start and the end of each row.
    way
        A key of ENGINES; None: the fastest. Both agree to the picosecond.

    Raises
    ------
    InputError
        Where a row is not possible.
    SimulationError
        Where the schedule cannot run to its end.
    """
    return played(schedule, costs(schedule, params, reduce, copy), "LogGOPS", keep, way)


def played(schedule: Schedule, work: Costs, machine: str, keep: bool, way: str | None) -> Timeline:
    """The timeline of rows that cost ``work``, by these rules; ``machine`` is what it then says of itself. Raises as above."""
    if way is not None and way not in ENGINES:
        raise UnknownNameError("way to simulate", way, ENGINES)
    name = way or ("reference" if len(work) <= FEW else "events")
    outcome = ENGINES[name](work)
    check_done(schedule, outcome.end)
    used = np.flatnonzero(outcome.busy)
    sends = schedule.columns.kind == SEND
    return Timeline(
        schedule.name, machine, name, outcome.finish, np.minimum(outcome.busy[used], outcome.finish.max()),
        tuple(f"rank {port // 3} {PORTS[port % 3]}" for port in used.tolist()), _path(work, outcome),
        int(np.count_nonzero(sends)), int(schedule.columns.size[sends].sum()),
        outcome.start if keep else None, outcome.end if keep else None,
    )  # fmt: skip


def costs(schedule: Schedule, params: LogGOPS, reduce: float, copy: float) -> Costs:
    """Each rounded once. A message of no bytes costs what one of one byte does: s - 1 is never below 0."""
    check(schedule, mate := match(schedule))
    check_ranks(schedule)
    columns, rows = schedule.columns, len(schedule)
    if 2 * rows > MOST_ROWS:
        raise InputError(f"schedule {schedule.name} has {rows} operations: expected at most {MOST_ROWS // 2}")
    cpu, nic, late = np.zeros(rows, np.int64), np.zeros(rows, np.int64), np.zeros(rows, np.uint8)
    o, g, travel = ticks(np.array([params.o, params.g, params.L])).tolist()
    for kind, rate in ((REDUCE, reduce), (COPY, copy)):
        does = np.flatnonzero(columns.kind == kind)
        cpu[does] = ticks(columns.size[does] * rate)
    does = np.flatnonzero(columns.kind == COMPUTE)
    cpu[does] = columns.size[does]
    sends = np.flatnonzero(columns.kind == SEND)
    more = np.maximum(columns.size[sends] - 1, 0)
    cpu[sends], cpu[mate[sends]] = o + ticks(more * params.O), o + ticks(more * max(params.O, params.G))
    nic[sends] = g + ticks(more * params.G)
    late[sends] = params.S is not None and columns.size[sends] > params.S
    return put_together(schedule, mate, cpu, nic, late, o + travel)


def put_together(schedule: Schedule, mate: Index, cpu: Ticks, nic: Ticks, late: Bytes, travel: int) -> Costs:
    """Costs as ``played`` takes them, in the order of the schedule. Raises InputError where they add up to too much."""
    columns = schedule.columns
    check_total(cpu + nic + travel)
    more, begun = (pairs[np.argsort(pairs[:, 0], kind="stable")] for pairs in (schedule.more, schedule.begun))
    return Costs(
        schedule.ranks,
        columns.kind,
        columns.lane,
        columns.rank,
        columns.after,
        mate,
        cpu,
        nic,
        late,
        more,
        begun,
        travel,
    )


def _path(work: Costs, outcome: Outcome) -> tuple[tuple[int, int, int], ...]:
    """Back from the row that ended last, each row let go by the one before it; of a row what it did until then."""
    path: list[tuple[int, int, int]] = []
    if not len(work):
        return ()
    row = int(outcome.end.argmax())
    time, part = int(outcome.end[row]), 2 * row + int(outcome.late_cause[row] != NONE)
    while part != NONE:
        row, late = divmod(part, 2)
        end = int(outcome.end[row])
        start = end if late else int(outcome.start[row])
        path.append((row, start, min(end, time)))
        time, part = start, int((outcome.late_cause if late else outcome.cause)[row])
    return tuple(path[::-1])


def _events(work: Costs) -> Outcome:
    return Outcome(
        *kernel("loggops:run")(
            work.ranks, work.kind, work.lane, work.rank, work.after, work.mate, work.cpu, work.nic, work.late, work.more,
            work.begun, work.travel,
        )
    )  # fmt: skip


ENGINES: dict[str, Callable[[Costs], Outcome]] = {"reference": run, "events": _events}
"""Ways to the same answer."""
