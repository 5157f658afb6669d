"""Timelines: when each operation of a schedule began and ended, and what was busy meanwhile.

What belongs here: the answer of an engine, in integer picoseconds. Rows are those of the schedule it was made for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ticks = NDArray[np.int64]
TICK = 1e-12
"""Seconds of a tick: times are whole picoseconds."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """What happened.

    Attributes
    ----------
    name, machine, engine
        Of the schedule, the machine, and what worked it out.
    finish
        When each rank's last operation ended, shape (ranks,); 0 for a rank without any.
    busy
        How long each port carried messages, shape (ports,).
    ports
        Names of the ports that were used, by number.
    path
        (row, start, end) of the critical path in order of time: each began when the one before it ended. A message is one.
    start, end
        Of each row, shape (operations,); None where only the summary was kept.
    messages, size
        Number of messages, and bytes of all together.
    """

    name: str
    machine: str
    engine: str
    finish: Ticks
    busy: Ticks
    ports: tuple[str, ...]
    path: tuple[tuple[int, int, int], ...]
    messages: int
    size: int
    start: Ticks | None = None
    end: Ticks | None = None

    @property
    def ticks(self) -> int:
        """When the last operation ended."""
        return int(self.finish.max(initial=0))

    @property
    def time(self) -> float:
        """The same in seconds."""
        return self.ticks * TICK
