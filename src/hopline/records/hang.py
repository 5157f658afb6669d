"""Hangs: the communication calls that ranks recorded, and where they stopped agreeing.

What belongs here: what a flight recorder holds of one rank, and the answer to "who waits for whom". How dumps are read is
``formats``; how they are compared is ``study``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Shape = tuple[int, ...]
STATES = ("scheduled", "started", "completed")
"""Put into a stream; its kernel runs (and may wait for others); done."""
SCHEDULED, STARTED, COMPLETED = STATES
UNKNOWN = "unknown"
"""State of a call put in with others, where what closes them is not in the dump."""
WAITING = frozenset({SCHEDULED, STARTED})
"""States of calls that are not done."""

BreakKind = Literal["op", "dtype", "size", "absent", "scheduled", "state", "stuck", "unknown"]
BREAKS: dict[BreakKind, str] = {
    "op": "ranks called different operations",
    "dtype": "ranks called with different element types",
    "size": "ranks called with different sizes",
    "absent": "ranks never made the call",
    "scheduled": "the GPU of some ranks did not come to it",
    "state": "some ranks are done and others are not",
    "stuck": "all ranks are in it and none is done",
    "unknown": "whether all ranks came is not known",
}
"""Kind of a break -> what it says, in the order in which one is looked for at a call."""
MISMATCHES: frozenset[BreakKind] = frozenset({"op", "dtype", "size"})
"""Breaks that are a defect of the program by themselves: nobody need be late."""
ALIKE: frozenset[BreakKind] = frozenset({"scheduled", "state", "stuck"})
"""Breaks in which all came and made the call alike."""


@dataclass(frozen=True, slots=True)
class Call:
    """A communication call that one rank recorded.

    Attributes
    ----------
    record
        Its number among all calls of the rank, from 0; the recorder keeps the last ones only.
    group
        Name of the process group.
    sequence
        Its number within the group, which is the same on all ranks (of sends and receives: among those of the rank).
    op
        ``all_reduce`` and the like, as in ``records.trace.Collective``, or the recorder's own word where that is unknown.
    state
        One of STATES, or UNKNOWN. Of calls that were put in together it is that of all of them.
    point
        Whether it is a send or receive.
    source, target
        Of a send or receive, numbers within the group; None: not told.
    inputs, outputs
        Shape of each tensor.
    dtypes
        Element types of the inputs and those of the outputs.
    created, started, completed
        Nanoseconds since 1970 at which the rank put it into the stream, and at which its watchdog saw it start and end
        (which may be much later); None: not seen.
    timeout
        Seconds after which the watchdog gives up; None: not told.
    where
        The line of the program that made the call, or "".
    batch
        Whether it was put in together with others (those of its number), which start and end as one.
    """

    record: int
    group: str
    sequence: int
    op: str
    state: str
    point: bool = False
    source: int | None = None
    target: int | None = None
    inputs: tuple[Shape, ...] = ()
    outputs: tuple[Shape, ...] = ()
    dtypes: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    created: int | None = None
    started: int | None = None
    completed: int | None = None
    timeout: float | None = None
    where: str = ""
    batch: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """A process group; ``ranks`` are () where the dump does not say."""

    name: str
    about: str = ""
    ranks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Dump:
    """What the flight recorder of one rank held.

    Attributes
    ----------
    source, rank, version
        The file; the rank by its name (None: it has no number); the version of the layout.
    calls
        In the order of ``record``.
    groups
        By name.
    reached
        Name of a group -> sequence of the last collective that was put into a stream, where the dump says so.
    whole
        Whether nothing was lost before the first call.
    gaps
        Whether calls are left out in between (a dump of active calls only).
    told
        What is odd about the file.
    timed
        Whether it says when kernels start; else calls stay SCHEDULED until they are done.
    """

    source: str
    rank: int | None
    version: str
    calls: tuple[Call, ...]
    groups: Mapping[str, Group] = field(default_factory=dict)
    reached: Mapping[str, int] = field(default_factory=dict)
    whole: bool = True
    gaps: bool = False
    told: tuple[str, ...] = ()
    timed: bool = True


@dataclass(frozen=True, slots=True)
class View:
    """A call as one rank has it: what stands in its place, in the order of record; () where it made none."""

    rank: int
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Break:
    """The first call of a group on which ranks do not agree.

    Attributes
    ----------
    kind
        A key of BREAKS.
    group, sequence, op
        Which call; ``op`` is that of most ranks. Of sends and receives, the sequence is that of the rank that waits.
    views
        One for each rank that has it in its dump, or should have.
    odd
        Ranks that differ from most, or that did not come; () where no side is the odd one.
    waiting
        Ranks that are in it and not done.
    unknown
        Members of which it cannot be told: no dump, or lost.
    detail
        What differs, in words.
    waited
        Seconds from the first rank's call to the last sign of any rank: at least that long; None: no times.
    timeout
        Seconds; None: not told.
    meets
        Of a send or receive, what should meet it at the other rank; else "".
    timed
        Whether the dumps of all that wait say when kernels start.
    """

    kind: BreakKind
    group: Group
    sequence: int
    op: str
    views: tuple[View, ...]
    odd: tuple[int, ...]
    waiting: tuple[int, ...]
    unknown: tuple[int, ...] = ()
    detail: str = ""
    waited: float | None = None
    timeout: float | None = None
    meets: str = ""
    timed: bool = True


@dataclass(frozen=True, slots=True)
class Behind:
    """A dump that ends before calls that others are done with, which they cannot be without its rank.

    Attributes
    ----------
    rank, group
        Whose dump, and the group in which it shows; None: the dump ends before all others begin.
    reached, done
        Number of its last call in the group, and of the last one that others are done with.
    earlier
        Seconds from its last sign to the last of all; None: no times.
    """

    rank: int
    group: Group | None
    reached: int
    done: int
    earlier: float | None


@dataclass(frozen=True, slots=True)
class Hang:
    """What dumps of several ranks say together.

    Attributes
    ----------
    ranks, missing
        Ranks with a dump; members of groups without one.
    groups
        Those with calls. Two of one name stand apart where no rank is in both.
    compared
        Number of collectives that at least two ranks have.
    breaks
        The first of each group (of sends and receives, of each pair of ranks), those that follow from no other first.
    roots
        Number of leading ``breaks`` that follow from no other but of their circle.
    circles
        Breaks each of which waits for a rank that waits in the next, and the last for one in the first.
    last
        Rank -> its last call of any group (None: it has none).
    told
        What else should be known.
    earlier
        Differences of sizes in calls that all are done with, the first of each group.
    behind
        Dumps that are older than the others, or cut.
    messages
        Number of sends that have a receive.
    """

    ranks: tuple[int, ...]
    missing: tuple[int, ...]
    groups: tuple[Group, ...]
    compared: int
    breaks: tuple[Break, ...]
    roots: int
    circles: tuple[tuple[Break, ...], ...]
    last: Mapping[int, Call | None]
    told: tuple[str, ...] = ()
    earlier: tuple[Break, ...] = ()
    behind: tuple[Behind, ...] = ()
    messages: int = 0
