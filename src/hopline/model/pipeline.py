"""A message cut into chunks that follow one another over a path (store-and-forward per chunk).

What belongs here: the time for a given way of cutting; the best number of chunks is ``chunks``.

Chunk j starts on hop i when it has arrived there and the hop is free. α_i occupies the hop for every chunk (the default),
or is latency that overlaps with the next chunk (``occupies=False``). Equal chunks, and chunks of two sizes of which all
larger ones go first (balanced whole bytes; fixed size with a smaller last one), have an exact closed form: the makespan of
a flow shop is its longest staircase, and a staircase crosses from the large chunks to the small ones on one hop s:

    T = max over s of  Σ_{i≤s} T_i + (r-1) max_{i≤s} T_i + Σ_{i≥s} t_i + (n-r-1) max_{i≥s} t_i
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopline.curve import Curve, Floats, Hop, line_at
from hopline.errors import InputError
from hopline.model.forwarding import checked, require

_Kernel = Callable[[Floats, Floats, Sequence[Hop], bool], Floats]
_BLOCK = 1 << 14
"""Elements worked on at a time: a handful of such temporaries stay in the cache."""


def equal(size: ArrayLike, hops: Sequence[Hop], chunks: ArrayLike, occupies: bool = True) -> Floats:
    """Seconds for ``chunks`` equal chunks of size/chunks bytes each (real numbers): Σ t_i + (k-1) max t_i."""
    return _blocked(_equal, checked(size, hops), _number(chunks), hops, occupies)


def balanced(size: ArrayLike, hops: Sequence[Hop], chunks: ArrayLike, occupies: bool = True) -> Floats:
    """Seconds for min(k, m) chunks of whole bytes, the first m mod k of them one byte larger."""
    sizes = checked(size, hops)
    if np.asarray(size).dtype.kind not in "iu" and np.any(sizes != np.floor(sizes)):
        raise InputError("the size must be a whole number of bytes for chunks of whole bytes")
    return _blocked(_balanced, sizes, _number(chunks), hops, occupies)


def fixed(size: ArrayLike, hops: Sequence[Hop], chunk: ArrayLike, occupies: bool = True) -> Floats:
    """Seconds for chunks of ``chunk`` bytes and a last one that holds the rest; 0 bytes are one empty chunk."""
    largest = np.asarray(chunk, dtype=float)
    require(largest, "chunk size", strict=True)
    if np.any(largest != np.floor(largest)):
        raise InputError("the chunk size must be a whole number of bytes")
    return _blocked(_fixed, checked(size, hops), largest, hops, occupies)


def explicit(hops: Sequence[Hop], chunks: Sequence[float], occupies: bool = True) -> float:
    """Seconds for chunks of the given sizes in bytes, in order, by the recursion itself (any sizes)."""
    sizes = checked(chunks, hops)
    if sizes.ndim != 1 or sizes.size == 0:
        raise InputError("the list of chunks is empty: expected at least one size")
    ready = np.zeros(sizes.size)
    for hop in hops:
        latency, bandwidth = (np.broadcast_to(np.asarray(p, dtype=float), sizes.shape) for p in line_at(hop, sizes))
        busy = sizes / bandwidth + (latency if occupies else 0.0)
        before = np.concatenate(([0.0], np.cumsum(busy)[:-1]))
        done = np.maximum.accumulate(ready - before) + before + busy
        ready = done if occupies else done + latency
    return float(ready.max())


def first_chunk(chunk: ArrayLike, hops: Sequence[Hop]) -> Floats:
    """Seconds until a first chunk of ``chunk`` bytes has crossed the path: Σ(α_i + c/β_i)."""
    sizes = checked(chunk, hops)
    return np.asarray(sum(np.asarray(a + sizes / np.asarray(b)) for a, b in (line_at(hop, sizes) for hop in hops)))


def _blocked(kernel: _Kernel, size: ArrayLike, second: ArrayLike, hops: Sequence[Hop], occupies: bool) -> Floats:
    """Run ``kernel`` on checked inputs of one shape, block by block so that its temporaries stay in the cache."""
    parts = [np.asarray(part) for hop in hops if isinstance(hop, tuple) for part in hop if np.ndim(part)]
    arrays = np.broadcast_arrays(size, second, *parts)
    shape, flat = arrays[0].shape, [array.reshape(-1) for array in arrays]
    out = np.empty(flat[0].shape)
    for begin in range(0, out.size, _BLOCK):
        m, k, *lines = (np.asarray(array[begin : begin + _BLOCK], dtype=float) for array in flat)
        out[begin : begin + _BLOCK] = kernel(m, k, _with_parts(hops, lines), occupies)
    return out.reshape(shape)


def _with_parts(hops: Sequence[Hop], blocks: list[Floats]) -> Sequence[Hop]:
    """The hops with each of their arrays replaced by its block, in order."""
    if not blocks:
        return hops
    rest = iter(blocks)
    return [
        hop if isinstance(hop, Curve) else tuple(next(rest) if np.ndim(part) else part for part in hop)  # type: ignore[misc]
        for hop in hops
    ]


def _number(chunks: ArrayLike) -> NDArray[np.generic]:
    """``chunks`` as given. Raises InputError unless all are whole and at least 1 (integers need no look for wholeness)."""
    number = np.asarray(chunks)
    require(number, "number of chunks", least=1.0)
    if number.dtype.kind not in "iu" and np.any(number != np.floor(number)):
        raise InputError("the number of chunks must be whole")
    return number


@dataclass(frozen=True, slots=True)
class _Times:
    """Per hop: seconds that it is busy with a chunk, and seconds of pure latency after that (None: there is none)."""

    busy: list[Floats]
    lag: list[float | Floats] | None

    def lagged(self, time: Floats, hop: int) -> Floats:
        """``time`` and the pure latency of one hop."""
        return time if self.lag is None else time + self.lag[hop]


def _times(chunk: Floats, hops: Sequence[Hop], occupies: bool, more: float = 0.0) -> _Times:
    """What chunks of ``chunk`` + ``more`` bytes cost on each hop."""
    lines = [line_at(hop, chunk + more if isinstance(hop, Curve) else chunk) for hop in hops]
    busy = []
    for latency, bandwidth in lines:
        slope = 1 / np.asarray(bandwidth)
        busy.append(np.asarray(chunk * slope + ((latency if occupies else 0.0) + more * slope)))
    return _Times(busy, None if occupies else [latency for latency, _ in lines])


def _equal(m: Floats, k: Floats, hops: Sequence[Hop], occupies: bool) -> Floats:
    times = _times(m / k, hops, occupies)
    most, total = times.busy[0], times.lagged(times.busy[0], 0)
    for i, busy in enumerate(times.busy[1:], start=1):
        most, total = np.maximum(most, busy), times.lagged(total + busy, i)
    return (k - 1) * most + total


def _balanced(m: Floats, k: Floats, hops: Sequence[Hop], occupies: bool) -> Floats:
    number = np.minimum(np.maximum(m, 1.0), k)
    small = np.floor(m / number)
    large = m - small * number
    after, before = _times(small, hops, occupies), _times(small, hops, occupies, more=1.0)
    return _staircase(large, number - large, before, after)


def _fixed(m: Floats, chunk: Floats, hops: Sequence[Hop], occupies: bool) -> Floats:
    full = np.maximum(np.ceil(m / chunk) - 1, 0.0)
    rest = m - full * chunk
    return _staircase(full, np.ones_like(full), _times(chunk, hops, occupies), _times(rest, hops, occupies))


def _staircase(r: Floats, n: Floats, before: _Times, after: _Times) -> Floats:
    """When the last byte of r >= 0 chunks like ``before``, then n >= 1 like ``after``, is there; see the module."""
    tails = _tails(n, after)
    total, most, some, fewer = before.busy[0], before.busy[0], np.minimum(r, 1.0), r - 1
    longest = r * total + tails[0]
    for i, (busy, tail) in enumerate(zip(before.busy[1:], tails[1:], strict=True), start=1):
        total, most = before.lagged(total + busy, i - 1), np.maximum(most, busy)
        longest = np.maximum(longest, (fewer * most + total) * some + tail)
    if before.lag is not None:
        longest = np.maximum(longest, (fewer * most + total + before.lag[-1]) * some)
    return longest


def _tails(n: Floats, after: _Times) -> list[Floats]:
    """Σ_{i≥s} (t_i + lag_i) + (n-1) max_{i≥s} t_i for each s."""
    most, fewer = after.busy[-1], n - 1
    total = after.lagged(most, len(after.busy) - 1)
    out = [fewer * most + total]
    for i in range(len(after.busy) - 2, -1, -1):
        busy = after.busy[i]
        total, most = after.lagged(total + busy, i), np.maximum(most, busy)
        out.append(fewer * most + total)
    return out[::-1]
