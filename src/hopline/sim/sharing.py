"""How flows share what they go through: the rules, and the shares of flows that all run at once.

What belongs here: RULES, and the tolerances that every way of working shares out goes by. The filling itself in plain Python
is ``sharing_reference``; what happens over time is ``flows``.

Flow f gets ``coefficient x level`` byte/s, where all levels rise together from 0 until a resource is full; its flows stay
there, and the others rise on (progressive filling: Bertsekas and Gallager, Data Networks, 6.5.2). So each flow has one
resource that **binds** it: the first of its route to fill, of several that fill together the one with the lowest number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hopline.errors import InputError, UnknownNameError
from hopline.machine.resources import Floats, Routes
from hopline.records.sharing import Index
from hopline.sim.sharing_reference import fill


def _alike(latency: Floats) -> Floats:
    return np.ones(len(latency))


def _inverse(latency: Floats) -> Floats:
    """Of the flow with the least latency 1."""
    if not latency.any():
        return _alike(latency)
    least = float(latency.min())
    if least <= 0:
        raise InputError(
            f"{np.count_nonzero(latency <= 0)} of {len(latency)} flows have no latency, so rule inverse-rtt would give them "
            "everything: expected a latency on every way, or rule max-min"
        )
    return least / latency


RULES: dict[str, Callable[[Floats], Floats]] = {"max-min": _alike, "inverse-rtt": _inverse}
"""From the latency of each flow in s to its coefficient: alike for all, or as SimGrid's model CM02 has it (and nearly TCP)."""


def coefficients(rule: str, latency: Floats) -> Floats:
    """Of each flow, shape (flows,). Raises UnknownNameError, and InputError for latencies that a rule has no answer for."""
    if rule not in RULES:
        raise UnknownNameError("rule of sharing", rule, RULES)
    return RULES[rule](latency)


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Byte/s of each flow, and the number of the resource that binds it (-1: it goes through none, and has no bound)."""

    rate: Floats
    bound: Index


def shares(routes: Routes, capacity: Floats, rule: str = "max-min") -> Shares:
    """What each flow gets where all run at once. ``capacity``: byte/s, shape (resources,)."""
    coefficient = coefficients(rule, routes.latency)
    flow = np.repeat(np.arange(len(routes)), np.diff(routes.start))
    amount = routes.weight * coefficient[flow]
    uses: list[list[tuple[int, float]]] = [[] for _ in range(len(routes))]
    for number, resource, taken in zip(flow.tolist(), routes.resource.tolist(), amount.tolist(), strict=True):
        if taken > 0:
            uses[number].append((resource, taken))
    level, bound = fill({number: use for number, use in enumerate(uses) if use}, capacity.tolist())
    rate = np.array([level.get(number, np.inf) for number in range(len(routes))]) * coefficient
    return Shares(rate, np.array([bound.get(number, -1) for number in range(len(routes))], np.int32))
