"""Vector cases of queues: fluid queues, late feedback, PFC headroom, reorder buffers.

What belongs here: naming, as in ``kinds``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hopline.errors import InputError
from hopline.jobs.verify.inputs import Inputs, number, numbers, optional, whole
from hopline.model import feedback, headroom, queue
from hopline.records.queue import Steps
from hopline.sim.reorder import reorder

Outputs = dict[str, Any]


def _steps(inputs: Inputs, key: str, what: str) -> Steps:
    """A number, or a list of {start_s, rate_bytes_per_s}."""
    told = inputs.get(key)
    if not isinstance(told, list):
        return queue.steps([(0.0, number(inputs, key))], what)
    if not all(isinstance(step, dict) for step in told):
        raise InputError(f"{key!r} holds something else than objects of start_s and rate_bytes_per_s")
    return queue.steps([(number(step, "start_s"), number(step, "rate_bytes_per_s")) for step in told], what)


def _float(value: Any) -> float | None:
    return None if value is None else float(value)


def _fluid(inputs: Inputs) -> Outputs:
    service = "service_segments" if inputs.get("service_segments") is not None else "service_bytes_per_s"
    course = queue.fill(
        _steps(inputs, "arrival_segments", "arrival"),
        _steps(inputs, service, "service"),
        number(inputs, "horizon_s"),
        optional(inputs, "capacity_bytes"),
        number(inputs, "initial_bytes", 0.0),
    )
    samples = numbers(inputs, "sample_times_s") if inputs.get("sample_times_s") is not None else []
    return {
        "occupancy_bytes": [float(course.at(time)) for time in samples],
        "dropped_bytes": float(course.dropped),
        "first_drop_s": _float(course.first_drop),
        "last_empty_instant_s": _float(course.emptied),
        "max_occupancy_bytes": float(course.most),
        "final_occupancy_bytes": float(course.final),
    }


def _bound(inputs: Inputs) -> Outputs:
    found = feedback.bound(
        number(inputs, "free_bytes"),
        number(inputs, "arrival_bytes_per_s"),
        number(inputs, "service_bytes_per_s"),
        number(inputs, "actual_delay_s"),
    )
    return {
        "max_feedback_delay_s": found.longest,
        "excess_bytes": found.excess,
        "dropped_bytes": found.dropped,
        "overflow": found.overflow,
    }


def _episode(inputs: Inputs) -> Outputs:
    found = feedback.episode(
        number(inputs, "arrival_before_bytes_per_s"),
        number(inputs, "arrival_after_bytes_per_s"),
        number(inputs, "service_bytes_per_s"),
        number(inputs, "feedback_delay_s"),
        optional(inputs, "capacity_bytes"),
        number(inputs, "initial_bytes", 0.0),
    )
    return {
        "dropped_bytes": found.dropped,
        "first_drop_s": found.first_drop,
        "occupancy_at_feedback_bytes": found.occupancy,
        "drain_duration_s": found.drain,
        "empty_at_s": found.empty,
    }


def _headroom(inputs: Inputs) -> Outputs:
    line = headroom.Line(
        rate=number(inputs, "rate_bits_per_s") / 8,
        metres=number(inputs, "cable_m"),
        frame=number(inputs, "mtu_bytes"),
        response=number(inputs, "response_s", 0.0),
        reverse=optional(inputs, "reverse_mtu_bytes"),
    )
    found = headroom.headroom(line)
    return {
        "headroom_bytes": found.total,
        "pause_loop_s": found.loop,
        "propagation_s": line.propagation,
        "round_trip_cable_bytes": found.cable,
    }


def _reorder(inputs: Inputs) -> Outputs:
    pattern = None if inputs.get("pattern") is None else [int(path) for path in numbers(inputs, "pattern")]
    found = reorder(
        whole(inputs, "packet_bytes"),
        number(inputs, "rate_bytes_per_s"),
        numbers(inputs, "path_delays_s"),
        whole(inputs, "packets"),
        pattern,
    )
    return {
        "max_held_packets": found.packets,
        "max_held_bytes": found.size,
        "fluid_bytes": found.fluid,
        "upper_bound_bytes": found.bound,
        "max_hold_time_s": found.wait,
    }


QUEUE_KINDS: dict[str, Callable[[Inputs], Outputs]] = {
    "fluid_queue": _fluid,
    "feedback_bound": _bound,
    "feedback_episode": _episode,
    "pfc_headroom": _headroom,
    "reorder_buffer": _reorder,
}
"""Kind of case -> its inputs -> its outputs."""
