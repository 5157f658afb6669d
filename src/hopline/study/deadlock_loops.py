"""Routing loops: flows that come back to a node, and the rate from which they lock the loop.

What belongs here: finding them, and the threshold.
"""

from __future__ import annotations

import numpy as np

from hopline.errors import InputError
from hopline.records.deadlock import Loop, Net, Trails
from hopline.study.deadlock_waits import inner


def threshold(hops: int, rate: float, ttl: int) -> float:
    """Byte/s of injection above which a routing loop locks: B / ceil(TTL / n), which is n B / TTL where n divides TTL.

    Each packet crosses the loop's edges TTL times in all before it is dropped, the first of the n edges ceil(TTL / n)
    times. What that comes to drains up to B; above it the buffers fill, each waits for the next, and nothing expires any
    more. n B / TTL is that of Hu et al. (HotNets 2016). hops: n; rate: B in byte/s; ttl: counted from the first hop
    inside of the loop.
    """
    if hops < 1 or ttl < 1 or not rate > 0:
        raise InputError(f"a loop of {hops} hops, {rate!r} byte/s and TTL {ttl}: expected each above 0")
    return rate / -(-ttl // hops)


def loops(net: Net, trails: Trails, ttl: int | None = None) -> tuple[Loop, ...]:
    """The first loop of each flow that comes twice to a node, with its threshold where rate and ``ttl`` are known."""
    return tuple(_loop(net, trails, flow, ttl) for flow in _looping(net, trails))


def _looping(net: Net, trails: Trails) -> list[int]:
    """Flows of which two edges lead to one node, or one leads to where the flow begins."""
    flow = np.repeat(np.arange(len(trails)), np.diff(trails.start))
    begins = np.full(len(trails.edge), True)
    begins[inner(trails.start, len(trails.edge)) + 1] = False
    owner = np.concatenate([flow[begins], flow])
    node = np.concatenate([net.origin[trails.edge[begins]], net.target[trails.edge]])
    key = np.sort(owner * len(net.names) + node)
    twice = key[1:][key[1:] == key[:-1]]
    return sorted(set((twice // max(len(net.names), 1)).tolist()))


def _loop(net: Net, trails: Trails, flow: int, ttl: int | None) -> Loop:
    edges = trails.of(flow)
    nodes = [int(net.origin[edges[0]]), *net.target[edges].tolist()]
    seen: dict[int, int] = {}
    for place, node in enumerate(nodes):
        if node in seen:
            break
        seen[node] = place
    first = seen[node]
    rate = None if net.rate is None else float(net.rate[edges[first:place]].min())
    lock = None if rate is None or ttl is None else threshold(place - first, rate, ttl)
    return Loop(flow, tuple(nodes[first : place + 1]), rate, lock)
