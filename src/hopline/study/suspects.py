"""Which single causes explain slow pairs: candidates, how much each explains, and the fit of all that were named.

What belongs here: the model log time = kind of pair + named causes + small healthy differences of ranks + noise. What is
done with it is ``pairs``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopline.curve import Floats
from hopline.records.pairs import Kind
from hopline.study import chance
from hopline.study.centres import Centres
from hopline.study.scatter import Noise

_HUBER = 1.5
"""Standard deviations from which on a pair pulls no harder: it may be a cause that is not named yet."""
_ROUNDS = 8
_RARE = 2.0
"""How many times more a fast cause must explain: what is slow is what there mostly is."""
_ALL = slice(None)
RANK_KINDS: tuple[Kind, ...] = ("rank", "sender", "receiver")


@dataclass(frozen=True, slots=True)
class Cause:
    """A candidate: its kind, and the places of its ranks in the matrix."""

    kind: Kind
    places: tuple[int, ...]
    slow: bool = True

    def parts(self, n: int) -> list[NDArray[np.bool_]]:
        """(n, n) the pairs that it touches, one mask for each of its sides: what a rank sends and receives, a pair's ways."""
        i, j = self.places[0], self.places[-1]
        places: dict[Kind, tuple[tuple[int | slice, int | slice], ...]] = {
            "rank": ((i, _ALL), (_ALL, i)),
            "sender": ((i, _ALL),),
            "receiver": ((_ALL, i),),
            "pair": ((i, j), (j, i)),
            "direction": ((i, j),),
        }
        masks = []
        for place in places[self.kind]:
            mask = np.zeros((n, n), dtype=bool)
            mask[place] = True
            masks.append(mask)
        return masks


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """The fit of everything named.

    Attributes
    ----------
    mean
        (kinds,) log times of healthy pairs.
    factor, error
        (causes,) log factors, of two sides their mean, and their standard deviations.
    sides
        The log factors of each cause's sides.
    rest
        (n, n) what is left over.
    """

    mean: Floats
    factor: Floats
    error: Floats
    sides: tuple[tuple[float, ...], ...]
    rest: Floats


@dataclass(frozen=True, slots=True)
class Found:
    """The candidate that explains most, with the chance to see as much by noise anywhere."""

    cause: Cause
    chance: float


def explain(data: Centres, causes: Sequence[Cause], pair: Floats) -> Explained:
    """Huber regression of the log times on kinds of pair and the sides of the named causes.

    pair: (n, n) standard deviations.
    """
    there, n, kinds = data.there, len(data.ranks), len(data.labels)
    label, y, sd = data.label[there], data.value[there], pair[there]
    parts = [cause.parts(n) for cause in causes]
    columns = [mask[there] for masks in parts for mask in masks]
    x = np.stack([*(label == c for c in range(kinds)), *columns], axis=1).astype(float)
    found, weight = np.concatenate([_kind_medians(y, label, kinds), np.zeros(len(columns))]), sd**-2.0
    for _ in range(_ROUNDS):
        before = found
        normal = _inverse(x.T @ (x * weight[:, None]))
        found = normal @ (x.T @ (weight * y))
        away = np.abs(y - x @ found) / sd
        weight = chance.huber(away, _HUBER) / sd**2
        if np.max(np.abs(found - before)) < 1e-9:
            break
    rest = np.full((n, n), np.nan)
    rest[there] = y - x @ found
    return Explained(found[:kinds], *_means_of_sides(found[kinds:], normal[kinds:, kinds:], parts), rest)


def _means_of_sides(
    factors: Floats, covariance: Floats, parts: Sequence[Sequence[object]]
) -> tuple[Floats, Floats, tuple[tuple[float, ...], ...]]:
    """From sides to causes: the mean of a cause's sides, its standard deviation, and the sides."""
    of = np.zeros((len(parts), len(factors)))
    sides, start = [], 0
    for i, masks in enumerate(parts):
        end = start + len(masks)
        of[i, start:end] = 1 / len(masks)
        sides.append(tuple(factors[start:end].tolist()))
        start = end
    return of @ factors, np.sqrt(np.diag(of @ covariance @ of.T)), tuple(sides)


def _inverse(square: Floats) -> Floats:
    """Causes that one another make up together (all ranks of three) leave no plain inverse."""
    try:
        return np.asarray(np.linalg.inv(square))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(square, hermitian=True))


def _kind_medians(y: Floats, label: NDArray[np.int_], kinds: int) -> Floats:
    return np.array([np.median(y[label == c]) for c in range(kinds)])


def search(
    data: Centres, rest: Floats, noise: Noise, false_alarms: float, least: float, named: Sequence[Cause] = ()
) -> Found | None:
    """The candidate that explains most of ``rest``, among those beyond noise and above ``least`` (log factor).

    Fast ones are named too, lest everything else look slow beside them, where they explain twice as much as any slow one.
    What was ``named`` is none any more, nor is a side of a rank or a direction of a pair that was.
    """
    best: tuple[float, Cause, float, float] | None = None
    tests = _tests(data.there)
    for kind, gain, factor, error, freedom in _scores(data, rest, noise):
        bar = np.maximum(least, _bars(false_alarms / tests, freedom) * error)
        worth = np.where(factor >= bar, gain, np.where(-factor >= bar, gain / _RARE, 0.0))
        for cause in named:
            if _covers(cause, kind):
                worth[cause.places] = 0.0
                worth[cause.places[::-1] if cause.kind == "pair" else cause.places] = 0.0
        place = np.unravel_index(int(np.argmax(worth)), worth.shape)
        if worth[place] > (0.0 if best is None else best[0]):
            t, free = float(factor[place] / error[place]), float(np.broadcast_to(freedom, worth.shape)[place])
            best = float(worth[place]), Cause(kind, tuple(int(p) for p in place), bool(factor[place] > 0)), t, free
    if best is None:
        return None
    _, cause, t, free = best
    return Found(cause, min(1.0, tests * chance.t_beyond(abs(t), free)))


def _covers(cause: Cause, kind: Kind) -> bool:
    """Whether a named cause leaves no candidate of ``kind`` at its place."""
    return kind == cause.kind or kind in {"rank": RANK_KINDS, "pair": ("direction",)}.get(cause.kind, ())


def least_factors(data: Centres, noise: Noise, false_alarms: float, least: float) -> dict[Kind, float]:
    """Kind -> the smallest factor that is named, at the median candidate."""
    out: dict[Kind, float] = {}
    for kind, _, _, error, freedom in _scores(data, np.zeros(data.value.shape), noise):
        bar = _bars(false_alarms / _tests(data.there), freedom) * error
        out[kind] = math.exp(max(least, float(np.median(bar[np.isfinite(bar)]))))
    return out


def _tests(there: NDArray[np.bool_]) -> int:
    """Number of candidates, for Bonferroni's bound."""
    return int(3 * len(there) + there.sum() + np.triu(there & there.T).sum())


def _bars(beyond: float, freedom: float | Floats) -> float | Floats:
    if isinstance(freedom, float):
        return chance.t_quantile(beyond, freedom)
    distinct, index = np.unique(freedom, return_inverse=True)
    return np.array([chance.t_quantile(beyond, float(f)) for f in distinct])[index].reshape(freedom.shape)


Scores = Iterator[tuple[Kind, Floats, Floats, Floats, float | Floats]]


def _scores(data: Centres, rest: Floats, noise: Noise) -> Scores:
    """Kind, squares explained, log factor, its error and degrees of freedom of every candidate of the kind.

    One candidate at a time by weighted least squares beside the means of the kinds of pair; those of single pairs after
    the healthy differences of ranks are taken off, whose doubt is added to the error.
    """
    there, weight = data.there, noise.pair**-2.0
    of = [np.where(data.label == c, weight, 0.0) for c in range(len(data.labels))]
    totals = [float(w.sum()) for w in of]
    plain = np.where(there, rest, 0.0)
    means = np.array([float((w * plain).sum()) / total for w, total in zip(of, totals, strict=True)])
    pull = weight * np.where(there, plain - means[np.maximum(data.label, 0)], 0.0)
    sides = {"sender": 1, "receiver": 0}
    amount = {side: [w.sum(axis=axis) for w in of] for side, axis in sides.items()}
    push = {side: pull.sum(axis=axis) for side, axis in sides.items()}
    amount["rank"] = [a + b for a, b in zip(amount["sender"], amount["receiver"], strict=True)]
    push["rank"] = push["sender"] + push["receiver"]
    for kind in RANK_KINDS:
        room = sum(a * (1 - a / total) for a, total in zip(amount[kind], totals, strict=True))
        yield (kind, *_estimate(push[kind], np.asarray(room), noise.rank**2), noise.ranks)
    clear = np.where(there, pull - weight * (noise.sender[:, None] + noise.receiver), 0.0)
    room = sum(w * (1 - w / total) for w, total in zip(of, totals, strict=True))
    doubt = 2 * noise.rank**2 * (1 - noise.known)
    freedom = noise.freedom[np.maximum(data.label, 0)]
    yield ("direction", *_estimate(clear, np.asarray(room), doubt), freedom)
    both = np.triu(there & there.T)
    two, room2 = np.where(both, clear + clear.T, 0.0), np.where(both, room + np.transpose(room), 0.0)
    yield ("pair", *_estimate(two, room2, doubt), np.minimum(freedom, freedom.T))


def _estimate(push: Floats, room: Floats, between: float) -> tuple[Floats, Floats, Floats]:
    """Squares explained, log factor, its error; a candidate without room gets an infinite error."""
    some = room > 1e-9
    safe = np.where(some, room, 1.0)
    factor = np.where(some, push / safe, 0.0)
    return factor * np.where(some, push, 0.0), factor, np.where(some, np.sqrt(1 / safe + between), np.inf)
