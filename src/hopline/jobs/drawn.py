"""A transfer under each draw of the links' fitted curves: the interval of its answer.

What belongs here: routes through what a machine may also be, given what was measured on it. Only links whose curve was
fitted here vary; a transfer over none of them has no interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hopline.curve import Curve, Floats, Piece
from hopline.jobs.routes import machine_route
from hopline.machine.parts import Operation
from hopline.machine.topology import Machine
from hopline.model.p2p import Route
from hopline.study import draws
from hopline.study.chance import t_sample

ROUTES = 40
"""Enough for a 90 % interval by order statistics."""


def routes(
    machine: Machine, names: Sequence[str], size: float, ranks: int = 2, nics: int = 1, reduce: bool = False
) -> tuple[Route, ...]:
    """ROUTES of ``machine_route`` with equally likely curves in place of the fitted ones; none where nothing was fitted.

    Each draw also holds how measured times scatter about the curve near ``size``.
    """
    fitted = {
        name: machine.operations[link.operation]
        for name, link in machine.links.items()
        if link.operation and machine.operations[link.operation].draws
    }
    used = {leg.link.name for leg in machine.path(names).legs} & set(fitted)
    if not used:
        return ()
    rng = np.random.default_rng(0)
    scatter = {name: _scattered(fitted[name], size, rng) for name in sorted(used)}
    found = []
    for k in range(ROUTES):
        links = dict(machine.links)
        for name in used:
            drawn = fitted[name].draws
            links[name] = replace(links[name], curve=_scaled(drawn[k * len(drawn) // ROUTES], float(scatter[name][k])))
        found.append(machine_route(replace(machine, links=links), names, size, ranks, nics, reduce)[0])
    return tuple(found)


def _scattered(operation: Operation, size: float, rng: np.random.Generator) -> Floats:
    """ROUTES equally likely factors by which a time near ``size`` lies off the operation's curve, in any order."""
    sizes, times = (np.array(column) for column in zip(*operation.points, strict=True))
    spread = draws.scatter_near(sizes, times, operation.curve, size)
    return np.asarray(np.exp(spread * rng.permutation(t_sample(ROUTES, draws.NEAR))))


def _scaled(curve: Curve, factor: float) -> Curve:
    return Curve(tuple(Piece(p.low, p.latency * factor, p.bandwidth / factor) for p in curve.pieces))
