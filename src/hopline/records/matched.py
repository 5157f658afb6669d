"""What several traces have in common: which collectives are one and the same, and which could not be told.

What belongs here: collectives matched by group and order, before and after clocks are solved. How is ``study``.
"""

from __future__ import annotations

from dataclasses import dataclass

from hopline.records.meeting import Clocks, Meeting
from hopline.records.trace import Index


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """One collective (or message) in the traces that have it, each on its own clock.

    Attributes
    ----------
    op, group, number
        What, in which group, and the how-manieth of that group (from 0). A message is a ``send``, its traces are the
        sender's and the receiver's, and it is numbered among those of this pair.
    traces, row
        Numbers of the traces, and the row of the kernel in each of them, shape (k,).
    missing
        Ranks of the group of which there is no trace.
    size, ranks
        Bytes, and number of members; None where the files do not say.
    """

    op: str
    group: str
    number: int
    traces: Index
    row: Index
    missing: tuple[int, ...] = ()
    size: int | None = None
    ranks: int | None = None

    @property
    def complete(self) -> bool:
        """Whether every member is here."""
        return not self.missing and self.ranks == len(self.traces)


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """All meetings of several traces, in order of their ends on the common clock.

    Attributes
    ----------
    meetings
        A collective that has no counterpart is a meeting of one trace.
    clocks
        By which the traces were brought together.
    told
        What did not match, which ranks are missing, what the clocks rest on: a sentence each.
    """

    meetings: tuple[Meeting, ...]
    clocks: Clocks
    told: tuple[str, ...] = ()

    @property
    def shared(self) -> tuple[Meeting, ...]:
        """Meetings of at least two traces."""
        return tuple(meeting for meeting in self.meetings if len(meeting.traces) > 1)
