"""The best number of chunks: the exact integer optimum over unequal hops, and the closed form beside it.

What belongs here: searching k for the pipelines of ``pipeline``. The search is exact: every cost is compared as an integer
(latencies and inverse bandwidths over one common denominator), so ties go to the smallest k and rounding decides nothing.

Why it ends soon although k may be anything from 1 to the number of bytes: k equal chunks cost
max_i [Σα + (Σ1/β) m/k + (k-1)(α_i + m/(k β_i))], a maximum of functions convex in k, so bisection finds the optimum. Whole
bytes break the convexity, but at most by what one byte takes per hop: where m // k is constant the cost is
convex again, and a convex lower bound says when such groups, visited outwards from its valley, cannot win any more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal

import numpy as np

from hopline.curve import Hop, breaks_of, line_at
from hopline.errors import InputError
from hopline.model.forwarding import checked
from hopline.quantity import exact

Split = Literal["fractional", "balanced"]
_Cost = Callable[[int], Fraction]


@dataclass(frozen=True, slots=True)
class Best:
    """The least time in seconds and the smallest number of chunks that reaches it."""

    k: int
    time: float


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """The real-valued optimum k* = √(Σ_{i≠b} m/β_i / α_b), clamped to [1, m], and the time there in seconds.

    ``bottleneck`` is the hop b whose α_b + c/β_b is largest at k*; the form holds while that hop stays the same
    (``holds``). For h equal hops it is k* = √((h-1) m / (αβ)), T* = (h-1)α + m/β + 2√((h-1) m α/β).
    """

    k: float
    time: float
    bottleneck: int
    holds: bool


def best(size: float, hops: Sequence[Hop], most: int | None = None, split: Split = "balanced") -> Best:
    """The integer k in 1..``most`` (default: the number of bytes) with the least time, the smallest such k.

    ``split`` is ``balanced`` (whole bytes, the first m mod k chunks one byte larger) or ``fractional`` (equal real chunks).
    Raises InputError for a size that is not a whole number of bytes and for ``most`` below 1.
    """
    checked(size, hops)
    if not float(size).is_integer():
        raise InputError(f"size is {size!r}: expected a whole number of bytes")
    if most is not None and most < 1:
        raise InputError(f"the largest number of chunks is {most}: expected at least 1")
    bytes_ = int(size)
    limit = max(1, bytes_) if most is None else most
    if split == "balanced":
        limit = min(limit, max(1, bytes_))
    search = {"balanced": _balanced_candidates, "fractional": _fractional_candidates}[split]
    time, k = min((cost(k), k) for cost, k in search(bytes_, hops, limit))
    return Best(k, float(time))


def closed_form(size: float, hops: Sequence[Hop]) -> ClosedForm:
    """The textbook optimum, for the bottleneck hop that agrees with itself (source: derivative of the pipelined time)."""
    checked(size, hops)
    lines = [(float(a), float(w)) for a, w in (line_at(hop, size) for hop in hops)]
    found = [_stationary(float(size), lines, lines.index(line)) for line in dict.fromkeys(lines)]
    consistent = [f for f in found if f.holds]
    return min(consistent or found, key=lambda f: f.time)


def _stationary(m: float, lines: Sequence[tuple[float, float]], b: int) -> ClosedForm:
    """The optimum if hop ``b`` were the bottleneck, and whether it is one there."""
    rest = sum(m / w for i, (_, w) in enumerate(lines) if i != b)
    alpha = lines[b][0]
    k = min(max(1.0, math.sqrt(rest / alpha) if alpha > 0 else math.inf), max(1.0, m))
    if rest == 0:
        k = 1.0
    steps = [a + m / (k * w) for a, w in lines]
    holds = steps[b] >= max(steps) * (1 - 1e-12)
    return ClosedForm(k, sum(steps) + (k - 1) * max(steps), b, holds)


# --- exact costs --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Path:
    """The hops in whole numbers: latency a_i and time per byte b_i, both in units of 1/``unit`` seconds."""

    unit: int
    a: tuple[int, ...]
    b: tuple[int, ...]


def _path(hops: Sequence[Hop], size: float) -> _Path:
    lines = [(exact(float(a)), _per_byte(float(w))) for a, w in (line_at(hop, size) for hop in hops)]
    unit = math.lcm(*(part.denominator for line in lines for part in line))
    return _Path(unit, tuple(int(a * unit) for a, _ in lines), tuple(int(b * unit) for _, b in lines))


def _per_byte(bandwidth: float) -> Fraction:
    """1/β; 0 where time does not grow with size."""
    return 1 / exact(bandwidth) if math.isfinite(bandwidth) else Fraction(0)


def _equal_cost(path: _Path, m: int, k: int) -> Fraction:
    slowest = max(k * a + b * m for a, b in zip(path.a, path.b, strict=True))
    return Fraction(k * sum(path.a) + sum(path.b) * m + (k - 1) * slowest, k * path.unit)


def _balanced_cost(large: _Path, small: _Path, m: int, k: int) -> Fraction:
    """The staircase formula of ``pipeline`` in whole numbers; ``large`` prices the chunks with the extra byte."""
    c, r = divmod(m, k)
    t = [a + b * c for a, b in zip(small.a, small.b, strict=True)]
    if r == 0:
        return Fraction(sum(t) + (k - 1) * max(t), small.unit)
    big = [a + b * (c + 1) for a, b in zip(large.a, large.b, strict=True)]
    scale = small.unit, large.unit
    tails, total, most = [], 0, 0
    for step in reversed(t):
        total, most = total + step, max(most, step)
        tails.append((total + (k - r - 1) * most) * scale[1])
    longest, total, most = 0, 0, 0
    for step, tail in zip(big, reversed(tails), strict=True):
        total, most = total + step, max(most, step)
        longest = max(longest, (total + (r - 1) * most) * scale[0] + tail)
    return Fraction(longest, scale[0] * scale[1])


# --- searching ----------------------------------------------------------------------------------------------------


def _valley(cost: _Cost, low: int, high: int) -> int:
    """The smallest k in low..high with the least ``cost``, which must be convex there."""
    while low < high:
        middle = (low + high) // 2
        if cost(middle + 1) < cost(middle):
            low = middle + 1
        else:
            high = middle
    return low


def _fractional_candidates(m: int, hops: Sequence[Hop], most: int) -> Iterator[tuple[_Cost, int]]:
    """The best k within each stretch of k in which no hop changes its piece."""
    edges = [1, *(k for low in breaks_of(hops) for k in (math.floor(m / low), math.floor(m / low) + 1)), most + 1]
    for low, after in pairwise(sorted({min(max(edge, 1), most + 1) for edge in edges})):
        path = _path(hops, m / low)
        cost = _equal_of(path, m)
        yield cost, _valley(cost, low, after - 1)


def _equal_of(path: _Path, m: int) -> _Cost:
    return lambda k: _equal_cost(path, m, k)


def _balanced_candidates(m: int, hops: Sequence[Hop], most: int) -> Iterator[tuple[_Cost, int]]:
    """The best k within each stretch of k in which all chunks stay on one piece of every hop, and in those between."""
    edges = {1, most + 1}
    for low in breaks_of(hops):
        whole = math.ceil(low)
        edges |= {m // whole + 1, (m - 1) // (whole - 1) + 1 if whole > 1 else most + 1}
    for low, after in pairwise(sorted(min(max(edge, 1), most + 1) for edge in edges)):
        if low < after:
            yield from _stretch(m, hops, low, after - 1)


def _stretch(m: int, hops: Sequence[Hop], low: int, high: int) -> Iterator[tuple[_Cost, int]]:
    """Outwards from the bound's valley, group by group, until the bound exceeds the best cost met."""
    cost = _balanced_of(hops, m)
    path = _path(hops, m // low)
    pure = path == _path(hops, -(-m // low)) == _path(hops, -(-m // high))
    bound = _bound_of(path, m) if pure else lambda k: Fraction(0)
    valley = _valley(bound, low, high) if pure else low
    first, last = _group(m, valley, low, high)
    least, k = min((cost(k), k) for k in (low, *_group_candidates(cost, m, first, last)))
    yield cost, k
    for step in (-1, 1):
        edge = first - 1 if step < 0 else last + 1
        while low <= edge <= high and _may_win(bound(edge), least, edge < k):
            begin, end = _group(m, edge, low, high)
            here, there = min((cost(k), k) for k in _group_candidates(cost, m, begin, end))
            least, k = min((least, k), (here, there))
            yield cost, there
            edge = begin - 1 if step < 0 else end + 1


def _may_win(bound: Fraction, least: Fraction, fewer: bool) -> bool:
    """Whether a group can beat the best so far; an equal cost wins only with fewer chunks."""
    return bound < least or (bound == least and fewer)


def _group(m: int, k: int, low: int, high: int) -> tuple[int, int]:
    """The k around ``k``, within low..high, for which m // k is the same."""
    c = m // k
    return max(low, m // (c + 1) + 1), min(high, m // c if c else high)


def _group_candidates(cost: _Cost, m: int, first: int, last: int) -> Iterator[int]:
    """The cost is convex over a group, but for its end when the chunks come out equal there."""
    even = m > 0 and m % last == 0
    if first <= last - even:
        yield _valley(cost, first, last - even)
    yield last


def _balanced_of(hops: Sequence[Hop], m: int) -> _Cost:
    known: dict[int, _Path] = {}

    def priced(chunk: int) -> _Path:
        key = int(np.searchsorted(edges, chunk, side="right"))
        if key not in known:
            known[key] = _path(hops, chunk)
        return known[key]

    edges = np.array(breaks_of(hops))
    return lambda k: _balanced_cost(priced(m // k + 1), priced(m // k), m, k)


def _bound_of(path: _Path, m: int) -> _Cost:
    """A convex lower bound: all m bytes and k start-ups on one hop, the least whole chunk on each of the others."""
    a_sum, b_sum = sum(path.a), sum(path.b)

    def bound(k: int) -> Fraction:
        rest = m + 1 - k
        return Fraction(
            max(k * (k * a + b * m + a_sum - a) + (b_sum - b) * rest for a, b in zip(path.a, path.b, strict=True)),
            k * path.unit,
        )

    return bound
