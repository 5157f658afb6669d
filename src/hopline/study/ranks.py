"""From tables of one collective at some numbers of ranks to another number of ranks, with an interval.

What belongs here: what the step from some rank counts to another teaches, and how sure it is.

At each size t(n) = base + h p(n) + b f(n), where p(n) counts the steps that come one after the other and f(n) is the busbw
factor of nccl-tests (bytes each rank must send, in sizes). This is a Bayesian linear regression in the three terms, at
each size for itself, with the times of all known counts as observations. Before these are seen,

- h is a part of the time of small messages, where p is nearly all that can grow;
- b lies between busbw staying the same (time grows with f: rings) and algbw staying the same (time does not grow: sums
  in the switch, work that overlaps);
- the base is free.

So two counts far apart teach the slope themselves, two that lie close together correct it only a little, one count leaves it
as it was believed to be, and the interval grows accordingly. Single rows that lie off both of their neighbours are
replaced by the nearer one, and the roughness of a table goes into the interval: it is noise, or a change of protocol
which comes at another size with other ranks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hopline.curve import Floats
from hopline.errors import InputError, UnknownNameError
from hopline.records.busbw import FACTORS
from hopline.records.estimate import Premise
from hopline.records.fit import Prediction
from hopline.study.chance import NINETY
from hopline.study.points import Points
from hopline.study.running import roughness, without_spikes

_MODEL = 0.06
"""Relative deviation of the three terms from a smooth table, one standard deviation (H100 and GB200, NCCL 2.29.2)."""
_ROUGH = 0.7
"""How much of a table's own roughness is uncertain at another number of ranks (same tables)."""
_GROWS, _UNSURE = 0.75, 0.5
"""Part of the size-dependent time that grows with f before two counts are seen, and its standard deviation relative to it."""
_BASE = 8.0
"""Steps that the base of a latency is worth: between 11 (6.6 us over 0.6 us a hop: NCCL's src/graph/tuning.cc, LL on NVLink)
and 4 (22.2 over 5.5 us: SimuMax's fit of B200 all-reduces)."""
_STEP_SHARE = {"alltoall": 1 / 50}
"""Steps a base is worth, inverted, where all sends go out at once."""
_STEP_UNSURE = 0.5
_SHAPE = 0.5
"""Standard deviation of the steps' growth as a part of the difference between linear and logarithmic growth."""
_SMALL = 16.0
"""Sizes up to this many times the smallest one count as small."""
_SMALL_MODEL = 0.15
"""Relative deviation of the steps' law from a smooth table of small messages."""
_FREE = 1.0
"""Standard deviation of the base, in times of the nearest count: as good as unknown."""
_UNSURE_LEAST, _STEP_UNSURE_LEAST = 0.02, 0.05
"""Least standard deviations: of the part that grows, in times of the nearest count, and of a step, in its small messages."""
_LEAST = 0.1
"""Least part of the nearest count's time that is predicted."""


def _ring(ranks: int) -> float:
    return ranks - 1.0


def _ring_or_tree(ranks: int) -> float:
    """Twice round the ring up to 8 ranks; there NCCL's tree is as fast (15.0 and 15.2 us by tuning.cc) and grows by log2."""
    return 2 * (min(ranks, 8) - 1.0) + 2 * max(0.0, math.log2(ranks / 8))


OfRanks = Callable[[int], float]
"""Number of ranks -> what grows with it."""

_STEPS: dict[str, OfRanks] = {
    "all_reduce": _ring_or_tree, "all_gather": _ring, "reduce_scatter": _ring, "alltoall": _ring,
    "broadcast": _ring, "reduce": _ring,
}  # fmt: skip
BENCHMARKS: dict[str, tuple[OfRanks, OfRanks]] = {name: (steps, FACTORS[name]) for name, steps in _STEPS.items()}
"""Benchmark -> (steps, busbw factor) of n ranks; sizes as nccl-tests counts them."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """Times (sizes, counts) and their relative deviations, and those of small messages (counts); the nearest count first."""

    counts: tuple[int, ...]
    time: Floats
    deviation: Floats
    small: Floats
    unsure: Floats


def predict(
    known: Mapping[int, tuple[ArrayLike, ArrayLike]], ranks: int, benchmark: str, size: ArrayLike | None = None
) -> Prediction:
    """Times of ``benchmark`` with ``ranks`` ranks, from ``known``: number of ranks -> (sizes in bytes, times in s).

    ``size`` defaults to the sizes of the nearest known count that all counts reach. Raises InputError for sizes that some
    count did not reach and for numbers of ranks that cannot be, FitError for points that carry nothing.
    """
    _check(known, ranks, benchmark)
    order = sorted(known, key=lambda count: (abs(math.log(count / ranks)), count))
    tables = {count: Points.of(*known[count]) for count in order}
    sizes = _sizes(tables, size)
    time, deviation = _regress(_seen(tables, sizes), ranks, benchmark)
    factor = np.exp(NINETY * deviation)
    return Prediction(sizes, time, time / factor, time * factor)


def premises(known: Mapping[int, tuple[ArrayLike, ArrayLike]], ranks: int, benchmark: str) -> tuple[Premise, ...]:
    """What such a prediction stands on, and which of it these counts cannot tell."""
    _check(known, ranks, benchmark)
    counts = sorted(known)
    told = ", ".join(map(str, counts))
    one = Premise(
        f"only {told} ranks were measured: what part of the time grows with the ranks is believed, not seen",
        "unknown",
        f"algbw staying the same and busbw staying the same differ {_times(counts[0], ranks, benchmark):.3g}-fold",
        matters=True,
    )
    far = Premise(
        f"{ranks} ranks lie outside of the {told} that were measured",
        "unknown",
        "other hosts, algorithms and protocols may come in",
        matters=True,
    )
    outside = not counts[0] <= ranks <= counts[-1]
    return ((one,) if len(counts) == 1 else ()) + ((far,) if outside else ())


def _times(count: int, ranks: int, benchmark: str) -> float:
    growth = BENCHMARKS[benchmark][1]
    ratio = growth(ranks) / growth(count)
    return max(ratio, 1 / ratio)


def _check(known: Mapping[int, tuple[ArrayLike, ArrayLike]], ranks: int, benchmark: str) -> None:
    if benchmark not in BENCHMARKS:
        raise UnknownNameError("collective", benchmark, BENCHMARKS)
    if not known:
        raise InputError("no tables: expected at least one number of ranks that was measured")
    for count in (*known, ranks):
        if count < 2 or count != int(count):
            raise InputError(f"{count!r} ranks: expected a whole number of at least 2")
    if ranks in known:
        raise InputError(f"{ranks} ranks were measured: expected a number of ranks that was not")


def _sizes(tables: Mapping[int, Points], size: ArrayLike | None) -> Floats:
    low = max(float(points.size[0]) for points in tables.values())
    high = min(float(points.size[-1]) for points in tables.values())
    if size is None:
        nearest = next(iter(tables.values())).size
        sizes = nearest[(nearest >= low) & (nearest <= high) & (nearest > 0)]
        if not len(sizes):
            raise InputError("the tables share no range of sizes: expected the same sizes at each number of ranks")
        return sizes
    sizes = np.atleast_1d(np.asarray(size, dtype=float))
    beyond = sizes[~((sizes >= low) & (sizes <= high) & (sizes > 0))]
    if len(beyond):
        raise InputError(f"size {beyond[0]:g}: expected {low:g} to {high:g} bytes, which all tables reach")
    return sizes


def _seen(tables: Mapping[int, Points], sizes: Floats) -> _Seen:
    times, deviations = [], []
    for points in tables.values():
        used = points.take(points.size > 0)
        where, known = np.log(sizes), np.log(used.size)
        times.append(np.exp(np.interp(where, known, without_spikes(np.log(used.time)))))
        rough = np.interp(where, known, roughness(known, np.log(used.time)))
        deviations.append(np.hypot(_MODEL, _ROUGH * rough))
    return _Seen(tuple(tables), np.stack(times, axis=1), np.stack(deviations, axis=1), *_small(tables))


def _small(tables: Mapping[int, Points]) -> tuple[Floats, Floats]:
    """Median time of the small messages of each count, and its relative deviation."""
    times, deviations = [], []
    for points in tables.values():
        used = points.take(points.size > 0)
        small = used.size <= _SMALL * used.size[0]
        times.append(np.median(used.time[small]))
        rough = roughness(np.log(used.size), np.log(used.time))[small]
        deviations.append(math.hypot(_SMALL_MODEL, float(np.sqrt(np.mean(rough**2)))))
    return np.array(times), np.array(deviations)


def _regress(seen: _Seen, ranks: int, benchmark: str) -> tuple[Floats, Floats]:
    """(time, relative standard deviation) for each size; all in units of the nearest count's time.

    Unknowns are the base, the steps' and the bytes' part of that time: prior mean (sizes, 3), deviation (sizes, 3).
    """
    steps, factor = BENCHMARKS[benchmark]
    near, own = seen.counts[0], seen.time[:, 0]
    hop, unsure = _hop(seen, benchmark)
    stepping = hop * steps(near) / own
    growing = _GROWS * np.maximum(1 - seen.small[0] / own, 0.0)
    mean = np.stack([1 - stepping - growing, stepping, growing], axis=1)
    spread = np.stack([np.full_like(own, _FREE), unsure * steps(near) / own, _UNSURE * growing + _UNSURE_LEAST], axis=1)
    design = np.array([_row(count, near, steps, factor) for count in seen.counts])
    observed = seen.time / own[:, None]
    mean, after = _learn(mean, spread, design, observed, seen.deviation * observed)
    row = _row(ranks, near, steps, factor)
    value = np.maximum(mean @ row, _LEAST)
    shape = _SHAPE * np.maximum(mean[:, 1], 0.0) * _bend(ranks, near, steps)
    variance = row @ after @ row + (seen.deviation[:, 0] * value) ** 2 + shape**2
    return own * value, np.sqrt(variance) / value


def _hop(seen: _Seen, benchmark: str) -> tuple[float, float]:
    """Time of a step and its standard deviation, from the small messages of all counts together."""
    steps = BENCHMARKS[benchmark][0]
    near = steps(seen.counts[0])
    share = _STEP_SHARE.get(benchmark, 1 / _BASE) * near
    believed = share / (1 + share)
    unsure = max(_STEP_UNSURE * believed, _STEP_UNSURE_LEAST * near)
    small = seen.small / seen.small[0]
    design = np.array([[1.0, steps(count) / near] for count in seen.counts])
    mean, after = _learn(
        np.array([[1 - believed, believed]]),
        np.array([[_FREE, unsure]]),
        design,
        small[None],
        (seen.unsure * small)[None],
    )
    hop = min(max(float(mean[0, 1]), 0.0), 1.0)
    return hop * seen.small[0] / near, math.sqrt(after[0, 1, 1]) * seen.small[0] / near


def _learn(mean: Floats, spread: Floats, design: Floats, observed: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Posterior mean (sizes, unknowns) and covariance of a linear regression with independent priors and errors."""
    prior = spread[:, :, None] ** 2 * np.eye(spread.shape[1])
    errors = noise[:, :, None] ** 2 * np.eye(noise.shape[1])
    gain = prior @ design.T @ np.linalg.inv(design @ prior @ design.T + errors)
    return mean + (gain @ (observed - mean @ design.T)[:, :, None])[:, :, 0], prior - gain @ design @ prior


def _row(count: int, near: int, steps: OfRanks, factor: OfRanks) -> Floats:
    return np.array([1.0, steps(count) / steps(near), factor(count) / factor(near)])


def _bend(ranks: int, near: int, steps: OfRanks) -> float:
    """By how much growth with the steps and growth with their logarithm differ, in the nearest count's steps."""
    return abs(steps(ranks) / steps(near) - 1 - math.log2(ranks / near))
