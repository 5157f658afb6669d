"""Slow, plain walks that the formulas are compared with: they follow bytes, flits and chunks one by one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hopline.curve import Curve, Hop
from hopline.quantity import exact


def price(hop: Hop, size: float) -> tuple[Fraction, Fraction]:
    """(latency, seconds a byte) of a hop for one chunk, exactly."""
    if isinstance(hop, Curve):
        piece = max((p for p in hop.pieces if p.low <= size), key=lambda p: p.low)
        latency, bandwidth = piece.latency, piece.bandwidth
    else:
        latency, bandwidth = (float(part) for part in hop)
    return exact(latency), Fraction(0) if bandwidth == float("inf") else 1 / exact(bandwidth)


def chunk_walk(hops: Sequence[Hop], chunks: Sequence[float | Fraction], occupies: bool = True) -> Fraction:
    """When the last chunk has arrived: chunks in order, each on a hop once it is there and the hop is free.

    With ``occupies`` False the latency delays what arrives but leaves the hop free; chunks stay in order, so one that
    could overtake the one before it waits for it.
    """
    free = [Fraction(0)] * len(hops)
    last = Fraction(0)
    for chunk in chunks:
        there = Fraction(0)
        for i, hop in enumerate(hops):
            latency, slope = price(hop, float(chunk))
            free[i] = max(there, free[i]) + slope * exact_size(chunk) + (latency if occupies else 0)
            there = free[i] + (0 if occupies else latency)
        last = max(last, there)
    return last


def exact_size(chunk: float | Fraction) -> Fraction:
    """A size as a rational number."""
    return chunk if isinstance(chunk, Fraction) else exact(chunk)


def balanced_chunks(size: int, k: int) -> list[int]:
    """Whole bytes, the first ones a byte larger."""
    k = min(k, max(size, 1))
    return [size // k + (j < size % k) for j in range(k)]


def fixed_chunks(size: int, chunk: int) -> list[int]:
    """Chunks of one size and the rest."""
    full, rest = divmod(size, chunk)
    return [chunk] * full + [rest] * (rest > 0 or size == 0)


def byte_walk(size: int, hops: Sequence[Hop], header: int, grain: int) -> Fraction:
    """Cut-through in ``grain`` pieces a byte: no node sends before the header is in, nor what it has not got.

    Arrivals grow ever more slowly or ever faster along a message, never both, so that whole bytes lose nothing to the
    fluid that the formula speaks of; finer grains show it.
    """
    steps = size * grain
    arrived = [Fraction(0)] * (steps + 1)
    for hop in hops:
        latency, slope = price(hop, size)
        begin = arrived[min(header, size) * grain]
        clock, sent = begin, [begin + latency]
        for j in range(1, steps + 1):
            clock = max(clock + slope / grain, arrived[j])
            sent.append(clock + latency)
        arrived = sent
    return arrived[-1]


def flit_walk(size: int, hops: Sequence[Hop], flit: int, source: float = 0.0) -> Fraction:
    """Wormhole: padded flits in order; a flit holds a hop while it is sent, the route time only delays it."""
    number = max(-(-size // flit), 1)
    free = [Fraction(0)] * len(hops)
    there = Fraction(0)
    for _ in range(number):
        there = exact(source)
        for i, hop in enumerate(hops):
            route, slope = price(hop, size)
            free[i] = max(there, free[i]) + flit * slope
            there = free[i] + route
    return there
