"""Does every Send have its Recv, and do both ends speak of the same size.

What belongs here: what ``matching.match`` left over, in words.
"""

from __future__ import annotations

import numpy as np

from hopline.schedule.check import words
from hopline.schedule.faults import Fault
from hopline.schedule.operations import NONE, RECV, SEND, Index, Ints, Schedule


def alone(schedule: Schedule, mate: Index) -> list[Fault]:
    """Sends without a receive, and receives without a send."""
    kind = schedule.columns.kind
    found = []
    for end, fault in ((SEND, "unreceived"), (RECV, "unsent")):
        rows = np.flatnonzero((kind == end) & (mate == NONE))
        if len(rows):
            found.append(Fault(fault, _left(schedule, mate, rows, end), (int(rows[0]),)))
    return found


def _left(schedule: Schedule, mate: Index, rows: Ints, end: int) -> str:
    """What is left over, how many of each end there are on its way, and an end with another tag or peer that may be meant."""
    columns, row = schedule.columns, int(rows[0])
    here, there, tag = int(columns.rank[row]), int(columns.peer[row]), int(columns.other[row])
    count = [
        int(
            np.count_nonzero(
                (columns.kind == kind) & (columns.rank == a) & (columns.peer == b) & (columns.other == tag)
            )
        )
        for kind, a, b in ((end, here, there), (SEND + RECV - end, there, here))
    ]
    verbs = ("sends", "receives") if end == SEND else ("receives", "sends")
    said = f"{words.operation(schedule, row)} of {columns.size[row]} bytes, tag {tag}, meets nothing: "
    said += f"rank {here} {verbs[0]} {count[0]} there, rank {there} {verbs[1]} {count[1]}"
    meant = (columns.kind == SEND + RECV - end) & (mate == NONE) & ((columns.rank == there) | (columns.peer == here))
    near = np.flatnonzero(meant)
    if len(near):
        said += f"; {words.operation(schedule, int(near[0]))}, tag {columns.other[near[0]]}, meets nothing either"
    return said + words.more(len(rows) - 1)


def unequal(schedule: Schedule, mate: Index) -> list[Fault]:
    """Messages of which both ends name different sizes."""
    columns = schedule.columns
    sends = np.flatnonzero(columns.kind == SEND)
    broken = np.flatnonzero(columns.size[sends] != columns.size[mate[sends]])
    if not len(broken):
        return []
    send = int(sends[broken[0]])
    recv = int(mate[send])
    said = f"{words.operation(schedule, send)} has {columns.size[send]} bytes, "
    said += f"{words.operation(schedule, recv)} has {columns.size[recv]}"
    return [Fault("sizes", said + words.more(len(broken) - 1), (send, recv))]
