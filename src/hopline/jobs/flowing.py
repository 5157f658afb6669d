"""A schedule whose messages share links: when it is done, what held it back, and whom.

What belongs here: running flows, and what their answer says in numbers: which resources bind and for how long, which flows
lost most, and what the order of the messages costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np

from hopline.jobs.loading import resolve
from hopline.jobs.schedules import Found
from hopline.jobs.simulating import Simulated, said
from hopline.machine.resources import Resources
from hopline.machine.wires import Wires
from hopline.records.sharing import Sharing
from hopline.records.timeline import TICK
from hopline.schedule.operations import COPY, FREE, NONE, RECV, SEND, Columns, Schedule, channel
from hopline.schedule.pieces import Ints

MOST_AT_ONCE = 1_000_000
"""Rows up to which the schedule is also run without its order."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A resource that held flows back.

    Attributes
    ----------
    resource
        Its name.
    bound
        Seconds during which it held at least one flow back.
    lost
        Seconds that all flows together lost to it: one second for each flow and second.
    carried
        Bytes that went through it.
    used
        Part of what it could have carried in the whole time.
    """

    resource: str
    bound: float
    lost: float
    carried: float
    used: float


@dataclass(frozen=True, slots=True)
class Loss:
    """A flow that took longer than alone: ranks, bytes, seconds, and the resource that cost it most ("": none did)."""

    sender: int
    receiver: int
    size: int
    alone: float
    took: float
    bound_by: str

    @property
    def lost(self) -> float:
        """Seconds."""
        return self.took - self.alone


@dataclass(frozen=True, slots=True)
class Flowed:
    """What a simulation of flows says.

    Attributes
    ----------
    simulated
        Time, critical path and ports (resources), as of any simulation.
    sharing
        The engine's answer.
    routing
        Name of the rule by which ways are chosen; "": there is nothing to choose.
    at_once
        Seconds where all messages begin at once; None: data depend on one another, or nothing is ordered.
    bindings, losses
        All that there are, the worst first.
    """

    simulated: Simulated
    sharing: Sharing
    routing: str
    at_once: float | None
    bindings: tuple[Binding, ...]
    losses: tuple[Loss, ...]

    @property
    def lost(self) -> float:
        """Seconds that all flows together took longer than alone."""
        return float(self.sharing.lost.sum()) * TICK


def flow(
    found: Found, resources: Resources, *, rule: str, eager: int = 0, keep: bool = False,
    watch: Callable[[float, str], None] | None = None,
) -> Flowed:  # fmt: skip
    """``watch`` is told how far it is. Raises what ``sim.flows.simulate_flows`` does, and MachineError where no way leads."""
    engine = resolve("hopline.sim.flows:simulate_flows")
    sharing: Sharing = engine(found.schedule, resources, eager=eager, rule=rule, keep=keep, watch=watch)
    free = unordered(found.schedule)
    at_once = None if free is None else engine(free, resources, eager=eager, rule=rule, watch=watch).timeline.time
    routing = resources.routing if isinstance(resources, Wires) else ""
    simulated = said(found, sharing.timeline, None, None)
    return Flowed(simulated, sharing, routing, at_once, _bindings(sharing), _losses(found.schedule, sharing))


def _bindings(sharing: Sharing) -> tuple[Binding, ...]:
    """None where no flow took longer than alone: what is lost then are roundings."""
    time = sharing.timeline.time
    if not sharing.lost.any():
        return ()
    return tuple(
        Binding(
            sharing.timeline.ports[i], int(sharing.bound[i]) * TICK, float(sharing.blame[i]) * TICK,
            float(sharing.carried[i]), float(sharing.carried[i] / sharing.capacity[i]) / time,
        )
        for i in np.lexsort((-sharing.bound, -sharing.blame)).tolist()
        if sharing.blame[i] >= 1
    )  # fmt: skip


def _losses(schedule: Schedule, sharing: Sharing) -> tuple[Loss, ...]:
    columns = schedule.columns
    order = np.argsort(-sharing.lost, kind="stable")
    return tuple(
        Loss(
            int(columns.rank[row]), int(columns.peer[row]), int(columns.size[row]), int(sharing.alone[i]) * TICK,
            int(sharing.alone[i] + sharing.lost[i]) * TICK,
            sharing.timeline.ports[sharing.worst[i]] if sharing.worst[i] >= 0 else "",
        )
        for i in order[sharing.lost[order] > 0].tolist()
        for row in [int(sharing.row[i])]
    )  # fmt: skip


def unordered(schedule: Schedule) -> Schedule | None:
    """The same messages with nothing before them.

    None where order is more than a choice: where something is worked out, or a rank sends bytes that it received; where
    several channels are used, which only lanes tell apart; and where there is no order, or too much to be simulated twice.
    """
    columns = schedule.columns
    kinds = set(np.unique(columns.kind).tolist())
    ordered = bool((columns.lane != FREE).any() or (columns.after != NONE).any())
    if not ordered or len(schedule) > MOST_AT_ONCE or not schedule.buffers or kinds - {SEND, RECV, COPY}:
        return None
    if channel(columns.lane).any() or _sends_what_it_got(columns):
        return None
    messages = np.flatnonzero(columns.kind != COPY)
    kept = Columns(**{column.name: getattr(columns, column.name)[messages] for column in fields(columns)})
    free = replace(kept, lane=np.full(len(messages), FREE, np.uint8), after=np.full(len(messages), NONE, np.int32))
    return Schedule(schedule.name, schedule.ranks, free, schedule.buffers)


def _sends_what_it_got(columns: Columns) -> bool:
    """Whether a rank sends any byte that it received or copied."""
    some = np.flatnonzero(columns.size > 0)
    group = columns.rank[some].astype(np.int64) * 256 + columns.buffer[some]
    start, end = columns.start[some], columns.start[some] + columns.size[some]
    bounds, place = np.unique(np.concatenate([start, end]), return_inverse=True)
    first, last = group * len(bounds) + place[: len(some)], group * len(bounds) + place[len(some) :]
    reads = columns.kind[some] == SEND
    order = np.argsort(first[~reads], kind="stable")
    begins: Ints = first[~reads][order]
    reach = np.maximum.accumulate(last[~reads][order])
    before = np.searchsorted(begins, last[reads], side="left")
    return bool(len(begins)) and bool(((before > 0) & (reach[before - 1] > first[reads])).any())


MOST_SPANS = 4000
"""Bars of a picture."""


def spans(answer: Flowed, most: int) -> list[tuple[str, float, float]]:
    """(resource, begin, end) in s of the ``most`` resources that cost most; the longest where there are too many."""
    sharing = answer.sharing
    shown = {binding.resource for binding in answer.bindings[:most]}
    every = [] if sharing.spans is None else sharing.spans.tolist()
    named = [(sharing.timeline.ports[number], begin * TICK, end * TICK) for number, begin, end in every]
    kept = [span for span in named if span[0] in shown]
    longest = sorted(kept, key=lambda span: span[1] - span[2])[:MOST_SPANS]
    return sorted(longest, key=lambda span: span[1])
