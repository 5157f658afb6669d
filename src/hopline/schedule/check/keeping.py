"""Does a schedule keep its promise: what each range holds at the end, and where it went wrong.

What belongs here: faults of data, from the state that ``following`` leaves.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hopline.schedule.check import words
from hopline.schedule.check.cells import Line, cells, distinct
from hopline.schedule.check.following import MISTAKES, State
from hopline.schedule.check.forms import Truth
from hopline.schedule.check.order import spread
from hopline.schedule.check.pasts import Words
from hopline.schedule.faults import FAULTS, Fault
from hopline.schedule.operations import NONE, Ints, Schedule
from hopline.schedule.promises import EVERY, Wanted

_WORD = 64


_SAYS = {
    "unset": "reads {at} at rank {rank}, which hold nothing yet",
    "positions": "adds to {at} what belongs to other bytes: a piece is cut or placed wrong",
    "twice": "adds the contribution of {whose} to {at}, which have it already",
}


def mistakes(schedule: Schedule, state: State, where: Line, wanted: Wanted) -> list[Fault]:
    """What went wrong on the way to bytes that are wanted."""
    some = np.flatnonzero(wanted.size)
    start = where.address(wanted.rank[some], wanted.buffer[some], wanted.start[some])
    numbers = distinct(state.spoilt[spread(*cells(state.cuts, start, wanted.size[some]))])
    numbers = numbers[numbers > 0]
    found = []
    for place, kind in enumerate(MISTAKES):
        mine = numbers[(numbers - 1) % len(MISTAKES) == place].tolist()
        known = [number for number in mine if number in state.mistakes] or mine[:1]
        if known:
            row = (known[0] - 1) // len(MISTAKES)
            text = f"{words.operation(schedule, row)} {_mistake(schedule, state, where, kind, known[0])}"
            found.append(Fault(kind, text + words.more(len(mine) - 1), (row,)))
    return found


def _mistake(schedule: Schedule, state: State, where: Line, kind: str, number: int) -> str:
    if number not in state.mistakes:
        return FAULTS[kind]
    cell, mask = state.mistakes[number]
    rank = int(state.cuts[cell]) // where.total
    return _SAYS[kind].format(at=_cell(schedule, state, where, cell), rank=rank, whose=words.ranks(words.members(mask)))


def _cell(schedule: Schedule, state: State, where: Line, cell: int) -> str:
    low = int(state.cuts[cell])
    return where.told(schedule, low, int(state.cuts[cell + 1]) - low)


def broken(schedule: Schedule, state: State, where: Line, wanted: Wanted) -> list[Fault]:
    """What the promise wants and does not get; bytes spoilt by a mistake on the way are left out."""
    some = np.flatnonzero(wanted.size)
    start = where.address(wanted.rank[some], wanted.buffer[some], wanted.start[some])
    first, count = cells(state.cuts, start, wanted.size[some])
    cell, range_ = spread(first, count), np.repeat(some, count)
    shift = where.base[wanted.source[some]] + wanted.other[some] - start
    code = state.cuts[cell] + np.repeat(shift, count)
    origin = wanted.origin[range_]
    held = _held(state, cell, origin, schedule.ranks)
    fine = state.spoilt[cell] > 0
    kinds = {
        "unwritten": state.code[cell] < 0,
        "misplaced": state.code[cell] != code,
        "missing": (origin == EVERY) & ~held,
        "origin": (origin != EVERY) & ~held,
    }
    good = {int(c) for c in cell[(state.code[cell] == code) & held]} if any(k.any() for k in kinds.values()) else set()
    told = []
    for kind, which in kinds.items():
        rows = np.flatnonzero(which & ~fine)
        fine = fine | which
        if len(rows):
            ranges = len(np.unique(range_[rows]))
            told.append(
                _say(
                    schedule,
                    state,
                    where,
                    kind,
                    (int(cell[rows[0]]), int(code[rows[0]]), int(origin[rows[0]])),
                    good,
                    ranges,
                )
            )
    return told


def _held(state: State, cell: Ints, origin: Ints, ranks: int) -> Truth:
    """Whether each cell has the contributions of its origin and no others."""
    out = np.ones(len(cell), np.bool_)
    every = origin == EVERY
    for word in range(state.mask.shape[1]):
        inside = min(ranks - word * _WORD, _WORD)
        whole = np.uint64((1 << inside) - 1)
        single = np.where(origin // _WORD == word, np.uint64(1) << (origin % _WORD).astype(np.uint64), np.uint64(0))
        out &= state.mask[cell, word] == np.where(every, whole, single)
    return out


def _say(
    schedule: Schedule, state: State, where: Line, kind: str, at: tuple[int, int, int], good: set[int], ranges: int
) -> Fault:
    cell, code, origin = at
    rank = int(state.cuts[cell]) // where.total
    place = f"rank {rank}: {_cell(schedule, state, where, cell)}"
    size = int(state.cuts[cell + 1] - state.cuts[cell])
    want = (
        f"the sum of {where.told(schedule, code, size)}"
        if origin == EVERY
        else _of(schedule, where, [origin], code, size)
    )
    last = int(state.last[cell])
    wrote = f", written last by {words.operation(schedule, last)}" if last != NONE else ", as given"
    have = words.members(state.mask[cell])
    rows = [last] if last != NONE else []
    if kind == "unwritten":
        text = f"{place} hold nothing in the end: expected {want}"
    elif kind == "missing":
        lacking = [r for r in range(schedule.ranks) if r not in set(have)]
        hint, row = _trace(schedule, state, where, code, lacking[0], good)
        text = f"{place} lack the contribution of {words.ranks(lacking)}{wrote}{hint}"
        rows += [row] if row != NONE else []
    else:
        text = f"{place} hold {_of(schedule, where, have, int(state.code[cell]), size)}{wrote}: expected {want}"
    return Fault(kind, text + words.more(ranges - 1, "ranges" if ranges > 2 else "range"), tuple(rows))


def _of(schedule: Schedule, where: Line, ranks: list[int], code: int, size: int) -> str:
    """``bytes [0, 4) of data of rank 1``."""
    some = f"{where.told(schedule, code, size)} of {words.ranks(ranks)}"
    return some if len(ranks) == 1 else f"the sum of {some}"


def _trace(schedule: Schedule, state: State, where: Line, code: int, lacking: int, good: set[int]) -> tuple[str, int]:
    """Where the contribution of rank ``lacking`` to the bytes of ``code`` was left: overwritten unread, or never read."""
    bit = np.uint64(1) << np.uint64(lacking % _WORD)
    for row, cell, had, mask in state.lost:
        if had == code and mask[lacking // _WORD] & bit:
            at = _cell(schedule, state, where, cell)
            return f"; {words.operation(schedule, row)} overwrites it in {at} before anybody read it", row
    left = np.flatnonzero(state.unread & (state.code == code) & (state.mask[:, lacking // _WORD] & bit != 0))
    for cell in _apart(left, good):
        at, last = _cell(schedule, state, where, cell), int(state.last[cell])
        rank = int(state.cuts[cell]) // where.total
        came = f", brought by {words.operation(schedule, last)}," if last != NONE else ""
        return f"; it is left in {at} at rank {rank}{came} and nobody reads it", last
    return "", NONE


def _apart(left: Ints, good: set[int]) -> Iterator[int]:
    return (cell for cell in left.tolist() if cell not in good)


def whole(mask: Words, ranks: int) -> Truth:
    """Which rows of a mask hold all ranks."""
    out = np.ones(len(mask), np.bool_)
    for word in range(mask.shape[1]):
        out &= mask[:, word] == np.uint64((1 << min(ranks - word * _WORD, _WORD)) - 1)
    return out
