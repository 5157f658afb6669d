"""Activities: who does what after what in a training step, without a clock: kernels, transfers, and the host between calls.

What belongs here: the columns, and the rules of order that everybody else reads them by. How they are inferred from traces is
``study/replaying``, what they take is ``sim/activities``.

The rules of order:

1. An activity is **ready** when a lag has gone by since each of those ended that it waits for (``done``), and never before
   ``begin``.
2. One that is in no meeting starts when it is ready. Those of one **meeting** start together when the last of them is ready:
   a collective in which all wait for all.
3. Each ends when its own work is done. What shares a rank may slow it down: ``slowdown`` says by how much.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from hopline.errors import InputError

Index = NDArray[np.int32]
Picoseconds = NDArray[np.int64]
Factors = NDArray[np.float64]

KINDS = ("compute", "copy", "transfer", "communication", "host", "sync")
COMPUTE, COPY, TRANSFER, COMMUNICATION, HOST, SYNC = range(6)
"""A kernel; memcpy and memset; a rank's part in a collective whose waiting is known; communication of which that is not; the
host between two calls; the end of a host's wait for work of the GPU."""
NONE = -1


def _no_pairs() -> Index:
    return np.empty((0, 2), np.int32)


def _no_lags() -> Picoseconds:
    return np.empty(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Activities:
    """One row an activity, all columns of one length and read-only.

    Attributes
    ----------
    ranks
        Number of ranks (of traces, where they come from traces).
    kind, rank
        A number of KINDS, and who does it.
    work
        Picoseconds that it takes with nothing beside it.
    begin
        Picoseconds before which it cannot be ready.
    meeting
        Number of the meeting that it is a part of; NONE: it starts alone.
    done, lag
        Pairs of rows, shape (k, 2), and picoseconds, shape (k,): the first is ready no sooner than the lag after the end of
        the second.
    slowdown
        Shape (2, ranks), at least 1: by what factor kernels of a rank take longer while a transfer of it is on, and the
        transfers of a meeting while a kernel is on on a rank of which the part is not done.
    """

    ranks: int
    kind: NDArray[np.uint8]
    rank: Index
    work: Picoseconds
    begin: Picoseconds
    meeting: Index
    done: Index = field(default_factory=_no_pairs)
    lag: Picoseconds = field(default_factory=_no_lags)
    slowdown: Factors = field(default_factory=lambda: np.ones((2, 0)))

    def __post_init__(self) -> None:
        if not self.slowdown.size:
            object.__setattr__(self, "slowdown", np.ones((2, self.ranks)))
        for column in fields(self):
            if column.name != "ranks":
                getattr(self, column.name).flags.writeable = False
        self._check()

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def contended(self) -> bool:
        """Whether anything slows anything down."""
        return bool((self.slowdown != 1).any())

    def _check(self) -> None:
        columns = (self.kind, self.rank, self.work, self.begin, self.meeting)
        if len({len(column) for column in columns}) != 1:
            raise InputError(f"columns of {[len(column) for column in columns]} rows: expected equally many in all")
        if len(self) and (min(self.work.min(), self.begin.min(), self.rank.min()) < 0 or self.rank.max() >= self.ranks):
            raise InputError(
                f"an activity of negative work or time, or of a rank beyond the {self.ranks}: expected neither"
            )
        if self.done.shape != (len(self.lag), 2):
            raise InputError(f"pairs of shape {self.done.shape} with {len(self.lag)} lags: expected (k, 2) and k")
        if self.done.size and not 0 <= self.done.min() <= self.done.max() < len(self):
            raise InputError(f"a pair names a row outside of 0..{len(self) - 1}: expected rows of these activities")
        if (
            self.slowdown.shape != (2, self.ranks)
            or not (self.slowdown >= 1).all()
            or not np.isfinite(self.slowdown).all()
        ):
            raise InputError(f"slowdowns of shape {self.slowdown.shape}: expected (2, {self.ranks}), each at least 1")
