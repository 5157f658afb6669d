"""What flight recorders held: the last communication calls of each rank.

What belongs here: calls, groups and dumps, as one rank has them. What dumps of several ranks say together is ``records.hang``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Shape = tuple[int, ...]
STATES = ("scheduled", "started", "completed")
"""Put into a stream; its kernel runs (and may wait for others); done."""
SCHEDULED, STARTED, COMPLETED = STATES
UNKNOWN = "unknown"
"""State of a call put in with others, where what closes them is not in the dump."""
WAITING = frozenset({SCHEDULED, STARTED})
"""States of calls that are not done."""


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
