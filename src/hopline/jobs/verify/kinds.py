"""What each kind of vector case computes: a case's inputs in, its outputs out, under the keys the vectors use.

What belongs here: naming. Each function hands SI numbers to the model and puts what comes back under the vectors'
names; the formulas are the model's. A kind that hopline learns later is a row of KINDS more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hopline.curve import Hop
from hopline.errors import InputError, UnknownNameError
from hopline.jobs.verify.collectives import COLLECTIVE_KINDS
from hopline.jobs.verify.cuts import occupies, pipelined
from hopline.jobs.verify.deadlocks import buffer_dependency
from hopline.jobs.verify.inputs import Inputs, hops, number, numbers, optional, text, whole
from hopline.jobs.verify.queues import QUEUE_KINDS
from hopline.jobs.verify.slots import SLOT_KINDS
from hopline.jobs.verify.steps import STEP_KINDS
from hopline.model import chunks, forwarding, limits, pipeline
from hopline.quantity import convert

Outputs = dict[str, Any]
Kind = Callable[[Inputs], Outputs]


def _alpha_sum(inputs: Inputs) -> Outputs:
    return {"alpha_s": limits.alpha_sum(numbers(inputs, "components_s"))}


def _direct(inputs: Inputs) -> Outputs:
    size = number(inputs, "size_bytes")
    time = float(forwarding.direct(size, number(inputs, "alpha_s", 0.0), number(inputs, "beta_bytes_per_s")))
    return {"time_s": time, "effective_bandwidth_bytes_per_s": limits.effective(size, time)}


def _store_and_forward(inputs: Inputs) -> Outputs:
    size = number(inputs, "size_bytes")
    arrivals = [float(time) for time in forwarding.arrivals(size, hops(inputs))]
    return {
        "time_s": arrivals[-1],
        "arrival_s": arrivals,
        "effective_bandwidth_bytes_per_s": limits.effective(size, arrivals[-1]),
    }


def _cut_through(inputs: Inputs) -> Outputs:
    forward = forwarding.Forward(header=_not_negative(inputs, "header_bytes"))
    return {"time_s": float(forwarding.cut_through(number(inputs, "size_bytes"), hops(inputs), forward))}


def _wormhole(inputs: Inputs) -> Outputs:
    size, path, flit = number(inputs, "size_bytes"), hops(inputs, "t_route_s"), optional(inputs, "flit_bytes")
    forward = forwarding.Forward(flit=flit, source=_not_negative(inputs, "source_alpha_s"))
    return {
        "time_s": float(forwarding.wormhole(size, path, forward)),
        "ideal_time_s": float(forwarding.wormhole_limit(size, path, forward)),
        "flits": None if flit is None else int(forwarding.flits(size, flit)),
    }


def _not_negative(inputs: Inputs, key: str) -> float:
    value = number(inputs, key, 0.0)
    if value < 0:
        raise InputError(f"{key!r} is {value!r}: expected a number of at least 0")
    return value


def _best_k(inputs: Inputs) -> Outputs:
    size, path, name = number(inputs, "size_bytes"), hops(inputs), text(inputs, "split", "fractional")
    if name not in _SPLITS:
        raise UnknownNameError("split", name, _SPLITS)
    split, time_of = _SPLITS[name]
    most = None if inputs.get("k_max") is None else whole(inputs, "k_max")
    if occupies(inputs):
        best = chunks.best(size, path, most, split)
        return {"k": best.k, "time_s": best.time}
    k = chunks.best(size, [_without_latency(hop) for hop in path], most, split).k
    return {"k": k, "time_s": float(time_of(size, path, float(k), False))}


_SPLITS: dict[str, tuple[chunks.Split, Callable[..., Any]]] = {
    "fractional": ("fractional", pipeline.equal),
    "balanced": ("balanced", pipeline.balanced),
}


def _without_latency(hop: Hop) -> Hop:
    """Latency that does not occupy the hop adds the same to every k."""
    return (0.0, hop[1]) if isinstance(hop, tuple) else hop


def _optimum(inputs: Inputs) -> Outputs:
    size, line = number(inputs, "size_bytes"), (number(inputs, "alpha_s", 0.0), number(inputs, "beta_bytes_per_s"))
    path: list[Hop] = [line] * whole(inputs, "hop_count")
    formula, best = chunks.closed_form(size, path), chunks.best(size, path, split="fractional")
    return {
        "k_correct_real": formula.k,
        "time_correct_real_s": formula.time,
        "k_integer": best.k,
        "time_integer_s": best.time,
        "time_k1_s": float(pipeline.equal(size, path, 1)),
    }


def _duplex_full(inputs: Inputs) -> Outputs:
    time = limits.duplex_full(
        number(inputs, "send_bytes"),
        number(inputs, "recv_bytes"),
        number(inputs, "beta_tx_bytes_per_s"),
        number(inputs, "beta_rx_bytes_per_s"),
        number(inputs, "alpha_s", 0.0),
        optional(inputs, "beta_mem_bytes_per_s"),
    )
    return {"time_s": time}


def _duplex_half(inputs: Inputs) -> Outputs:
    time = limits.duplex_half(
        number(inputs, "send_bytes"),
        number(inputs, "recv_bytes"),
        number(inputs, "beta_bytes_per_s"),
        number(inputs, "alpha_s", 0.0),
        number(inputs, "turnaround_s", 0.0),
    )
    return {"time_s": time}


def _memory_cap(inputs: Inputs) -> Outputs:
    cap = limits.memory_cap(
        number(inputs, "links"),
        number(inputs, "beta_link_bytes_per_s"),
        number(inputs, "beta_mem_bytes_per_s"),
        number(inputs, "memory_touches_per_byte", 1),
    )
    return {
        "aggregate_bytes_per_s": cap.aggregate,
        "demand_on_memory_bytes_per_s": cap.demand,
        "memory_bound": cap.memory_bound,
    }


def _effective_bandwidth(inputs: Inputs) -> Outputs:
    found = limits.effective_bandwidth(numbers(inputs, "betas_bytes_per_s"))
    return {
        "store_and_forward_bytes_per_s": found.store_and_forward,
        "cut_through_bytes_per_s": found.cut_through,
        "pipelined_limit_bytes_per_s": found.pipelined,
        "harmonic_mean_bytes_per_s": found.harmonic_mean,
    }


def _concurrency(inputs: Inputs) -> Outputs:
    found = limits.concurrency(
        number(inputs, "in_flight"),
        number(inputs, "payload_bytes"),
        number(inputs, "turnaround_s", 0.0),
        number(inputs, "cap_bytes_per_s"),
        optional(inputs, "size_bytes"),
    )
    return {
        "throughput_bytes_per_s": found.throughput,
        "fraction_of_cap": found.fraction,
        "needed_in_flight_exact": found.needed_exact,
        "needed_in_flight": found.needed,
        "needed_initiation_per_s": found.needed_rate,
        "time_s": found.time,
    }


def _target_rate_needs(inputs: Inputs) -> Outputs:
    latency = optional(inputs, "latency_s")
    target, payload = number(inputs, "target_bytes_per_s"), number(inputs, "op_bytes")
    needs = limits.target_rate_needs(target, payload, latency or 0.0)
    return {
        "ops_per_s": needs.rate,
        "interval_s": needs.interval,
        "concurrency": None if latency is None else needs.concurrency,
        "min_in_flight": None if latency is None else needs.in_flight,
    }


def _units(inputs: Inputs) -> Outputs:
    si = convert(number(inputs, "value"), text(inputs, "unit"))
    if not math.isfinite(si):
        raise InputError("'value' is out of range in SI: expected a finite number")
    return {"si": si}


KINDS: dict[str, Kind] = {
    "alpha_sum": _alpha_sum,
    "p2p_direct": _direct,
    "p2p_saf_path": _store_and_forward,
    "p2p_cut_through_path": _cut_through,
    "p2p_wormhole_path": _wormhole,
    "p2p_pipelined_saf": pipelined,
    "p2p_best_k": _best_k,
    "p2p_optimum_formulas": _optimum,
    "duplex_full": _duplex_full,
    "duplex_half": _duplex_half,
    "memory_cap": _memory_cap,
    "effective_bandwidth": _effective_bandwidth,
    "concurrency": _concurrency,
    "target_rate_needs": _target_rate_needs,
    "units": _units,
    "buffer_dependency": buffer_dependency,
    **COLLECTIVE_KINDS,
    **SLOT_KINDS,
    **QUEUE_KINDS,
    **STEP_KINDS,
}
"""Kind of case -> its inputs -> its outputs."""
