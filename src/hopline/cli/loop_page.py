"""The answer of ``hopline queue --loop``: printed or handed back as data, and drawn where that is asked.

What belongs here: from options to the job, from its answer to page, picture and JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as File
from typing import Any

from hopline.cli.queue_page import draw, told_by
from hopline.jobs import loops, queues
from hopline.machine.loop import LAWS, Integral, Loop, Marking, Pause, Proportional, read_law
from hopline.quantity import show
from hopline.records.queue import Looped
from hopline.show import loop as pages
from hopline.show.document import print_document

_MOST_SAMPLES = 1000


def show_loop(text: str, told: Mapping[str, Any], plot: File | None, as_json: bool) -> dict[str, Any]:
    """A law at several delays."""
    law, service = told_by("--loop", read_law, text), told_by("--service", queues.rate_of, told["service"])
    asked = Loop(law, service, told["line"] or 2 * service, told["capacity"], told["initial"] or 0.0, told["start"])
    found = loops.loops(asked, told["delay"], told["horizon"])
    name, _, values = text.partition(":")
    limit, why = found.stability.limit, found.stability.why
    if plot is not None:
        runs = {f"{show(run.delay, 'time')}: {pages.verdict(run, limit)}": run for run in found.runs}
        said = f"settles with a delay below {show(limit, 'time')}" if limit else why
        draw(
            plot,
            "loops",
            runs,
            _marks(asked),
            service,
            isinstance(law, Pause),
            f"A queue seen late, {name}: {LAWS[name].title}",
            said,
        )
    if not as_json:
        head = f"Served with {show(service, 'bandwidth')}, at most {show(asked.line, 'bandwidth')} come; {values}"
        cure = _cure(asked, max(told["delay"]), limit)
        title, calm = f"{name}: {LAWS[name].title}", found.stability.calm
        print_document(pages.loop(title, head, limit, calm, why, found.runs, service, cure))
    return {
        "limit_s": limit,
        "calm_s": found.stability.calm,
        "why": why,
        "horizon_s": found.horizon,
        "runs": [_run(run, limit) for run in found.runs],
    }


def _run(run: Looped, limit: float | None) -> dict[str, Any]:
    every = -(-len(run.times) // _MOST_SAMPLES)
    return {
        "delay_s": run.delay,
        "verdict": pages.verdict(run, limit),
        "max_occupancy_bytes": max(run.levels),
        "swing_bytes": run.swing,
        "trend": run.trend,
        "dropped_bytes": run.dropped,
        "idle_bytes": run.idle,
        "times_s": run.times[::every],
        "occupancy_bytes": run.levels[::every],
        "arrival_bytes_per_s": run.rates[::every],
    }


def _marks(asked: Loop) -> dict[str, float]:
    """Levels that are drawn across."""
    law = asked.law
    holds = {} if asked.capacity is None else {f"holds {show(asked.capacity, 'size')}": asked.capacity}
    if isinstance(law, Pause):
        return {"xoff": law.xoff, "xon": law.xon, **holds}
    if isinstance(law, Marking):
        return {"kmin": law.kmin, "kmax": law.kmax, **holds}
    return {"setpoint": law.setpoint, **holds}


def _cure(asked: Loop, delay: float, limit: float | None) -> str:
    """What makes it bear the longest delay."""
    if isinstance(asked.law, Pause):
        return _pause_cure(asked, asked.law, delay)
    if limit is None or delay <= limit / 2:
        return ""
    made = loops.gentler(asked, delay)
    slower = f"{_values(made)}, or " if made else ""
    return f"For the delay to be half of the limit: {slower}a delay of {show(limit / 2, 'time')}."


def _pause_cure(asked: Loop, law: Pause, delay: float) -> str:
    high, low, idle = loops.pause_swing(asked, delay)
    told = f"With {show(delay, 'time')} it swings between {show(low, 'size')} and {show(high, 'size')}"
    room = f"{show(high - law.xoff, 'size')} of headroom above xoff, (line - B) x delay"
    if not idle:
        return f"{told}. It needs {room}."
    need = f"xon at {show(asked.service * delay, 'size')} or more (B x delay; xoff above it)"
    return f"{told}. It needs {room}, and {need}: else {show(idle, 'size')} are not served in each turn."


def _values(asked: Loop) -> str:
    law = asked.law
    if isinstance(law, Proportional):
        return f"time={show(law.time, 'time')}"
    if isinstance(law, Integral):
        return f"time={show(law.time, 'time')},reset={show(law.reset, 'time')}"
    return f"kmax={show(round(law.kmax), 'size')}" if isinstance(law, Marking) else ""
