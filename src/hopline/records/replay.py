"""Replays: when each activity was ready, started and ended, and what it had waited for.

What belongs here: the answer of ``sim/activities``, in integer picoseconds. Rows are those of the activities it was made for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ticks = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """What happened.

    Attributes
    ----------
    ready, start, end
        Of each activity, shape (activities,). Parts of a meeting start when the last of them is ready.
    cause
        Row that each waited for longest, NONE: it waited for none, or ``begin`` came later.
    last
        The part of its meeting that was ready last; its own row where it is in none.
    """

    ready: Ticks
    start: Ticks
    end: Ticks
    cause: NDArray[np.int32]
    last: NDArray[np.int32]

    @property
    def ticks(self) -> int:
        """When the last activity ended."""
        return int(self.end.max(initial=0))
