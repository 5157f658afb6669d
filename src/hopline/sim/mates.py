"""Which Recv meets which Send, until ``schedule.matching`` says it.

What belongs here: one function.
"""

from __future__ import annotations

import numpy as np

from hopline.schedule.operations import NONE, RECV, SEND, Index, Schedule


def match(schedule: Schedule) -> Index:
    """The other end of each row; NONE: there is none."""
    c = schedule.columns
    mate = np.full(len(schedule), NONE, np.int32)
    sends, recvs = np.flatnonzero(c.kind == SEND), np.flatnonzero(c.kind == RECV)
    ends = (
        (sends, c.rank[sends], c.peer[sends], c.other[sends]),
        (recvs, c.peer[recvs], c.rank[recvs], c.other[recvs]),
    )
    waiting: dict[tuple[int, int, int], list[int]] = {}
    for row, *key in zip(*(part.tolist() for part in ends[0]), strict=True):
        waiting.setdefault(tuple(key), []).append(row)
    for rows in waiting.values():
        rows.reverse()
    for row, *key in zip(*(part.tolist() for part in ends[1]), strict=True):
        if waiting.get(tuple(key)):
            mate[row] = waiting[tuple(key)].pop()
            mate[mate[row]] = row
    return mate
