"""Samples: what hopline itself measured, as frozen records that add up.

What belongs here: the record of one measured cell (benchmark, transport, ranks, size) and its statistics.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hopline.errors import InputError
from hopline.quantity import NON_NEGATIVE


@dataclass(frozen=True, slots=True)
class Sample:
    """Repeated timings of one cell.

    Attributes
    ----------
    benchmark, transport, host, ranks, size
        What was measured where; together the cell's identity. ``size`` in bytes.
    times
        Seconds, one per repeat (a repeat may itself be the mean over a small batch).
    clock
        Seconds that reading the clock adds to one repeat; stated, not subtracted.
    started
        ISO 8601 time stamp of the first repeat.
    """

    benchmark: str
    transport: str
    host: str
    ranks: int
    size: int
    times: tuple[float, ...]
    clock: float = 0.0
    started: str = ""

    def __post_init__(self) -> None:
        if self.size < 0 or self.ranks < 1:
            raise InputError(f"sample of {self.size} bytes on {self.ranks} ranks: expected size >= 0 and ranks >= 1")
        if not self.times:
            raise InputError(f"sample of {self.size} bytes holds no times: expected at least one")
        for time in (*self.times, self.clock):
            NON_NEGATIVE.check(f"a time of the {self.size}-byte sample", time)

    @property
    def cell(self) -> tuple[str, str, str, int, int]:
        """What makes two samples the same measurement."""
        return (self.benchmark, self.transport, self.host, self.ranks, self.size)

    def __add__(self, other: Sample) -> Sample:
        """The two samples' repeats together. Raises InputError for samples of different cells."""
        if not isinstance(other, Sample):
            return NotImplemented
        if self.cell != other.cell:
            raise InputError(f"samples of different cells do not add: {self.cell} and {other.cell}")
        started = min(filter(None, (self.started, other.started)), default="")
        times, clock = self.times + other.times, max(self.clock, other.clock)
        return replace(self, times=times, clock=clock, started=started)

    @property
    def median(self) -> float:
        """Median time in seconds."""
        return float(np.median(self.times))

    @property
    def quartiles(self) -> tuple[float, float]:
        """25 % and 75 % quantiles in seconds: the spread that is shown."""
        low, high = np.quantile(self.times, (0.25, 0.75))
        return float(low), float(high)
