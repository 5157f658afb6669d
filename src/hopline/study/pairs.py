"""All pairs of ranks: what is sick, of which kind, by how much, and how sure.

What belongs here: naming causes one after another until the rest is noise.

log time = kind of pair + named causes + healthy differences of ranks + noise. A pair's repeats give a robust centre
(``centres``). Among the candidates that lie beyond noise and above the least factor that matters, the one which explains
most squares is named; then everything is fitted again without it. So one cause is named once: what is left of a
sick rank's pairs is noise. A rank of which both sides were named one by one is one rank, a pair both of whose
directions were is one pair.

Nothing here is exact: thresholds are Student's t under Bonferroni's bound over all candidates, with the noise of the data
themselves; they hold for noise of pair centres that is near normal, which medians of heavy-tailed repeats are.
``validation/pairs.py`` measures false names and missed ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hopline.errors import InputError
from hopline.records.pairs import Pair, PairClass, PairReport, Suspect
from hopline.study import chance, scatter, suspects
from hopline.study.centres import Centres, centres
from hopline.study.scatter import Noise
from hopline.study.suspects import RANK_KINDS, Cause, Explained

LEAST = 0.05
"""Slower by less than this is not named."""
FALSE_ALARMS = 0.02
"""Bound on the chance that a healthy system gets a name at all."""
MOST_NAMES = 24
_SURE = 0.95
"""What the interval of a factor holds."""
_DRIFT = 1.02
"""A drift from this factor on is told."""
_UNLIKE, _UNLIKE_REPEATS = 0.10, 4.0
"""Pairs of one kind that scatter by more than this, and by so many times what repeats explain, may be of several kinds."""


@dataclass(frozen=True, slots=True)
class _Named:
    cause: Cause
    chance: float


def analyse(
    times: Mapping[Pair, Sequence[float]],
    *,
    group: Callable[[int, int], Hashable] | None = None,
    hosts: Mapping[int, str] | None = None,
    when: Mapping[Pair, Sequence[float]] | None = None,
    least: float = LEAST,
    false_alarms: float = FALSE_ALARMS,
) -> PairReport:
    """Name what is slow among the pairs of n >= 3 ranks.

    Parameters
    ----------
    times
        (sender, receiver) -> repeated times in seconds; pairs may be missing or empty. Repeats of the same number over
        all pairs are taken to be of one round, whose common level is taken out.
    group
        (sender, receiver) -> the kind of pair; each kind has its own healthy time.
    hosts
        Rank -> host, in place of ``group``: pairs of one host and across hosts are two kinds.
    when
        (sender, receiver) -> when each repeat was taken, in seconds: a smooth level over time is taken out, where pairs
        were measured one after another.
    least
        Slow-downs below this are not named (0.05: 5 %).
    false_alarms
        Bound on the chance that a healthy system gets any name.

    Raises
    ------
    InputError
        For fewer than 3 ranks, times that are not finite and above 0, bounds outside of 0 to 1, ranks without a host.
    """
    _check(least, false_alarms)
    if hosts is not None:
        group = _by_host(times, hosts)
    data = centres(times, group, when)
    names, noise = _name(data, math.log1p(least), false_alarms)
    return _report(data, times, names, noise, math.log1p(least), false_alarms)


def _check(least: float, false_alarms: float) -> None:
    if not (0 < false_alarms < 1 and 0 <= least < math.inf):
        raise InputError(
            f"false_alarms {false_alarms:g} and least {least:g}: expected 0 < false_alarms < 1, least >= 0"
        )


def _by_host(times: Mapping[Pair, Sequence[float]], hosts: Mapping[int, str]) -> Callable[[int, int], Hashable]:
    unknown = sorted({rank for pair in times for rank in pair} - set(hosts))
    if unknown:
        raise InputError(f"rank {unknown[0]} has no host: expected a host for every rank")
    return lambda i, j: "one host" if hosts[i] == hosts[j] else "across hosts"


def _fitted(data: Centres, causes: Sequence[Cause], noise: Noise | None) -> tuple[Explained, Noise]:
    """The fit of ``causes``, weighted by the noise known before, and the noise that it leaves."""
    pair = np.where(data.there, 1.0, np.inf) if noise is None else noise.pair
    fit = suspects.explain(data, causes, pair)
    return fit, scatter.noise(data, fit.rest)


def _name(data: Centres, least: float, false_alarms: float) -> tuple[list[_Named], Noise]:
    """Causes in the order in which they were found, those that are two sides of one made one, and the noise left.

    What later ones left too little of is dropped.
    """
    named: list[_Named] = []
    fit, noise = _fitted(data, [], None)
    while len(named) < MOST_NAMES:
        causes = [n.cause for n in named]
        found = suspects.search(data, fit.rest, noise, false_alarms, least, causes)
        if found is None:
            break
        named = _merged([*named, _Named(found.cause, found.chance)])
        fit, noise = _fitted(data, [n.cause for n in named], noise)
    return [n for n, factor in zip(named, fit.factor, strict=True) if abs(factor) >= least], noise


def _merged(named: list[_Named]) -> list[_Named]:
    """The last name made one with an earlier one of which it is the other side."""
    *before, last = named
    for old in before:
        whole = _whole(old.cause, last.cause)
        if whole is not None:
            rest = [n for n in before if n is not old]
            return [*rest, _Named(whole, min(old.chance, last.chance))]
    return named


def _whole(a: Cause, b: Cause) -> Cause | None:
    """What a and b are together: a rank or a pair; None where they are two causes."""
    kinds = {a.kind, b.kind}
    if a.slow != b.slow:
        return None
    if kinds <= set(RANK_KINDS) and a.places == b.places:
        return Cause("rank", a.places, a.slow)
    if kinds <= {"pair", "direction"} and sorted(a.places) == sorted(b.places):
        return Cause("pair", (min(a.places), max(a.places)), a.slow)
    return None


def _report(
    data: Centres,
    times: Mapping[Pair, Sequence[float]],
    named: list[_Named],
    before: Noise,
    least: float,
    false_alarms: float,
) -> PairReport:
    causes = [n.cause for n in named]
    fit, noise = _fitted(data, causes, before)
    n, there = len(data.ranks), data.there
    of_ranks = np.zeros((n, n))
    for cause, sides in zip(causes, fit.sides, strict=True):
        if cause.kind in RANK_KINDS:
            of_ranks += sum(side * mask for side, mask in zip(sides, cause.parts(n), strict=True))
    rows, columns, _ = scatter.polish(fit.rest + of_ranks, there)
    found = [_suspect(data, name, i, fit, noise) for i, name in enumerate(named)]
    missing = tuple((i, j) for i in data.ranks for j in data.ranks if i != j and not len(times.get((i, j), ())))
    return PairReport(
        ranks=data.ranks,
        time=np.exp(data.value),
        expected=np.where(there, np.exp(fit.mean)[np.maximum(data.label, 0)], np.nan),
        sender=np.where(there.any(axis=1), np.exp(rows), np.nan),
        receiver=np.where(there.any(axis=0), np.exp(columns), np.nan),
        classes=tuple(
            PairClass(
                label, int((data.label == c).sum()), math.exp(fit.mean[c]), float(noise.kind[c]), float(data.repeat[c])
            )
            for c, label in enumerate(data.labels)
        ),
        suspects=tuple(sorted((s for s in found if s.factor > 1), key=lambda s: -s.factor)),
        fast=tuple(sorted((s for s in found if s.factor < 1), key=lambda s: s.factor)),
        least=suspects.least_factors(data, noise, false_alarms, least),
        spread=noise.rank,
        drift=data.drift,
        missing=missing,
        notes=tuple(_notes(data, noise, missing, len(named), any(i == j for i, j in times))),
    )


def _suspect(data: Centres, named: _Named, index: int, fit: Explained, noise: Noise) -> Suspect:
    """With the interval of the factor beyond what a healthy rank, or the two ranks of a pair, differ by anyway."""
    cause, factor, error = named.cause, float(fit.factor[index]), float(fit.error[index])
    between = noise.rank * (1 if cause.kind in RANK_KINDS else math.sqrt(2))
    half = chance.t_quantile((1 - _SURE) / 2, noise.ranks) * math.hypot(error, between)
    sides = fit.sides[index]
    return Suspect(
        cause.kind,
        tuple(data.ranks[p] for p in cause.places),
        math.exp(factor),
        math.exp(factor - half),
        math.exp(factor + half),
        named.chance,
        (math.exp(sides[0]), math.exp(sides[1])) if len(sides) == 2 else None,
    )


def _notes(data: Centres, noise: Noise, missing: Sequence[Pair], names: int, own: bool) -> list[str]:
    notes = []
    if missing:
        some = ", ".join(f"{i}→{j}" for i, j in missing[:5]) + (", ..." if len(missing) > 5 else "")
        notes.append(f"{len(missing)} of {len(data.ranks) * (len(data.ranks) - 1)} pairs were not measured: {some}")
    if own:
        notes.append("times of a rank to itself are left out")
    if data.drift >= _DRIFT:
        notes.append(f"the whole system drifted by {100 * (data.drift - 1):.0f} % meanwhile; this was taken out")
    if len(data.ranks) < scatter.ENOUGH_RANKS:
        guess = 100 * scatter.HEALTHY_PAIRS
        notes.append(f"{len(data.ranks)} ranks are too few to learn how healthy pairs differ: {guess:g} % was assumed")
    if not np.any(np.isfinite(data.repeat)):
        notes.append("no pair has repeats: noise is learnt from the differences between pairs only")
    for c, label in enumerate(data.labels):
        own_noise = data.repeat[c] / math.sqrt(np.median(data.count[data.label == c]))
        if noise.kind[c] > max(_UNLIKE, _UNLIKE_REPEATS * np.nan_to_num(own_noise)):
            notes.append(
                f"pairs of kind {label!r} differ by {100 * noise.kind[c]:.0f} %, far more than their repeats do: are they "
                "of several kinds (same node, across nodes)? Say so by hosts or group"
            )
    if names >= MOST_NAMES:
        notes.append(f"more than {MOST_NAMES} causes: only these were named; look at the matrix")
    return notes
