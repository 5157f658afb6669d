"""Connection state of a cluster by every way of connecting, with what the NIC's cache makes of it.

What belongs here: composing ``model.state``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from hopline.model.state import ACCESS, CONNECTIONS, Cache, Cluster, Sizes, fits, message_rate, miss

_CACHE = {"cache": "size", "fetch": "fetch", "fetches": "overlap", "rate": "rate"}
"""Key of a question -> field of Cache."""


@dataclass(frozen=True, slots=True)
class Row:
    """One way of connecting on a node.

    Contexts and their bytes, bytes of posted receives, the part of look-ups that misses, messages per second of a NIC, and
    nodes up to which all contexts fit.
    """

    name: str
    contexts: int
    context_bytes: float
    receive_bytes: float
    missing: float
    messages: float
    fits: int


@dataclass(frozen=True, slots=True)
class States:
    """All ways side by side, for each order of use; ``grown``: (nodes, bytes of contexts of a NIC) for a picture."""

    cluster: Cluster
    sizes: Sizes
    cache: Cache
    rows: dict[str, list[Row]]
    grown: dict[str, list[tuple[float, float]]]


def states(given: Mapping[str, float]) -> States:
    """``given``: numbers by the names of the fields of Cluster, Sizes, and cache, fetch, fetches, rate. Raises InputError."""
    cluster = Cluster(**{f.name: int(given[f.name]) for f in fields(Cluster) if f.name in given})
    named = {name: given[name] for name in (f.name for f in fields(Sizes)) if name in given}
    told: dict[str, Any] = {field: given[key] for key, field in _CACHE.items() if key in given}
    sizes, cache = Sizes(**named), Cache(**told)
    rows = {access: [_row(name, cluster, sizes, cache, access) for name in CONNECTIONS] for access in ACCESS}
    grown = {name: _grown(name, cluster, sizes) for name in CONNECTIONS}
    return States(cluster, sizes, cache, rows, grown)


def _row(name: str, cluster: Cluster, sizes: Sizes, cache: Cache, access: str) -> Row:
    found = CONNECTIONS[name](cluster, sizes)
    missing = miss(found, cluster, cache, access)
    rate, most = message_rate(cache, missing), fits(name, cluster, sizes, cache)
    return Row(name, found.contexts, found.context_bytes, found.receive_bytes, missing, rate, most)


def _grown(name: str, cluster: Cluster, sizes: Sizes) -> list[tuple[float, float]]:
    counts = sorted({1 << power for power in range(1, 13)} | {cluster.nodes} - {1})
    every = [(count, CONNECTIONS[name](replace(cluster, nodes=count, peers=None), sizes)) for count in counts]
    return [(float(count), found.context_bytes / cluster.nics) for count, found in every]
