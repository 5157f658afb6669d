"""What bounds a rate: both directions at once, the memory behind the link, hops in series, requests in flight.

What belongs here: closed forms for scalars. Where something is compared or rounded up, it is in exact arithmetic
(45e9 * 4.3e-6 / 129 is 1500, in floats it is not). SI units; None stands for undefined or unbounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hopline.errors import InputError
from hopline.quantity import NON_NEGATIVE, POSITIVE, exact


def effective(size: float, time: float) -> float | None:
    """Bytes per second of a whole transfer, m / T; None when it takes no time."""
    return size / time if time > 0 else None


def duplex_full(
    send: float, recv: float, tx: float, rx: float, latency: float = 0.0, memory: float | None = None
) -> float:
    """Seconds to send and receive at once over separate channels: α + max(send/tx, recv/rx, (send+recv)/memory).

    ``memory`` (byte/s) is what both directions share on the device; None: it does not bind.
    """
    _sizes(send, recv)
    loads = [send / POSITIVE.check("tx bandwidth", tx), recv / POSITIVE.check("rx bandwidth", rx)]
    if memory is not None:
        loads.append((send + recv) / POSITIVE.check("memory bandwidth", memory))
    return NON_NEGATIVE.check("latency", latency) + max(loads)


def duplex_half(send: float, recv: float, bandwidth: float, latency: float = 0.0, turnaround: float = 0.0) -> float:
    """Seconds to send, turn the channel round and receive: 2α + turnaround + (send+recv)/β."""
    _sizes(send, recv)
    starts = 2 * NON_NEGATIVE.check("latency", latency) + NON_NEGATIVE.check("turnaround", turnaround)
    return starts + (send + recv) / POSITIVE.check("bandwidth", bandwidth)


def _sizes(send: float, recv: float) -> None:
    NON_NEGATIVE.check("send size", send)
    NON_NEGATIVE.check("receive size", recv)


@dataclass(frozen=True, slots=True)
class MemoryCap:
    """What ``links`` together reach in byte/s, what they ask of the memory, and whether the memory is what binds."""

    aggregate: float
    demand: float
    memory_bound: bool


def memory_cap(links: float, bandwidth: float, memory: float, touches: float = 1.0) -> MemoryCap:
    """min(links x β, memory / touches): each byte sent crosses the memory ``touches`` times (relay 2, reduce 3).

    The memory binds when the demand strictly exceeds it.
    """
    count, beta = NON_NEGATIVE.check("links", links), POSITIVE.check("bandwidth", bandwidth)
    rate, times = POSITIVE.check("memory bandwidth", memory), POSITIVE.check("memory touches", touches)
    demand = exact(count) * exact(beta) * exact(times)
    bound = demand > exact(rate)
    aggregate = exact(rate) / exact(times) if bound else exact(count) * exact(beta)
    return MemoryCap(float(aggregate), float(demand), bound)


@dataclass(frozen=True, slots=True)
class EffectiveBandwidth:
    """What hops in series tend to for long messages, in byte/s, by forwarding mode.

    ``harmonic_mean`` is what a library function of that name gives: n times the store-and-forward figure, and no
    bandwidth of anything.
    """

    store_and_forward: float
    cut_through: float
    pipelined: float
    harmonic_mean: float


def effective_bandwidth(bandwidths: Sequence[float]) -> EffectiveBandwidth:
    """1 / Σ(1/β_i) for store-and-forward; min β_i for cut-through, wormhole and ever finer chunks. α is left out."""
    if len(bandwidths) == 0:
        raise InputError("the path has no hops: expected at least one bandwidth")
    betas = [exact(POSITIVE.check("bandwidth", b)) for b in bandwidths]
    series = 1 / sum(1 / beta for beta in betas)
    return EffectiveBandwidth(float(series), float(min(betas)), float(min(betas)), float(series * len(betas)))


@dataclass(frozen=True, slots=True)
class Concurrency:
    """Throughput of a window of requests, and what the cap would need (Little's law).

    ``throughput`` in byte/s, ``fraction`` of the cap, ``needed_exact`` and ``needed`` requests in flight,
    ``needed_rate`` requests per second, ``time`` for the size asked for (None: never, or no size).
    """

    throughput: float
    fraction: float
    needed_exact: float | None
    needed: int | None
    needed_rate: float | None
    time: float | None


def concurrency(
    in_flight: float, payload: float, turnaround: float, cap: float, size: float | None = None
) -> Concurrency:
    """min(cap, in-flight x payload / turnaround), with the turnaround taken as independent of the load (Little 1961)."""
    window, chunk = NON_NEGATIVE.check("requests in flight", in_flight), NON_NEGATIVE.check("payload", payload)
    trip, limit = NON_NEGATIVE.check("turnaround", turnaround), POSITIVE.check("bandwidth", cap)
    if size is not None:
        NON_NEGATIVE.check("size", size)
    moving = exact(window) * exact(chunk)
    unlimited = trip == 0 and moving > 0
    rate = exact(limit) if unlimited else min(exact(limit), moving / exact(trip) if trip else exact(0.0))
    needed = exact(limit) * exact(trip) / exact(chunk) if chunk else None
    return Concurrency(
        throughput=float(rate),
        fraction=float(rate / exact(limit)),
        needed_exact=None if needed is None else float(needed),
        needed=None if needed is None else math.ceil(needed),
        needed_rate=float(exact(limit) / exact(chunk)) if chunk else None,
        time=_drain(size, float(rate)),
    )


def _drain(size: float | None, rate: float) -> float | None:
    if size is None or (rate == 0 and size > 0):
        return None
    return size / rate if size else 0.0


@dataclass(frozen=True, slots=True)
class RateNeeds:
    """What a target rate asks for: operations per second, seconds between them, and how many in flight at once."""

    rate: float
    interval: float | None
    concurrency: float
    in_flight: int


def target_rate_needs(target: float, payload: float, latency: float) -> RateNeeds:
    """Operations of ``payload`` bytes to move ``target`` byte/s when each takes ``latency`` seconds (Little 1961)."""
    goal, chunk = exact(NON_NEGATIVE.check("target rate", target)), exact(POSITIVE.check("payload", payload))
    held = goal / chunk * exact(NON_NEGATIVE.check("latency", latency))
    return RateNeeds(float(goal / chunk), float(chunk / goal) if goal else None, float(held), math.ceil(held))


def alpha_sum(components: Sequence[float]) -> float:
    """Start-up latency from its parts (software, DMA, synchronisation, ...), in seconds."""
    return float(np.sum([NON_NEGATIVE.check("a start-up component", c) for c in components]))
