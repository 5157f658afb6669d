"""From a schedule and what its messages share to what each flow got.

What belongs here: which engine runs what, and what its answer amounts to. The rules are ``flows_reference``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hopline.errors import UnknownNameError
from hopline.machine.resources import Floats, Resources
from hopline.records.sharing import Index, Sharing
from hopline.records.timeline import TICK, Ticks, Timeline
from hopline.schedule.matching import match
from hopline.schedule.operations import Schedule
from hopline.sim import arrays, engine, flows_reference
from hopline.sim.checks import check_done
from hopline.sim.flows_arrays import EARLY, Load, Outcome, load
from hopline.sim.flows_arrays import arrays as for_kernel
from hopline.sim.loading import kernel

FEW = 400_000
"""Uses of resources that plain Python is through with before numba would be imported."""


Watch = Callable[[float, str], None]
"""Is called now and then with the part that is done, and words."""


def _events(work: Load, keep: bool, watch: Watch | None) -> Outcome:
    return Outcome(*kernel("flows:run")(*for_kernel(work), keep, watch))


def _reference(work: Load, keep: bool, watch: Watch | None) -> Outcome:
    del watch
    return flows_reference.run(work, keep)


ENGINES: dict[str, Callable[[Load, bool, Watch | None], Outcome]] = {"reference": _reference, "events": _events}
"""Ways to the same answer."""


def simulate_flows(
    schedule: Schedule,
    resources: Resources,
    *,
    eager: int = 0,
    rule: str = "max-min",
    keep: bool = False,
    way: str | None = None,
    watch: Watch | None = None,
) -> Sharing:
    """What ``schedule`` takes where its messages share ``resources``.

    Parameters
    ----------
    eager
        Bytes up to which a message goes without waiting for its Recv; 0: none does.
    rule
        A key of ``sharing.RULES``: how flows share.
    keep
        The answer then has the start and the end of each row, and when each resource bound flows.
    way
        A key of ENGINES; None: the one that is through first. They agree.
    watch
        Told how far it is, every thousand solvings; it may be interrupted there.

    Raises
    ------
    InputError
        Where the schedule does not fit the resources, or the rule has no answer for their latencies.
    SimulationError
        Where it cannot run to its end.
    MachineError
        For a resource that carries nothing.
    """
    if way is not None and way not in ENGINES:
        raise UnknownNameError("way to simulate flows", way, ENGINES)
    work = load(schedule, resources, match(schedule), eager, rule)
    name = way or ("reference" if _visits(work) <= FEW else "events")
    outcome = ENGINES[name](work, keep, watch)
    check_done(schedule, outcome.end)
    return _sharing(schedule, resources, name, rule, work, outcome, keep)


def _visits(work: Load) -> int:
    """Uses that are looked at if shares are worked out for each flow that ends, with as many as there can be at a time."""
    return len(work.resource) * work.most_at_once


def _sharing(
    schedule: Schedule, resources: Resources, name: str, rule: str, work: Load, outcome: Outcome, keep: bool
) -> Sharing:
    tasks, size = work.tasks, work.tasks.size[work.row]
    took = outcome.end[work.row] - outcome.began
    flow = np.repeat(np.arange(len(work.row)), np.diff(work.start))
    carried: Floats = np.bincount(work.resource, work.weight * size[flow], len(work.used)).astype(float)
    alone = tasks.work[work.row] + _rounded(work.todo / work.alone)
    blame = np.bincount(work.resource, outcome.cost, len(work.used))
    timed = replace(tasks, work=tasks.work.copy())
    timed.work[work.row] = took
    ran = arrays.Outcome(outcome.end, outcome.ready, arrays.index(0), np.empty(0, np.int64), outcome.finish)
    timeline = Timeline(
        schedule.name, resources.name, name, outcome.finish, np.rint(carried / work.capacity).astype(np.int64),
        tuple(map(resources.resource, work.used.tolist())), engine.path(timed, ran), tasks.messages, tasks.bytes,
        engine.starts(timed, ran) if keep else None, outcome.end if keep else None,
    )  # fmt: skip
    lost: Ticks = np.maximum(took - alone, 0)
    worst = _worst(work, outcome.cost, lost)
    return Sharing(
        timeline, rule, work.row, alone, lost, np.maximum(blame, 0.0), outcome.bound, worst, carried, work.capacity / TICK,
        outcome.solves, _in_order(outcome.spans) if keep else None,
    )  # fmt: skip


def _rounded(ticks: Floats) -> Ticks:
    out: Ticks = (np.floor(ticks - EARLY) + 1).astype(np.int64)
    return out


def _worst(work: Load, cost: Floats, lost: Ticks) -> Index:
    """The resource that cost each flow most; of several the one with the lowest number."""
    flow = np.repeat(np.arange(len(work.row)), np.diff(work.start))
    order = np.lexsort((work.resource, -cost, flow))
    worst = np.full(len(work.row), -1, np.int32)
    some = np.flatnonzero(lost > 0)
    worst[some] = work.resource[order[work.start[some]]]
    return worst


def _in_order(spans: NDArray[np.int64]) -> NDArray[np.int64]:
    return spans[np.lexsort((spans[:, 0], spans[:, 1]))]
