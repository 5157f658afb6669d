"""Does a schedule keep its promise: what each range holds at the end, and where it went wrong.

What belongs here: faults of data, from the state that ``following`` leaves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hopline.schedule.check import words
from hopline.schedule.check.cells import Line, cells, distinct
from hopline.schedule.check.following import MISTAKES, Mistake, State
from hopline.schedule.check.forms import Truth
from hopline.schedule.check.order import spread
from hopline.schedule.check.origins import NOTHING, Said, Scene
from hopline.schedule.check.pasts import Words
from hopline.schedule.check.sorts import MOST, Sort, sort
from hopline.schedule.faults import FAULTS, Fault
from hopline.schedule.operations import NONE, RECV, REDUCE, Index, Schedule
from hopline.schedule.pieces import Ints
from hopline.schedule.promises import EVERY, Wanted

_WORD = 64


@dataclass(frozen=True, slots=True)
class Wants:
    """What is wanted cell by cell: in ``cell``, for the promise's range ``range``, what ``origin`` gave at ``code``."""

    cell: Ints
    range: Ints
    code: Ints
    origin: Ints


def wants(state: State, where: Line, wanted: Wanted) -> Wants:
    """The cells of the ranges that are wanted."""
    some = np.flatnonzero(wanted.size)
    start = where.address(wanted.rank[some], wanted.buffer[some], wanted.start[some])
    first, count = cells(state.cuts, start, wanted.size[some])
    cell, ranges = spread(first, count), np.repeat(some, count)
    shift = where.base[wanted.source[some]] + wanted.other[some] - start
    return Wants(cell, ranges, state.cuts[cell] + np.repeat(shift, count), wanted.origin[ranges])


def faults(schedule: Schedule, mate: Index, step: Index, where: Line, state: State, wanted: Wanted) -> list[Sort]:
    """What went wrong on the way to bytes that are wanted, then what is wanted and not there.

    Bytes spoilt on the way are left out of the second. Faults of a kind are told in the order of ``step``, when it went wrong.
    """
    asked = wants(state, where, wanted)
    held = _held(state, asked.cell, asked.origin, schedule.ranks)
    fine = state.spoilt[asked.cell] > 0
    right = held & (state.code[asked.cell] == asked.code) & ~fine
    if right.all():
        return []
    good = np.zeros(len(state.cuts), np.bool_)
    good[asked.cell[right]] = True
    scene = Scene(schedule, mate, step, where, state, good)
    return [*_mistakes(scene, asked), *_broken(scene, asked, held, fine)]


def _held(state: State, cell: Ints, origin: Ints, ranks: int) -> Truth:
    """Whether each cell has the contributions of its origin and no others."""
    out = np.ones(len(cell), np.bool_)
    for word in range(state.mask.shape[1]):
        out &= state.mask[cell, word] == _mask(origin, word, ranks)
    return out


def _mask(origin: Ints, word: int, ranks: int) -> Words:
    """One word of the contributions that origins stand for."""
    whole = np.uint64((1 << min(ranks - word * _WORD, _WORD)) - 1)
    single = np.where(origin // _WORD == word, np.uint64(1) << (origin % _WORD).astype(np.uint64), np.uint64(0))
    out: Words = np.where(origin == EVERY, whole, single)
    return out


def whole(mask: Words, ranks: int) -> Truth:
    """Which rows of a mask hold all ranks."""
    every = np.full(1, EVERY)
    out: Truth = np.all([mask[:, word] == _mask(every, word, ranks) for word in range(mask.shape[1])], axis=0)
    return out


# --- on the way ---------------------------------------------------------------------------------------------------------


def _mistakes(scene: Scene, asked: Wants) -> list[Sort]:
    spoilt = scene.state.spoilt[asked.cell]
    numbers = distinct(spoilt[spoilt > 0])
    rows = (numbers - 1) // len(MISTAKES)
    numbers = numbers[np.lexsort((rows, scene.step[rows]))]
    found: list[Sort] = []
    for place, kind in enumerate(MISTAKES):
        mine = numbers[(numbers - 1) % len(MISTAKES) == place].tolist()
        known = [number for number in mine if number in scene.state.mistakes] or mine
        told = []
        for number in known[:MOST]:
            code = int(asked.code[np.argmax(spoilt == number)])
            told.append(_mistake(scene, kind, (number - 1) // len(MISTAKES), scene.state.mistakes.get(number), code))
        found += sort(told, len(mine))
    return found


def _mistake(scene: Scene, kind: str, row: int, made: Mistake | None, code: int) -> Fault:
    """``code``: of the bytes that are wanted where the mistake has led to."""
    if made is None:
        return Fault(kind, f"{words.operation(scene.schedule, row)}: {FAULTS[kind]}", (row,))
    text, rows = _unset(scene, row, made) if kind == "unset" else _sum(scene, kind, row, made, code)
    return Fault(kind, text, tuple(dict.fromkeys(rows)))


def _unset(scene: Scene, row: int, made: Mistake) -> Said:
    """Bytes of a message are read by its Send."""
    columns = scene.schedule.columns
    reader = int(scene.mate[row]) if columns.kind[row] == RECV else row
    empty = made.read if made.read.code == NONE else made.there
    said = f"{words.operation(scene.schedule, reader)} reads {scene.span(empty.cell)}, which hold nothing yet"
    if made.left is None or columns.kind[row] != REDUCE:
        return said, (reader, row)
    came, rows = scene.writer(made.left.last, made.left.cell)
    return f"{said}; bytes that fit are put into {scene.span(made.left.cell)} by {came}", (row, *rows)


def _sum(scene: Scene, kind: str, row: int, made: Mistake, code: int) -> Said:
    """Of two that do not belong together, those are the wrong ones that are not wanted in the end."""
    wrong, reads = made.read, "it reads"
    if kind == "twice":
        both = words.ranks(words.members(made.read.mask & made.there.mask))
        said = f"adds the contribution of {both} to {scene.span(made.there.cell)}, which have it already"
    else:
        said = f"adds {scene.contents(made.read)} to {scene.contents(made.there)}: a piece is cut or placed wrong"
        if made.read.code == code != made.there.code:
            wrong, reads = made.there, "it adds to"
    said = f"{words.operation(scene.schedule, row)} {said}"
    if wrong.last == NONE:
        return said, (row,)
    came, rows = scene.writer(wrong.last, wrong.cell)
    return f"{said}; {reads} {scene.span(wrong.cell)}, written by {came}", (row, *rows)


# --- in the end ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Cells side by side with one thing wrong: the first of them, all their bytes, and what is wanted in the first."""

    cell: int
    size: int
    code: int
    origin: int


def _broken(scene: Scene, asked: Wants, held: Truth, fine: Truth) -> list[Sort]:
    state, single = scene.state, asked.origin != EVERY
    kinds = {
        "unwritten": state.code[asked.cell] < 0,
        "misplaced": state.code[asked.cell] != asked.code,
        "missing": ~single & ~held,
        "origin": single & ~held,
    }
    found: list[Sort] = []
    for kind, which in kinds.items():
        some = np.flatnonzero(which & ~fine)
        fine = fine | which
        stretches = _stretches(scene, asked, some)
        found += sort((_say(scene, kind, one) for one in stretches[:MOST]), len(stretches), "range", "ranges")
    return found


def _stretches(scene: Scene, asked: Wants, some: Ints) -> list[_Stretch]:
    """The cells of ``some`` joined where the same holds of neighbours, those that were written wrong first in front."""
    if not len(some):
        return []
    state, cell = scene.state, asked.cell[some]
    start, code, last = state.cuts[cell], state.code[cell], state.last[cell]
    size = state.cuts[cell + 1] - start
    alike = (asked.range[some], asked.code[some] - start, np.where(code < 0, NONE, code - start), last)
    fresh = np.ones(len(some), np.bool_)
    fresh[1:] = (np.diff(cell) != 1) | np.any(state.mask[cell[1:]] != state.mask[cell[:-1]], axis=1)
    for column in alike:
        fresh[1:] |= np.diff(column) != 0
    first = np.flatnonzero(fresh)
    sizes, begins = np.add.reduceat(size, first), some[first]
    when = np.full(len(first), NONE)
    written = np.flatnonzero(last[first] != NONE)
    when[written] = scene.step[last[first[written]]]
    return [
        _Stretch(int(asked.cell[begins[i]]), int(sizes[i]), int(asked.code[begins[i]]), int(asked.origin[begins[i]]))
        for i in np.argsort(when, kind="stable").tolist()
    ]


def _say(scene: Scene, kind: str, at: _Stretch) -> Fault:
    state, ranks = scene.state, scene.schedule.ranks
    last, have = int(state.last[at.cell]), words.members(state.mask[at.cell])
    place = f"rank {scene.rank(at.cell)}: {scene.span(at.cell, at.size)}"
    wanted = at.origin if at.origin != EVERY else None
    want = (
        f"the sum of {scene.where.told(scene.schedule, at.code, at.size)}"
        if wanted is None
        else scene.data(at.code, [wanted], at.size)
    )
    wrote, rows = scene.writer(last, at.cell, at.size) if last != NONE else NOTHING
    wrote = f"; written last by {wrote}" if wrote else "; nothing is ever written there"
    origin = np.full(1, at.origin)
    mask = np.concatenate([_mask(origin, word, ranks) for word in range(state.mask.shape[1])])
    hint, more = scene.elsewhere(at.cell, at.code, mask, at.size)
    if kind == "unwritten":
        text = f"{place} hold nothing in the end: expected {want}"
    elif kind == "missing":
        lacking = [rank for rank in range(ranks) if rank not in set(have)]
        hint, more = (hint, more) if hint else scene.trace(at.code, lacking[0])
        text = f"{place} lack the contribution of {words.ranks(lacking)}{wrote}"
    else:
        text = f"{place} hold {scene.data(int(state.code[at.cell]), have, at.size)}: expected {want}{wrote}"
    return Fault(kind, text + hint, tuple(dict.fromkeys((*rows, *more))))
