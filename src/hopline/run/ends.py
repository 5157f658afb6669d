"""One rank, what it takes part in, and its part made ready.

What belongs here: Cell, Act and End, the things that all other files of a run speak of. What an act does is ``acts``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from hopline.run.comm import GROUP_TAG, Comm
from hopline.run.pattern import Bytes, Pattern

LEAD_IN = 64 * 1024
"""Bytes of the longest message in the untimed step before a timed one."""
IN_FLIGHT = 32 * 2**20
"""Bytes in flight at most: at large sizes a window is cut to this, and is never less than one message."""
FLOAT = 4
"""Bytes of what is added."""
ReduceLocal = Callable[[NDArray[np.float32], NDArray[np.float32]], None]
_LARGEST_ADDEND = 16


def stay(_position: int) -> None:
    """Stay on the cores that we are on."""


Expected = Iterable[tuple[Bytes, Bytes]]


@dataclass(frozen=True, slots=True)
class Cell:
    """What is timed together: one kind at one size (bytes) between some ranks, of which the first keeps the time."""

    kind: str
    size: int
    ranks: tuple[int, ...]
    window: int = 1

    @property
    def in_flight(self) -> int:
        """Messages of one window."""
        return max(1, min(self.window, IN_FLIGHT // max(self.size, 1)))

    def lead_in(self) -> Cell:
        """The cell of the untimed step: one message, not a long one."""
        return replace(self, size=min(self.size, LEAD_IN), window=1)


def _nothing() -> None:
    """Nothing to free."""


@dataclass(frozen=True, slots=True)
class Act:
    """A burst made ready: ``run(steps)`` is timed, ``received()`` gives (expected, got) rows, ``free()`` ends it."""

    run: Callable[[int], None]
    received: Callable[[], Expected] = tuple
    free: Callable[[], None] = _nothing


@dataclass(slots=True)
class End:
    """One rank: its communicator, and buffers that are allocated and touched once.

    ``settle(position)`` is called before a turn with the rank's place in its cell.
    """

    comm: Comm
    rank: int
    pattern: Pattern
    inbox: Bytes
    reduce_local: ReduceLocal
    settle: Callable[[int], None] = stay
    act: Act | None = None
    _groups: dict[tuple[int, ...], Comm] = field(default_factory=dict)
    _addends: NDArray[np.float32] | None = None

    @classmethod
    def of(cls, comm: Comm, cells: Sequence[Cell], seed: int, reduce_local: ReduceLocal) -> End:
        """The end of this rank for cells."""
        mine = [cell for cell in cells if comm.rank in cell.ranks]
        largest = max((cell.size for cell in mine), default=0)
        room = max((cell.size * cell.in_flight for cell in mine), default=0)
        return cls(comm, comm.rank, Pattern(largest, seed), np.full(room, 0xA5, dtype=np.uint8), reduce_local)

    @property
    def addends(self) -> NDArray[np.float32]:
        """What is added: whole numbers below 16, as many as the largest message holds; made on first use."""
        if self._addends is None:
            self._addends = (self.pattern.block[: self.pattern.largest // FLOAT] % _LARGEST_ADDEND).astype(np.float32)
        return self._addends

    def group(self, ranks: tuple[int, ...]) -> Comm:
        """A communicator of these ranks; all of them ask for it at the same time, first."""
        if ranks not in self._groups:
            self._groups[ranks] = self.comm.Create_group(self.comm.group.Incl(list(ranks)), GROUP_TAG)
        return self._groups[ranks]
