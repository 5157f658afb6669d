"""A rank that catches up: as early and as fast as the others.

What belongs here: which rank, what the others take for the same, and what of it that explains. A kernel's fellows are those of
its name that other ranks run as the same one in order, of ranks that run it equally often.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hopline.errors import InputError
from hopline.quantity import counted, show
from hopline.schedule.activities import COMPUTE, COPY, HOST, NONE, Activities, Index, Picoseconds
from hopline.study.changing import PICOSECONDS, Changed, Setting, of_kind
from hopline.study.replaying import Inferred

SLOWER = 1.005
"""Times what the others take from which on a rank counts as slower."""
_NEVER = 2**62
Rows = NDArray[np.intp]


def straggler(inferred: Inferred, setting: Setting) -> Changed:
    """A rank (value: its number; None: the one that was waited for longest) begins when the others do, and its kernels, copies
    and host take what theirs do: the median of the other ranks, kernel by kernel where they run the same ones.
    """
    made = inferred.activities
    if made.ranks < 2:
        raise InputError("one rank has no others to be as fast as: expected traces of at least 2")
    number = _waited_for(inferred) if setting.value is None else rank_number(inferred, setting.value)
    label, mine = inferred.traces[number].label, made.rank == number
    work, begin, told = made.work.copy(), made.begin.copy(), []
    for name, kinds in (("kernels", (COMPUTE, COPY)), ("host", (HOST,))):
        told += _as_fast(inferred, number, kinds, work, f"{name} of {label}")
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


def _as_fast(inferred: Inferred, number: int, kinds: tuple[int, ...], work: Picoseconds, what: str) -> list[str]:
    """Change ``work`` of these kinds on a rank to what others take for it, and say by how much it was slower."""
    made = inferred.activities
    all_, rows, theirs = (
        np.flatnonzero(of_kind(made, kinds) & (made.rank == number)),
        *_fellows(inferred, number, kinds),
    )
    rest = np.setdiff1d(all_, rows)
    own, usual = int(made.work[all_].sum()), float(np.median(np.delete(_totals(made, kinds), number)))
    if made.work[rows].sum() > SLOWER * theirs.sum():
        work[rows] = theirs
    left, usually = int(made.work[rest].sum()), usual - float(theirs.sum())
    if left > SLOWER * usually > 0:
        work[rest] = np.rint(made.work[rest] * (usually / left))
    after = int(work[all_].sum())
    if after == own:
        return []
    told = [f"{what}: {own / after:.3g} times what the median of the others takes"]
    if len(rows) and len(rest):
        told.append(
            f"{what}: {counted(len(rest), 'one')} that no other rank runs as often; of them the sum is compared"
        )
    return told


def _fellows(inferred: Inferred, number: int, kinds: tuple[int, ...]) -> tuple[Rows, Picoseconds]:
    """Works of a rank that others run too, and the median of what these take for each of them.

    The k-th of a name is the same work on ranks that run equally many of that name.
    """
    made = inferred.activities
    rows = np.flatnonzero(of_kind(made, kinds) & (inferred.event != NONE))
    code = _names(inferred, rows)
    order = np.lexsort((inferred.start[rows], made.rank[rows], code))
    rows, code = rows[order], code[order]
    runs: dict[int, dict[int, Rows]] = defaultdict(dict)
    for run in np.split(np.arange(len(rows)), _edges(code, made.rank[rows])):
        if len(run):
            runs[int(code[run[0]])][int(made.rank[rows[run[0]]])] = rows[run]
    mine, theirs = [], []
    for of_name in runs.values():
        own = of_name.pop(number, None)
        same = [made.work[run] for run in of_name.values() if own is not None and len(run) == len(own)]
        if own is not None and same:
            mine.append(own)
            theirs.append(np.rint(np.median(same, axis=0)).astype(np.int64))
    if not mine:
        return np.empty(0, np.intp), np.empty(0, np.int64)
    return np.concatenate(mine), np.concatenate(theirs)


def _edges(code: Index, rank: Index) -> Rows:
    """Where the name or the rank changes."""
    return np.flatnonzero((np.diff(code) != 0) | (np.diff(rank) != 0)) + 1


def _names(inferred: Inferred, rows: Rows) -> Index:
    """A number for the name of each work, the same on all ranks."""
    numbers: dict[str, int] = {}
    code = np.empty(len(rows), np.int32)
    for rank, trace in enumerate(inferred.traces):
        there = inferred.activities.rank[rows] == rank
        known = np.array([numbers.setdefault(name, len(numbers)) for name in trace.names] or [NONE], np.int32)
        code[there] = known[trace.events.name[inferred.event[rows[there]]]]
    return code


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
