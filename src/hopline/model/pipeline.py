"""A message cut into chunks that follow one another over a path (store-and-forward per chunk).

What belongs here: the time for a given way of cutting; the best number of chunks is ``chunks``.

Chunk j starts on hop i when it has arrived there and the hop is free. α_i occupies the hop for every chunk (the default),
or is latency that overlaps with the next chunk (``occupies=False``). Equal chunks, and chunks of two sizes of which all
larger ones go first (balanced whole bytes; fixed size with a smaller last one), have an exact closed form: the makespan of
a flow shop is its longest staircase, and a staircase crosses from the large chunks to the small ones on one hop s:

    T = max over s of  Σ_{i≤s} T_i + (r-1) max_{i≤s} T_i + Σ_{i≥s} t_i + (n-r-1) max_{i≥s} t_i
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopline.curve import Curve, Floats, Hop, breaks_of, line_at
from hopline.errors import InputError
from hopline.model.forwarding import checked, require

_SLAB = 1 << 19
"""Floats worked on at a time, in all arrays of a block together: 4 MiB, which the system hands out in large pages."""
_ARRAYS_PER_HOP, _ARRAYS = 8, 16
"""Arrays that a block needs at most."""


def equal(size: ArrayLike, hops: Sequence[Hop], chunks: ArrayLike, occupies: bool = True) -> Floats:
    """Seconds for ``chunks`` equal chunks of size/chunks bytes each (real numbers): Σ t_i + (k-1) max t_i."""
    return _blocked(_equal, checked(size, hops), _number(chunks), hops, occupies)


def balanced(size: ArrayLike, hops: Sequence[Hop], chunks: ArrayLike, occupies: bool = True) -> Floats:
    """Seconds for min(k, m) chunks of whole bytes, the first m mod k of them one byte larger."""
    return _blocked(_balanced, checked(size, hops), _number(chunks), hops, occupies)


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


_Kernel = Callable[[Floats, Floats, Sequence[Hop], bool, "_Desk"], Floats]


class _Desk:
    """Arrays to work in, cut from one slab that each thread keeps: fresh memory would cost more than the arithmetic."""

    _kept = threading.local()

    def __init__(self, hops: int, elements: int) -> None:
        if not hasattr(self._kept, "slab"):
            self._kept.slab = np.empty(_SLAB)
        arrays = _ARRAYS_PER_HOP * hops + _ARRAYS
        self.block = max(1, min(_SLAB // arrays, elements))
        slab = self._kept.slab if arrays <= _SLAB else np.empty(arrays)
        self._arrays: Floats = slab[: arrays * self.block].reshape(arrays, self.block)
        self._taken = self._length = 0

    def clear(self, length: int) -> None:
        """Begin a block of ``length`` elements: all arrays are free again."""
        self._taken, self._length = 0, length

    def array(self) -> Floats:
        """A free array of the block's length, holding anything."""
        self._taken += 1
        return self._arrays[self._taken - 1, : self._length]

    def floats(self, values: NDArray[np.generic]) -> Floats:
        """``values`` as floats: themselves, or in an array of the desk."""
        if values.dtype == np.float64:
            return values.astype(np.float64, copy=False)
        array = self.array()
        array[:] = values
        return array


def _blocked(kernel: _Kernel, size: Floats, second: NDArray[np.generic], hops: Sequence[Hop], occupies: bool) -> Floats:
    """Run ``kernel`` on inputs of one shape, block by block so that what it works on stays in the cache.

    A ``second`` that is one number for all stays one.
    """
    parts = [np.asarray(part, float) for hop in hops if isinstance(hop, tuple) for part in hop if np.ndim(part)]
    varied = [second] if np.ndim(second) else []
    one = np.asarray(second if second.ndim == 0 else 1.0, dtype=float)
    arrays = np.broadcast_arrays(size, *varied, *parts)
    shape, flat = arrays[0].shape, [array.reshape(-1) for array in arrays]
    desk, out = _Desk(len(hops), flat[0].size), np.empty(flat[0].shape)
    for begin in range(0, out.size, desk.block):
        desk.clear(min(desk.block, out.size - begin))
        m, *rest = (desk.floats(array[begin : begin + desk.block]) for array in flat)
        k, lines = (rest[0], rest[1:]) if varied else (one, rest)
        out[begin : begin + desk.block] = kernel(m, k, _with_parts(hops, lines), occupies, desk)
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
    """Per hop: seconds that it is busy with a chunk, seconds more for a byte more on the same piece, and seconds of pure
    latency after that (None: there is none).
    """

    busy: list[Floats]
    per_byte: list[float | Floats]
    lag: list[float | Floats] | None

    def lagged(self, time: Floats, hop: int) -> Floats:
        """``time`` and the pure latency of one hop."""
        return time if self.lag is None else np.add(time, self.lag[hop], out=time)

    def one_byte_more(self, desk: _Desk) -> _Times:
        """The same chunks with one byte more, on the same pieces."""
        pairs = zip(self.busy, self.per_byte, strict=True)
        return replace(self, busy=[np.add(busy, slope, out=desk.array()) for busy, slope in pairs])


def _times(chunk: Floats, hops: Sequence[Hop], occupies: bool, desk: _Desk) -> _Times:
    """What chunks of ``chunk`` bytes cost on each hop."""
    lines = [line_at(hop, chunk) for hop in hops]
    slopes = [1 / np.asarray(bandwidth) for _, bandwidth in lines]
    busy = [np.multiply(chunk, slope, out=desk.array()) for slope in slopes]
    if occupies:
        for moving, (latency, _) in zip(busy, lines, strict=True):
            moving += latency
    return _Times(busy, list(slopes), None if occupies else [latency for latency, _ in lines])


def _equal(m: Floats, k: Floats, hops: Sequence[Hop], occupies: bool, desk: _Desk) -> Floats:
    times = _times(np.divide(m, k, out=desk.array()), hops, occupies, desk)
    most = total = times.busy[0]
    for busy in times.busy[1:]:
        most = np.maximum(most, busy, out=desk.array())
        total = np.add(total, busy, out=desk.array())
    time = np.multiply(most, np.subtract(k, 1.0, out=desk.array()), out=desk.array())
    time += total
    return time if times.lag is None else np.asarray(time + sum(times.lag))


def _balanced(m: Floats, k: Floats, hops: Sequence[Hop], occupies: bool, desk: _Desk) -> Floats:
    small, large = desk.array(), desk.array()
    if np.any(np.floor(m, out=small) != m):
        raise InputError("the size must be a whole number of bytes for chunks of whole bytes")
    number = np.maximum(m, 1.0, out=desk.array())
    np.minimum(number, k, out=number)
    np.divide(m, number, out=small)
    np.floor(small, out=small)
    np.multiply(small, number, out=large)
    np.subtract(m, large, out=large)
    after = _times(small, hops, occupies, desk)
    before = _times(small + 1, hops, occupies, desk) if breaks_of(hops) else after.one_byte_more(desk)
    return _staircase(large, np.subtract(number, large, out=desk.array()), before, after, desk)


def _fixed(m: Floats, chunk: Floats, hops: Sequence[Hop], occupies: bool, desk: _Desk) -> Floats:
    full = np.maximum(np.ceil(m / chunk) - 1, 0.0)
    before = _times(np.broadcast_to(chunk, m.shape), hops, occupies, desk)
    return _staircase(full, np.ones_like(m), before, _times(m - full * chunk, hops, occupies, desk), desk)


def _staircase(r: Floats, n: Floats, before: _Times, after: _Times, desk: _Desk) -> Floats:
    """When the last byte of r >= 0 chunks like ``before``, then n >= 1 like ``after``, is there; see the module.

    Where r = 0 a crossing from large to small chunks must not count: it is multiplied by min(r, 1).
    """
    longest, *tails = _tails(n, after, desk)
    most = total = before.busy[0]
    longest += np.multiply(r, total, out=desk.array())
    some, fewer = np.minimum(r, 1.0, out=desk.array()), np.subtract(r, 1.0, out=desk.array())
    for i, (busy, tail) in enumerate(zip(before.busy[1:], tails, strict=True)):
        total = before.lagged(np.add(total, busy, out=desk.array()), i)
        most = np.maximum(most, busy, out=desk.array())
        crossing = np.multiply(fewer, most, out=desk.array())
        crossing += total
        crossing *= some
        crossing += tail
        np.maximum(longest, crossing, out=longest)
    if before.lag is not None:
        np.maximum(longest, (fewer * most + total + before.lag[-1]) * some, out=longest)
    return longest


def _tails(n: Floats, after: _Times, desk: _Desk) -> list[Floats]:
    """Σ_{i≥s} (t_i + lag_i) + (n-1) max_{i≥s} t_i for each s."""
    most, fewer = after.busy[-1], np.subtract(n, 1.0, out=desk.array())
    out = [after.lagged(np.multiply(n, most, out=desk.array()), -1)]
    total = most if after.lag is None else most + after.lag[-1]
    for i in range(len(after.busy) - 2, -1, -1):
        total = after.lagged(np.add(total, after.busy[i], out=desk.array()), i)
        most = np.maximum(most, after.busy[i], out=desk.array())
        tail = np.multiply(fewer, most, out=desk.array())
        tail += total
        out.append(tail)
    return out[::-1]
