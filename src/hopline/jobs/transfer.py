"""Cost a transfer: Estimates for every way of moving the message, and what would change what was asked for.

What belongs here: the question (Transfer) and the answer (Cost). How hops become a Route is ``routes``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from hopline.errors import InputError
from hopline.model import chunks, limits, p2p, pipeline
from hopline.model.chunks import Best, ClosedForm
from hopline.model.p2p import Cut, Lever, Route
from hopline.quantity import NON_NEGATIVE, show
from hopline.records.estimate import Estimate, Term
from hopline.records.fit import interval


@dataclass(frozen=True, slots=True)
class Window:
    """Requests in flight: their number (None: how many are needed?), payload (bytes) and turnaround (s)."""

    in_flight: float | None
    payload: float
    turnaround: float

    def __post_init__(self) -> None:
        if self.in_flight is not None and self.in_flight <= 0:
            raise InputError(f"{self.in_flight:g} requests in flight move nothing: expected at least 1")

    @property
    def rate(self) -> float:
        """Byte/s that the requests in flight allow; infinite where their number or turnaround is no limit."""
        if self.in_flight is None or self.turnaround == 0:
            return math.inf
        return self.in_flight * self.payload / self.turnaround

    def least(self, size: float) -> float:
        """The least time in seconds for ``size`` bytes: not below one turnaround where the number is given."""
        return 0.0 if self.in_flight is None else max(self.turnaround, size / self.rate)


@dataclass(frozen=True, slots=True)
class Transfer:
    """One question: ``size`` bytes over ``route``, cut as ``cut`` says.

    ``receive``: bytes that come back at the same time (None: one way). ``window``: requests in flight (None: no limit);
    ``memory``: byte/s of the sender (None: no limit). ``shared``: for each end, its memory's byte/s and how often it is
    touched by a byte that goes there and by one that comes back. ``drawn``: routes that are equally likely, where the links
    were fitted.
    """

    size: float
    route: Route
    cut: Cut = field(default_factory=Cut)
    way: str = "store-and-forward"
    receive: float | None = None
    window: Window | None = None
    half_duplex: bool = False
    memory: float | None = None
    shared: tuple[tuple[float, float, float], ...] = ()
    drawn: tuple[Route, ...] = ()


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
    exchange: Estimate | None = None
    concurrency: limits.Concurrency | None = None

    @property
    def estimate(self) -> Estimate:
        """What was asked for: both directions at once where something comes back, else the way that this path uses."""
        return self.ways[self.chosen] if self.exchange is None else self.exchange


def cost(question: Transfer) -> Cost:
    """Answer ``question``. Raises InputError for sizes that are not whole bytes."""
    _check(question)
    concurrency = _concurrency(question)
    question = limited(question)
    size, route = question.size, question.route
    ways = {name: _moved(question, name) for name in p2p.WAYS}
    exchange = None if question.receive is None else _exchange(question)
    if question.drawn and exchange is not None:
        exchange = _with_interval(exchange, question, _exchange)
    elif question.drawn:
        ways[question.way] = _with_interval(ways[question.way], question, lambda one: _moved(one, one.way))
    return Cost(
        size=size,
        ways=ways,
        chosen=question.way,
        best=p2p.best(size, route),
        closed_form=chunks.closed_form(size, [hop.curve for hop in route.hops]),
        half_size=_half_size(question),
        peak=_peak(question),
        levers=_levers(question),
        exchange=exchange,
        concurrency=concurrency,
    )


def _with_interval(estimate: Estimate, question: Transfer, answer: Callable[[Transfer], Estimate]) -> Estimate:
    """The estimate with the 90 % interval of its value over the drawn routes."""
    values = [answer(limited(replace(question, route=route))).value for route in question.drawn]
    low, high = interval(values)
    return replace(estimate, low=min(low, estimate.value), high=max(high, estimate.value))


def _moved(question: Transfer, way: str) -> Estimate:
    """The Estimate of one way; of the requests in flight where these take longer."""
    estimate = p2p.WAYS[way](question.size, question.route, question.cut)
    requests = _requests(question, estimate)
    return estimate if requests is None or requests.value <= estimate.value else requests


def _check(question: Transfer) -> None:
    for name, size in (("size", question.size), ("size to receive", question.receive)):
        if size is not None and not float(NON_NEGATIVE.check(name, size)).is_integer():
            raise InputError(f"{name} is {size!r} bytes: expected a whole number")


def limited(question: Transfer) -> Transfer:
    """The question with its first hop no faster than the sender's memory allows."""
    if question.memory is None:
        return question
    route = question.route.capped(question.memory, "memory bandwidth of the sender")
    return replace(question, route=route, memory=None, shared=((question.memory, 1.0, 1.0), *question.shared))


_FASTEST = 1e300


def _line_rate(question: Transfer) -> float:
    return min(_FASTEST, *(hop.peak for hop in question.route.hops))


def _concurrency(question: Transfer) -> limits.Concurrency | None:
    window = question.window
    if window is None:
        return None
    return limits.concurrency(
        window.in_flight or 0.0, window.payload, window.turnaround, _line_rate(question), question.size
    )


def _requests(question: Transfer, line: Estimate) -> Estimate | None:
    """The transfer as requests in flight: it ends neither before a turnaround nor faster than the window lets it."""
    window = question.window
    if window is None or window.in_flight is None:
        return None
    each = f"{window.in_flight:g} x {show(window.payload, 'size')} per {show(window.turnaround, 'time')}"
    terms = (
        Term(
            f"requests in flight ({each})",
            question.size / window.rate,
            "more or larger requests, or a shorter turnaround",
        ),
        Term("one turnaround", window.turnaround, "a shorter turnaround"),
        Term("line itself", line.value, "a faster line"),
    )
    return Estimate.of(line.name, terms, "max", line.premises)


def answer(question: Transfer) -> Estimate:
    """The Estimate of what was asked for, without the figures around it."""
    question = limited(question)
    return _moved(question, question.way) if question.receive is None else _exchange(question)


def _levers(question: Transfer) -> list[Lever]:
    """What would help with what was asked for; best first, nothing that saves nothing."""
    now = answer(question).value
    found = [(name, answer(changed).value) for name, changed in _changes(question)]
    saving = [Lever(name, time, 1 - time / now) for name, time in found if now > 0 and time < now * (1 - 1e-9)]
    return sorted(saving, key=lambda lever: lever.time)


def _changes(question: Transfer) -> Iterator[tuple[str, Transfer]]:
    for change in p2p.changes(question.size, question.route, question.cut, question.way):
        yield change.name, replace(question, route=change.route, way=change.way, cut=change.cut)
    window = question.window
    if window is not None and window.in_flight is not None:
        yield "twice the requests in flight", replace(question, window=replace(window, in_flight=2 * window.in_flight))
        yield "half the turnaround", replace(question, window=replace(window, turnaround=window.turnaround / 2))
    if question.receive is not None and question.half_duplex:
        yield "a full-duplex link", replace(question, half_duplex=False)
    if question.receive is not None and question.shared:
        shared = tuple((2 * rate, out, home) for rate, out, home in question.shared)
        caps = {name for hop in question.route.hops for _, name in hop.caps}
        route = reduce(lambda changed, name: changed.changed(name, 2.0), sorted(caps), question.route)
        where = "of both ends" if len(question.route.hops) == 1 else "everywhere"
        yield f"twice the memory bandwidth {where}", replace(question, shared=shared, route=route)


def _together(question: Transfer, slopes: Sequence[float]) -> float:
    """Seconds per byte of the whole path: the sum where hops wait for one another, else the slowest."""
    return sum(slopes) if question.way == "store-and-forward" else max(slopes)


def _peak(question: Transfer) -> float:
    """Byte/s that long messages tend to; infinite where time does not grow with size."""
    return min(_way_peak(question), math.inf if question.window is None else question.window.rate)


def _way_peak(question: Transfer) -> float:
    slope = _slope(question)
    return 1 / slope if slope else math.inf


def _slope(question: Transfer) -> float:
    """Seconds per byte of ever longer messages: chunks of a fixed size pay their start-ups for ever, k chunks do not."""
    hops, cut = question.route.of(question.way), question.cut
    slopes = [1 / hop.peak for hop in hops]
    if question.way == "pipelined" and cut.chunk is not None:
        chunk = cut.chunk
        return max(latency / chunk + 1 / bandwidth for latency, bandwidth in (hop.at(chunk) for hop in hops))
    if question.way == "pipelined" and cut.k == 1:
        return sum(1 / hop.peak for hop in question.route.alone)
    if question.way == "pipelined" and cut.k is not None:
        return (sum(slopes) + (cut.k - 1) * max(slopes)) / cut.k
    return _together(question, slopes)


_LONG = 2.0**50


def _half_size(question: Transfer) -> float | None:
    """n_1/2 (Hockney): the least size in whole bytes that reaches half of the peak; None: no size does."""
    half = _peak(question) / 2
    if not math.isfinite(half):
        return None
    return _first_reaching(lambda size: _moved(replace(question, size=size), question.way).value, half)


def _first_reaching(time: Callable[[float], float], rate: float) -> float | None:
    """The least whole size whose effective bandwidth is ``rate``, by doubling and halving."""
    high = 1.0
    while high / max(time(high), 1e-300) < rate:
        high *= 2
        if high > _LONG:
            return None
    low = high / 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if middle / max(time(middle), 1e-300) >= rate else (middle, high)
    return high


def _exchange(question: Transfer) -> Estimate:
    """Both directions: at once, or in turn over half duplex. The way back is taken to be like the way there."""
    send, receive = question.size, question.receive or 0.0
    there, back = (_moved(replace(question, size=size), question.way).value for size in (send, receive))
    terms = [Term("way there", there), Term("way back", back)]
    if question.half_duplex:
        return Estimate.of("both directions in turn", terms, "sum", question.route.premises)
    empty = p2p.WAYS[question.way](0.0, question.route, question.cut).value
    shared = max((empty + (send * out + receive * home) / rate for rate, out, home in question.shared), default=0.0)
    terms += [Term("memory that both directions share", shared)] if question.shared else []
    return Estimate.of("both directions at once", terms, "max", question.route.premises)


# --- many at once -------------------------------------------------------------------------------------------------


def times(question: Transfer) -> dict[str, float]:
    """Seconds of every way of moving, without the reasons: for sweeps."""
    _check(question)
    question = limited(question)
    return {name: _moved(question, name).value for name in p2p.WAYS}


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
    floor = 0.0 if question.window is None else question.window.least(question.size)
    times = [max(float(t), floor) for t in (whole, *time[1:])]
    return Sweep("chunks", [float(k) for k in counts], {"pipelined": times})


def best_chunks(question: Transfer) -> int:
    """The exact best number of chunks for a question."""
    return p2p.best(question.size, limited(question).route).k
