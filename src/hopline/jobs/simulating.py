"""A schedule on a network, simulated and held against its closed form.

What belongs here: running the engine, and what its timeline says in numbers: what the critical path is made of, which ports
are busy, how far the closed form is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heappush, heapreplace

import numpy as np

from hopline.jobs.collectives.ground import Ground
from hopline.jobs.collectives.pricing import Contender
from hopline.jobs.loading import resolve
from hopline.jobs.networks import Network
from hopline.jobs.schedules import Found
from hopline.machine.loggops import LogGOPS
from hopline.model.collective.rounds import Form, bounds, holds
from hopline.model.collective.table import FORMS
from hopline.records.busbw import FACTORS
from hopline.records.timeline import TICK, Timeline
from hopline.schedule.operations import FREE, KINDS, Bytes, Index, Schedule
from hopline.schedule.pieces import Ints


@dataclass(frozen=True, slots=True)
class Step:
    """One operation on the critical path: times in seconds, ``size`` in bytes (of compute: picoseconds)."""

    kind: str
    rank: int
    peer: int
    size: int
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Simulated:
    """What a simulation says.

    Attributes
    ----------
    timeline
        The engine's answer.
    least, most
        Seconds of the closed form, the same twice where it is exact; None: there is none for this schedule or network.
    shares
        Part of the whole time that each kind of operation takes on the critical path, and ``waiting``.
    busiest
        (port, part of the whole time that it carries messages), the busiest first.
    busbw
        Byte/s as nccl-tests counts it; None: not defined for it.
    """

    timeline: Timeline
    least: float | None
    most: float | None
    shares: dict[str, float]
    busiest: tuple[tuple[str, float], ...]
    busbw: float | None


def simulate(
    found: Found,
    network: Network,
    *,
    eager: int = 0,
    by_rounds: bool = False,
    keep: bool = False,
    way: str | None = None,
) -> Simulated:
    """α-β with ports. Raises what ``sim.engine.simulate`` does."""
    engine = resolve("hopline.sim.engine:simulate")
    timeline: Timeline = engine(found.schedule, network.fabric, eager=eager, by_rounds=by_rounds, keep=keep, way=way)
    form = form_of(found, network)
    least, most = (None, None) if form is None else bounds(form, network.levels)
    return said(found, timeline, least, most)


def form_of(found: Found, network: Network) -> Form | None:
    """The closed form on the levels of the network; None: there is none, or its premises do not hold there."""
    if found.entry is None or found.shape is None:
        return None
    shape, form = found.shape, FORMS[found.entry.name](found.shape)
    if len(network.levels.curves) > 1 and "levels" not in found.entry.uses:
        ground = replace(Ground.of(network, shape.channels), targets=shape.targets)
        form = Contender(found.entry, ground).form(shape.size, shape.chunks)
    return form if holds(form, network.levels) else None


def simulate_loggops(
    found: Found, params: LogGOPS, *, reduce: float = 0.0, keep: bool = False, way: str | None = None
) -> Simulated:
    """LogGOPS. Raises what ``sim.loggops.simulate_loggops`` does."""
    timeline = resolve("hopline.sim.loggops:simulate_loggops")(
        found.schedule, params, reduce=reduce, keep=keep, way=way
    )
    return said(found, timeline, None, None)


def said(found: Found, timeline: Timeline, least: float | None, most: float | None) -> Simulated:
    """What a timeline says of ``found``; ``least`` and ``most`` are seconds of the closed form."""
    total = timeline.ticks
    order = np.argsort(-timeline.busy, kind="stable")
    busy = [(timeline.ports[i], float(timeline.busy[i] / total)) for i in order if total and timeline.busy[i]]
    return Simulated(
        timeline, least, most, _shares(found.schedule, timeline), tuple(busy), _busbw(found, timeline.time)
    )


def _busbw(found: Found, time: float) -> float | None:
    if found.entry is None or found.shape is None or found.entry.benchmark not in FACTORS or not time:
        return None
    return found.shape.size / time * FACTORS[found.entry.benchmark](found.shape.ranks)


def _shares(schedule: Schedule, timeline: Timeline) -> dict[str, float]:
    """By kind of operation; a Send and its Recv are one message."""
    if not timeline.ticks:
        return {}
    shares: dict[str, float] = {}
    last = 0.0
    for step in steps(schedule, timeline):
        name = "messages" if step.kind in ("send", "recv") else step.kind
        shares[name] = shares.get(name, 0.0) + (step.end - max(step.start, last)) / timeline.time
        last = step.end
    shares["in the network" if timeline.machine == "LogGOPS" else "waiting"] = max(0.0, 1.0 - sum(shares.values()))
    return {name: share for name, share in shares.items() if share > 1e-12}


def steps(schedule: Schedule, timeline: Timeline) -> Sequence[Step]:
    """The critical path in order of time."""
    columns = schedule.columns
    return [
        Step(
            KINDS[columns.kind[row]], int(columns.rank[row]), int(columns.peer[row]), int(columns.size[row]),
            start * TICK, end * TICK,
        )
        for row, start, end in timeline.path
    ]  # fmt: skip


MOST_LANES, MOST_BARS = 64, 4000
"""What a picture can show."""


@dataclass(frozen=True, slots=True)
class Bars:
    """Who does what when, for a picture: rows of (lane, kind, start in s, end in s), thinned to what can be seen.

    ``lanes`` of ``all_lanes``, ``bars`` of ``all_bars`` are there.
    """

    rows: list[tuple[str, str, float, float]]
    lanes: int
    all_lanes: int
    all_bars: int


def bars(schedule: Schedule, timeline: Timeline) -> Bars:
    """The first lanes, as many whole ones as a picture can show. The timeline must have its rows.

    What stands on no lane and goes on at once is shown on as many as it takes.
    """
    assert timeline.start is not None
    assert timeline.end is not None
    columns = schedule.columns
    rows = np.flatnonzero(timeline.end > timeline.start)
    lane = columns.rank[rows].astype(np.int64) << 32 | _beside(columns.rank, columns.lane, timeline, rows)
    lanes, counts = np.unique(lane, return_counts=True)
    fit = max(1, min(MOST_LANES, int(np.searchsorted(np.cumsum(counts), MOST_BARS, side="right"))))
    shown = np.flatnonzero(lane <= lanes[fit - 1]) if len(lanes) else rows[:0]
    start, end = timeline.start[rows], timeline.end[rows]
    longest = np.sort(shown[np.argsort(start[shown] - end[shown], kind="stable")[:MOST_BARS]])
    found = []
    for place in longest.tolist():
        rank, number = divmod(int(lane[place]), 1 << 32)
        kind = KINDS[columns.kind[rows[place]]]
        name = f"rank {rank} lane {number}" if number < FREE else f"rank {rank} free {number - FREE}"
        found.append((name, kind, int(start[place]) * TICK, int(end[place]) * TICK))
    return Bars(found, min(len(lanes), fit), len(lanes), len(shown))


def _beside(rank: Index, lane: Bytes, timeline: Timeline, rows: Ints) -> Ints:
    """The lane of each row; of those on none FREE + k, where k is the first that is free when it starts."""
    found: Ints = lane[rows].astype(np.int64)
    assert timeline.start is not None
    assert timeline.end is not None
    free = np.flatnonzero(found == FREE)
    order = free[np.lexsort((timeline.start[rows[free]], rank[rows[free]]))][: 8 * MOST_BARS]
    ends: dict[int, list[tuple[int, int]]] = {}
    for place in order.tolist():
        row = int(rows[place])
        taken = ends.setdefault(int(rank[row]), [])
        until, number = taken[0] if taken and taken[0][0] <= timeline.start[row] else (0, len(taken))
        (heapreplace if until else heappush)(taken, (int(timeline.end[row]), number))
        found[place] = FREE + number
    return found
