"""Hangs: the communication calls that ranks recorded, and where they stopped agreeing.

What belongs here: the answer to "who waits for whom". What a flight recorder holds of one rank is ``records.flight``; how they
are compared is ``study``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from hopline.records.flight import Call, Group

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
class Short:
    """Members of a group whose dumps do not come to call ``sequence``, the last that another member has."""

    group: Group
    sequence: int
    ranks: tuple[int, ...]


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
    held
        Ranks with a call that another rank has, too (of sends and receives, one that meets it): what is said holds for these.
    short
        Dumps that do not come to what others of their group have; those without any call are not among them.
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
    held: tuple[int, ...] = ()
    short: tuple[Short, ...] = ()

    @property
    def empty(self) -> tuple[int, ...]:
        """Ranks whose dumps have no call."""
        return tuple(rank for rank, call in self.last.items() if call is None)
