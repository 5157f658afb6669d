"""A training step: compute, gradients that travel beside it in buckets over one network, then the update.

What belongs here: its exact course. A serial step is one bucket that is ready when compute ends, an overlapped collective
one that is ready earlier. Buckets go first come, first served. While both run, compute and communication may slow each
other; a bucket is ready by compute's progress, not by the clock. Times are rationals, so that what is just hidden is hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from hopline.errors import InputError
from hopline.quantity import NON_NEGATIVE, Bound, exact, show
from hopline.records.step import Bucket, Stepped

MOST_BUCKETS = 100_000
MOST_EXACT = 64
"""Buckets; with more, contention is worked out in floats, since its rationals grow with each bucket."""
_SLOWDOWN = Bound(least=1.0)


@dataclass(frozen=True, slots=True)
class Slow:
    """Factors by which compute and communication take longer while both run."""

    compute: float = 1.0
    comm: float = 1.0


NO_CONTENTION = Slow()


def serial(compute: float, comm: float, update: float = 0.0) -> Stepped:
    """Nothing overlaps: the sum of the parts (seconds). Raises InputError."""
    return bucketed(compute, [compute], [comm], update)


def overlapped(compute: float, ready: float, comm: float, update: float = 0.0, slow: Slow = NO_CONTENTION) -> Stepped:
    """One collective that starts at ``ready``: max(compute, ready + comm) + update without contention. Raises InputError."""
    return bucketed(compute, [ready], [comm], update, slow)


def bucketed(
    compute: float, ready: Sequence[float], comm: Sequence[float], update: float = 0.0, slow: Slow = NO_CONTENTION
) -> Stepped:
    """Buckets that share one network.

    Parameters
    ----------
    compute, update
        Seconds.
    ready, comm
        (buckets,) seconds of compute after which each is there, and seconds that it takes alone.
    slow
        Contention, at least 1 each.

    Raises
    ------
    InputError
        For negative times, a bucket ready after the end of compute, or factors below 1.
    """
    if len(ready) != len(comm):
        raise InputError(f"{len(ready)} buckets are ready and {len(comm)} travel: expected as many")
    if len(ready) > MOST_BUCKETS:
        raise InputError(f"{len(ready):,} buckets: expected at most {MOST_BUCKETS:,}")
    whole = exact(NON_NEGATIVE.check("compute", compute))
    after = exact(NON_NEGATIVE.check("update", update))
    there = [exact(NON_NEGATIVE.check("ready time of a bucket", time)) for time in ready]
    alone = [exact(NON_NEGATIVE.check("communication", time)) for time in comm]
    late = max(there, default=whole)
    if late > whole:
        raise InputError(
            f"gradients ready at {show(float(late), 'time')}, and compute takes {show(compute, 'time')}: "
            "expected a time within it, since they are what compute makes"
        )
    factors = (
        exact(_SLOWDOWN.check("slowdown of compute", slow.compute)),
        exact(_SLOWDOWN.check("slowdown of communication", slow.comm)),
    )
    if len(there) > MOST_EXACT and max(factors) > 1:
        end, floats = _course(compute, [float(time) for time in there], [float(time) for time in alone], _floats(slow))
        compute_end, spans = Fraction(end), [(Fraction(start), Fraction(stop)) for start, stop in floats]
    else:
        compute_end, spans = _course(whole, there, alone, factors)
    buckets = tuple(Bucket(early, took, *span) for early, took, span in zip(there, alone, spans, strict=True))
    return Stepped(whole, compute_end, after, buckets)


def _floats(slow: Slow) -> tuple[float, float]:
    return slow.compute, slow.comm


def quick(compute: float, ready: Sequence[float], comm: Sequence[float], update: float, slow: Slow) -> float:
    """The step in floats (s), of numbers that are in order: for searches, which ask for many."""
    compute_end, spans = _course(compute, ready, comm, _floats(slow))
    return max(compute_end, max((end for _, end in spans), default=0.0)) + update


_Number = TypeVar("_Number", float, Fraction)


def _course(
    compute: _Number, ready: Sequence[_Number], alone: Sequence[_Number], slow: tuple[_Number, _Number]
) -> tuple[_Number, list[tuple[_Number, _Number]]]:
    """When compute ends, and from when to when each bucket travels, from event to event."""
    nothing = compute - compute
    spans = [(nothing, nothing)] * len(ready)
    now = done = nothing
    compute_end: _Number | None = None
    for bucket in sorted(range(len(ready)), key=ready.__getitem__):
        start = now = now + max(nothing, ready[bucket] - done)
        done, left = max(done, ready[bucket]), alone[bucket]
        if done < compute:
            rest, send = (compute - done) * slow[0], left * slow[1]
            if send < rest:
                done, left, now = done + send / slow[0], nothing, now + send
            else:
                done, left, now = compute, left - rest / slow[1], now + rest
        if compute_end is None and done == compute:
            compute_end = now
        now += left
        spans[bucket] = (start, now)
    return (now + compute - done if compute_end is None else compute_end), spans


def evenly(compute: float, begin: float, count: int) -> list[float]:
    """When ``count`` equal buckets are ready: one after the other from ``begin`` (s) on, the last as compute ends."""
    first, whole = exact(NON_NEGATIVE.check("begin of the backward pass", begin)), exact(compute)
    return [float(first + (whole - first) * Fraction(i, count)) for i in range(1, count + 1)]
