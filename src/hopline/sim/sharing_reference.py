"""The oracle of sharing: progressive filling in plain Python.

What belongs here: one filling from nothing, meant to be read. Kernels fill again only what a change touches, and must agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

TIE = 1e-12
"""Levels that differ by no more than this part of them are the same: sums of floats depend on their order."""


def fill(
    uses: Mapping[int, Sequence[tuple[int, float]]], capacity: Sequence[float]
) -> tuple[dict[int, float], dict[int, int]]:
    """Level of each flow, and the resource that binds it.

    ``uses``: of each flow (resource, what it takes of it at level 1), each above 0. Levels rise together. Where the least of
    ``left / rising`` is reached, resources are full: those flows stay, and the others rise on.
    """
    users: dict[int, list[int]] = {}
    rising: dict[int, float] = {}
    for flow, use in uses.items():
        for resource, amount in use:
            users.setdefault(resource, []).append(flow)
            rising[resource] = rising.get(resource, 0.0) + amount
    left = {resource: capacity[resource] for resource in users}
    many = {resource: len(flows) for resource, flows in users.items()}
    level: dict[int, float] = {}
    bound: dict[int, int] = {}
    while many:
        full = {resource: left[resource] / rising[resource] for resource in many}
        least = min(full.values())
        for resource in sorted(resource for resource, at in full.items() if at <= least * (1 + TIE)):
            for flow in users[resource]:
                if flow in level:
                    continue
                level[flow], bound[flow] = least, resource
                for other, amount in uses[flow]:
                    left[other] -= amount * least
                    rising[other] -= amount
                    many[other] -= 1
        many = {resource: count for resource, count in many.items() if count}
    return level, bound
