"""From what the user gave to a Route: hops given by numbers, or a path through a machine, with the premises checked.

What belongs here: naming what limits each hop, and which premises the inputs break or leave open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hopline.curve import Curve
from hopline.errors import InputError
from hopline.jobs.benchmarks import SENDS
from hopline.machine.parts import Fitted
from hopline.machine.topology import Machine, Path
from hopline.model.forwarding import Forward
from hopline.model.p2p import Route, RouteHop
from hopline.quantity import show
from hopline.records.estimate import Premise


def plain_route(
    lines: Sequence[tuple[float, float]],
    switch_latency: float | None = None,
    header: float = 0.0,
    flit: float | None = None,
    route_time: float | None = None,
) -> Route:
    """A route from (latency, bandwidth) pairs. ``switch_latency``: the nodes between are switches of that latency."""
    if not lines:
        raise InputError("the path has no hops: expected at least one")
    between = [lines[0][0]] + [a if switch_latency is None else switch_latency for a, _ in lines[1:]]
    hops = tuple(
        RouteHop(f"hop {i + 1}", Curve.line(a, b), _start_name(i, switch_latency), f"bandwidth of hop {i + 1}")
        for i, (a, (_, b)) in enumerate(zip(between, lines, strict=True))
    )
    routes = tuple(_routed(hop, i, route_time) for i, hop in enumerate(hops))
    forward = Forward(header=header, flit=flit)
    return Route(hops, hops, routes, forward, _plain_premises(len(hops), switch_latency, route_time, flit))


def _routed(hop: RouteHop, index: int, route_time: float | None) -> RouteHop:
    """A wormhole's hop: its route time; where that is not known the hop's latency, but for the sender's, which is apart."""
    if route_time is not None:
        pieces = tuple(replace(piece, latency=route_time) for piece in hop.own.pieces)
        return replace(hop, own=Curve(pieces), startup=f"route time of {hop.name}")
    pieces = tuple(replace(piece, latency=piece.latency if index else 0.0) for piece in hop.own.pieces)
    return replace(hop, own=Curve(pieces))


def _start_name(index: int, switch_latency: float | None) -> str:
    relayed = index > 0 and switch_latency is not None
    return f"switch latency before hop {index + 1}" if relayed else f"start-up of hop {index + 1}"


def _plain_premises(
    hops: int, switch_latency: float | None, route_time: float | None, flit: float | None
) -> tuple[Premise, ...]:
    premises = [Premise("the links carry nothing else", "unknown"), Premise("no packet overhead", "unknown")]
    if hops > 1 and switch_latency is None:
        text = "every node between pays the start-up again, as an end node does"
        premises.append(Premise(text, "unknown", "a switch pays only its own latency: give --switch-latency", True))
    if hops > 1 and route_time is None:
        premises.append(
            Premise("wormhole: the hop latency stands in for the route time", "unknown", "give --route-time")
        )
    if hops > 1 and flit is None:
        premises.append(Premise("wormhole: infinitely small flits", "unknown", "give --flit"))
    return tuple(premises)


def machine_route(
    machine: Machine, names: Sequence[str], size: float, ranks: int = 2, nics: int = 1, reduce: bool = False
) -> tuple[Route, Path]:
    """The route through ``names`` of ``machine``, for messages of ``size`` bytes and a group of ``ranks``."""
    path = machine.path(names)
    for end in (path.legs[0].origin, path.legs[-1].target):
        if end.kind != "device":
            raise InputError(f"the path ends at {end.name}, a switch: expected devices at both ends")
    if nics < 1 or nics > _nics(path):
        raise InputError(f"{nics} NICs asked for: the end nodes of {','.join(path.names)} have {_nics(path)}")
    hops = _named(path, ranks, nics, True, reduce)
    links = [leg.link for leg in path.legs]
    flits = [link.flit for link in links if link.flit is not None]
    forward = Forward(
        header=max(link.header for link in links),
        flit=max(flits, default=None),
    )
    return (
        Route(
            hops=hops,
            alone=_named(path, ranks, nics, False, reduce),
            routes=tuple(
                _routed(hop, i, link.route_time) for i, (hop, link) in enumerate(zip(hops, links, strict=True))
            ),
            forward=forward,
            premises=_machine_premises(path, size, ranks),
        ),
        path,
    )


def _nics(path: Path) -> int:
    return min(node.nics for node in (path.legs[0].origin, path.legs[-1].target))


def _named(path: Path, ranks: int, nics: int, overlap: bool, reduce: bool) -> tuple[RouteHop, ...]:
    hops = []
    for i, (leg, own) in enumerate(zip(path.legs, path.hops(ranks, nics), strict=True)):
        caps = tuple((rate, f"memory bandwidth of {node}") for rate, node in path.memory_caps(i, overlap, reduce))
        switch = leg.origin.kind == "switch"
        startup = f"switch latency of {leg.origin.name}" if switch else f"start-up of {leg.name} ({leg.link.name})"
        parts = () if switch or leg.link.curve else tuple(leg.link.startup.parts(ranks).items())
        hops.append(RouteHop(leg.name, own, startup, f"bandwidth of {leg.name} ({leg.link.name})", caps, parts))
    return tuple(hops)


def _machine_premises(path: Path, size: float, ranks: int) -> tuple[Premise, ...]:
    found = [
        Premise("the links carry nothing else", "unknown"),
        Premise("no packet overhead beyond the file's", "unknown"),
    ]
    unknown = [leg.origin.name for leg in path.legs if not leg.latency_known()]
    if unknown:
        text = f"the latency of {', '.join(unknown)} is 0, since the machine file has none"
        found.append(Premise(text, "unknown", "what it is adds to every transfer", matters=True))
    if len({leg.link.header for leg in path.legs}) > 1 or len({leg.link.flit for leg in path.legs}) > 1:
        found.append(Premise("the links have one header and one flit: they differ, the largest is used", "broken"))
    for leg in path.legs:
        link = leg.link
        if leg.origin.kind == "device" and link.curve is None and link.startup.total(ranks) == 0:
            found.append(
                Premise(f"the start-up of {link.name} is 0, the machine file has none", "unknown", matters=True)
            )
        if not link.startup.sync.covers(ranks):
            reach = f"{link.startup.sync.table[0][0]} to {link.startup.sync.table[-1][0]}"
            text = (
                f"synchronisation of {link.name} for {ranks} ranks: its table covers {reach}, the nearest entry is used"
            )
            found.append(Premise(text, "broken"))
        found += _fitted_premises(link.name, link.fitted, size) if link.fitted else []
    return tuple(dict.fromkeys(found))


def _fitted_premises(name: str, fitted: Fitted, size: float) -> list[Premise]:
    found = []
    if not fitted.smallest <= size <= fitted.largest:
        measured = f"{show(fitted.smallest, 'size')} to {show(fitted.largest, 'size')}"
        found.append(Premise(f"extrapolation: {show(size, 'size')} lies outside of the measured {measured}", "broken"))
    if name not in SENDS:
        text = f"the link was fitted from {name} as a whole ({fitted.origin}): it prices that, not one send"
        found.append(Premise(text, "broken"))
    return found
