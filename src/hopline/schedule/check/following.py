"""Follows the bytes: which ranks' data, and which bytes of it, each cell holds after each operation.

What belongs here: the state of all cells, and what operations do to it. What must be there at the end is ``keeping``.

A cell holds the sum of what some ranks gave (a bit each, in words of 64) at one place of one buffer (``code``, an address in a
rank). Operations run in the order of their steps, all of one step at once: their order among each other makes no difference
where there are no hazards. What a mistake has spoilt stays marked with it, so that only those are told whose bytes somebody
wants. Nothing here is approximate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from hopline.errors import InputError
from hopline.schedule.check.cells import Line, carried, cells, distinct
from hopline.schedule.check.forms import Truth
from hopline.schedule.check.order import spread
from hopline.schedule.check.pasts import Words
from hopline.schedule.operations import COPY, NONE, RECV, REDUCE, Index, Schedule
from hopline.schedule.pieces import Ints
from hopline.schedule.promises import Promise

_WORD = 64
_ROOM = 3 << 30
"""Bytes of state at most."""
_KEPT = 1000
"""Cells overwritten unread, and mistakes of each kind, that are remembered at most."""
MISTAKES = ("unset", "positions", "twice")
"""What can go wrong on the way. A mistake's number is 1 + row x their number + its place here."""


@dataclass(frozen=True, slots=True)
class Moves:
    """Bytes that go from one address to another in a step: copied, or added there (``adds``); columns of one length."""

    row: Index
    source: Ints
    target: Ints
    size: Ints
    adds: Truth
    step: Index


@dataclass(frozen=True, slots=True)
class Held:
    """What a cell held at some time: a code, the ranks that gave it, and the row that wrote it (NONE: it was given)."""

    cell: int
    code: int
    mask: Words
    last: int


@dataclass(frozen=True, slots=True)
class Lost:
    """What ``row`` overwrote before anybody had read it."""

    row: int
    held: Held


@dataclass(frozen=True, slots=True)
class Mistake:
    """What was read and what was in its target; of "unset" in a sum, where bytes that would have fitted were left unread."""

    read: Held
    there: Held
    left: Held | None = None


@dataclass(slots=True)
class State:
    """Of each cell, what it holds; ``total``: bytes of a rank.

    ``code`` (NONE: nothing yet) and ``mask``; the number of the mistake that spoilt it (0: none); whether nobody has read it
    yet; the row that wrote it. ``lost``: the first of what was overwritten unread. ``mistakes``: by number.
    """

    total: int
    cuts: Ints
    code: Ints
    mask: Words
    spoilt: Ints
    unread: Truth
    last: Index
    mistakes: dict[int, Mistake] = field(default_factory=dict)
    lost: list[Lost] = field(default_factory=list)

    def held(self, cell: int) -> Held:
        """What a cell holds now."""
        return Held(cell, int(self.code[cell]), self.mask[cell].copy(), int(self.last[cell]))

    def within(self, rank: int) -> slice:
        """The cells of a rank."""
        low, high = np.searchsorted(self.cuts, [rank * self.total, (rank + 1) * self.total]).tolist()
        return slice(low, high)

    def left(self, target: int) -> Held | None:
        """What is held unread at the same rank as ``target`` and of the same bytes, if something brought it there."""
        own = self.within(int(self.cuts[target]) // self.total)
        fits = self.unread[own] & (self.code[own] == self.code[target]) & (self.last[own] != NONE)
        found = [cell for cell in (np.flatnonzero(fits) + own.start).tolist() if cell != target]
        return self.held(found[0]) if found and self.code[target] != NONE else None


def moves(schedule: Schedule, mate: Index, where: Line, step: Index, flying: bool) -> Moves:
    """What operations move, in order of their steps.

    ``flying``: a message leaves when it is sent, arrives when it is received, and is in the air meanwhile (at addresses behind
    all ranks); else it moves when it is received.
    """
    columns = schedule.columns
    here = where.address(columns.rank, columns.buffer, columns.start)
    some = columns.size > 0
    got: Ints = np.flatnonzero((columns.kind == RECV) & some)
    own: Ints = np.flatnonzero(((columns.kind == COPY) | (columns.kind == REDUCE)) & some)
    parts: list[tuple[Ints | Index, Ints, Ints]] = [
        (own, where.address(columns.rank[own], columns.source[own], columns.other[own]), here[own])
    ]
    if flying:
        sizes = columns.size[got]
        air = schedule.ranks * where.total + np.cumsum(sizes) - sizes
        parts += [(mate[got], here[mate[got]], air), (got, air, here[got])]
    else:
        parts.append((got, here[mate[got]], here[got]))
    row, source, target = (np.concatenate(column) for column in zip(*parts, strict=True))
    adds = columns.kind[row] == REDUCE
    order = np.lexsort((row, adds, step[row]))
    row = row[order].astype(np.int32)
    return Moves(row, source[order], target[order], columns.size[row], adds[order], step[row])


def begun(schedule: Schedule, promise: Promise, where: Line, cuts: Ints) -> State:
    """Every rank holds what it is given, and nothing else. Raises InputError where that is too much to hold."""
    words = -(-schedule.ranks // _WORD)
    if len(cuts) * (8 * words + 29) > _ROOM:
        raise InputError(
            f"{len(cuts)} ranges of bytes x {schedule.ranks} ranks to follow: expected at most {_ROOM / 1e9:.1f} GB"
        )
    count = len(cuts)
    state = State(
        where.total,
        cuts,
        np.full(count, NONE, np.int64),
        np.zeros((count, words), np.uint64),
        np.zeros(count, np.int64),
        np.zeros(count, np.bool_),
        np.full(count, NONE, np.int32),
    )
    given = promise.given
    some = np.flatnonzero(given.size)
    first, number = cells(
        cuts, where.address(given.rank[some], given.buffer[some], given.start[some]), given.size[some]
    )
    cell, rank = spread(first, number), np.repeat(given.rank[some], number)
    state.code[cell] = cuts[cell] - rank * where.total
    state.mask[cell, rank // _WORD] = np.uint64(1) << (rank % _WORD).astype(np.uint64)
    state.unread[cell] = True
    return state


def cut(promise: Promise, where: Line, plan: Moves) -> Ints:
    """The ends of what is given, wanted and moved, and all cuts that follow. Raises InputError beyond a limit."""
    ends = []
    for part in (promise.given, promise.wanted):
        address = where.address(part.rank, part.buffer, part.start)
        ends += [address, address + part.size]
    ends += [plan.source, plan.source + plan.size, plan.target, plan.target + plan.size]
    return carried(distinct(np.concatenate(ends)), plan.source, plan.target, plan.size)


def follow(state: State, plan: Moves, progress: Callable[[float], None]) -> None:
    """Do all moves; ``progress`` hears the share done."""
    source, count = cells(state.cuts, plan.source, plan.size)
    target = np.searchsorted(state.cuts, plan.target)
    group = plan.step.astype(np.int64) * 2 + plan.adds
    bounds = np.concatenate([[0], np.flatnonzero(np.diff(group)) + 1, [len(group)]]).tolist()
    for number, (low, high) in enumerate(pairwise(bounds)):
        if low == high:
            continue
        size = count[low:high]
        row = plan.row[low:high] if int(size.max()) == 1 else np.repeat(plan.row[low:high], size)
        act = _add if plan.adds[low] else _put
        act(state, row, spread(source[low:high], size), spread(target[low:high], size))
        if number % 64 == 0:
            progress(low / len(group))


def _put(state: State, row: Index, source: Ints, target: Ints) -> None:
    code, spoilt = state.code[source], state.spoilt[source]
    empty = code < 0
    if empty.any():
        spoilt = _spoil(state, "unset", row, source, target, empty, spoilt)
    state.unread[source] = False
    _lose(state, row, target)
    state.code[target], state.mask[target], state.spoilt[target] = code, state.mask[source], spoilt
    state.unread[target], state.last[target] = True, row


def _lose(state: State, row: Index, target: Ints) -> None:
    lost = state.unread[target]
    if lost.any():
        for i in np.flatnonzero(lost)[: max(0, _KEPT - len(state.lost))].tolist():
            state.lost.append(Lost(int(row[i]), state.held(int(target[i]))))


def _add(state: State, row: Index, source: Ints, target: Ints) -> None:
    one, two = state.code[source], state.code[target]
    more, mine = state.mask[source], state.mask[target]
    spoilt = np.maximum(state.spoilt[source], state.spoilt[target])
    empty, other = (one < 0) | (two < 0), one != two
    twice: Truth = np.any(more & mine, axis=1)
    if empty.any():
        spoilt = _spoil(state, "unset", row, source, target, empty, spoilt)
    if other.any():
        spoilt = _spoil(state, "positions", row, source, target, other, spoilt)
    if twice.any():
        spoilt = _spoil(state, "twice", row, source, target, twice, spoilt)
    state.mask[target], state.spoilt[target] = more | mine, spoilt
    state.code[target] = np.where(two < 0, one, two)
    state.unread[source] = False
    state.unread[target], state.last[target] = True, row


def _spoil(state: State, kind: str, row: Index, source: Ints, target: Ints, which: Truth, spoilt: Ints) -> Ints:
    """``spoilt`` with this mistake where there was none before."""
    fresh = which & (spoilt == 0)
    number = 1 + row.astype(np.int64) * len(MISTAKES) + MISTAKES.index(kind)
    for i in np.flatnonzero(fresh)[:_KEPT].tolist():
        if int(number[i]) not in state.mistakes and len(state.mistakes) < _KEPT * len(MISTAKES):
            read, there = state.held(int(source[i])), state.held(int(target[i]))
            left = state.left(there.cell) if kind == "unset" and read.code == NONE else None
            state.mistakes[int(number[i])] = Mistake(read, there, left)
    return np.where(fresh, number, spoilt)
