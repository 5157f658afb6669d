"""Whether buffers can fill at all: what can come together for an edge, against what it carries.

What belongs here: sums of rates. They exclude a deadlock where no edge can be offered more than it carries; they never
prove one: which buffers are full at once is a question for a packet simulation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hopline.records.deadlock import Net, Trails

Floats = NDArray[np.float64]


def overloaded(net: Net, trails: Trails) -> NDArray[np.int64] | None:
    """Edges for which more can come than they carry; None: the net's rates are not told.

    Where there is none, and flows keep to their rates, no buffer holds more than a few packets of each flow, nobody is
    paused, and no cycle of waits can lock.
    """
    if net.rate is None:
        return None
    loads = _loads(net, trails, np.arange(len(trails.edge)))
    return np.flatnonzero(loads > net.rate * (1 + 1e-9))


def offered(net: Net, trails: Trails, edge: int) -> tuple[float | None, float | None]:
    """(most byte/s that can come for ``edge``, byte/s that it carries); None: not told."""
    if net.rate is None:
        return None, None
    here = np.flatnonzero(trails.edge == edge)
    return float(_loads(net, trails, here)[edge]), float(net.rate[edge])


def _loads(net: Net, trails: Trails, hops: NDArray[np.int64]) -> Floats:
    """The most that can come for each edge by these hops: over each edge that feeds it no more than that one carries."""
    if net.rate is None:
        raise ValueError("the rates of the edges are not known")
    flow = np.searchsorted(trails.start, hops, "right") - 1
    first = hops == trails.start[flow]
    feeding = np.where(first, -1, trails.edge[np.maximum(hops - 1, 0)])
    into = trails.edge[hops]
    order = np.lexsort((feeding, into))
    into, feeding, rate = into[order], feeding[order], np.minimum(trails.rate[flow[order]], _most(net))
    edges: Floats = net.rate
    if not len(order):
        return np.zeros(len(edges))
    new = np.flatnonzero(np.concatenate([[True], (np.diff(into) != 0) | (np.diff(feeding) != 0)]))
    sums = np.add.reduceat(rate, new)
    source = feeding[new]
    limit = np.where(source >= 0, edges[np.maximum(source, 0)], edges[into[new]])
    loads: Floats = np.zeros(len(edges))
    np.add.at(loads, into[new], np.minimum(sums, limit))
    return loads


def _most(net: Net) -> float:
    return float(net.rate.max()) if net.rate is not None and len(net.rate) else 0.0
