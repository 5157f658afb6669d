"""Lining up: two ranks' lists of collectives of one group, where one of them lacks some.

What belongs here: which of the one is which of the other, by kind and by ends. Ends of the same collectives differ by the same
amount, the difference of the clocks; those of different ones differ by anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hopline.records.trace import NONE, Nanoseconds

_WIDTHS = (2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
"""Nanoseconds within which ends of one collective may agree on aligned clocks: 7 us on one host, tens between hosts. Counting
in all of them prefers what agrees more closely, as steps of equal length agree roughly with their neighbours too."""
_NEAR = 20_000
"""Nanoseconds by which an end may be off whatever the others are off by."""
_FAR = 10
"""Median deviations from which on an end is not of the same collective."""
_OFF = 0.02
"""Share of such ends from which on order is not believed."""
_AS_GOOD = 0.97
"""Share of the best score that leaves it open which difference of clocks is right."""
_SLACK = 16
"""How many places further apart than the lists' lengths explain."""
_EVIDENCE = 3
"""Pairs that must agree before their ends are evidence."""
_MANY = 6
"""Pairs that must agree before their ends are evidence against order; with fewer the share is at most _DOUBTFUL."""
_DOUBTFUL = 0.5

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """Collectives of one rank in one group, in order.

    ``kind`` is a number for op and size, ``end`` when each ended, ``same`` whether it ends at the same time on all ranks.
    """

    kind: Ints
    end: Nanoseconds
    same: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.kind)


def line_up(one: Row, other: Row, given: int | None) -> tuple[Ints, float]:
    """For each of ``other`` its place in ``one``, NONE where it has none; and the share of them that ends bear out.

    ``given`` is what the files' own clocks say that ``one`` is ahead by (None: they say nothing); it decides only between
    differences for which as many ends agree.
    """
    alike = len(one) == len(other) and np.array_equal(one.kind, other.kind)
    if alike and _in_step(one.end[one.same], other.end[one.same]):
        return np.arange(len(other)), 1.0
    place = _by_ends(one, other, given)
    agree, same = int((place != NONE).sum()), min(len(one), len(other))
    if agree >= max(_EVIDENCE, (same + 1) // 2):
        shifted = bool(np.any((place != np.arange(len(other))) & (place != NONE)))
        share = agree / same
        if alike and not shifted:
            return np.arange(len(other)), share
        return _between(one, other, place), share if agree >= _MANY or not shifted else min(share, _DOUBTFUL)
    if len(one) == len(other):
        return np.arange(len(other)), 0.0
    if np.array_equal(one.kind[:same], other.kind[:same]) and not agree:
        return np.where(np.arange(len(other)) < same, np.arange(len(other)), NONE), 0.0
    return (_between(one, other, place) if agree else place), 0.0


def _in_step(one: Nanoseconds, other: Nanoseconds) -> bool:
    """Whether ends agree about as well as with any shift, and hardly one stands out."""
    if len(one) < 2:
        return True
    away, spread = _spread(one - other)
    if spread > _WIDTHS[-1] / 2 or float(np.mean(away > max(_FAR * spread, _NEAR))) > _OFF:
        return False
    shifts = range(1, min(_SLACK, len(one) - _EVIDENCE) + 1)
    shifted = [_spread(pair)[1] for k in shifts for pair in (one[k:] - other[:-k], one[:-k] - other[k:])]
    return spread <= 2 * min(shifted, default=spread) + _WIDTHS[0]


def _spread(values: Nanoseconds) -> tuple[NDArray[np.float64], float]:
    """How far each value is from their median, and the median of that."""
    away = np.abs(values - np.median(values))
    return away, float(np.median(away))


def _by_ends(one: Row, other: Row, given: int | None) -> Ints:
    """Places of those whose ends differ by what most ends differ by, most closely."""
    at, to = _candidates(one, other)
    if not len(at):
        return np.full(len(other), NONE)
    ahead = one.end[to] - other.end[at]
    ordered = np.sort(ahead)
    apart = np.median(np.diff(one.end)) if len(one) > 1 else 0
    score = np.sum([_within(ordered, ahead, width) for width in _WIDTHS if width <= max(apart, _WIDTHS[0])], axis=0)
    good = np.flatnonzero(score >= _AS_GOOD * score.max())
    far = np.abs(ahead - given) if given is not None else np.abs(to - at)
    best = good[np.lexsort((-score[good], far[good]))[0]]
    chosen = ahead[best]
    close = ahead[np.abs(ahead - chosen) <= _NEAR]
    away = np.abs(ahead - int(np.median(close)))
    limit = min(max(_FAR * _spread(close)[1], _NEAR), _WIDTHS[-1])
    return _nearest(at, to, away, len(other), limit)


def _within(ordered: Ints, values: Ints, width: int) -> Ints:
    """How many lie within ``width`` about each value."""
    high = np.searchsorted(ordered, values + width // 2, side="right")
    return np.asarray(high - np.searchsorted(ordered, values - width // 2, side="left"), np.int64)


def _candidates(one: Row, other: Row) -> tuple[Ints, Ints]:
    """Pairs (place in other, place in one) of a kind that the lengths allow."""
    more = len(one) - len(other)
    shifts = np.arange(min(more, 0) - _SLACK, max(more, 0) + _SLACK + 1)
    at = np.repeat(np.arange(len(other)), len(shifts))
    to = at + np.tile(shifts, len(other))
    there = (to >= 0) & (to < len(one))
    at, to = at[there], to[there]
    like = one.kind[to] == other.kind[at]
    return at[like], to[like]


def _nearest(at: Ints, to: Ints, away: Nanoseconds, size: int, limit: float) -> Ints:
    """Of each the nearest place, in order and each place once."""
    near = away <= limit
    at, to, away = at[near], to[near], away[near]
    order = np.lexsort((away, at))
    place = np.full(size, NONE)
    last = NONE
    for k in order.tolist():
        if place[at[k]] == NONE and to[k] > last:
            place[at[k]] = last = int(to[k])
    return place


def _between(one: Row, other: Row, place: Ints) -> Ints:
    """Fill gaps that are equally long on both sides, where ends do not speak against it.

    Where kinds differ there, ranks disagree on what is done.
    """
    place = place.copy()
    known = np.flatnonzero(place != NONE)
    ahead = one.end[place[known]] - other.end[known]
    edges = [(NONE, NONE), *zip(known.tolist(), place[known].tolist(), strict=True), (len(other), len(one))]
    for k, ((a, to_a), (b, to_b)) in enumerate(pairwise(edges)):
        if 1 < b - a == to_b - to_a:
            mine, theirs = np.arange(a + 1, b), np.arange(to_a + 1, to_b)
            expected = float(np.mean(ahead[max(k - 1, 0) : k + 1])) if len(ahead) else 0.0
            off = np.abs(one.end[theirs] - other.end[mine] - expected)
            fits = ~(one.same[theirs] & other.same[mine]) | (off <= _WIDTHS[-1])
            place[mine[fits]] = theirs[fits]
    return place
