"""Numbers of execution traces that cannot be: taken as not told, counted, and named with the first of them.

What belongs here: the limits, which hold for all forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hopline.quantity import counted, show
from hopline.records.execution import CommCall, Execution

LONGEST = 30 * 86400.0
"""Seconds of a node."""
LARGEST = 1 << 44
"""Bytes of a message, which is in the memory of one device."""
MOST_RANKS = 1 << 24


def within(execution: Execution) -> Execution:
    """The trace without durations, sizes and numbers of ranks beyond the limits."""
    calls = execution.calls
    longer = execution.duration > LONGEST
    long = execution.duration[longer].tolist()
    sizes = [one.size for one in calls if one.size is not None and one.size > LARGEST]
    ranks = [one.ranks for one in calls if one.ranks is not None and not 0 < one.ranks <= MOST_RANKS]
    told = (
        *_told(int(longer.sum()), "node", "a duration", [show(time, "time") for time in long], show(LONGEST, "time")),
        *_told(len(sizes), "call", "a size", [show(size, "size") for size in sizes], show(LARGEST, "size")),
        *_told(len(ranks), "call", "a number of ranks", list(map(str, ranks)), str(MOST_RANKS)),
    )
    if not told:
        return execution
    return replace(
        execution, duration=np.where(longer, np.nan, execution.duration), calls=tuple(map(_within, calls)),
        told=(*execution.told, *told),
    )  # fmt: skip


def _within(call: CommCall) -> CommCall:
    return replace(
        call,
        size=None if (call.size or 0) > LARGEST else call.size,
        duration=None if (call.duration or 0) > LONGEST else call.duration,
        ranks=None if call.ranks is None or not 0 < call.ranks <= MOST_RANKS else call.ranks,
    )


def _told(count: int, of: str, what: str, found: Sequence[str], most: str) -> list[str]:
    if not count:
        return []
    return [f"{counted(count, of)} with {what} that cannot be ({found[0]}; at most {most}): taken as not told"]
