"""What rows cost under LogGOPS, and what engines hand back.

What belongs here: the two records.
"""

from __future__ import annotations

from dataclasses import dataclass

from hopline.records.timeline import Ticks
from hopline.schedule.operations import Bytes, Index

PORTS = ("cpu", "out", "in")
"""What a rank has one of: its processor, and its NIC for sending and for receiving."""


@dataclass(frozen=True, slots=True)
class Costs:
    """One entry a row, in the order of the schedule; picoseconds.

    Attributes
    ----------
    cpu
        How long the row keeps the processor of its rank: o + (s - 1) O to send, o + (s - 1) max(O, G) to receive, and the
        work of the rest.
    nic
        How long a Send keeps the NIC of its rank, and then of the other one: g + (s - 1) G.
    late
        Sends that wait for their Recv.
    more, begun
        Pairs as in the schedule, sorted by the row that waits.
    travel
        From the beginning of a Send to the arrival of its first byte: o + L.
    """

    ranks: int
    kind: Bytes
    lane: Bytes
    rank: Index
    after: Index
    mate: Index
    cpu: Ticks
    nic: Ticks
    late: Bytes
    more: Index
    begun: Index
    travel: int

    def __len__(self) -> int:
        return len(self.kind)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an engine found, one entry a row; -1: it could not run.

    Attributes
    ----------
    start, end
        When the row got the processor and had done with it; ``end`` is later where a late Send met its Recv later, or a
        Recv was begun only later.
    cause, late_cause
        What let it have the processor (NONE: nothing did), and what let it end later (NONE: it did not): twice the row, and
        one more if it was the later end of that row.
    finish, busy
        When the processor of each rank was free for good; how long its processor and NIC worked, shape (3 ranks,), as PORTS
        has it.
    """

    start: Ticks
    end: Ticks
    cause: Index
    late_cause: Index
    finish: Ticks
    busy: Ticks
