"""What a schedule takes when hopline's executor carries it out on real ranks, from what single steps were measured to take.

What belongs here: what each row costs. The rules by which rows meet are those of ``loggops``: a rank has one processor, on
which everything that it does comes one after another.

- A Send keeps its rank for an operation of the executor's own; receiving, which is when bytes move, keeps the receiver for
  the rest of the step. Whether that step is an exchange or a message one way is told by its round: an exchange, where its
  rank also sends.
- A Reduce takes what the step with adding takes longer than the one without; a Copy and a Compute take their own time.
- The first message of a schedule costs ``Executor.first`` more, once, before all else.
- A message is done for its sender when its receiver takes it, so that none runs ahead of its rounds. Shared memory buffers
  short messages: where a rank has rounds in which it only sends, it may be on sooner than this says.

Exact for two ranks whose rounds are of the steps measured; with more ranks it stands on the premise that a step costs with
all of them what it costs with two, each on a core of its own.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hopline.machine.executor import COPY, EXCHANGE, SEND, Executor
from hopline.records.timeline import Timeline
from hopline.schedule import operations as ops
from hopline.schedule.matching import match
from hopline.schedule.operations import Schedule
from hopline.sim.checks import check, check_ranks, ticks
from hopline.sim.costs import Costs
from hopline.sim.loggops import played, put_together


def simulate_executor(
    schedule: Schedule, executor: Executor, *, keep: bool = False, way: str | None = None
) -> Timeline:
    """What ``schedule`` takes.

    Parameters and errors are those of ``loggops.simulate_loggops``.
    """
    found = played(schedule, costs(schedule, executor), "executor", keep, way)
    if not found.messages:
        return found
    first = int(ticks(np.array([executor.first]))[0])
    return replace(
        found,
        finish=np.where(found.finish > 0, found.finish + first, 0),
        path=tuple((row, start + first, end + first) for row, start, end in found.path),
        start=None if found.start is None else found.start + first,
        end=None if found.end is None else found.end + first,
    )


def costs(schedule: Schedule, executor: Executor) -> Costs:
    """Each row's, rounded once to picoseconds."""
    check(schedule, mate := match(schedule))
    check_ranks(schedule)
    columns, rows = schedule.columns, len(schedule)
    own = int(ticks(np.array([executor.operation]))[0])
    cpu, late = np.zeros(rows, np.int64), np.zeros(rows, np.uint8)
    both, size = _both(schedule), columns.size.astype(float)
    recvs, sends = (np.flatnonzero(columns.kind == kind) for kind in (ops.RECV, ops.SEND))
    step = np.where(both[recvs], executor.time(EXCHANGE, size[recvs]), executor.time(SEND, size[recvs]))
    cpu[recvs] = np.maximum(ticks(step) - own, 0)
    cpu[sends] = own
    late[sends] = 1
    adds, copies = (np.flatnonzero(columns.kind == kind) for kind in (ops.REDUCE, ops.COPY))
    cpu[adds] = ticks(np.where(both[adds], executor.adding(True, size[adds]), executor.adding(False, size[adds])))
    cpu[copies] = ticks(executor.time(COPY, size[copies]))
    computes = np.flatnonzero(columns.kind == ops.COMPUTE)
    cpu[computes] = columns.size[computes]
    return put_together(schedule, mate, cpu, np.zeros(rows, np.int64), late, own)


def _both(schedule: Schedule) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """By row: whether its rank sends in its round. Without rounds the whole schedule is one."""
    columns = schedule.columns
    number = np.searchsorted(schedule.rounds, np.arange(len(schedule)), side="right").astype(np.int64)
    key = number * schedule.ranks + columns.rank
    sending = np.zeros(int(key.max(initial=0)) + 1, bool)
    sending[key[columns.kind == ops.SEND]] = True
    found: np.ndarray[tuple[int], np.dtype[np.bool_]] = sending[key]
    return found
