"""Cost a transfer: from what the user gave to Estimates for every way of moving the message.

What belongs here: the question (Transfer), how it becomes a Route, and the answer (Cost) with the premises checked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from hopline.curve import breaks_of
from hopline.errors import InputError
from hopline.model import chunks, limits, p2p, pipeline
from hopline.model.chunks import Best, ClosedForm
from hopline.model.p2p import Cut, Lever, Route
from hopline.quantity import NON_NEGATIVE, show
from hopline.records.estimate import Estimate


@dataclass(frozen=True, slots=True)
class Window:
    """Requests in flight: their number, payload (bytes) and turnaround (s)."""

    in_flight: float
    payload: float
    turnaround: float


@dataclass(frozen=True, slots=True)
class Transfer:
    """One question: ``size`` bytes over ``route``, cut as ``cut`` says.

    ``receive``: bytes that come back at the same time (None: one way). ``window``: requests in flight (None: no limit);
    ``memory``: byte/s that both directions share at the sender (None: no limit).
    """

    size: float
    route: Route
    cut: Cut = field(default_factory=Cut)
    way: str = "store-and-forward"
    receive: float | None = None
    window: Window | None = None
    half_duplex: bool = False
    memory: float | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """The answer. ``ways`` holds every way of moving; ``chosen`` is the one that this path uses."""

    size: float
    ways: dict[str, Estimate]
    chosen: str
    best: Best
    closed_form: ClosedForm
    half_size: float | None
    peak: float
    levers: list[Lever]
    exchange: float | None = None
    exchange_binds: str = ""
    concurrency: limits.Concurrency | None = None

    @property
    def estimate(self) -> Estimate:
        """The Estimate of the way that this path uses."""
        return self.ways[self.chosen]


def cost(question: Transfer) -> Cost:
    """Answer ``question``. Raises InputError for sizes that are not whole bytes."""
    _check(question)
    line_rate = min(hop.peak for hop in question.route.hops)
    question = limited(question)
    size, route = question.size, question.route
    exchange, binds = _exchange(question)
    return Cost(
        size=size,
        ways={name: way(size, route, question.cut) for name, way in p2p.WAYS.items()},
        chosen=question.way,
        best=p2p.best(size, route),
        closed_form=chunks.closed_form(size, [hop.curve for hop in route.hops]),
        half_size=_half_size(question),
        peak=_peak(question),
        levers=p2p.levers(size, route, question.cut, question.way),
        exchange=exchange,
        exchange_binds=binds,
        concurrency=_concurrency(question, line_rate),
    )


def _check(question: Transfer) -> None:
    for name, size in (("size", question.size), ("size to receive", question.receive)):
        if size is not None and not float(NON_NEGATIVE.check(name, size)).is_integer():
            raise InputError(f"{name} is {size!r} bytes: expected a whole number")


def limited(question: Transfer) -> Transfer:
    """The question with the sender's first hop no faster than its memory and its requests in flight allow."""
    route = question.route
    if question.memory is not None and len(route.hops) == 1:
        route = route.capped(question.memory, "memory bandwidth of the sender")
    window = question.window
    if window is not None:
        rate = limits.concurrency(window.in_flight, window.payload, window.turnaround, _FASTEST).throughput
        if rate <= 0:
            raise InputError(f"{window.in_flight:g} requests in flight move nothing: expected at least 1")
        each = f"{show(window.payload, 'size')} per {show(window.turnaround, 'time')}"
        route = route.capped(rate, f"requests in flight ({window.in_flight:g} x {each})")
    return replace(question, route=route)


_FASTEST = 1e300


def _together(question: Transfer, slopes: Sequence[float]) -> float:
    """Seconds per byte of the whole path: the sum where hops wait for one another, else the slowest."""
    return sum(slopes) if question.way == "store-and-forward" else max(slopes)


def _peak(question: Transfer) -> float:
    """Byte/s that long messages tend to; infinite where time does not grow with size."""
    hops = question.route.alone if question.way == "store-and-forward" else question.route.hops
    slope = _together(question, [1 / hop.peak for hop in hops])
    return 1 / slope if slope else math.inf


def _half_size(question: Transfer) -> float | None:
    """n_1/2 (Hockney): the least size in bytes that reaches half of the peak when it is not cut; None: never told."""
    hops, half = question.route.alone, _peak(question) / 2
    edges = [0.0, *breaks_of([hop.curve for hop in hops]), math.inf]
    for low, high in pairwise(edges):
        lines = [hop.at(low) for hop in hops]
        gain = 1 - half * _together(question, [1 / bandwidth for _, bandwidth in lines])
        if gain > 0 and math.isfinite(half):
            reached = max(low, half * sum(latency for latency, _ in lines) / gain)
            if reached < high:
                return reached
    return None


def _exchange(question: Transfer) -> tuple[float | None, str]:
    """Seconds to send and receive at once over the first hop, and what binds."""
    if question.receive is None:
        return None, ""
    if len(question.route.hops) > 1:
        raise InputError("an exchange is priced over one hop: expected a path of two nodes with --receive")
    hop = question.route.hops[0]
    latency, bandwidth = hop.at(max(question.size, question.receive))
    bandwidth = min(bandwidth, _FASTEST)
    if question.half_duplex:
        return limits.duplex_half(question.size, question.receive, bandwidth, latency), "the half-duplex link"
    time = limits.duplex_full(question.size, question.receive, bandwidth, bandwidth, latency, question.memory)
    alone = latency + max(question.size, question.receive) / bandwidth
    return time, "memory, which both directions share" if time > alone * (1 + 1e-12) else "the larger direction"


def _concurrency(question: Transfer, cap: float) -> limits.Concurrency | None:
    window = question.window
    if window is None:
        return None
    cap = min(cap, _FASTEST)
    return limits.concurrency(window.in_flight, window.payload, window.turnaround, cap, question.size)


# --- many at once -------------------------------------------------------------------------------------------------


def times(question: Transfer) -> dict[str, float]:
    """Seconds of every way of moving, without the reasons: for sweeps."""
    _check(question)
    question = limited(question)
    return {name: way(question.size, question.route, question.cut).value for name, way in p2p.WAYS.items()}


@dataclass(frozen=True, slots=True)
class Sweep:
    """Times in seconds of every way over one varied axis (sizes in bytes, or numbers of chunks), for a picture."""

    axis: str
    values: list[float]
    times: dict[str, list[float]]


def over_size(question: Transfer, sizes: Sequence[float]) -> Sweep:
    """Every way at every size; the pipelined one with its best k unless the question fixes the cut."""
    rows = [times(replace(question, size=size)) for size in sizes]
    return Sweep("size", list(sizes), {name: [row[name] for row in rows] for name in p2p.WAYS})


def over_chunks(question: Transfer) -> Sweep:
    """The pipelined time against k, from 1 to well beyond the best k."""
    question = limited(question)
    best = p2p.best(question.size, question.route).k
    last = max(1, min(max(64, 8 * best), int(question.size)))
    counts = sorted({min(last, max(1, round(last ** (i / 120)))) for i in range(121)} | {best})
    time = pipeline.balanced(question.size, [hop.curve for hop in question.route.hops], [float(k) for k in counts])
    whole = p2p.WAYS["store-and-forward"](question.size, question.route, question.cut).value
    return Sweep("chunks", [float(k) for k in counts], {"pipelined": [whole, *(float(t) for t in time[1:])]})


def best_chunks(question: Transfer) -> int:
    """The exact best number of chunks for a question."""
    return p2p.best(question.size, limited(question).route).k


def exchange_time(question: Transfer) -> float | None:
    """Seconds to send and receive at once; None where nothing comes back."""
    return _exchange(limited(question))[0]
