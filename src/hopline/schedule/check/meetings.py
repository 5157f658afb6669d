"""Does every Send have its Recv, and do both ends speak of the same size.

What belongs here: what ``matching.match`` left over, in words.
"""

from __future__ import annotations

import numpy as np

from hopline.schedule.check import words
from hopline.schedule.check.sorts import MOST, Sort, sort
from hopline.schedule.faults import Fault
from hopline.schedule.operations import NONE, RECV, SEND, Index, Schedule


def alone(schedule: Schedule, mate: Index) -> list[Sort]:
    """Sends without a receive, and receives without a send."""
    kind = schedule.columns.kind
    found: list[Sort] = []
    for end, fault in ((SEND, "unreceived"), (RECV, "unsent")):
        rows = np.flatnonzero((kind == end) & (mate == NONE))
        found += sort((_left(schedule, mate, row, fault) for row in rows[:MOST].tolist()), len(rows))
    return found


def _left(schedule: Schedule, mate: Index, row: int, kind: str) -> Fault:
    """What is left over, how many of each end there are on its way, and an end with another tag or peer that may be meant."""
    columns, end = schedule.columns, int(schedule.columns.kind[row])
    here, there, tag = int(columns.rank[row]), int(columns.peer[row]), int(columns.other[row])
    count = [
        int(
            np.count_nonzero(
                (columns.kind == which) & (columns.rank == a) & (columns.peer == b) & (columns.other == tag)
            )
        )
        for which, a, b in ((end, here, there), (SEND + RECV - end, there, here))
    ]
    verbs = ("sends", "receives") if end == SEND else ("receives", "sends")
    said = f"{words.operation(schedule, row)} of {columns.size[row]} bytes, tag {tag}, meets nothing: "
    said += f"rank {here} {verbs[0]} {count[0]} there, rank {there} {verbs[1]} {count[1]}"
    meant = (columns.kind == SEND + RECV - end) & (mate == NONE) & ((columns.rank == there) | (columns.peer == here))
    near = np.flatnonzero(meant)[:1].tolist()
    for other in near:
        said += f"; {words.operation(schedule, other)}, tag {columns.other[other]}, meets nothing either"
    return Fault(kind, said, (row, *near))


def unequal(schedule: Schedule, mate: Index) -> list[Sort]:
    """Messages of which both ends name different sizes."""
    columns = schedule.columns
    sends = np.flatnonzero(columns.kind == SEND)
    broken = sends[columns.size[sends] != columns.size[mate[sends]]]
    return sort((_unequal(schedule, send, int(mate[send])) for send in broken[:MOST].tolist()), len(broken))


def _unequal(schedule: Schedule, send: int, recv: int) -> Fault:
    ends = [f"{words.operation(schedule, row)} has {schedule.columns.size[row]}" for row in (send, recv)]
    return Fault("sizes", f"{ends[0]} bytes, {ends[1]}", (send, recv))
