"""Contention, estimated from the trace: the same kernel with and without a transfer beside it.

What belongs here: pairs, factors, and taking contention out of measured work. A work of d of which o had something beside it,
and which alone takes w, was slowed down by f = o / (w - (d - o)) (d - o of it went as fast as ever). Without it the work is
d - o + o / f. Waiting inside of a collective is not a transfer.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hopline.quantity import counted
from hopline.records.contention import Slowdown
from hopline.records.trace import NONE, Nanoseconds
from hopline.schedule.activities import COMMUNICATION, COMPUTE, TRANSFER
from hopline.study.busy import union
from hopline.study.contention_pairs import Beside, Pairs, pairs, unpaired
from hopline.study.replaying import TICKS, Inferred

PAIRS = 4
"""Pairs that a factor needs."""
LEAST = 1.01
"""Factors below count as none."""
_SURE = 3.0
"""Standard errors from 1."""


def contention(inferred: Inferred) -> tuple[Slowdown, ...]:
    """How much kernels and transfers of these ranks slow one another down: of all ranks, then of ranks that surely differ; ()
    where the ranks do not communicate.
    """
    kinds = inferred.activities.kind
    if not np.isin(kinds, (TRANSFER, COMMUNICATION)).any():
        return ()
    beside = besides(inferred)
    kernels, transfers = np.flatnonzero(kinds == COMPUTE), _firsts(inferred)
    names = [
        (int(rank), inferred.traces[rank].events.name[row])
        for rank, row in zip(inferred.activities.rank[kernels].tolist(), inferred.event[kernels].tolist(), strict=True)
    ]
    met = [inferred.meetings[number] for number in inferred.activities.meeting[transfers].tolist()]
    sizes = [(each.op, each.group, each.size) if each.size is not None else None for each in met]
    found = pairs(transfers, sizes, beside, inferred)
    return (
        *_by_rank(kernels, names, beside, inferred),
        _slowdown("communication", None, found, partial(unpaired, "transfer", transfers, sizes, beside, inferred)),
    )


def relieved(inferred: Inferred, slowdowns: Sequence[Slowdown]) -> Inferred:
    """The same activities with the work that they have with nothing beside them, and with the slowdowns to be played."""
    made = inferred.activities
    factors = np.ones((2, made.ranks))
    for each in slowdowns:
        row = 0 if each.what == "compute" else 1
        factors[row, slice(None) if each.rank is None else each.rank] = each.factor
    if (factors == 1).all():
        return inferred
    beside, work = besides(inferred), made.work.copy()
    for row, kind in ((0, COMPUTE), (1, TRANSFER)):
        mine = np.flatnonzero(made.kind == kind)
        factor = factors[row, made.rank[mine]]
        saved = np.rint(beside.overlap[mine] * TICKS * (1 - 1 / factor)).astype(np.int64)
        work[mine] -= np.minimum(saved, work[mine])
    return replace(inferred, activities=replace(made, work=work, slowdown=factors))


def besides(inferred: Inferred) -> Beside:
    """What was beside each kernel and each transfer as measured."""
    made = inferred.activities
    moving = _moving(inferred)
    overlap, either = np.zeros(len(made), np.int64), np.zeros(len(made), np.int64)
    for rank in range(made.ranks):
        mine = made.rank == rank
        kernels, transfers = (
            np.flatnonzero(mine & (made.kind == COMPUTE)),
            np.flatnonzero(mine & (made.kind == TRANSFER)),
        )
        talks = np.flatnonzero(mine & ((made.kind == TRANSFER) | (made.kind == COMMUNICATION)))
        overlap[kernels] = _shared(
            inferred.start[kernels], inferred.end[kernels], moving[transfers], inferred.end[transfers]
        )
        either[kernels] = _shared(
            inferred.start[kernels], inferred.end[kernels], inferred.start[talks], inferred.end[talks]
        )
        overlap[transfers] = _shared(
            moving[transfers], inferred.end[transfers], inferred.start[kernels], inferred.end[kernels]
        )
    _of_meetings(inferred, overlap)
    talking = made.kind == TRANSFER
    either[talking] = overlap[talking]
    return Beside(overlap, either)


def _moving(inferred: Inferred) -> Nanoseconds:
    """When each began; of a transfer, when the last of its meeting had come."""
    made, start = inferred.activities, inferred.start.copy()
    rows = np.flatnonzero(made.meeting != NONE)
    if len(rows):
        last = np.zeros(int(made.meeting.max()) + 1, np.int64)
        np.maximum.at(last, made.meeting[rows], start[rows])
        start[rows] = np.minimum(last[made.meeting[rows]], inferred.end[rows])
    return start


def _of_meetings(inferred: Inferred, overlap: Nanoseconds) -> None:
    """Each transfer is slowed down where any of its ranks is busy: the most of them counts for all."""
    made = inferred.activities
    rows = np.flatnonzero(made.kind == TRANSFER)
    if len(rows):
        most = np.zeros(int(made.meeting.max()) + 1, np.int64)
        np.maximum.at(most, made.meeting[rows], overlap[rows])
        overlap[rows] = np.minimum(most[made.meeting[rows]], made.work[rows] // TICKS)


def _shared(start: Nanoseconds, end: Nanoseconds, other_start: Nanoseconds, other_end: Nanoseconds) -> Nanoseconds:
    """What each interval has in common with the union of others."""
    first, last = union(other_start, other_end)
    if not len(first):
        return np.zeros(len(start), np.int64)
    before = np.concatenate([[0], np.cumsum(last - first)])

    def covered(time: Nanoseconds) -> Nanoseconds:
        place = np.searchsorted(first, time, side="right")
        inside = (
            np.minimum(time, np.concatenate([[time.min(initial=0)], last])[place]) - np.concatenate([[0], first])[place]
        )
        covered: Nanoseconds = np.where(place > 0, before[np.maximum(place - 1, 0)] + inside, 0)
        return covered

    return covered(end) - covered(start)


def _firsts(inferred: Inferred) -> NDArray[np.intp]:
    """One row of each meeting."""
    rows = np.flatnonzero(inferred.activities.kind == TRANSFER)
    return rows[np.unique(inferred.activities.meeting[rows], return_index=True)[1]]


def _by_rank(rows: NDArray[np.intp], keys: Sequence[Hashable], beside: Beside, inferred: Inferred) -> list[Slowdown]:
    """One finding for all ranks, and one for each that surely differs from it."""
    rank = inferred.activities.rank[rows]
    whole = pairs(rows, keys, beside, inferred)
    found = [_slowdown("compute", None, whole, partial(unpaired, "kernel", rows, keys, beside, inferred))]
    for number in range(inferred.activities.ranks):
        mine = np.flatnonzero(rank == number)
        own = pairs(rows[mine], [keys[place] for place in mine.tolist()], beside, inferred)
        if (
            len(own.factor) >= PAIRS
            and abs(own.middle - found[0].factor) > _SURE * (own.error**2 + whole.error**2) ** 0.5 + LEAST - 1
        ):
            found.append(_slowdown("compute", number, own, str))
    return found


def _slowdown(what: str, rank: int | None, found: Pairs, why: Callable[[], str]) -> Slowdown:
    """The median of the pairs, where it is surely more than 1; ``why``: there are no more of them."""
    thing, other = ("kernels", "a transfer") if what == "compute" else ("transfers", "kernels")
    count = len(found.factor)
    if count < PAIRS:
        seen = (
            f"{counted(count, 'pair')} of the same {thing} with and without {other} beside, expected at least {PAIRS}"
        )
        reason = why()
        return Slowdown(what, rank, 1.0, 1.0, 1.0, count, f"no slowdown of {thing} is taken: {seen}; {reason}", reason)
    middle = found.middle
    low, high = (float(value) for value in np.quantile(found.factor, (0.25, 0.75)))
    seen = f"{middle:.3f} times, half of {counted(count, 'pair')} within {low:.3f} and {high:.3f}"
    if middle < LEAST or middle - 1 < _SURE * found.error:
        return Slowdown(what, rank, 1.0, low, high, count, f"no slowdown of {thing} beside {other} is seen: {seen}")
    return Slowdown(what, rank, middle, low, high, count, f"{thing} take longer beside {other}: {seen}")
