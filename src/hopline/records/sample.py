"""Samples: what hopline itself measured, as frozen records that add up.

What belongs here: the record of one measured cell (what, where, between whom, at which size) and its statistics.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hopline.errors import InputError
from hopline.quantity import NON_NEGATIVE
from hopline.records.table import Measure

GAPS = frozenset({"bw", "bibw", "mbw_mr"})
"""Benchmarks that stream messages: their times are gaps, seconds per message and direction, with no latency in them."""
Series = tuple[str, str, str, tuple[str, ...], int, int, tuple[int, ...], int, int]


@dataclass(frozen=True, slots=True)
class Sample:
    """Repeated timings of one cell.

    Attributes
    ----------
    benchmark, transport, host, ranks, size
        What was measured where: ``host`` is that of the rank that timed it, ``ranks`` are those that took part, ``size``
        is in bytes.
    times
        Seconds, one per repeat (a repeat may itself be the mean over a small batch).
    clock
        Seconds that reading the clock adds to one repeat; stated, not subtracted.
    started
        ISO 8601 time stamp of the first repeat.
    pair
        (sender, receiver) by rank, where one of all ordered pairs was measured.
    pairs
        Pairs of ranks that sent at once.
    window
        Messages that were in flight at most.
    world
        Ranks that were started, where these are more than took part.
    hosts
        Host of each rank that took part, in their order; empty where all are ``host`` and there is no ``pair``.

    All but ``times``, ``clock`` and ``started`` make the cell's identity.
    """

    benchmark: str
    transport: str
    host: str
    ranks: int
    size: int
    times: tuple[float, ...]
    clock: float = 0.0
    started: str = ""
    pair: tuple[int, int] | None = None
    pairs: int = 1
    window: int = 1
    world: int | None = None
    hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.size < 0 or self.ranks < 1:
            raise InputError(f"sample of {self.size} bytes on {self.ranks} ranks: expected size >= 0 and ranks >= 1")
        if not self.times:
            raise InputError(f"sample of {self.size} bytes holds no times: expected at least one")
        for time in (*self.times, self.clock):
            NON_NEGATIVE.check(f"a time of the {self.size}-byte sample", time)
        self._check_ends()

    def _check_ends(self) -> None:
        if self.pairs < 1 or self.window < 1:
            raise InputError(f"sample of {self.pairs} pairs and window {self.window}: expected both to be at least 1")
        started = self.started_ranks
        if started < self.ranks:
            raise InputError(f"sample of {self.ranks} ranks out of {started}: expected no more than were started")
        if self.pair is not None and (self.pair[0] == self.pair[1] or not all(0 <= end < started for end in self.pair)):
            raise InputError(f"sample of pair {self.pair}: expected two ranks from 0 to {started - 1}")
        if self.hosts and len(self.hosts) != self.ranks:
            raise InputError(
                f"sample of {self.ranks} ranks on {len(self.hosts)} hosts: expected one host for each rank"
            )

    @property
    def started_ranks(self) -> int:
        """Ranks that were started, whether they took part or not."""
        return self.ranks if self.world is None else self.world

    @property
    def measure(self) -> Measure:
        """``gap`` where messages were streamed, else ``time``."""
        return "gap" if self.benchmark in GAPS else "time"

    @property
    def series(self) -> Series:
        """What the sizes of one table have in common."""
        return (
            self.benchmark, self.transport, self.host, self.hosts, self.started_ranks, self.ranks, self.pair or (),
            self.pairs, self.window,
        )  # fmt: skip

    @property
    def cell(self) -> tuple[Series, int]:
        """What makes two samples the same measurement; sorts by table, then by size."""
        return self.series, self.size

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
