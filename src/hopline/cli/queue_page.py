"""The answers of ``hopline queue``: each is printed or handed back as data, and drawn where that is asked.

What belongs here: from options to a job, from its answer to page, picture and JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path as File
from typing import Any

import click

from hopline.errors import HoplineError
from hopline.jobs import queues
from hopline.jobs.loading import resolve
from hopline.model.queue import Stage
from hopline.quantity import parse, show
from hopline.records.queue import Course, Steps
from hopline.show import loop as loop_pages
from hopline.show import queue as pages
from hopline.show.document import print_document

Told = Mapping[str, Any]
_PACKETS = 4000


def told_by(option: str, read: Callable[..., Any], *given: Any) -> Any:
    """What ``read`` makes of an option; a refusal names the option."""
    try:
        return read(*given)
    except HoplineError as error:
        raise click.UsageError(f"{option}: {error}") from None


# --- a burst


def show_filled(told: Told, plot: File | None, as_json: bool) -> dict[str, Any]:
    """One queue, or several in series."""
    arrival = told_by("--arrival", queues.rates, told["arrival"])
    service = told_by("--service", queues.rates, told["service"], "service")
    stages = [Stage(service, told["capacity"], told["initial"] or 0.0), *(_stage(text) for text in told["then"])]
    found = queues.filled(arrival, stages, told["horizon"], told["every"])
    title = " -> ".join(map(_title, stages))
    if plot is not None:
        names = [f"queue {number + 1}" for number in range(len(stages))]
        marks = _limits(names, stages)
        courses = dict(zip(names, found.courses, strict=True))
        draw(plot, "filled", courses, {names[0]: found.comes[0]}, marks, title)
    if not as_json:
        capacities = [stage.capacity for stage in stages]
        services = [stage.service for stage in stages]
        print_document(pages.filled(title, found.comes, services, found.courses, capacities, found.needs, found.faster))
    return {
        "horizon_s": found.horizon,
        "queues": [
            {
                **_course(course),
                "capacity_bytes": stage.capacity,
                "needed_capacity_bytes": need,
                "needed_service_factor": factor,
            }
            for course, stage, need, factor in zip(found.courses, stages, found.needs, found.faster, strict=True)
        ],
    }


def _limits(names: Sequence[str], stages: Sequence[Stage]) -> dict[str, float]:
    """What each queue holds, by what is written at its line."""
    return {
        f"{name} holds {show(stage.capacity, 'size')}": stage.capacity
        for name, stage in zip(names, stages, strict=True)
        if stage.capacity is not None
    }


def _stage(text: str) -> Stage:
    parts = [part.strip() for part in text.split(":")]
    if len(parts) > 3:
        raise click.UsageError(f"--then: {text!r} has {len(parts)} parts: expected SERVICE[:CAPACITY[:DELAY]]")
    service, capacity, delay = [*parts, "", ""][:3]
    return Stage(
        told_by("--then", queues.rates, service, "service"),
        told_by("--then", parse, capacity, "size") if capacity else None,
        0.0,
        told_by("--then", parse, delay, "time") if delay else 0.0,
    )


def _title(stage: Stage) -> str:
    rates = [rate for _, rate in stage.service]
    served = show(float(rates[0]), "bandwidth") + (" at first" if len(rates) > 1 else "")
    holds = "of any size" if stage.capacity is None else f"of {show(stage.capacity, 'size')}"
    inside = f", {show(stage.initial, 'size')} in it" if stage.initial else ""
    return f"A queue {holds} served with {served}{inside}"


def _course(course: Course) -> dict[str, Any]:
    return {
        "dropped_bytes": float(course.dropped),
        "first_drop_s": None if course.first_drop is None else float(course.first_drop),
        "last_empty_instant_s": None if course.emptied is None else float(course.emptied),
        "max_occupancy_bytes": float(course.most),
        "final_occupancy_bytes": float(course.final),
        "drops": [{"start_s": float(p.start), "end_s": float(p.end), "bytes": float(p.size)} for p in course.lost],
        "times_s": [float(time) for time in course.times],
        "occupancy_bytes": [float(level) for level in course.levels],
        "departs": _steps(course.departs),
    }


def _steps(steps: Steps) -> list[dict[str, float]]:
    return [{"start_s": float(start), "rate_bytes_per_s": float(rate)} for start, rate in steps]


def draw(plot: File, picture: str, *given: Any) -> None:
    spec = resolve(_PICTURES[picture])(*given)
    resolve("hopline.show.images:save")(spec, plot)


_PICTURES = {"filled": "hopline.show.queue_picture:filled", "loops": "hopline.show.queue_picture:loops"}


# --- late feedback


def show_late(delay: float, told: Told, plot: File | None, as_json: bool) -> dict[str, Any]:
    """The bound, the episode and what would help."""
    before = told_by("--arrival", queues.rate_of, told["arrival"])
    after = told_by("--after", queues.rate_of, told["after"])
    service = told_by("--service", queues.rate_of, told["service"])
    capacity, initial, drain = told["capacity"], told["initial"] or 0.0, told["drain"]
    found = queues.late(before, after, service, delay, capacity, initial, drain)
    title = (
        f"{show(before, 'bandwidth')} come to a queue of {show(capacity, 'size')} served with {show(service, 'bandwidth')}, "
        f"{show(initial, 'size')} in it; feedback after {show(delay, 'time')}"
    )
    if plot is not None:
        names = [f"feedback after {show(delay, 'time')}", f"at the bound, {show(found.bound.longest, 'time')}"]
        courses = dict(zip(names, found.courses, strict=False))
        draw(
            plot,
            "filled",
            courses,
            dict(zip(names, found.arrivals, strict=False)),
            {f"holds {show(capacity, 'size')}": capacity},
            title,
        )
    if not as_json:
        print_document(
            pages.late(title, before, after, service, delay, drain, found.bound, found.episode, found.remedies)
        )
    return {"bound": asdict(found.bound), "episode": asdict(found.episode), "remedies": asdict(found.remedies)}


# --- reordering


def show_reordered(paths: Sequence[float], told: Told, as_json: bool) -> dict[str, Any]:
    """What a receiver holds."""
    rate = told_by("--arrival", queues.rate_of, told["arrival"])
    packets = told["packets"] or _PACKETS
    pattern = told_by("--pattern", _numbers, told["pattern"]) if told["pattern"] else None
    packet = int(told["packet"])
    found = queues.reordered(packet, rate, paths, packets, pattern)
    if not as_json:
        title = f"{packets:,} packets of {show(packet, 'size')} at {show(rate, 'bandwidth')} over {len(paths)} paths"
        print_document(loop_pages.reordered(title, found, packets, max(paths) - min(paths)))
    return asdict(found)


def _numbers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise click.UsageError(f"--pattern: {text!r} is no list of path numbers: expected like 0,0,0,1")
    return [int(part) for part in parts]
