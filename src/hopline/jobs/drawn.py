"""A transfer under each draw of the links' fitted curves: the interval of its answer.

What belongs here: routes through what a machine may also be, given what was measured on it. Only links whose curve was
fitted here vary; a transfer over none of them has no interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from hopline.curve import Curve, Floats, Piece
from hopline.jobs.routes import machine_route
from hopline.machine.parts import Operation
from hopline.machine.topology import Machine
from hopline.model.p2p import Route

ROUTES = 40
_NEAR = 7
_MOST_TAKEN = 0.75
"""Part of the scatter that a fit can have taken up at most, where pieces are many and points few."""


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
    scatter = {name: np.exp(_scatter(fitted[name], size) * rng.permutation(_STUDENT)) for name in sorted(used)}
    found = []
    for k in range(ROUTES):
        links = dict(machine.links)
        for name in used:
            draws = fitted[name].draws
            links[name] = replace(links[name], curve=_scaled(draws[k * len(draws) // ROUTES], float(scatter[name][k])))
        found.append(machine_route(replace(machine, links=links), names, size, ranks, nics, reduce)[0])
    return tuple(found)


def _student(degrees: int) -> Floats:
    """ROUTES quantiles of Student's t, evenly spread (Cornish and Fisher's expansion about the normal ones)."""
    normal = NormalDist()
    z = np.array([normal.inv_cdf((k + 0.5) / ROUTES) for k in range(ROUTES)])
    return np.asarray(z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2))


_STUDENT = _student(_NEAR)
"""The scatter is known from no more than _NEAR sizes."""


def _scatter(operation: Operation, size: float) -> float:
    """Root mean square of log(measured / curve) over the sizes nearest to ``size``, for the freedom that the fit took."""
    sizes, times = (np.array(column) for column in zip(*operation.points, strict=True))
    near = np.argsort(np.abs(np.log2(1 + sizes) - np.log2(1 + size)))[:_NEAR]
    measured, curve = times[near], operation.curve.time(sizes[near])
    known = curve > 0
    if not known.any():
        return 0.0
    taken = min(2 * len(operation.curve.pieces) / len(sizes), _MOST_TAKEN)
    return float(np.sqrt(np.mean(np.log(measured[known] / curve[known]) ** 2) / (1 - taken)))


def _scaled(curve: Curve, factor: float) -> Curve:
    return Curve(tuple(Piece(p.low, p.latency * factor, p.bandwidth / factor) for p in curve.pieces))
