"""Changes of activities: what is faster, free, earlier, cut, or as fast as others.

What belongs here: from activities and a number to other activities, and what that takes to be so. Which changes there are, by
name, is ``what_if``; cutting into buckets is ``buckets``, another machine ``swapping``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopline.errors import InputError
from hopline.quantity import counted, show
from hopline.records.what_if import Swap
from hopline.schedule.activities import (
    COMMUNICATION,
    COMPUTE,
    COPY,
    HOST,
    NONE,
    SYNC,
    TRANSFER,
    Activities,
    Picoseconds,
)
from hopline.study.replaying import Inferred


class Priced(NamedTuple):
    """Seconds of a collective after its last rank has come, and the algorithm by which it takes them."""

    time: float
    algorithm: str


Price = Callable[[str, int, tuple[int, ...]], Priced | None]
"""(op, bytes, ranks of the job) -> what a collective takes; None where no algorithm does what it does."""
MOVES = (TRANSFER, COMMUNICATION)
PICOSECONDS = 1e12
_NEVER = 2**62
SLOWER = 1.005
"""Times the median of the others from which on a rank counts as slower."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a change may go by: how much, and what collectives take elsewhere."""

    value: float | None = None
    price: Price | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """Activities after a change, what they stand on, whom it is about, and what collectives then take.

    ``surely``: the same where communication of which waiting is not known stays as it was; None where there is none. The
    change can bring all between the two.
    """

    activities: Activities
    premises: tuple[str, ...] = ()
    who: str = ""
    prices: tuple[Swap, ...] = ()
    surely: Activities | None = None


def faster(*kinds: int) -> Callable[[Inferred, Setting], Changed]:
    """Work of these kinds takes 1 / value of its time."""

    def change(inferred: Inferred, setting: Setting) -> Changed:
        value = setting.value or 1.0
        work = np.rint(inferred.activities.work / np.where(of_kind(inferred.activities, kinds), value, 1.0)).astype(
            np.int64
        )
        return _moved(inferred, kinds, work)

    return change


def free(*kinds: int) -> Callable[[Inferred, Setting], Changed]:
    """Work of these kinds takes no time: what still waits for it does not wait longer than for the last to come."""

    def change(inferred: Inferred, _: Setting) -> Changed:
        made = inferred.activities
        work = np.where(of_kind(made, kinds), 0, made.work)
        return _moved(inferred, kinds, work)

    return change


def earlier(inferred: Inferred, _: Setting) -> Changed:
    """Collectives begin when their inputs are there and their stream is free, however late they were launched."""
    made = inferred.activities
    moves = of_kind(made, MOVES)
    launches = moves[made.done[:, 0]] & of_kind(made, (HOST, SYNC))[made.done[:, 1]]
    awaits = np.zeros(len(made), np.bool_)
    lane = inferred.lane
    elsewhere = ~launches & moves[made.done[:, 0]] & (lane[made.done[:, 0]] != lane[made.done[:, 1]])
    awaits[made.done[elsewhere, 0]] = True
    drops = launches & awaits[made.done[:, 0]]
    blind = int(np.count_nonzero(moves & ~awaits))
    told = f"{counted(blind, 'kernel')} of collectives keep their launch: the trace does not tell what work they waited for"
    return Changed(
        replace(made, done=made.done[~drops], lag=made.lag[~drops]),
        ("inputs are ready with the last work that a stream waited for", *([told] if blind else [])),
    )


def straggler(inferred: Inferred, setting: Setting) -> Changed:
    """A rank (value: its number; None: the one that was waited for longest) begins when the others do, and its kernels, copies
    and host take what theirs do: the median of the other ranks.
    """
    made = inferred.activities
    if made.ranks < 2:
        raise InputError("one rank has no others to be as fast as: expected traces of at least 2")
    number = _waited_for(inferred) if setting.value is None else rank_number(inferred, setting.value)
    label, mine = inferred.traces[number].label, made.rank == number
    work, begin, told = made.work.copy(), made.begin.copy(), []
    for name, kinds in (("kernels", (COMPUTE, COPY)), ("host", (HOST,))):
        totals = _totals(made, kinds)
        usual, own = float(np.median(np.delete(totals, number))), float(totals[number])
        if own > SLOWER * usual > 0:
            rows = of_kind(made, kinds) & mine
            work[rows] = np.rint(work[rows] * (usual / own)).astype(np.int64)
            told.append(f"{name} of {label}: {own / usual:.3g} times what the median of the others takes")
    begins = _begins(made)
    late = begins[number] - int(np.median(np.delete(begins, number)))
    if late > 0:
        begin[mine] = np.maximum(begin[mine] - late, 0)
        told.append(
            f"the trace of {label} begins {show(late / PICOSECONDS, 'time')} after the median of the others, and is taken to "
            "be able to begin with them: why it is late is not in it"
        )
    told = told or [f"{label} is neither later nor slower than the others: nothing changes"]
    return Changed(replace(made, work=work, begin=begin), tuple(told), label)


def rank_number(inferred: Inferred, rank: float) -> int:
    """Number of the trace of a rank. Raises InputError where there is none."""
    ranks = [trace.rank for trace in inferred.traces]
    if rank in ranks:
        return ranks.index(int(rank))
    known = ", ".join(str(rank) for rank in ranks if rank is not None)
    raise InputError(f"rank {rank:g} has no trace: expected one of {known or 'none, since no trace tells its rank'}")


def of_kind(made: Activities, kinds: tuple[int, ...]) -> NDArray[np.bool_]:
    """Whether each activity is of one of these kinds."""
    return np.isin(made.kind, kinds)


def _totals(made: Activities, kinds: tuple[int, ...]) -> Picoseconds:
    totals = np.zeros(made.ranks, np.int64)
    mine = of_kind(made, kinds)
    np.add.at(totals, made.rank[mine], made.work[mine])
    return totals


def _begins(made: Activities) -> list[int]:
    """When each rank begins: the first of its activities that wait for no other."""
    first = np.ones(len(made), np.bool_)
    first[made.done[:, 0]] = False
    return [int(made.begin[first & (made.rank == rank)].min(initial=_NEVER)) for rank in range(made.ranks)]


def _waited_for(inferred: Inferred) -> int:
    """The rank that others waited for longest: by what it came after the one before it, over all meetings."""
    late = np.zeros(inferred.activities.ranks, np.int64)
    for number in np.unique(inferred.activities.meeting[inferred.activities.meeting != NONE]).tolist():
        met = inferred.meetings[number]
        if met.last is not None:
            late[met.last] += met.margin
    return int(np.argmax(late))


def _moved(inferred: Inferred, kinds: tuple[int, ...], work: Picoseconds) -> Changed:
    """Other work, and what is said where waiting cannot be told from transfer."""
    made = replace(inferred.activities, work=work)
    count = int(np.count_nonzero(made.kind == COMMUNICATION)) if COMMUNICATION in kinds else 0
    told = f"{counted(count, 'kernel')} of communication may have waiting in it, which counts as transfer"
    if not count:
        return Changed(made)
    sure = np.where(made.kind == COMMUNICATION, inferred.activities.work, work)
    return Changed(made, (told,), surely=replace(made, work=sure))
