"""A schedule and what its messages share, as the engines of flows read it; and what they hand back.

What belongs here: from columns and routes to arrays, checked so that no engine need look again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopline.errors import InputError
from hopline.machine.graph import Start
from hopline.machine.resources import Floats, Resources, Routes, check_capacity
from hopline.records.timeline import TICK, Ticks
from hopline.schedule.operations import COMPUTE, COPY, FREE, REDUCE, SEND, Index, Schedule, channel
from hopline.sim.arrays import Tasks, index
from hopline.sim.checks import check, check_total, ticks
from hopline.sim.sharing import coefficients

EARLY = 0.5 - 2.0**-10
"""A flow is through at the tick that is less than this before its last byte: rounding, with halves and what floats make of
them upwards."""


@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """Rows, and the flows of their Sends in order of rows. Flow f goes through ``resource[start[f] : start[f + 1]]``.

    Attributes
    ----------
    tasks
        As for any engine; ``work`` of a Send is the latency of its flow, and there are no ports.
    row
        Of the Send of each flow, shape (flows,).
    flow
        Number of the flow of each Send, shape (rows,); NONE for the rest.
    resource
        Number among ``used``, shape (uses,).
    weight, amount
        Bytes of the resource for each byte, and those times the coefficient of the flow, shape (uses,).
    todo
        Bytes by coefficient: what levels are worked off, shape (flows,).
    alone
        Level at which the flow would run alone, in byte a tick, shape (flows,); inf where it shares nothing.
    capacity
        Byte a tick of each used resource.
    used
        Numbers of the resources that a flow goes through, as ``Resources`` has them.
    """

    tasks: Tasks
    row: Index
    flow: Index
    start: Start
    resource: Index
    weight: Floats
    amount: Floats
    todo: Floats
    alone: Floats
    capacity: Floats
    used: Index

    @property
    def most_at_once(self) -> int:
        """Flows that may share at a time, by the lanes of their Sends."""
        tasks = self.tasks
        lane = tasks.lane[self.row]
        free = int(np.count_nonzero(lane == FREE))
        ordered = np.unique(tasks.rank[self.row][lane != FREE] * np.int64(256) + lane[lane != FREE])
        return free + len(ordered)


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What an engine of flows found; -1: it could not run.

    Attributes
    ----------
    end, ready
        Of each row.
    began
        When each message began, by flow.
    finish
        When the last row of each rank was done.
    cost
        Ticks that each flow lost while this resource bound it, shape (uses,).
    bound
        Ticks during which each used resource bound a flow.
    spans
        (resource, begin, end) of the same, shape (k, 3), in no order.
    solves
        How often shares were worked out.
    """

    end: Ticks
    ready: Ticks
    began: Ticks
    finish: Ticks
    cost: Floats
    bound: Ticks
    spans: NDArray[np.int64]
    solves: int


def load(schedule: Schedule, resources: Resources, mate: Index, eager: int, rule: str) -> Load:
    """Raises InputError where schedule and resources do not fit, SimulationError for messages with one end."""
    name = schedule.name
    if resources.ranks != schedule.ranks:
        raise InputError(
            f"schedule {name} is for {schedule.ranks} ranks and {resources.name} has {resources.ranks}: expected equally many"
        )
    if eager < 0:
        raise InputError(f"eager is {eager} bytes: expected 0 or more")
    check(schedule, mate)
    columns = schedule.columns
    row = np.flatnonzero(columns.kind == SEND).astype(np.int32)
    routes = _routes(resources.routes(columns.rank[row], columns.peer[row], channel(columns.lane[row])), len(row), name)
    capacity = np.asarray(resources.capacity, np.float64)
    check_capacity(capacity, resources)
    flow = np.repeat(np.arange(len(row)), np.diff(routes.start))
    used, number = np.unique(routes.resource, return_inverse=True)
    alone = np.full(len(row), np.inf)
    np.minimum.at(alone, flow, capacity[routes.resource] * TICK / routes.weight)
    size = columns.size[row]
    shares = np.isfinite(alone) & (size > 0)
    coefficient = np.ones(len(row))
    coefficient[shares] = coefficients(rule, routes.latency[shares])
    tasks = _tasks(schedule, resources, mate, eager, row, routes.latency)
    with np.errstate(over="ignore"):
        longest = np.where(shares, size / alone, 0.0) * TICK
    check_total(np.append(tasks.work, ticks(longest)))
    numbers = index(len(columns))
    numbers[row] = np.arange(len(row))
    return Load(
        tasks, row, numbers, routes.start, number.astype(np.int32), routes.weight, routes.weight * coefficient[flow],
        size / coefficient, alone / coefficient, capacity[used] * TICK, used.astype(np.int32),
    )  # fmt: skip


def _routes(routes: Routes, flows: int, name: str) -> Routes:
    """The same without what a flow takes nothing of."""
    if len(routes) != flows:
        raise InputError(f"schedule {name}: {len(routes)} routes for {flows} messages: expected one each")
    for word, values in (("weight", routes.weight), ("latency", routes.latency)):
        if not np.all(np.isfinite(values) & (values >= 0)):
            raise InputError(f"a route has {word} {float(values.min())!r}: expected finite numbers from 0 up")
    takes = routes.weight > 0
    if takes.all():
        return routes
    start = np.concatenate([[0], np.cumsum(takes)]).astype(np.int64)[routes.start]
    return Routes(start, routes.resource[takes], routes.weight[takes], routes.latency)


def _tasks(schedule: Schedule, resources: Resources, mate: Index, eager: int, row: Index, latency: Floats) -> Tasks:
    columns = schedule.columns
    work = np.zeros(len(columns), np.int64)
    work[row] = ticks(latency)
    for number, rate in ((REDUCE, resources.reduce), (COPY, resources.copy)):
        rows = np.flatnonzero(columns.kind == number)
        work[rows] = ticks(columns.size[rows] * rate)
    rows = np.flatnonzero(columns.kind == COMPUTE)
    work[rows] = columns.size[rows]
    more, begun = (pairs[np.argsort(pairs[:, 0], kind="stable")] for pairs in (schedule.more, schedule.begun))
    return Tasks(
        schedule.ranks, columns.kind, columns.lane, columns.rank, columns.after, columns.size, mate, work,
        index(0), np.empty(0, np.int64), more, begun, np.empty(0, np.bool_), eager, len(row), int(columns.size[row].sum()),
    )  # fmt: skip


def arrays(load: Load) -> tuple[Any, ...]:
    """What kernels take."""
    tasks = load.tasks
    eager = ((tasks.size <= tasks.eager) & (tasks.eager > 0)).astype(np.uint8)
    return (
        tasks.ranks, tasks.kind, tasks.lane, tasks.rank, tasks.after, tasks.mate, tasks.work, tasks.more, tasks.begun, eager,
        load.row, load.flow, load.start, load.resource, load.amount, load.todo, load.alone, load.capacity,
    )  # fmt: skip
