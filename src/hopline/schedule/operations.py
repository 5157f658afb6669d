"""Schedules: Send, Recv, Reduce, Copy and Compute on byte ranges of named buffers, in numpy columns.

What belongs here: the columns, and the rules of order that everybody else reads them by. How they are made is ``drafting``,
whether they are right is ``check``.

The rules of order:

1. Operations stand in **program order**: of two on the same lane of a rank the earlier row begins first, and the later
   one begins when it is done. On the lane FREE nothing is ordered by its place.
2. ``after`` names one more operation (of the same rank) that must be done before; ``more`` holds further such pairs, and
   ``begun`` pairs of which the second need only have begun.
3. The k-th Send from a to b with a tag meets the k-th Recv at b from a with that tag (``matching``). By convention the Recv
   is the row below its Send.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from hopline.errors import InputError
from hopline.schedule.pieces import Ints
from hopline.schedule.promises import Promise

Index = NDArray[np.int32]
Bytes = NDArray[np.uint8]

KINDS = ("send", "recv", "reduce", "copy", "compute")
SEND, RECV, REDUCE, COPY, COMPUTE = range(5)
FREE = 255
"""The lane of operations that no program order binds."""
NONE = -1


@dataclass(frozen=True, slots=True)
class Columns:
    """One row an operation: 40 bytes. All of the same length, read-only.

    Attributes
    ----------
    kind
        SEND, RECV, REDUCE, COPY or COMPUTE.
    lane
        Lane of the rank. Channel c sends on lane 2c, receives and reduces on lane 2c + 1 (``channel``); FREE is none.
    buffer, start
        What is read (Send) or written (the others): number of the buffer, and the first byte in it.
    source, other
        Reduce and Copy: the buffer that is read, and the first byte in it. Reduce adds it to what it writes.
        Send and Recv: ``other`` is the tag.
    rank, peer
        Who does it, and the other end of a Send or Recv (NONE for the rest).
    after
        Row of an operation of the same rank that must be done before; NONE: there is none.
    size
        Bytes; of Compute: picoseconds.
    """

    kind: Bytes
    lane: Bytes
    buffer: Bytes
    source: Bytes
    rank: Index
    peer: Index
    after: Index
    start: Ints
    size: Ints
    other: Ints

    def __post_init__(self) -> None:
        lengths = {len(getattr(self, column.name)) for column in fields(self)}
        if len(lengths) != 1:
            raise InputError(f"columns of {sorted(lengths)} rows: expected equally many in all")
        for column in fields(self):
            getattr(self, column.name).flags.writeable = False

    def __len__(self) -> int:
        return len(self.kind)


DTYPES = {
    "kind": np.uint8, "lane": np.uint8, "buffer": np.uint8, "source": np.uint8, "rank": np.int32, "peer": np.int32,
    "after": np.int32, "start": np.int64, "size": np.int64, "other": np.int64,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Buffer:
    """A named buffer that every rank has, ``size`` bytes long."""

    name: str
    size: int

    def __post_init__(self) -> None:
        if self.size < 0:
            raise InputError(f"buffer {self.name} has {self.size} bytes: expected 0 or more")


def _no_pairs() -> Index:
    return np.empty((0, 2), np.int32)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Operations of all ranks, the buffers they work on, and what they promise.

    Attributes
    ----------
    name
        How people speak of it: ``all_reduce-ring``.
    ranks
        Number of ranks; those without operations count.
    columns
        The operations.
    buffers
        By the number that ``buffer`` and ``source`` give. Empty: a schedule of messages without buffers (GOAL).
    promise
        What the buffers hold before and after; None: nothing is promised.
    rounds
        Rows at which a round begins, in order, the first 0; empty: the schedule has no rounds.
    more, begun
        Pairs of rows of one rank, shape (k, 2): the first begins when the second is done (``more``) or has begun.
    """

    name: str
    ranks: int
    columns: Columns
    buffers: tuple[Buffer, ...] = ()
    promise: Promise | None = None
    rounds: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    more: Index = field(default_factory=_no_pairs)
    begun: Index = field(default_factory=_no_pairs)

    def __post_init__(self) -> None:
        if self.ranks < 1:
            raise InputError(f"schedule {self.name} has {self.ranks} ranks: expected at least 1")

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def messages(self) -> int:
        """Number of Sends."""
        return int(np.count_nonzero(self.columns.kind == SEND))

    @property
    def sent(self) -> Ints:
        """Bytes that each rank sends, shape (ranks,)."""
        sends = self.columns.kind == SEND
        out = np.zeros(self.ranks, np.int64)
        np.add.at(out, self.columns.rank[sends], self.columns.size[sends])
        return out


def channel(lane: Bytes) -> Index:
    """The channel of each lane: the number of the NIC it goes by, where a rank has several."""
    return np.where(lane == FREE, 0, lane >> 1).astype(np.int32)
