"""A message over links that token buckets shape (``tc tbf``): a rate, and a burst that passes at once.

What belongs here: store-and-forward, pipelines and cut-through where a link that was idle has saved up tokens. Without
bursts these are the formulas of ``forwarding`` and ``pipeline`` with latency that overlaps.

A bucket that holds B bytes at most and fills with r bytes per second lets bytes arrive no later than they must: what came
by s has left at t where no more than B + r (t - s) came after s, for every s (the greedy shaper of network calculus: Le Boudec
and Thiran, Network Calculus, Springer LNCS 2050, section 1.5). Chunk j, after c_1 .. c_j, which is ready at a_j, is through at

    max(a_j, max over i <= j of a_i + (c_i + ... + c_j - B) / r)

since a bucket is full at first. Buckets in a row, each passing bytes on as they come, act like the one that is worst at each
size, hence cut-through's maximum over hops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hopline.curve import Floats
from hopline.errors import InputError
from hopline.model.forwarding import require
from hopline.quantity import NON_NEGATIVE, POSITIVE


@dataclass(frozen=True, slots=True)
class Bucket:
    """A shaped link: bytes of payload per second, bytes of payload that pass at once, and seconds of latency."""

    rate: float
    burst: float = 0.0
    latency: float = 0.0

    def __post_init__(self) -> None:
        POSITIVE.check("rate", self.rate)
        NON_NEGATIVE.check("burst", self.burst)
        NON_NEGATIVE.check("latency", self.latency)


def arrivals(chunks: Sequence[float] | Floats, hops: Sequence[Bucket]) -> Floats:
    """When each chunk has arrived at the end of each hop, in s, shape (hops, chunks): relays send whole chunks on.

    One chunk is store-and-forward, Σ(α_i + max(0, m - B_i) / r_i). Raises InputError without hops or chunks.
    """
    sizes = np.asarray(chunks, dtype=float)
    if sizes.ndim != 1 or sizes.size == 0 or not hops:
        raise InputError(f"{np.size(sizes)} chunks over {len(hops)} hops: expected at least one of each")
    require(sizes, "size")
    through = np.cumsum(sizes)
    ready, out = np.zeros(sizes.size), np.empty((len(hops), sizes.size))
    for number, hop in enumerate(hops):
        held = np.maximum.accumulate(ready - (through - sizes) / hop.rate) + (through - hop.burst) / hop.rate
        ready = out[number] = np.maximum(ready, held) + hop.latency
    return out


def cut_through(size: float, hops: Sequence[Bucket]) -> float:
    """Relays send bytes on as they come: Σα_i + max over hops of max(0, m - B_i) / r_i."""
    if not hops:
        raise InputError("the path has no hops: expected at least one")
    NON_NEGATIVE.check("size", size)
    return sum(hop.latency for hop in hops) + max(max(0.0, size - hop.burst) / hop.rate for hop in hops)
