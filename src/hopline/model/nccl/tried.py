"""The bandwidths that NCCL's search tries for a channel, and what it makes of one that fits.

What belongs here: its lists, and the rules that hold on any machine (src/graph/search.cc, v2.30.7-1). Machines are
``searched`` and ``over_pci``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hopline.errors import InputError
from hopline.model.nccl.job import Graph
from hopline.model.nccl.numbers import CAPABILITY

_OLD_WITHIN = (40.0, 30.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0, 7.0, 6.0, 5.0, 4.0, 3.0)
_OLD_BETWEEN = (
    48.0, 30.0, 28.0, 24.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.4, 1.2, 0.24, 0.12,
)  # fmt: skip
WITHIN = {
    "volta": _OLD_WITHIN, "ampere": _OLD_WITHIN,
    "hopper": (60.0, 50.0, 40.0, 30.0, 24.0, 20.0, 15.0, 12.0, 11.0, 6.0, 3.0),
    "blackwell": (90.0, 80.0, 70.0, 60.0, 50.0, 45.0, 40.0, 30.0, 24.0, 20.0, 19.0, 18.0),
}  # fmt: skip
BETWEEN = {
    "volta": _OLD_BETWEEN, "ampere": _OLD_BETWEEN,
    "hopper": (48.0, 45.0, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0, 17.5, 15.0, 12.0, 6.0, 3.0, 2.4, 1.2, 0.24, 0.12),
    "blackwell": (
        96.0, 86.0, 80.0, 48.0, 45.1, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0, 17.5, 15.0, 12.0, 6.0, 3.0, 2.4, 1.2, 0.24, 0.12,
    ),
}  # fmt: skip
"""GB/s that the search tries for a channel, on one node and over the network."""
_DOUBLED, _FAST, _FEW = 25.0, 50.0, 4
_HALF = 0.49
MOST_FOUND = 32
"""Channels that the search looks for: half of those that a communicator may have."""
_ROUNDING = 1e-9


def best(total: float, tried: tuple[float, ...], most: float, rails: int | None = None) -> tuple[float, int]:
    """The bandwidth of a channel with which whole channels fill most of ``total``, and their number; the faster of equals.

    ``most`` bounds a channel; with ``rails`` it is the rate of each of so many NICs, which share the channels.
    """
    found = (0.0, 0)
    for speed in tried:
        if found[1] and speed / found[0] <= _HALF:
            break
        channels = min(MOST_FOUND, int(total / speed + _ROUNDING)) if speed <= most else 0
        if rails is not None:
            channels = min(channels, rails * int(most / speed + _ROUNDING))
        if channels and speed * channels > found[0] * found[1]:
            found = (speed, channels)
    if not found[1]:
        raise InputError(
            f"{min(total, most):g} GB/s a GPU: expected at least {tried[-1]:g}, the least that NCCL tries for a channel"
        )
    return found


def fitting(tried: tuple[float, ...], limit: float) -> float:
    """The fastest that is within ``limit``. Raises InputError where none is."""
    found = next((speed for speed in tried if speed <= limit + _ROUNDING), None)
    if found is None:
        raise InputError(f"{limit:g} GB/s a channel: expected at least {tried[-1]:g}, the least that NCCL tries")
    return found


def reached(start: float, faster: Iterable[float]) -> float:
    """The search goes on to the next faster while the last was below twice the start."""
    at = start
    for speed in sorted(faster):
        if speed > at and at < 2 * start:
            at = speed
    return at


def doubled(graph: Graph, architecture: str) -> Graph:
    """Fast channels are split in two."""
    slow = graph.within < _DOUBLED
    if slow or (CAPABILITY[architecture] > 80 and graph.within < _FAST and graph.channels > _FEW):
        return graph
    return replace(graph, channels=2 * graph.channels, within=graph.within / 2, between=graph.between / 2)
