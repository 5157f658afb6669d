"""The critical path of what was really done.

What belongs here: the walk back from the operation that ended last. A message cannot end before both of its ends have begun,
so the path goes on from the end that began later; anything else goes on from what it waited for longest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hopline.run.executing.part import Part
from hopline.schedule.matching import match
from hopline.schedule.operations import NONE, Schedule
from hopline.schedule.pieces import Ints


def critical(schedule: Schedule, parts: Sequence[Part], start: Ints, end: Ints) -> tuple[tuple[int, int, int], ...]:
    """(row, begin, end) in order of time, in the unit of ``start`` and ``end``, which are by row of the schedule."""
    if not len(schedule):
        return ()
    mate, longest = match(schedule), _longest(parts, end)
    found, row, seen = [], int(end.argmax()), set[int]()
    while row != NONE and row not in seen:
        seen.add(row)
        other = int(mate[row])
        last = other if other != NONE and start[other] > start[row] else row
        found.append((row, int(start[last]), int(end[row])))
        seen.add(other)
        row = int(longest[last])
    return tuple(reversed(found))


def _longest(parts: Sequence[Part], end: Ints) -> Ints:
    """For each row the one that ended last of those that it waited for; NONE where there is none."""
    found = np.full(len(end), NONE, np.int64)
    for part in parts:
        rows, before = part.rows[part.waits[:, 0]], part.rows[part.waits[:, 1]]
        order = np.argsort(end[before], kind="stable")
        found[rows[order]] = before[order]
    return found
