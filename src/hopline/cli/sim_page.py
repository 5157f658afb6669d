"""The answer of ``hopline sim``: its page, its files and its JSON.

What belongs here: from what a job says to what is printed and written.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path as File
from typing import Any

from hopline.jobs import flowing, simulating
from hopline.jobs.flowing import Flowed
from hopline.jobs.loading import resolve
from hopline.jobs.schedules import Found
from hopline.jobs.simulating import Simulated
from hopline.quantity import counted, show
from hopline.records.estimate import Premise
from hopline.show import figures
from hopline.show import flows as flow_pages
from hopline.show import simulation as pages
from hopline.show.document import Block
from hopline.show.schedule import remarks

DRAWN = 24
"""Resources in the picture."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The schedule and what became of it, with a title and a line about the network."""

    found: Found
    answer: Simulated
    title: str
    note: str
    premises: tuple[Premise, ...] = ()
    flowed: Flowed | None = None


def said(found: Found) -> str:
    """A schedule in words."""
    parts = [found.schedule.name, counted(found.schedule.ranks, "rank")]
    if found.shape is not None and found.entry is not None:
        parts.append(show(found.shape.size, "size"))
        for name in ("chunks", "channels", "targets"):
            if name in found.entry.uses:
                parts.append(counted(getattr(found.shape, name), name[:-1]))
    return ", ".join(parts)


def page(answered: Answered, show_path: bool) -> list[Block]:
    """The answer as text."""
    found, answer, flowed = answered.found, answered.answer, answered.flowed
    form = None if answer.least is None or answer.most is None else (answer.least, answer.most)
    busiest = () if flowed else answer.busiest
    blocks = pages.page(answered.title, answered.note, answer.timeline, form, answer.busbw, answer.shares, busiest)
    blocks += _flow_blocks(flowed) if flowed else []
    blocks += pages.premises(answered.premises)
    blocks += pages.path(_path(found, answer)) if show_path else []
    return blocks + remarks(found.remarks)


def _path(found: Found, answer: Simulated) -> list[pages.PathStep]:
    steps = simulating.steps(found.schedule, answer.timeline)
    return [(step.kind, step.rank, step.peer, step.size, step.start, step.end) for step in steps]


def write(answered: Answered, trace: File | None, plot: File | None) -> list[str]:
    """Write the files that were asked for; a line for each."""
    found, timeline = answered.found, answered.answer.timeline
    written = []
    if trace is not None:
        resolve("hopline.formats.perfetto:write_perfetto")(found.schedule, timeline, str(trace))
        written.append(f"\nTrace: {trace} (open it in ui.perfetto.dev)")
    if plot is not None and not timeline.ticks:
        written.append("\nNo picture: nothing takes any time.")
    elif plot is not None:
        bars = simulating.bars(found.schedule, timeline)
        picture = pages.picture(answered.title, bars.rows, (bars.lanes, bars.all_lanes), bars.all_bars)
        if answered.flowed and answered.flowed.bindings:
            picture = _with_bindings(answered.flowed, picture)
        resolve("hopline.show.images:save")(picture, plot)
        written.append(f"\nPicture: {plot}")
    return written


def data(answered: Answered) -> dict[str, Any]:
    """The answer in SI."""
    found, answer = answered.found, answered.answer
    timeline = answer.timeline
    return {
        "schedule": found.schedule.name,
        "ranks": found.schedule.ranks,
        "size": None if found.shape is None else found.shape.size,
        "machine": timeline.machine,
        "engine": timeline.engine,
        "remarks": found.remarks,
        "time_s": timeline.time,
        "time_ps": timeline.ticks,
        "closed_form_s": None if answer.most is None else {"least": answer.least, "most": answer.most},
        "busbw": answer.busbw,
        "messages": timeline.messages,
        "bytes": timeline.size,
        "finish_ps": timeline.finish.tolist(),
        "critical_path_shares": answer.shares,
        "critical_path": [asdict(step) for step in simulating.steps(found.schedule, timeline)],
        "ports": dict(answer.busiest),
    } | (_flow_data(answered.flowed) if answered.flowed else {})


def _flow_blocks(flowed: Flowed) -> list[Block]:
    """What order costs, what binds, who lost most."""
    bounds = [(binding.resource, binding.bound, binding.lost, binding.used) for binding in flowed.bindings]
    late = [(loss.sender, loss.receiver, loss.size, loss.alone, loss.took, loss.bound_by) for loss in flowed.losses]
    head = flow_pages.order(flowed.simulated.timeline.time, flowed.at_once)
    return head + flow_pages.page(bounds, late, flowed.lost, len(flowed.sharing.row))


def _with_bindings(flowed: Flowed, below: figures.Spec) -> figures.Spec:
    shown, every = min(DRAWN, len(flowed.bindings)), len(flowed.bindings)
    return flow_pages.picture(flowing.spans(flowed, DRAWN), shown, every, below)


def _flow_data(flowed: Flowed) -> dict[str, Any]:
    """In SI: what the simulation by ports does not have."""
    return {
        "sharing": flowed.sharing.rule,
        "routing": flowed.routing or None,
        "at_once_s": flowed.at_once,
        "flows": len(flowed.sharing.row),
        "lost_s": flowed.lost,
        "solves": flowed.sharing.solves,
        "binds": [asdict(binding) for binding in flowed.bindings],
        "losses": [asdict(loss) | {"lost": loss.lost} for loss in flowed.losses],
    }
