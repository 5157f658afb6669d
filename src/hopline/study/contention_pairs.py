"""Pairs of the same work with and without something beside it, and why there are none.

What belongs here: which works are the same, what a pair says, and what keeps works that are seen both ways from being one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopline.quantity import counted, show
from hopline.records.trace import NONE, Nanoseconds
from hopline.study.replaying import TICKS, Inferred

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
BESIDE = 0.5
"""Share of a work that must have had something beside it."""
ALIKE = 0.1
"""Spread (median deviation over median) up to which works of one name are taken for the same."""
ALONE = 2
"""Works alone that a name needs."""
GRAINS = 20
"""Works of fewer steps of the trace's clock tell nothing: rounding would be taken for a slowdown."""
_OF_MEDIAN = 1.2533 * 1.4826
"""Standard error of a median of n, times the root of n, over the median deviation of normal noise."""


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """What was beside each activity, nanoseconds, shape (activities,): of a kernel, a transfer and any communication; of a
    transfer, kernels (both the same).
    """

    overlap: Nanoseconds
    any: Nanoseconds


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Factor of each work beside something of which the same is known alone, (pairs,), and the error of their median."""

    factor: Floats
    error: float

    @property
    def middle(self) -> float:
        """The median of the factors."""
        return float(np.median(self.factor))


def pairs(rows: Rows, keys: Sequence[Hashable], beside: Beside, inferred: Inferred) -> Pairs:
    """Works of one key are taken for the same; None is no key."""
    work = inferred.activities.work // TICKS
    found: list[Floats] = []
    alone: list[float] = []
    least = GRAINS * _grain(inferred)
    for each in _groups(rows, keys):
        own = each[work[each] >= least]
        lone = work[own[beside.any[own] == 0]]
        if len(lone) < ALONE or (spread := _spread(lone)) > ALIKE:
            continue
        with_it = own[beside.overlap[own] >= BESIDE * work[own]]
        left = float(np.median(lone)) - (work[with_it] - beside.overlap[with_it])
        real = left > 0
        if real.any():
            found.append(beside.overlap[with_it][real] / left[real])
            alone.append(_OF_MEDIAN * spread / len(lone) ** 0.5)
    factor = np.concatenate(found) if found else np.empty(0)
    own_error = (
        _OF_MEDIAN * float(np.median(np.abs(factor - np.median(factor)))) / len(factor) ** 0.5 if len(factor) else 0.0
    )
    others = float(np.mean(np.square(alone))) / len(alone) if alone else 0.0
    return Pairs(factor, (own_error**2 + others) ** 0.5)


def unpaired(thing: str, rows: Rows, keys: Sequence[Hashable], beside: Beside, inferred: Inferred) -> str:
    """Why works that are seen both ways, with something beside them and without, are no pairs: how many of each reason."""
    other = "communication" if thing == "kernel" else "kernels"
    both = [each for each in _groups(rows, keys) if (beside.any[each] > 0).any() and (beside.any[each] == 0).any()]
    if not both:
        return f"no {thing} is seen both with {other} beside it and without"
    work, least = inferred.activities.work // TICKS, GRAINS * _grain(inferred)
    reasons = Counter(_reason(each, work, beside, least) for each in both)
    told = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common() if reason)
    seen = f"{counted(len(both), thing)} {'is' if len(both) == 1 else 'are'} seen both with {other} beside and without"
    return f"{seen}: {told}" if told else seen


def _reason(each: Rows, work: Nanoseconds, beside: Beside, least: int) -> str:
    """What keeps works of one key from making a pair; "" where they make one."""
    lone = each[beside.any[each] == 0]
    if len(lone) < ALONE:
        return "seen alone only once"
    long = lone[work[lone] >= least]
    if len(long) < ALONE:
        return f"shorter than {show(least * 1e-9, 'time')} ({GRAINS} steps of the trace's clock)"
    if _spread(work[long]) > ALIKE:
        return f"of times that differ by more than {ALIKE:.0%} when alone"
    long = each[work[each] >= least]
    if (beside.overlap[long] >= BESIDE * work[long]).any():
        return ""
    if (beside.any[long] >= BESIDE * work[long]).any():
        return "beside communication whose waiting cannot be told from transfer"
    return "with it beside less than half of their time"


def _groups(rows: Rows, keys: Sequence[Hashable]) -> Iterator[Rows]:
    """Rows of each key."""
    groups: dict[Hashable, list[int]] = {}
    for row, key in zip(rows.tolist(), keys, strict=True):
        if key is not None:
            groups.setdefault(key, []).append(row)
    for members in groups.values():
        yield np.array(members)


def _spread(times: Nanoseconds) -> float:
    usual = float(np.median(times))
    return float(np.median(np.abs(times - usual))) / usual if usual else 0.0


def _grain(inferred: Inferred) -> int:
    """Nanoseconds of which all measured times of works are multiples."""
    grain, event = 0, inferred.event
    for number, trace in enumerate(inferred.traces):
        rows = event[(inferred.activities.rank == number) & (event != NONE)]
        grain = int(np.gcd.reduce(trace.events.end[rows] - trace.events.start[rows], initial=grain))
    return max(1, grain)
