"""Where bytes came from, in words: who wrote them, and from where.

What belongs here: sentences about cells and the rows that wrote them. Whether anything is wrong with them is ``keeping``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hopline.schedule.check import words
from hopline.schedule.check.cells import Line
from hopline.schedule.check.following import Held, Lost, State
from hopline.schedule.check.forms import Truth
from hopline.schedule.check.pasts import Words
from hopline.schedule.operations import NONE, RECV, REDUCE, Index, Schedule

Said = tuple[str, tuple[int, ...]]
"""A part of a sentence, and the rows that it names."""
NOTHING: Said = ("", ())


@dataclass(frozen=True, slots=True)
class Scene:
    """A schedule and what its bytes have come to.

    Attributes
    ----------
    mate, step
        Of each row: the other end of a message, and when it is done.
    good
        Cells that hold what is wanted there.
    """

    schedule: Schedule
    mate: Index
    step: Index
    where: Line
    state: State
    good: Truth

    def rank(self, cell: int) -> int:
        """Whose cell it is."""
        return int(self.state.cuts[cell]) // self.where.total

    def size(self, cell: int) -> int:
        """Bytes of a cell."""
        return int(self.state.cuts[cell + 1] - self.state.cuts[cell])

    def span(self, cell: int, size: int | None = None) -> str:
        """``bytes [0, 64) of data``; ``size`` None: of the cell only."""
        return self.where.told(self.schedule, int(self.state.cuts[cell]), self.size(cell) if size is None else size)

    def data(self, code: int, ranks: list[int], size: int) -> str:
        """``bytes [0, 4) of data of rank 1``, ``the sum of ... of ranks 0, 1``."""
        some = f"{self.where.told(self.schedule, code, size)} of {words.ranks(ranks)}"
        return some if len(ranks) == 1 else f"the sum of {some}"

    def contents(self, held: Held) -> str:
        """What a cell held."""
        return self.data(held.code, words.members(held.mask), self.size(held.cell))

    def writer(self, row: int, cell: int, size: int | None = None) -> Said:
        """Who wrote a cell: ``rank 1 recv from 0 (row 1), which gets bytes [0, 4) of data from rank 0 send to 1 (row 0)``."""
        columns, asked = self.schedule.columns, self.size(cell) if size is None else size
        said, kind = words.operation(self.schedule, row), int(columns.kind[row])
        into = int(self.where.address(columns.rank[[row]], columns.buffer[[row]], columns.start[[row]])[0])
        shift = int(self.state.cuts[cell]) - into
        if kind == RECV:
            send = int(self.mate[row])
            read = words.span(self.schedule, int(columns.buffer[send]), int(columns.start[send]) + shift, asked)
            return f"{said}, which gets {read} from {words.operation(self.schedule, send)}", (row, send)
        read = words.span(self.schedule, int(columns.source[row]), int(columns.other[row]) + shift, asked)
        return f"{said}, which {'adds' if kind == REDUCE else 'reads'} {read}", (row,)

    def elsewhere(self, cell: int, code: int, mask: Words, size: int) -> Said:
        """Where at the same rank the wanted bytes of ``cell`` are or were: where nobody wants them, or overwritten unread."""
        state, rank = self.state, self.rank(cell)
        own = state.within(rank)
        fits = (state.code[own] == code) & np.all(state.mask[own] == mask, axis=1) & (state.last[own] != NONE)
        found = (np.flatnonzero(fits & ~self.good[own]) + own.start).tolist()
        if found:
            return self._put(state.held(found[0]), size)
        for lost in state.lost:
            held = lost.held
            if (
                held.code == code
                and held.last != NONE
                and np.array_equal(held.mask, mask)
                and self.rank(held.cell) == rank
            ):
                said, rows = self._put(held, size)
                return f"{said}; {self._overwrites(lost)}", (*rows, lost.row)
        return NOTHING

    def _put(self, held: Held, size: int) -> Said:
        most = min(size, self.size(held.cell))
        said, rows = self.writer(held.last, held.cell, most)
        return f"; what belongs there is put into {self.span(held.cell, most)} by {said}", rows

    def _overwrites(self, lost: Lost) -> str:
        return f"{words.operation(self.schedule, lost.row)} overwrites it before anybody reads it"

    def trace(self, code: int, lacking: int) -> Said:
        """Where the contribution of rank ``lacking`` to the bytes of ``code`` was left: overwritten unread, or never read."""
        state, word, bit = self.state, lacking // 64, np.uint64(1) << np.uint64(lacking % 64)
        for lost in state.lost:
            held = lost.held
            if held.code == code and held.mask[word] & bit:
                return self._left(held, lacking, self._overwrites(lost), (lost.row,))
        found = np.flatnonzero(state.unread & (state.code == code) & (state.mask[:, word] & bit != 0) & ~self.good)
        return self._left(state.held(int(found[0])), lacking, "nobody reads it there") if len(found) else NOTHING

    def _left(self, held: Held, lacking: int, end: str, rows: tuple[int, ...] = ()) -> Said:
        said, more = self.writer(held.last, held.cell) if held.last != NONE else NOTHING
        came = f", put there by {said}" if said else ""
        place = f"{self.span(held.cell)} at rank {self.rank(held.cell)}"
        return f"; that of rank {lacking} is in {place}{came}: {end}", (*more, *rows)
