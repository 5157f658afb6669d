"""Is a schedule well-formed: ranks, peers, rows, buffers and sizes in their ranges.

What belongs here: what can be told of a row, a pair or a promised range by itself. Nothing is trusted: files come here, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from hopline.schedule.check import words
from hopline.schedule.check.sorts import MOST, Sort, sort
from hopline.schedule.faults import Fault
from hopline.schedule.operations import COMPUTE, COPY, DTYPES, KINDS, NONE, RECV, REDUCE, SEND, Index, Schedule
from hopline.schedule.pieces import Ints
from hopline.schedule.promises import EVERY, Given, Wanted

Truth = NDArray[np.bool_]
_RISK = 1 << 62
"""Addresses and sums of sizes stay below this."""


def faults(schedule: Schedule) -> list[Sort]:
    """What is malformed. Sorts after a broken one may be left out."""
    wrong = [_sort([text], 1) for text in _typed(schedule)]
    if not wrong:
        wrong = [_told(schedule, *broken) for broken in _rows(schedule)]
        wrong += [*_pairs(schedule), *_promised(schedule), *(_sort([text], 1) for text in _rounds(schedule))]
    return [one for sorts in wrong for one in sorts]


def _sort(told: Iterable[str], count: int, rows: Iterable[tuple[int, ...]] | None = None) -> list[Sort]:
    """Of texts, and the rows that each of them names."""
    named = repeat(()) if rows is None else rows
    return sort((Fault("malformed", text, some) for text, some in zip(told, named, strict=False)), count)


def _typed(schedule: Schedule) -> list[str]:
    for name in DTYPES:
        dtype = getattr(schedule.columns, name).dtype
        if dtype.kind not in "iu":
            return [f"column {name} holds {dtype}: expected integers"]
    each = sum(buffer.size for buffer in schedule.buffers)
    if schedule.ranks * each > _RISK or len(schedule) >= 1 << 31:
        return [f"{schedule.ranks} ranks with {each} bytes each: expected less than 2^62 bytes and 2^31 rows"]
    return []


def _told(schedule: Schedule, broken: Truth, column: str, expected: str) -> list[Sort]:
    rows, values = np.flatnonzero(broken), getattr(schedule.columns, column)
    some = rows[:MOST].tolist()
    told = (f"{words.operation(schedule, row)}: {column} is {values[row]}, expected {expected}" for row in some)
    return _sort(told, len(rows), ((row,) for row in some))


def _rows(schedule: Schedule) -> Iterator[tuple[Truth, str, str]]:
    """Sorts: rows that break it, the column that does, and what was expected."""
    columns, rows, last = schedule.columns, len(schedule), schedule.ranks - 1
    kind, rank, peer, after = columns.kind, columns.rank, columns.peer, columns.after
    ends = kind <= RECV
    yield kind >= len(KINDS), "kind", f"0 to {len(KINDS) - 1}"
    yield (rank < 0) | (rank > last), "rank", f"0 to {last}"
    yield ends & ((peer < 0) | (peer > last)), "peer", f"0 to {last}"
    yield ends & (peer == rank), "peer", "another rank than its own"
    yield ~ends & (peer != NONE), "peer", f"{NONE}: it has no other end"
    outside = (after < NONE) | (after >= rows)
    yield outside, "after", f"a row from 0 to {rows - 1}, or {NONE}"
    waits = np.flatnonzero(~outside & (after != NONE))
    foreign = np.zeros(rows, np.bool_)
    foreign[waits] = rank[after[waits]] != rank[waits]
    yield foreign, "after", "a row of the same rank"
    yield columns.size < 0, "size", "0 or more"
    if schedule.buffers:
        yield from _ranges(schedule)
    else:
        yield (kind == REDUCE) | (kind == COPY), "buffer", "no operation on buffers: the schedule has none"


def _ranges(schedule: Schedule) -> Iterator[tuple[Truth, str, str]]:
    columns, count = schedule.columns, len(schedule.buffers)
    room = np.array([buffer.size for buffer in schedule.buffers], np.int64)
    works = columns.kind != COMPUTE
    reads = (columns.kind == REDUCE) | (columns.kind == COPY)
    known = f"0 to {count - 1}"
    yield works & (columns.buffer >= count), "buffer", known
    yield reads & (columns.source >= count), "source", known
    yield (
        works & _outside(columns.start, columns.size, room[np.minimum(columns.buffer, count - 1)]),
        "start",
        ("a range inside of its buffer (" + _sizes(schedule) + ")"),
    )
    yield (
        reads & _outside(columns.other, columns.size, room[np.minimum(columns.source, count - 1)]),
        "other",
        ("a range inside of its source (" + _sizes(schedule) + ")"),
    )
    near = (columns.start < columns.other + columns.size) & (columns.other < columns.start + columns.size)
    yield (
        reads & (columns.buffer == columns.source) & near & (columns.size > 0),
        "other",
        "no overlap with what is written",
    )


def _sizes(schedule: Schedule) -> str:
    return ", ".join(f"{buffer.name} has {buffer.size} bytes" for buffer in schedule.buffers)


def _outside(start: Ints, size: Ints, room: Ints) -> Truth:
    return (start < 0) | (start > room) | (size > room - np.minimum(start, room))


def _pairs(schedule: Schedule) -> Iterator[list[Sort]]:
    rows = len(schedule)
    for name, pairs in (("more", schedule.more), ("begun", schedule.begun)):
        if pairs.ndim != 2 or (len(pairs) and pairs.shape[1] != 2):
            yield _sort([f"{name} has the shape {pairs.shape}: expected pairs"], 1)
            continue
        outside: Truth = np.any((pairs < 0) | (pairs >= rows), axis=1)
        yield _pair(name, pairs[outside], f"rows from 0 to {rows - 1}")
        inside: Index = pairs[~outside]
        rank = schedule.columns.rank
        yield _pair(name, inside[rank[inside[:, 0]] != rank[inside[:, 1]]], "two rows of one rank")


def _pair(name: str, broken: Index, expected: str) -> list[Sort]:
    some = [(one, two) for one, two in broken[:MOST].tolist()]
    return _sort((f"{name} holds {pair}: expected {expected}" for pair in some), len(broken), some)


def _promised(schedule: Schedule) -> Iterator[list[Sort]]:
    if schedule.promise is None:
        return
    given, wanted = schedule.promise.given, schedule.promise.wanted
    for name, part in (("gives", given), ("wants", wanted)):
        broken = _beyond(schedule, part.rank, part.buffer, part.start, part.size)
        yield _promise(name, part, broken)
    far = (wanted.origin < EVERY) | (wanted.origin >= schedule.ranks)
    origin = np.zeros(len(far), np.int64)
    broken = far | _beyond(schedule, origin, wanted.source, wanted.other, wanted.size)
    yield _promise("wants the data of", wanted, broken)


def _beyond(schedule: Schedule, rank: Ints, buffer: Ints, start: Ints, size: Ints) -> Truth:
    room = np.array([b.size for b in schedule.buffers] or [0], np.int64)
    known = (buffer >= 0) & (buffer < len(schedule.buffers))
    inside = room[np.where(known, buffer, 0)]
    return ~known | (rank < 0) | (rank >= schedule.ranks) | (size < 0) | _outside(start, size, inside)


def _promise(name: str, part: Given | Wanted, broken: Truth) -> list[Sort]:
    rows = np.flatnonzero(broken)
    values = (
        ", ".join(f"{field} {getattr(part, field)[i]}" for field in part.__dataclass_fields__) for i in rows[:MOST]
    )
    expected = "expected ranks and buffers of the schedule"
    return _sort((f"the promise {name} a range that is not there ({one}): {expected}" for one in values), len(rows))


def _rounds(schedule: Schedule) -> Iterator[str]:
    rounds = schedule.rounds
    if len(rounds) and (rounds[0] != 0 or np.any(np.diff(rounds) < 0) or rounds[-1] > len(schedule)):
        yield f"rounds begin at rows {rounds[:3].tolist()} ...: expected 0 first, in order, up to {len(schedule)}"


def rounds(schedule: Schedule, mate: Index) -> list[Sort]:
    """Messages that end in another round than they begin in, and operations that wait for a later round."""
    if not len(schedule.rounds):
        return []
    number = np.zeros(len(schedule) + 1, np.int32)
    np.add.at(number, schedule.rounds, 1)
    number = np.cumsum(number[:-1])
    sends = np.flatnonzero(schedule.columns.kind == SEND)
    waits = np.flatnonzero(schedule.columns.after != NONE)
    pairs = [
        (sends, mate[sends], number[sends] != number[mate[sends]], "ends in another round with"),
        (
            waits,
            schedule.columns.after[waits],
            number[waits] < number[schedule.columns.after[waits]],
            "waits for a later round:",
        ),
    ]
    found: list[Sort] = []
    for rows, others, broken, what in pairs:
        some = np.stack([rows[broken], others[broken]], axis=1)
        told = (
            Fault("rounds", f"{words.operation(schedule, one)} {what} {words.operation(schedule, two)}", (one, two))
            for one, two in some[:MOST].tolist()
        )
        found += sort(told, len(some))
    return found
