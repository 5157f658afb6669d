"""From repeated times of pairs to one robust number a pair.

What belongs here: what happens before pairs are compared: checking, taking out what the whole system did meanwhile, and
the centre of each pair's repeats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from hopline.curve import Floats
from hopline.errors import InputError
from hopline.records.pairs import Pair
from hopline.study import chance
from hopline.study.drift import level_of_rounds, level_of_time

FEWEST_RANKS = 3
_LOSS = 1.1
"""Variance of a biweight centre of k repeats over that of a mean of k normal ones."""
_STEPS = 4
"""Of the biweight, each a mean weighted by the one before."""


@dataclass(frozen=True, slots=True, eq=False)
class Centres:
    """All pairs as matrices, senders in rows.

    Attributes
    ----------
    ranks
        The n ranks, in growing order.
    value
        (n, n) centre of the log times; nan where nothing was measured.
    count
        (n, n) repeats that each centre rests on, outliers not counted.
    label
        (n, n) index into ``labels``, -1 where nothing was measured.
    labels
        What the kinds of pairs are called.
    repeat
        (kinds,) standard deviation of the log of one repeat; nan where no pair has two.
    drift
        Largest over smallest level of the whole system meanwhile, taken out; 1 where none was seen.
    """

    ranks: tuple[int, ...]
    value: Floats
    count: Floats
    label: NDArray[np.int_]
    labels: tuple[Hashable, ...]
    repeat: Floats
    drift: float

    @property
    def there(self) -> NDArray[np.bool_]:
        """(n, n) whether a pair was measured."""
        return self.label >= 0


def centres(
    times: Mapping[Pair, Sequence[float]],
    group: Callable[[int, int], Hashable] | None,
    when: Mapping[Pair, Sequence[float]] | None,
) -> Centres:
    """Raises InputError for fewer than 3 ranks, and for times that are not finite and above 0."""
    pairs = sorted(pair for pair, repeats in times.items() if len(repeats) and pair[0] != pair[1])
    ranks = tuple(sorted({rank for pair in pairs for rank in pair}))
    if len(ranks) < FEWEST_RANKS:
        raise InputError(
            f"times between {len(ranks)} ranks cannot tell which is slow: expected at least {FEWEST_RANKS}"
        )
    logs, there = _rows(times, pairs)
    names = [group(*pair) if group else "all" for pair in pairs]
    labels = tuple(dict.fromkeys(names))
    kinds = np.array([labels.index(name) for name in names])
    place = {rank: i for i, rank in enumerate(ranks)}
    rows, columns = (np.array([place[pair[side]] for pair in pairs]) for side in (0, 1))
    stamps = None if when is None else _stamps(times, when, pairs, there)
    levels, drift = level_of_rounds(logs, there) if stamps is None else level_of_time(logs, there, stamps, kinds)
    logs = logs - levels
    repeat = np.array([_repeat_spread(logs[kinds == c], there[kinds == c]) for c in range(len(labels))])
    value, count = np.full((2, len(ranks), len(ranks)), np.nan)
    value[rows, columns], count[rows, columns] = _robust(logs, there, repeat[kinds])
    label = np.full(value.shape, -1)
    label[rows, columns] = kinds
    return Centres(ranks, value, count, label, labels, repeat, drift)


def _rows(times: Mapping[Pair, Sequence[float]], pairs: Sequence[Pair]) -> tuple[Floats, NDArray[np.bool_]]:
    """(pairs, most repeats) log times, 0 where a pair has fewer, and which entries are there."""
    lengths = np.array([len(times[pair]) for pair in pairs])
    there = np.arange(lengths.max()) < lengths[:, None]
    flat = np.concatenate([np.asarray(times[pair], dtype=float) for pair in pairs])
    wrong = ~(np.isfinite(flat) & (flat > 0))
    if wrong.any():
        first = int(np.argmax(wrong))
        pair = pairs[int(np.searchsorted(np.cumsum(lengths), first, side="right"))]
        raise InputError(f"a time of pair {pair[0]}→{pair[1]} is {flat[first]:g} s: expected a finite time above 0")
    logs = np.zeros(there.shape)
    logs[there] = np.log(flat)
    return logs, there


def _stamps(
    times: Mapping[Pair, Sequence[float]],
    when: Mapping[Pair, Sequence[float]],
    pairs: Sequence[Pair],
    there: NDArray[np.bool_],
) -> Floats:
    for pair in pairs:
        if len(when.get(pair, ())) != len(times[pair]):
            raise InputError(
                f"pair {pair[0]}→{pair[1]} has {len(times[pair])} times and {len(when.get(pair, ()))} time stamps: "
                "expected one a time"
            )
    stamps = np.zeros(there.shape)
    stamps[there] = np.concatenate([np.asarray(when[pair], dtype=float) for pair in pairs])
    if not np.all(np.isfinite(stamps)):
        raise InputError("a time stamp is not a finite number of seconds")
    return stamps


def _repeat_spread(logs: Floats, there: NDArray[np.bool_]) -> float:
    """Robust standard deviation of repeats about their pair's median; approximate for fewer than 5 repeats a pair."""
    counts = there.sum(axis=1)
    middle = chance.row_medians(logs, there)
    away = np.where(there, logs - middle[:, None], np.nan)
    odd = counts % 2 == 1
    away[odd, np.nanargmin(np.abs(away[odd]), axis=1)] = np.nan
    away = away * np.where(odd, 1.0, np.sqrt(counts / np.maximum(counts - 1, 1)))[:, None]
    return chance.scale(away[np.isfinite(away)])


def _robust(logs: Floats, there: NDArray[np.bool_], spread: Floats) -> tuple[Floats, Floats]:
    """Centre of each row and how many repeats it rests on: outliers, beyond the reach of the biweight, weigh nothing.

    Tukey's biweight with the spread of the row's kind, started one place below the median: delays make repeats slow and
    hardly ever fast, so where three of five repeats were delayed the two others tell what the pair takes. Where the
    spread is unknown or 0 it is the median.
    """
    counts = there.sum(axis=1)
    known = (spread > 0)[:, None]
    reach = chance.BIWEIGHT * np.where(known, spread[:, None], 1.0)
    centre = np.where(known[:, 0], _below_median(logs, there, spread), chance.row_medians(logs, there))
    used = counts.astype(float)
    for _ in range(_STEPS):
        weight = np.where(there & known, chance.biweight((logs - centre[:, None]) / reach), 0.0)
        total = weight.sum(axis=1)
        centre = np.where(total > 0, (weight * logs).sum(axis=1) / np.where(total > 0, total, 1.0), centre)
        used = np.where(total > 0, (weight > 0).sum(axis=1), counts)
    return centre, used


def _below_median(logs: Floats, there: NDArray[np.bool_], spread: Floats) -> Floats:
    """The repeat (or the middle of two) one place below the median, plus what a normal one lies below its centre."""
    counts = there.sum(axis=1)
    ordered = np.sort(np.where(there, logs, np.inf), axis=1)
    picks = np.stack([(counts - 1) // 2, counts // 2]) - 1
    values = np.stack([ordered[np.arange(len(logs)), np.maximum(pick, 0)] for pick in picks])
    places = np.maximum(picks, 0).mean(axis=0)
    distinct, index = np.unique(np.stack([counts, places]), axis=1, return_inverse=True)
    shift = np.array([NormalDist().inv_cdf((i + 0.625) / (k + 0.25)) for k, i in distinct.T])
    return np.asarray(values.mean(axis=0) - spread * shift[index.reshape(-1)])


def own_error(data: Centres) -> Floats:
    """(n, n) standard deviation that repeats leave in each pair's centre, in logs; 0 where there are no repeats."""
    spread = np.where(np.isfinite(data.repeat), data.repeat, 0.0)[np.maximum(data.label, 0)]
    return np.where(data.there, spread * np.sqrt(_LOSS / np.where(data.there, data.count, 1.0)), math.nan)
