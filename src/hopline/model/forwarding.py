"""One message over a path of hops, by how the nodes between forward it.

What belongs here: closed forms and recursions for a message that is not cut into chunks (chunks: ``pipeline``).
All functions take sizes of any shape and a sequence of hops, each a (latency, bandwidth) pair whose parts broadcast
against the sizes, or a Curve; they return seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
from numpy.typing import ArrayLike

from hopline.curve import Curve, Floats, Hop, line_at
from hopline.errors import InputError
from hopline.quantity import NON_NEGATIVE, POSITIVE


@dataclass(frozen=True, slots=True)
class Forward:
    """What forwarding needs to know beside the hops.

    ``header``: bytes a cut-through node must have before it starts to send. ``flit``: bytes of a wormhole flit, None for
    the limit of infinitely small ones. ``source``: seconds that the sender pays once before a wormhole starts.
    """

    header: float = 0.0
    flit: float | None = None
    source: float = 0.0

    def __post_init__(self) -> None:
        NON_NEGATIVE.check("header", self.header)
        NON_NEGATIVE.check("source start-up", self.source)
        if self.flit is not None:
            POSITIVE.check("flit", self.flit)


def checked(size: ArrayLike, hops: Sequence[Hop]) -> Floats:
    """``size`` as floats. Raises InputError for sizes below 0 or not finite and for a path of no hops."""
    if len(hops) == 0:
        raise InputError("the path has no hops: expected at least one")
    sizes = np.asarray(size, dtype=float)
    require(sizes, "size")
    for hop in hops:
        if not isinstance(hop, Curve) and not (isinstance(hop, tuple) and len(hop) == 2):
            raise InputError(f"a hop is {hop!r}: expected (latency, bandwidth) or a Curve")
        if isinstance(hop, tuple):
            require(np.asarray(hop[0], dtype=float), "latency")
            require(np.asarray(hop[1], dtype=float), "bandwidth", strict=True)
    return sizes


def require(values: Floats, name: str, strict: bool = False, least: float = 0.0) -> None:
    """Raise InputError unless all ``values`` are finite and at least (``strict``: above) ``least``."""
    if values.size == 0:
        return
    low, high = float(values.min()), float(values.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise InputError(f"{name} holds {'nan' if math.isnan(low + high) else 'inf'}: expected finite numbers")
    if low < least or (strict and low == least):
        raise InputError(f"{name} is {low!r}: expected a number {'above' if strict else 'of at least'} {least:g}")


def direct(size: ArrayLike, latency: float | Floats, bandwidth: float | Floats) -> Floats:
    """α + m/β: one uncontended link, no packet overhead (Hockney 1994). A message of 0 bytes costs α."""
    sizes = checked(size, [(latency, bandwidth)])
    return np.asarray(latency + sizes / np.asarray(bandwidth, dtype=float))


def arrivals(size: ArrayLike, hops: Sequence[Hop]) -> list[Floats]:
    """Store-and-forward: when the whole message has arrived at the end of each hop; Σ(α_i + m/β_i) in the end."""
    sizes = checked(size, hops)
    lines = [line_at(hop, sizes) for hop in hops]
    steps = [np.asarray(latency + sizes / np.asarray(bandwidth)) for latency, bandwidth in lines]
    return [np.asarray(step) for step in accumulate(steps, np.add)]


def store_and_forward(size: ArrayLike, hops: Sequence[Hop], forward: Forward | None = None) -> Floats:
    """Each node receives the whole message before it sends on: Σ(α_i + m/β_i)."""
    del forward
    return arrivals(size, hops)[-1]


def cut_through(size: ArrayLike, hops: Sequence[Hop], forward: Forward | None = None) -> Floats:
    """A node sends on once the header is in; it cannot send bytes that it has not received (exact, fluid).

    α_i is latency that every byte pays. The arrival of byte x at a node is a maximum of lines a + b x; a hop of 1/β
    replaces the flatter ones by the line that starts when the header is in. With no header: Σα_i + m / min β.
    """
    header = (forward or Forward()).header
    sizes = checked(size, hops)
    first = np.minimum(header, sizes)
    lines: list[tuple[Floats, Floats]] = [(np.zeros(()), np.zeros(()))]
    for hop in hops:
        latency, bandwidth = (np.asarray(part, dtype=float) for part in line_at(hop, sizes))
        slope = 1 / bandwidth
        start = _upper(lines, first)
        kept = [(a, b) for a, b in lines if np.any(b > slope)]
        lines = [(a + latency, np.maximum(b, slope)) for a, b in kept] + [(start + latency, slope)]
    return _upper(lines, sizes)


def _upper(lines: list[tuple[Floats, Floats]], at: Floats) -> Floats:
    values = np.asarray(lines[0][0] + lines[0][1] * at)
    for a, b in lines[1:]:
        values = np.maximum(values, a + b * at)
    return values


def flits(size: ArrayLike, flit: float) -> Floats:
    """Number of flits of a message; the last one is padded, and a message of 0 bytes is one head flit."""
    if not flit > 0:
        raise InputError(f"flit is {flit!r} bytes: expected a number above 0")
    return np.maximum(np.ceil(np.asarray(size, dtype=float) / flit), 1.0)


def wormhole(size: ArrayLike, hops: Sequence[Hop], forward: Forward | None = None) -> Floats:
    """Flits follow one another; each hop's latency is its route time (Dally and Seitz 1987), not blocked on the way.

    source + Σ t_route,i + Σ f/β_i + (n-1) f/min β for n padded flits of f bytes; without a flit size the limit
    source + Σ t_route,i + m/min β.
    """
    ahead = forward or Forward()
    sizes = checked(size, hops)
    lines = [tuple(np.asarray(part, dtype=float) for part in line_at(hop, sizes)) for hop in hops]
    routes = sum((latency for latency, _ in lines), start=np.zeros(()))
    slopes = [1 / bandwidth for _, bandwidth in lines]
    slowest = slopes[0] if len(slopes) == 1 else np.maximum.reduce(np.broadcast_arrays(*slopes))
    if ahead.flit is None:
        return np.asarray(ahead.source + routes + sizes * slowest)
    number = flits(sizes, ahead.flit)
    fill = ahead.flit * sum(slopes, start=np.zeros(()))
    return np.asarray(ahead.source + routes + fill + (number - 1) * ahead.flit * slowest)


def wormhole_limit(size: ArrayLike, hops: Sequence[Hop], forward: Forward | None = None) -> Floats:
    """The wormhole with infinitely small flits."""
    return wormhole(size, hops, replace(forward or Forward(), flit=None))


FORWARDING: dict[str, Callable[[ArrayLike, Sequence[Hop], Forward | None], Floats]] = {
    "store-and-forward": store_and_forward,
    "cut-through": cut_through,
    "wormhole": wormhole,
}
"""Forwarding mode -> (size, hops, forward) -> seconds."""
