"""Back along the critical path, from the row that ended last to the start; and what stands above a row on its lane.

What belongs here: functions over arrays that numba can compile and plain Python can run: this file imports neither.

A row that began at tick t was let go by what ended at t. Of several the first of this list is taken: the message that held its
port; of the Send, then (unless the message is eager) of the Recv: the row before on its lane, ``after``, ``more`` in order of
the pairs, the first row of the round before, then the first ``begun`` that was ready at t, and what let that one go.
"""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

SEND, RECV, FREE = 0, 1, 255


def above(rank: Array, lane: Array, last: Array, before: Array) -> None:
    """Fills ``before`` with the row above on its lane, where there is one; ``last``: -1 for each lane of each rank."""
    for row in range(len(rank)):
        if lane[row] != FREE:
            before[row] = last[rank[row], lane[row]]
            last[rank[row], lane[row]] = row


def walk(
    row: int, kind: Array, size: Array, mate: Array, before: Array, after: Array, more: Array, begun: Array, rounds: Array,
    work: Array, end: Array, ready: Array, held: Array, eager: int, path: Array,
) -> int:  # fmt: skip
    """Fills ``path`` with rows from ``row`` back to the start, and counts them. Of a message it is the Send, unless the Recv
    was ready after its data.
    """
    length = 0
    while row >= 0:
        if kind[row] == RECV and end[row] == end[mate[row]]:
            row = mate[row]
        path[length] = row
        length += 1
        start = end[row] - work[row]
        if start == 0:
            break
        if kind[row] == SEND and len(held) > 0 and held[row] >= 0:
            row = held[row]
            continue
        asked, other, cause = row, -1, -1
        if kind[row] == SEND and (eager == 0 or size[row] > eager):
            other = mate[row]
        while asked >= 0 and cause < 0:
            if before[asked] >= 0 and end[before[asked]] == start:
                cause = before[asked]
                break
            if after[asked] >= 0 and end[after[asked]] == start:
                cause = after[asked]
                break
            place = np.searchsorted(more[:, 0], asked)
            while place < len(more) and more[place, 0] == asked and end[more[place, 1]] != start:
                place += 1
            if place < len(more) and more[place, 0] == asked:
                cause = more[place, 1]
                break
            number = np.searchsorted(rounds, asked, side="right")
            if number > 0:
                cause = rounds[number - 2] if number > 1 else 0
                while cause < rounds[number - 1] and end[cause] != start:
                    cause += 1
                if cause < rounds[number - 1]:
                    break
                cause = -1
            place = np.searchsorted(begun[:, 0], asked)
            while place < len(begun) and begun[place, 0] == asked and ready[begun[place, 1]] != start:
                place += 1
            if place < len(begun) and begun[place, 0] == asked:
                asked = begun[place, 1]
            else:
                asked, other = other, -1
        row = cause
    return length
