"""Where the nodes of a network are drawn: in tiers above the devices, or on a circle.

What belongs here: coordinates in 0 .. 1; nothing about marks and colours.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence

Point = tuple[float, float]
_BEND = 0.12


def positions(kinds: Mapping[str, str], edges: Sequence[tuple[str, str]]) -> dict[str, Point]:
    """A point for each node; ``kinds``: node -> device or switch.

    Devices stand at the bottom and each switch as many tiers higher as it is hops from the nearest device. Where devices are
    joined only to one another they stand on a circle.
    """
    near: dict[str, list[str]] = {name: [] for name in kinds}
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    tiers = _tiers(kinds, near)
    if len(tiers) == 1:
        return _circle(tiers[0])
    return _rows(tiers, near)


def _circle(names: Sequence[str]) -> dict[str, Point]:
    angle = 2 * math.pi / max(len(names), 1)
    return {name: (0.5 + 0.5 * math.sin(i * angle), 0.5 + 0.5 * math.cos(i * angle)) for i, name in enumerate(names)}


def _tiers(kinds: Mapping[str, str], near: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Nodes by hops from the nearest device; switches that no device reaches stand on top."""
    hops = {name: 0 for name, kind in kinds.items() if kind == "device"}
    queue = deque(hops)
    while queue:
        here = queue.popleft()
        for there in near[here]:
            if there not in hops:
                hops[there] = hops[here] + 1
                queue.append(there)
    top = max(hops.values(), default=-1) + 1
    rows: dict[int, list[str]] = defaultdict(list)
    for name in kinds:
        rows[hops.get(name, top)].append(name)
    return [rows[tier] for tier in sorted(rows)]


def _rows(tiers: Sequence[list[str]], near: Mapping[str, Sequence[str]]) -> dict[str, Point]:
    """Each tier evenly spread, a node as near as may be to the mean of what it joins below; devices by what they join.

    A tier whose nodes are joined to one another stands in an arch, so that no line hides another.
    """
    high = max(len(tiers) - 1, 1)
    where: dict[str, Point] = {}
    for level, tier in enumerate(tiers):
        middle = _order(tier, near, where, tiers[level + 1] if level + 1 < len(tiers) else ())
        inside = set(tier)
        bend = _BEND if level and any(other in inside for name in tier for other in near[name]) else 0.0
        for i, name in enumerate(sorted(tier, key=lambda name: middle.get(name, 0.0))):
            x = (i + 0.5) / len(tier)
            where[name] = (x, level / high + bend * math.sin(math.pi * x))
    return where


def _order(
    tier: Sequence[str], near: Mapping[str, Sequence[str]], where: Mapping[str, Point], above: Sequence[str]
) -> dict[str, float]:
    """What a tier is sorted by: the mean of what is below; in the lowest tier the place of the first switch above."""
    place = {name: i / len(above) for i, name in enumerate(above)}
    if not where:
        return {name: min((place[other] for other in near[name] if other in place), default=1.0) for name in tier}
    return {
        name: _mean([where[other][0] for other in near[name] if other in where], i / len(tier))
        for i, name in enumerate(tier)
    }


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
