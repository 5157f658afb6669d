"""Is a schedule well-formed: ranks, peers, rows, buffers and sizes in their ranges.

What belongs here: what can be told of a row, a pair or a promised range by itself. Nothing is trusted: files come here, too.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hopline.schedule.check import words
from hopline.schedule.faults import Fault
from hopline.schedule.operations import COMPUTE, COPY, DTYPES, KINDS, NONE, RECV, REDUCE, SEND, Index, Ints, Schedule
from hopline.schedule.promises import EVERY, Given, Wanted

Truth = NDArray[np.bool_]
_RISK = 1 << 62
"""Addresses and sums of sizes stay below this."""


def faults(schedule: Schedule) -> list[Fault]:
    """What is malformed, the first of each sort with a count. Sorts after a broken one may be left out."""
    wrong = _typed(schedule)
    if not wrong:
        wrong = [_told(schedule, *sort) for sort in _rows(schedule) if sort[0].any()]
        wrong += [*_pairs(schedule), *_promised(schedule), *_rounds(schedule)]
    return [Fault("malformed", text, rows) for text, rows in wrong]


def _typed(schedule: Schedule) -> list[tuple[str, tuple[int, ...]]]:
    for name in DTYPES:
        dtype = getattr(schedule.columns, name).dtype
        if dtype.kind not in "iu":
            return [(f"column {name} holds {dtype}: expected integers", ())]
    each = sum(buffer.size for buffer in schedule.buffers)
    if schedule.ranks * each > _RISK or len(schedule) >= 1 << 31:
        return [(f"{schedule.ranks} ranks with {each} bytes each: expected less than 2^62 bytes and 2^31 rows", ())]
    return []


def _told(schedule: Schedule, broken: Truth, column: str, expected: str) -> tuple[str, tuple[int, ...]]:
    row = int(np.argmax(broken))
    value = getattr(schedule.columns, column)[row]
    rest = words.more(int(np.count_nonzero(broken)) - 1)
    return f"{words.operation(schedule, row)}: {column} is {value}, expected {expected}{rest}", (row,)


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


def _pairs(schedule: Schedule) -> Iterator[tuple[str, tuple[int, ...]]]:
    rows = len(schedule)
    for name, pairs in (("more", schedule.more), ("begun", schedule.begun)):
        if pairs.ndim != 2 or (len(pairs) and pairs.shape[1] != 2):
            yield f"{name} has the shape {pairs.shape}: expected pairs", ()
            continue
        outside: Truth = np.any((pairs < 0) | (pairs >= rows), axis=1)
        yield from _pair(name, pairs, outside, f"rows from 0 to {rows - 1}")
        inside: Index = pairs[~outside]
        rank = schedule.columns.rank
        yield from _pair(name, inside, rank[inside[:, 0]] != rank[inside[:, 1]], "two rows of one rank")


def _pair(name: str, pairs: Index, broken: Truth, expected: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    if broken.any():
        pair = tuple(int(row) for row in pairs[int(np.argmax(broken))])
        yield f"{name} holds {pair}: expected {expected}{words.more(int(broken.sum()) - 1)}", pair


def _promised(schedule: Schedule) -> Iterator[tuple[str, tuple[int, ...]]]:
    if schedule.promise is None:
        return
    given, wanted = schedule.promise.given, schedule.promise.wanted
    for name, part in (("gives", given), ("wants", wanted)):
        broken = _beyond(schedule, part.rank, part.buffer, part.start, part.size)
        yield from _promise(name, part, broken)
    far = (wanted.origin < EVERY) | (wanted.origin >= schedule.ranks)
    origin = np.zeros(len(far), np.int64)
    broken = far | _beyond(schedule, origin, wanted.source, wanted.other, wanted.size)
    yield from _promise("wants the data of", wanted, broken)


def _beyond(schedule: Schedule, rank: Ints, buffer: Ints, start: Ints, size: Ints) -> Truth:
    room = np.array([b.size for b in schedule.buffers] or [0], np.int64)
    known = (buffer >= 0) & (buffer < len(schedule.buffers))
    inside = room[np.where(known, buffer, 0)]
    return ~known | (rank < 0) | (rank >= schedule.ranks) | (size < 0) | _outside(start, size, inside)


def _promise(name: str, part: Given | Wanted, broken: Truth) -> Iterator[tuple[str, tuple[int, ...]]]:
    if broken.any():
        i = int(np.argmax(broken))
        values = ", ".join(f"{field} {getattr(part, field)[i]}" for field in part.__dataclass_fields__)
        rest = words.more(int(broken.sum()) - 1)
        yield (
            f"the promise {name} a range that is not there ({values}): expected ranks and buffers of the schedule{rest}",
            (),
        )


def _rounds(schedule: Schedule) -> Iterator[tuple[str, tuple[int, ...]]]:
    rounds = schedule.rounds
    if len(rounds) and (rounds[0] != 0 or np.any(np.diff(rounds) < 0) or rounds[-1] > len(schedule)):
        yield f"rounds begin at rows {rounds[:3].tolist()} ...: expected 0 first, in order, up to {len(schedule)}", ()


def rounds(schedule: Schedule, mate: Index) -> list[Fault]:
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
    found = []
    for rows, others, broken, what in pairs:
        if broken.any():
            i, rest = int(np.argmax(broken)), words.more(int(broken.sum()) - 1)
            named = int(rows[i]), int(others[i])
            text = f"{words.operation(schedule, named[0])} {what} {words.operation(schedule, named[1])}{rest}"
            found.append(Fault("rounds", text, named))
    return found
