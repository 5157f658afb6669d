"""The least bytes that must cross a border for a collective, and the least time they take: bounds for any algorithm.

What belongs here: bounds that hold whatever the library does, so that a measured figure beyond them is wrong.

The argument. Keep the inputs outside of a set of ranks fixed. The results outside then are a function of the inputs
inside; where this function takes 256^b values, b bytes must have left the set, whatever was computed on the way, and in
whatever order. For a sum it takes as many values as one buffer has, for data that are only passed on as many as the data
that are wanted outside. The same holds the other way round. All computing inside of the set and outside of it is free, and
so is copying, so switches that add or copy (NVLS, SHARP, multicast) keep the bounds, and so do hosts that first add up
among themselves. Two parties that each hold one side reach them, so no argument about this one border gives more.

Without such switches each byte that leaves a set enters exactly one other. Over a partition into k sets what leaves
therefore is what enters, and a sum that all k sets need costs 2(k-1) buffers in all (k-1 until one of them can know it, k-1
until all do: P. Patarasu and X. Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, JPDC 69, 2009).
Some set carries at least the mean. ``tests/model/test_cuts.py`` recomputes the first argument as ranks of matrices and
the second by an exhaustive search over all schedules of up to four ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from hopline.errors import InputError, UnknownNameError
from hopline.machine.cuts import Cut
from hopline.quantity import NON_NEGATIVE

Shares = Callable[[int, int, bool], tuple[float, float]]
"""(ranks, side, whether the root is inside) -> (out of, into) the set as parts of the size; 0 < side < ranks."""


def _pairs(ranks: int, side: int, root: bool) -> tuple[float, float]:
    """Rank i sends to rank i + n/2: an odd number of ranks splits a pair, an even one of more than two perhaps none."""
    split = float(side % 2 and side < ranks)
    return (split, 0.0) if root else (0.0, split)


_SHARES: dict[str, Shares] = {
    "all_reduce": lambda n, s, root: (1.0, 1.0),
    "all_gather": lambda n, s, root: (s / n, 1 - s / n),
    "reduce_scatter": lambda n, s, root: (1 - s / n, s / n),
    "alltoall": lambda n, s, root: (s * (n - s) / n, s * (n - s) / n),
    "broadcast": lambda n, s, root: (float(root), float(not root)),
    "reduce": lambda n, s, root: (float(not root), float(root)),
    "scatter": lambda n, s, root: (1 - s / n if root else 0.0, 0.0 if root else s / n),
    "gather": lambda n, s, root: (0.0 if root else s / n, 1 - s / n if root else 0.0),
    "sendrecv": lambda n, s, root: (1.0, 1.0),
    "bibw": lambda n, s, root: (float(s % 2), float(s % 2)),
    "barrier": lambda n, s, root: (0.0, 0.0),
}  # fmt: skip
_ONE_WAY = ("latency", "bw", "send_recv", "multi_lat", "mbw_mr", "put_latency", "put_bw", "get_latency", "get_bw")
_SHARES |= dict.fromkeys(_ONE_WAY, _pairs)

BENCHMARKS = tuple(_SHARES)


def least_bytes(
    benchmark: str, size: float, ranks: int, side: int, root: bool = True, in_network: bool = True
) -> tuple[float, float]:
    """Bytes that any algorithm must move (out of, into) a set of ``side`` of the ``ranks`` ranks.

    Parameters
    ----------
    benchmark
        One of BENCHMARKS. ``sendrecv`` is nccl-tests' ring (each rank sends to the next); ``latency``, ``bw`` and their
        like are pairs, of which the first rank sends.
    size
        Bytes as nccl-tests counts them: the buffer of one rank; for all_gather, reduce_scatter, alltoall, gather and
        scatter the larger one, of all ranks' parts. OSU counts one part for all but reduce_scatter: multiply by the ranks.
    root
        Whether the root (broadcast, reduce, gather, scatter) or the sender of a pair is in the set.
    in_network
        True: the bound of this one border, which holds wherever adding and copying is done. False: nothing between
        the sets adds or copies, and the set carries the mean over a partition of the ranks into sets of this side: at
        least one set of each such partition does. Where ``side`` does not divide ``ranks`` it is as for True.

    Raises InputError for a side beyond the ranks and UnknownNameError for benchmarks whose demand is not known here.
    """
    if benchmark not in _SHARES:
        raise UnknownNameError("benchmark", benchmark, _SHARES)
    NON_NEGATIVE.check("size", size)
    if ranks < 1 or not 0 <= side <= ranks:
        raise InputError(f"a side of {side} of {ranks} ranks: expected from 0 to all of at least 1")
    if side in (0, ranks):
        return 0.0, 0.0
    out, into = _SHARES[benchmark](ranks, side, root)
    if not in_network and ranks % side == 0 and benchmark in _MEANS:
        mean = _MEANS[benchmark](ranks // side)
        out, into = max(out, mean), max(into, mean)
    return size * out, size * into


_MEANS: dict[str, Callable[[int], float]] = {
    "all_reduce": lambda k: 2 * (k - 1) / k,
    "all_gather": lambda k: (k - 1) / k,
    "reduce_scatter": lambda k: (k - 1) / k,
}
"""Sets -> mean part of the size that leaves and enters one of them when every byte that leaves enters exactly one other."""


@dataclass(frozen=True, slots=True)
class LeastTime:
    """No algorithm is faster: ``time`` (s) for ``bytes`` over ``where``, which carries ``rate`` (byte/s)."""

    time: float
    where: str
    bytes: float
    rate: float


def least_time(
    benchmark: str, size: float, cuts: Sequence[Cut], root: str | None = None, in_network: bool = True
) -> LeastTime:
    """The largest of the times that the bytes of least_bytes() take over ``cuts``.

    ``root`` is the root's or the sender's device; None: the place for it that makes the bound the least. Without
    ``in_network`` the cuts of a family that together hold all ranks also bound the time by what they carry in all.
    """
    if not cuts:
        raise InputError("no cuts: expected at least one border between the ranks")
    named = sorted({name for cut in cuts for name in cut.inside})
    if root is not None and root not in named:
        raise UnknownNameError("device of the root", root, named)
    within = [_over(cut, *least_bytes(benchmark, size, cut.ranks, cut.side, True)) for cut in cuts]
    beyond = [_over(cut, *least_bytes(benchmark, size, cut.ranks, cut.side, False)) for cut in cuts]
    found = _at_root(cuts, within, beyond, [root] if root is not None else named)
    if in_network or benchmark not in _MEANS:
        return found
    families = [list(family) for _, family in groupby(cuts, key=lambda cut: cut.family)]
    whole = [family for family in families if sum(cut.side for cut in family) == family[0].ranks]
    return max([found, *(_in_all(benchmark, size, family) for family in whole)], key=lambda bound: bound.time)


def _over(cut: Cut, out: float, into: float) -> LeastTime:
    """Each direction has its rate, and both together theirs."""
    loads = [(max(out, into), cut.rate), (out + into, cut.both)]
    load, rate = max(loads, key=_ratio)
    return LeastTime(load / rate, cut.name, load, rate)


def _ratio(over: tuple[float, float]) -> float:
    return over[0] / over[1]


def _at_root(
    cuts: Sequence[Cut], within: Sequence[LeastTime], beyond: Sequence[LeastTime], roots: Sequence[str]
) -> LeastTime:
    """The largest bound for the one of ``roots`` that makes it the least."""
    inside, outside = (np.array([bound.time for bound in bounds]) for bounds in (within, beyond))
    if np.array_equal(inside, outside):
        return within[int(np.argmax(inside))]
    column = {root: i for i, root in enumerate(roots)}
    holds = np.zeros((len(cuts), len(roots)), dtype=bool)
    for i, cut in enumerate(cuts):
        holds[i, [column[name] for name in cut.inside if name in column]] = True
    times = np.where(holds, inside[:, None], outside[:, None])
    best = int(np.argmin(times.max(axis=0)))
    worst = int(np.argmax(times[:, best]))
    return within[worst] if holds[worst, best] else beyond[worst]


def _in_all(benchmark: str, size: float, family: Sequence[Cut]) -> LeastTime:
    """All sets of a partition together: bytes that leave them over the rates of all, given as means of one set."""
    count = len(family)
    load = size * _MEANS[benchmark](count)
    rate, both = (sum(rates) / count for rates in zip(*((cut.rate, cut.both) for cut in family), strict=True))
    over, rate = max((load, rate), (2 * load, both), key=_ratio)
    return LeastTime(over / rate, f"the mean of {count} sets, {family[0].family}", over, rate)
