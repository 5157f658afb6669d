"""The cost of one transfer as Estimates: how long, where the time goes, which limit binds, what would change it.

What belongs here: putting the numbers of ``forwarding``, ``pipeline`` and ``chunks`` into terms with names. The question is a
Route: hops with the names of what limits each. Every way of moving the message is one row of WAYS.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from hopline.curve import Curve, Piece
from hopline.model import chunks, forwarding, pipeline
from hopline.model.chunks import Best
from hopline.model.forwarding import Forward
from hopline.records.estimate import Estimate, Premise, Term


@dataclass(frozen=True, slots=True)
class RouteHop:
    """One hop: its own cost curve, what else bounds it, and what these are called in the answer.

    ``caps`` are (byte/s, name) of a memory at its ends. Names tell levers apart: see ``changed``. ``parts`` are the
    start-up's own, in seconds by name, where they are known.
    """

    name: str
    own: Curve
    startup: str
    link: str
    caps: tuple[tuple[float, str], ...] = ()
    parts: tuple[tuple[str, float], ...] = ()

    @property
    def curve(self) -> Curve:
        """What the hop costs: its own curve, no faster than its caps."""
        return self.own.capped(min((rate for rate, _ in self.caps), default=math.inf))

    def at(self, size: float) -> tuple[float, float]:
        """(latency in s, bandwidth in byte/s) for messages of ``size`` bytes."""
        piece = self.own.piece_at(size)
        return piece.latency, min(piece.bandwidth, *(rate for rate, _ in self.caps), math.inf)

    def limit(self, size: float) -> str:
        """What bounds the bandwidth for messages of ``size`` bytes."""
        own = self.own.piece_at(size).bandwidth
        rate, name = min(self.caps, default=(math.inf, ""))
        return name if rate < own else self.link

    @property
    def peak(self) -> float:
        """Bandwidth that long messages tend to, in byte/s; infinite where their time does not grow with size."""
        return self.curve.pieces[-1].bandwidth

    def changed(self, name: str, factor: float) -> RouteHop:
        """The hop with what is called ``name`` multiplied: its start-up, its link's bandwidth or a cap."""
        latency = factor if name == self.startup else 1.0
        bandwidth = factor if name == self.link else 1.0
        pieces = tuple(Piece(p.low, p.latency * latency, p.bandwidth * bandwidth) for p in self.own.pieces)
        caps = tuple((rate * factor if cap == name else rate, cap) for rate, cap in self.caps)
        return replace(self, own=Curve(pieces), caps=caps)


@dataclass(frozen=True, slots=True)
class Route:
    """What the ways of moving a message need to know.

    ``hops`` price a node that works on several chunks at once; ``alone`` the same where it handles the message as a whole
    (a relay's memory is then not shared between reading and writing); ``routes`` are the wormhole's hops.
    """

    hops: tuple[RouteHop, ...]
    alone: tuple[RouteHop, ...]
    routes: tuple[RouteHop, ...]
    forward: Forward = field(default_factory=Forward)
    premises: tuple[Premise, ...] = ()

    def of(self, way: str) -> tuple[RouteHop, ...]:
        """The hops as a way of moving prices them."""
        return {"store-and-forward": self.alone, "wormhole": self.routes}.get(way, self.hops)

    def changed(self, name: str, factor: float) -> Route:
        """The route with everything called ``name`` multiplied."""
        groups = ([hop.changed(name, factor) for hop in group] for group in (self.hops, self.alone, self.routes))
        hops, alone, routes = (tuple(group) for group in groups)
        return replace(self, hops=hops, alone=alone, routes=routes)

    def capped(self, bandwidth: float, name: str) -> Route:
        """The route with the first hop no faster than ``bandwidth``, which is then called ``name``."""
        hops, alone, routes = (
            (replace(group[0], caps=(*group[0].caps, (bandwidth, name))), *group[1:])
            for group in (self.hops, self.alone, self.routes)
        )
        return replace(self, hops=hops, alone=alone, routes=routes)


@dataclass(frozen=True, slots=True)
class Cut:
    """How the message is cut: ``k`` chunks of whole bytes, or chunks of ``chunk`` bytes; neither: the best k."""

    k: int | None = None
    chunk: float | None = None

    def number(self, size: float, route: Route) -> int:
        """Chunks that this cut makes of ``size`` bytes."""
        if self.chunk is not None:
            return max(1, math.ceil(size / self.chunk))
        if self.k is not None:
            return max(1, min(self.k, int(size)))
        return best(size, route).k


def _curves(hops: Sequence[RouteHop]) -> list[Curve]:
    return [hop.curve for hop in hops]


def best(size: float, route: Route) -> Best:
    """The exact best number of chunks of whole bytes, 1 to the number of bytes; one chunk leaves no hop to overlap with."""
    found = chunks.best(size, _curves(route.hops))
    whole = float(forwarding.store_and_forward(size, _curves(route.alone)))
    return Best(1, whole) if whole <= found.time else found


# --- the ways -----------------------------------------------------------------------------------------------------


def store_and_forward(size: float, route: Route, cut: Cut) -> Estimate:
    """The whole message at each node before it goes on."""
    del cut
    terms = [term for hop in route.alone for term in _hop_terms(hop, size)]
    return _summed("store-and-forward" if len(route.hops) > 1 else "direct", terms, route.premises)


def cut_through(size: float, route: Route, cut: Cut) -> Estimate:
    """Nodes send on once the header is in."""
    del cut
    time = float(forwarding.cut_through(size, _curves(route.hops), route.forward))
    terms = [Term(hop.startup, hop.at(size)[0], _START) for hop in route.hops]
    terms.append(_slowest_term(route.hops, size))
    return _summed("cut-through", _with_rest(terms, time, "header on the way"), route.premises)


def wormhole(size: float, route: Route, cut: Cut) -> Estimate:
    """Flits follow one another through the switches."""
    del cut
    source = route.hops[0].at(size)[0]
    time = float(forwarding.wormhole(size, _curves(route.routes), replace(route.forward, source=source)))
    terms = [Term(route.hops[0].startup, source, _START)]
    terms += [Term(hop.startup, hop.at(size)[0], "fewer hops") for hop in route.routes]
    terms.append(_slowest_term(route.routes, size))
    return _summed("wormhole", _with_rest(terms, time, "flits filling the path"), route.premises)


def pipelined(size: float, route: Route, cut: Cut) -> Estimate:
    """Chunks follow one another, each stored and forwarded."""
    k = cut.number(size, route)
    hops = route.alone if k == 1 else route.hops
    curves = _curves(hops)
    if cut.chunk is None:
        time, largest = float(pipeline.balanced(size, curves, k)), float(math.ceil(size / k))
    else:
        time, largest = float(pipeline.fixed(size, curves, cut.chunk)), min(cut.chunk, size)
    slowest = max(hops, key=lambda hop: hop.at(largest)[0] + largest / hop.at(largest)[1])
    latency, bandwidth = slowest.at(largest)
    terms = [
        Term(f"{slowest.startup}, {k} times" if k > 1 else slowest.startup, k * latency, _FEWER if k > 1 else _START),
        Term(slowest.limit(largest), size / bandwidth, _FASTER),
    ]
    terms += [Term(f"first chunk on {hop.name}", sum(_cost(hop, largest)), _MORE) for hop in hops if hop is not slowest]
    name = f"pipelined, k = {k}"
    return _summed(name, _with_rest(terms, time, "uneven chunks"), route.premises)


WAYS: dict[str, Callable[[float, Route, Cut], Estimate]] = {
    "store-and-forward": store_and_forward,
    "pipelined": pipelined,
    "cut-through": cut_through,
    "wormhole": wormhole,
}
"""Way of moving a message -> (size, route, cut) -> Estimate."""

_START = "cheaper start-up, or fewer and larger messages"
_FASTER = "more bandwidth on this hop, or fewer bytes"
_FEWER = "fewer, larger chunks"
_MORE = "smaller chunks"


def _cost(hop: RouteHop, size: float) -> tuple[float, float]:
    latency, bandwidth = hop.at(size)
    return latency, size / bandwidth


def _hop_terms(hop: RouteHop, size: float) -> tuple[Term, Term]:
    latency, moving = _cost(hop, size)
    return Term(hop.startup, latency, _START), Term(hop.limit(size), moving, _FASTER)


def _slowest_term(hops: Sequence[RouteHop], size: float) -> Term:
    """The bytes on the slowest hop, and on those that are as slow: they all would have to become faster."""
    slowest = min(hop.at(size)[1] for hop in hops)
    tied = [hop.limit(size) for hop in hops if hop.at(size)[1] == slowest]
    return Term(_together(list(dict.fromkeys(tied)), len(hops)), size / slowest, _FASTER)


def _together(names: Sequence[str], of: int) -> str:
    """One name for several limits that are equal."""
    if len(names) == 1:
        return names[0]
    return f"bandwidth of all {of} hops" if len(names) == of else f"{names[0]} and {len(names) - 1} like it"


def _with_rest(terms: list[Term], time: float, name: str) -> list[Term]:
    """The terms, and what they leave of ``time`` under ``name`` (negative where uneven chunks end earlier)."""
    rest = time - math.fsum(term.value for term in terms)
    return terms if abs(rest) <= 1e-12 * time else [*terms, Term(name, rest)]


def _summed(name: str, terms: list[Term], premises: tuple[Premise, ...]) -> Estimate:
    """The sum of what is not zero."""
    return Estimate.of(name, [term for term in terms if term.value != 0] or terms[:1], "sum", premises)


# --- what to change -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lever:
    """A change, the time in seconds it leads to, and the share of the time that it saves."""

    change: str
    time: float
    saves: float


@dataclass(frozen=True, slots=True)
class Change:
    """Something that could be otherwise: the route, or the way of moving the message over it."""

    name: str
    route: Route
    way: str
    cut: Cut


def changes(size: float, route: Route, cut: Cut, way: str) -> Iterator[Change]:
    """Each bandwidth doubled, each start-up halved, and the other ways of moving.

    Hops that are equal in what is changed are changed together: one of them alone would help little.
    """
    for names in _equals(size, route.of(way), part=1):
        yield Change(f"twice the {_together(names, len(route.hops))}", _multiplied(route, names, 2.0), way, cut)
    starts = _equals(size, route.of(way), part=0)
    if way == "wormhole" and [route.hops[0].startup] not in starts:
        starts.append([route.hops[0].startup])
    for names in starts:
        called = names[0] + (f" and {len(names) - 1} like it" if len(names) > 1 else "")
        yield Change(f"half the {called}", _multiplied(route, names, 0.5), way, cut)
    if len(route.hops) > 1 or way != "store-and-forward":
        for other in (other for other in WAYS if other != way):
            name = f"pipelined in {best(size, route).k} chunks" if other == "pipelined" else f"{other} instead"
            yield Change(name, route, other, Cut())


def _multiplied(route: Route, names: Sequence[str], factor: float) -> Route:
    return reduce(lambda changed, name: changed.changed(name, factor), names, route)


_MOST_CHANGED = 8


def _equals(size: float, hops: Sequence[RouteHop], part: int) -> list[list[str]]:
    """Names of what is equal in latency (part 0) or bandwidth (part 1), the costliest groups first."""
    groups: dict[float, list[RouteHop]] = {}
    for hop in hops:
        groups.setdefault(hop.at(size)[part], []).append(hop)
    costly = sorted(groups.values(), key=lambda group: -sum(_cost(hop, size)[part] for hop in group))[:_MOST_CHANGED]
    named = [[hop.limit(size) if part else hop.startup for hop in group] for group in costly]
    return [list(dict.fromkeys(names)) for names in named]
