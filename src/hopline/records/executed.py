"""What really happened: a schedule that real ranks carried out.

What belongs here: the times of its repeats, what they are worth, and the timeline of one of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hopline.records.timeline import Timeline


@dataclass(frozen=True, slots=True)
class ClockError:
    """How well the clocks of ranks are on one axis: of the rank where it is worst.

    Attributes
    ----------
    error
        Seconds that a time of one rank is off by against another's, at most: half of the fastest round trip.
    offset
        Seconds that a clock was ahead of rank 0's.
    drift, drift_error
        Seconds a second that a clock gains on rank 0's, and how wrong that can be.
    """

    error: float = 0.0
    offset: float = 0.0
    drift: float = 0.0
    drift_error: float = 0.0


@dataclass(frozen=True, slots=True)
class Executed:
    """Repeats of one schedule on real ranks; the data of each were verified.

    Attributes
    ----------
    name, ranks
        Of the schedule.
    transport, hosts
        What carried the messages, and the host of each rank.
    times
        Seconds of each repeat: from the first rank's begin to the last rank's end, on one clock. Warm-ups are left out.
    late
        Seconds between the first and the last rank's begin of each repeat.
    clock
        How well the ranks' clocks are known.
    cost
        Seconds that the executor itself takes for an operation (median of ranks): all its steps, calls of the transport
        included, without a byte or a peer.
    checked
        Bytes of all ranks that each repeat was held against the promise; 0: nothing is promised.
    timeline
        Of the repeat with the (lower) median time, rows included.
    """

    name: str
    ranks: int
    transport: str
    hosts: tuple[str, ...]
    times: tuple[float, ...]
    late: tuple[float, ...]
    clock: ClockError
    cost: float
    checked: int
    timeline: Timeline

    @property
    def median(self) -> float:
        """Median time in seconds."""
        return float(np.median(self.times))

    def quantile(self, part: float) -> float:
        """Time in seconds that so large a part of the repeats does not exceed."""
        return float(np.quantile(self.times, part))
