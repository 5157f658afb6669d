"""Traces: what a profiler saw one rank do, in numpy columns.

What belongs here: the columns, the words for kinds of events and for collectives. How a file is read is ``formats``; what a
trace means (who waited, what was critical) is ``study``.

Times are whole nanoseconds since ``Trace.base``; base + time is nanoseconds since 1970 where the file has an absolute clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Nanoseconds = NDArray[np.int64]
Index = NDArray[np.int32]
Codes = NDArray[np.uint8]

NONE = -1
NANOSECOND = 1e-9

KINDS = ("kernel", "memcpy", "memset", "sync", "call", "op", "note")
KERNEL, MEMCPY, MEMSET, SYNC, CALL, OP, NOTE = range(7)
"""Work on a stream of a GPU (kernel, memcpy, memset); a wait that stands on a stream and is no work (sync); on a thread of the
host: a call of the runtime or driver (call), an operator (op), a span that the program named (note)."""

WAITS_FOR_ALL = frozenset({"all_reduce", "all_gather", "reduce_scatter", "alltoall", "barrier"})
"""Collectives in which no rank can be done before the last has come, so that waiting can be told from transfer."""


@dataclass(frozen=True, slots=True)
class Lane:
    """Where events happen one after another: a stream of a device, or a thread of a process."""

    kind: str
    """``stream`` or ``thread``."""
    place: int | str
    """Device, or process."""
    number: int | str
    """Stream, or thread."""


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """One row an event with a duration, all columns of one length and read-only, ordered by start (of equal starts the longer
    first, so that what encloses stands above what it encloses).

    Attributes
    ----------
    kind
        A number of KINDS.
    name
        Number of the name in ``Trace.names``.
    start, end
        Nanoseconds.
    lane
        Number in ``Trace.lanes``.
    correlation
        What joins a call with the work that it launched; NONE where the file has none.
    """

    kind: Codes
    name: Index
    start: Nanoseconds
    end: Nanoseconds
    lane: Index
    correlation: Nanoseconds

    def __post_init__(self) -> None:
        for column in (self.kind, self.name, self.start, self.end, self.lane, self.correlation):
            column.flags.writeable = False

    def __len__(self) -> int:
        return len(self.kind)

    def only(self, marks: NDArray[np.bool_]) -> Events:
        """The rows that are marked."""
        return Events(
            self.kind[marks], self.name[marks], self.start[marks], self.end[marks], self.lane[marks], self.correlation[marks]
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Collective:
    """A communication kernel (or what else stands for one call) and what the file says about it.

    Attributes
    ----------
    row
        Of the kernel in ``Trace.events``.
    op
        ``all_reduce``, ``all_gather``, ``reduce_scatter``, ``alltoall``, ``barrier``, ``broadcast``, ``reduce``, ``gather``,
        ``scatter``, ``send``, ``recv``; ``sendrecv`` where the file tells no more than that, ``unknown`` where not even that.
    size
        Bytes as benchmarks count them (``records.busbw``): of an all-gather the gathered, of a reduce-scatter the scattered
        whole; None: the file does not say.
    dtype
        Element type as the file has it, or "".
    group
        Name of the process group, or "" where the file has none.
    ranks
        Members of the group; () where the file does not say.
    count
        Number of members; None where the file does not say.
    sequence
        Number of the call within its group; None where the file does not say.
    peer
        The other rank of a send or recv, else NONE.
    algorithm, protocol
        NCCL's words in the name of the kernel (``RING``, ``LL``), or "".
    """

    row: int
    op: str
    size: int | None = None
    dtype: str = ""
    group: str = ""
    ranks: tuple[int, ...] = ()
    count: int | None = None
    sequence: int | None = None
    peer: int = NONE
    algorithm: str = ""
    protocol: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A training step that the program marked (``ProfilerStep#12``), on the host."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class Syncs:
    """Waits on GPU events: work of ``stream`` after ``row`` (a sync of ``Trace.events``) waits for what was on stream ``on``
    before the event was recorded by the call with correlation ``record``; NONE where the file does not say.
    """

    row: Index
    on: Nanoseconds
    record: Nanoseconds


def _no_syncs() -> Syncs:
    return Syncs(np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """What one rank did.

    Attributes
    ----------
    source
        The file.
    rank, world
        Of the process and of the job; None where neither the file nor its name says. Never guessed.
    base
        Nanoseconds since 1970 (or of the file's own clock, where ``absolute`` is False) of time 0.
    names
        By the number that ``Events.name`` gives.
    lanes
        By the number that ``Events.lane`` gives.
    collectives
        In the order of their start.
    steps
        In order.
    counts
        How many events the file has: ``events``, and ``X:cat`` for each category of those with a duration, as written.
    about
        What else the file says of itself: device, backend, version of NCCL.
    told
        What is odd about the file, a sentence each.
    name
        How people speak of it where its rank is not known; "": as of its file.
    """

    source: str
    rank: int | None
    world: int | None
    base: int
    absolute: bool
    names: tuple[str, ...]
    lanes: tuple[Lane, ...]
    events: Events
    collectives: tuple[Collective, ...] = ()
    steps: tuple[Step, ...] = ()
    syncs: Syncs = field(default_factory=_no_syncs)
    counts: Mapping[str, int] = field(default_factory=dict)
    about: Mapping[str, str] = field(default_factory=dict)
    told: tuple[str, ...] = ()
    name: str = ""

    @property
    def label(self) -> str:
        """How people speak of it."""
        return f"rank {self.rank}" if self.rank is not None else self.name or self.source

    @property
    def work(self) -> Index:
        """Rows of work on the GPU, in order of start."""
        return np.flatnonzero(self.events.kind <= MEMSET).astype(np.int32)

    def is_communication(self) -> NDArray[np.bool_]:
        """Whether each row is the kernel of a collective, shape (events,)."""
        marks = np.zeros(len(self.events), np.bool_)
        marks[[collective.row for collective in self.collectives]] = True
        return marks
