"""Vector cases of training steps: what overlaps, what a speed-up brings, pipelines, and the bytes that jobs send.

What belongs here: naming, as in ``kinds``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hopline.errors import InputError, UnknownNameError
from hopline.jobs.verify.inputs import Inputs, number, numbers, optional, text, whole
from hopline.model import amdahl, bubble, step, traffic
from hopline.model.step import Slow
from hopline.records.step import Speedup
from hopline.sim.stages import simulate_stages
from hopline.workload.shapes import Attention

Outputs = dict[str, Any]


def _serial(inputs: Inputs) -> Outputs:
    found = step.serial(number(inputs, "compute_s"), number(inputs, "comm_s"), number(inputs, "update_s", 0.0))
    return {"step_s": float(found.step), "comm_fraction": float(found.comm / found.step) if found.step else None}


def _overlap(inputs: Inputs) -> Outputs:
    found = step.overlapped(
        number(inputs, "compute_s"),
        number(inputs, "ready_s"),
        number(inputs, "comm_s"),
        number(inputs, "update_s", 0.0),
    )
    return {
        "step_s": float(found.step),
        "exposed_comm_s": float(found.exposed),
        "fully_hidden": found.exposed == 0,
        "slack_s": float(found.slack),
    }


def _buckets(inputs: Inputs) -> Outputs:
    slow = Slow(number(inputs, "compute_slowdown", 1.0), number(inputs, "comm_slowdown", 1.0))
    found = step.bucketed(
        number(inputs, "compute_s"),
        numbers(inputs, "bucket_ready_s"),
        _bucket_times(inputs),
        number(inputs, "update_s", 0.0),
        slow,
    )
    return {
        "step_s": float(found.step),
        "compute_end_s": float(found.compute_end),
        "comm_end_s": float(found.comm_end),
        "bucket_start_s": [float(bucket.start) for bucket in found.buckets],
        "bucket_end_s": [float(bucket.end) for bucket in found.buckets],
        "exposed_comm_s": float(found.exposed),
    }


def _bucket_times(inputs: Inputs) -> list[float]:
    """Seconds, or bytes with the α and β of the network."""
    if inputs.get("bucket_bytes") is None:
        return numbers(inputs, "bucket_comm_s")
    alpha, beta = number(inputs, "alpha_s", 0.0), number(inputs, "beta_bytes_per_s")
    if beta <= 0:
        raise InputError(f"'beta_bytes_per_s' is {beta!r}: expected a number above 0")
    return [alpha + size / beta for size in numbers(inputs, "bucket_bytes")]


def _amdahl(inputs: Inputs) -> Outputs:
    other, part = number(inputs, "other_s"), number(inputs, "part_s")
    changed, factor = optional(inputs, "part_after_s"), optional(inputs, "part_speedup")
    if (changed is None) == (factor is None):
        raise InputError("expected one of 'part_after_s' and 'part_speedup'")
    found = amdahl.after(other, part, changed) if changed is not None else amdahl.faster(other, part, factor or 0.0)
    return _speedup(found)


def _speedup(found: Speedup) -> Outputs:
    return {
        "speedup": found.speedup,
        "reduction_fraction": found.reduction,
        "part_reduction_fraction": found.part_reduction,
        "limit_speedup": found.limit,
    }


def _bubble(inputs: Inputs) -> Outputs:
    name = text(inputs, "schedule", "1f1b")
    if name not in _SCHEDULES:
        raise UnknownNameError("schedule of a pipeline", name, _SCHEDULES)
    stages, microbatches, virtual = (
        whole(inputs, "stages"),
        whole(inputs, "microbatches"),
        whole(inputs, "virtual_stages", 1),
    )
    bubble.check(stages, microbatches, virtual)
    costs = number(inputs, "forward_s"), number(inputs, "backward_s")
    found = simulate_stages(stages, microbatches, *costs, virtual, number(inputs, "hop_s", 0.0))
    return {
        "makespan_s": found.makespan,
        "ideal_s": found.ideal,
        "bubble_s": found.bubble,
        "bubble_over_ideal": found.over_ideal,
        "bubble_over_total": found.over_total,
    }


_SCHEDULES = ("1f1b", "interleaved")


def _kv(inputs: Inputs) -> Outputs:
    elements = traffic.kv_elements(
        Attention(
            text(inputs, "attention"),
            heads=whole(inputs, "heads", 0),
            kv_heads=whole(inputs, "kv_heads", 0),
            head=whole(inputs, "head_dim", 0),
            value_head=whole(inputs, "v_head_dim", 0),
            latent=whole(inputs, "kv_lora_rank", 0),
            rope=whole(inputs, "qk_rope_head_dim", 0),
        )
    )
    token = traffic.kv_bytes(elements, whole(inputs, "layers"), number(inputs, "dtype_bytes"))
    tokens = whole(inputs, "seq", 1) * whole(inputs, "batch", 1)
    return {
        "elements_per_token_per_layer": elements,
        "bytes_per_token": float(token),
        "bytes": float(token * tokens),
    }


def _activation(inputs: Inputs) -> Outputs:
    batch, seq, hidden = (whole(inputs, key) for key in ("batch", "seq", "hidden"))
    size = traffic.activation(batch * seq, hidden, number(inputs, "dtype_bytes"), whole(inputs, "tp_shard", 1))
    return {"elements": batch * seq * hidden, "bytes": float(size)}


def _reductions(inputs: Inputs) -> Outputs:
    tokens, ranks = whole(inputs, "batch") * whole(inputs, "seq"), whole(inputs, "tp")
    size = traffic.activation(tokens, whole(inputs, "hidden"), number(inputs, "dtype_bytes"))
    backward = inputs.get("backward") or False
    if not isinstance(backward, bool):
        raise InputError(f"'backward' is {backward!r}: expected true or false")
    found = traffic.reductions(size, ranks, backward)
    return {
        "message_bytes": float(size),
        "allreduces": found.count,
        "reduced_bytes_per_layer": float(found.count * size),
        "ring_sent_bytes_per_rank_per_layer": float(found.sent),
    }


STEP_KINDS: dict[str, Callable[[Inputs], Outputs]] = {
    "step_serial": _serial,
    "step_overlap": _overlap,
    "step_buckets": _buckets,
    "amdahl": _amdahl,
    "pipeline_bubble": _bubble,
    "kv_bytes": _kv,
    "pp_activation_bytes": _activation,
    "tp_allreduce_per_layer": _reductions,
}
"""Kind of case -> its inputs -> its outputs."""
