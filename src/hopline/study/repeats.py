"""Levels and intervals of log ratios from the repeats of one run a side.

What belongs here: repeats by their ranks, in blocks where they follow one another, and the mean over sizes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from hopline.curve import Floats
from hopline.study import chance
from hopline.study.noises import (
    DIGITS,
    ONE_RUN,
    PRIOR,
    Judged,
    Level,
    by_t,
    moderated,
    share_of_sizes,
    share_of_whole,
    t_level,
)  # fmt: skip
from hopline.study.ordering import Ordered, critical
from hopline.study.running import nearby

_LOSS = 1.1
"""Variance of a median difference over that of a difference of means, normal repeats, and some room."""
_MANY = 100.0
"""Repeats over which the scatter of printed digits averages out at most."""
_ENOUGH_SIZES = 5
"""From so many sizes on their scatter tells how sure the mean is."""
_MOST, _ROOM = 0.95, 3.0
"""The largest correlation that is believed, and how many times longer than need be a block is."""


def by_repeats(before: Sequence[Floats], after: Sequence[Floats], alpha: float, fewest: int) -> Judged | None:
    """From the repeats of each size, in the order of measuring; None where too few blocks are left."""
    lengths = [block_length(side) for side in (before, after)]
    blocks = [[_blocks(x, n) for x in side] for side, n in zip((before, after), lengths, strict=True)]
    if min(len(x) for side in blocks for x in side) < fewest:
        return None
    pairs = [Ordered.of(b, a) for b, a in zip(*blocks, strict=True)]
    middle = np.array([p.shift for p in pairs])
    variance = np.array(
        [sum(chance.scale(x - np.median(x)) ** 2 * _LOSS / len(x) for x in pair) for pair in zip(*blocks, strict=True)]
    )
    freedom = float(sum(len(x) - 1 for side in blocks for x in side))
    whole = _mean(middle, variance, freedom, share_of_whole(alpha))
    alpha = share_of_sizes(alpha, whole)
    each = alpha / len(pairs)
    bounded = all(critical(each / 2, p.first, p.second) for p in pairs)
    ranked = tuple(Level(p.shift, *p.interval(each)) for p in pairs)
    sizes = ranked if bounded else by_t(middle, *_few(*blocks), alpha)
    few, most = (f(len(x) for side in blocks for x in side) for f in (min, max))
    count = f"{few}" if few == most else f"{few} to {most}"
    said = f"one run each with {count} repeats a size"
    if max(lengths) > 1:
        said += f" (blocks of {max(lengths)}: repeats follow one another)"
    said += "" if bounded else ", too few for ranks alone: normal noise, shared by nearby sizes, is assumed"
    return Judged(sizes, whole, said, (ONE_RUN,))


def _few(before: Sequence[Floats], after: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Errors of each size's shift with their degrees of freedom, by variances moderated by sizes nearby."""
    freedom = np.array([len(b) + len(a) - 2 for b, a in zip(before, after, strict=True)], dtype=float)
    share = np.array([1 / len(b) + 1 / len(a) for b, a in zip(before, after, strict=True)])
    squares = [sum(float(((x - x.mean()) ** 2).sum()) for x in pair) for pair in zip(before, after, strict=True)]
    own = np.array(squares) / freedom
    return np.sqrt(moderated(own, freedom) * share), freedom + PRIOR


def _mean(middle: Floats, variance: Floats, freedom: float, alpha: float) -> Level:
    """The mean over sizes whose true changes may differ (DerSimonian and Laird 1986).

    With enough sizes its error is at least what their scatter says (Hartung and Knapp 2001).
    """
    safe = np.maximum(nearby(variance), DIGITS**2 / _MANY)
    weight = 1 / safe
    pooled = float((weight * middle).sum() / weight.sum())
    excess = float((weight * (middle - pooled) ** 2).sum()) - (len(middle) - 1)
    room = float(weight.sum() - (weight**2).sum() / weight.sum())
    between = max(0.0, excess / room) if room > 0 else 0.0
    weight = 1 / (safe + between)
    mean, own = float((weight * middle).sum() / weight.sum()), 1 / float(weight.sum())
    if len(middle) < _ENOUGH_SIZES:
        return t_level(mean, math.sqrt(own), freedom, alpha)
    seen = float((weight * (middle - mean) ** 2).sum()) * own / (len(middle) - 1)
    return t_level(mean, math.sqrt(max(own, seen)), float(len(middle) - 1), alpha)


def block_length(repeats: Sequence[Floats]) -> int:
    """How many repeats together are as good as independent: 3 (1 + r) / (1 - r) of their lag-one rank correlation r.

    r is that of all sizes together; 1 where it is not beyond what independent repeats show.
    """
    ranks = [_ranks(x) for x in repeats if len(x) > 2]
    top = sum(float((r[1:] * r[:-1]).sum()) for r in ranks)
    bottom = sum(float((r**2).sum()) for r in ranks)
    count = sum(len(r) for r in ranks)
    if bottom <= 0:
        return 1
    correlation = top / bottom + len(ranks) / count
    if correlation <= 2 / math.sqrt(count):
        return 1
    together = (1 + min(correlation, _MOST)) / (1 - min(correlation, _MOST))
    return math.ceil(_ROOM * together)


def _ranks(x: Floats) -> Floats:
    """Centred ranks, ties by their mean."""
    _, index, counts = np.unique(x, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[index.reshape(-1)] - (len(x) + 1) / 2)


def _blocks(x: Floats, length: int) -> Floats:
    """Medians of whole blocks; a rest joins the last one."""
    if length == 1:
        return x
    count = max(1, len(x) // length)
    ends = [*(length * np.arange(count)), len(x)]
    return np.array([np.median(x[a:b]) for a, b in pairwise(ends)])
