"""The clock that real runs are timed with: what reading it costs, and when enough has been timed.

What belongs here: clock overhead, the interval of a median, the size of a batch. Nothing here sends a byte.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import lru_cache

Clock = Callable[[], float]

now: Clock = time.perf_counter
"""The clock of every real run: monotonic, in seconds."""

TAIL = 40
"""One in so many on each side of the median's interval: 95 % within."""
SHORTEST_REPEAT = 100e-6
"""Seconds that one repeat should last at least, so that an interrupt of the machine is small beside it."""
READS_PER_REPEAT = 1000
"""One repeat lasts at least as long as this many readings of the clock."""
LARGEST_BATCH = 1024


def overhead(clock: Clock = now, reads: int = 2000) -> float:
    """Seconds between two readings of the clock with nothing in between (median): what an empty repeat would show."""
    gaps = sorted(-(clock() - clock()) for _ in range(reads))
    return max(gaps[reads // 2], 0.0)


@lru_cache(maxsize=4096)
def outer_rank(count: int) -> int | None:
    """The r for which the r-th smallest and r-th largest of ``count`` values enclose the median with 95 % confidence.

    The number of values below the true median is binomial(count, 1/2), whatever the distribution; r is the largest with
    P(fewer than r values on one side) <= 1 / TAIL. None where no pair encloses it (count < 6).
    """
    below = 0
    for rank in range(count // 2 + 1):
        below += math.comb(count, rank)
        if below * TAIL > 2**count:
            return rank or None
    return None


def median_interval(times: Sequence[float]) -> tuple[float, float] | None:
    """95 % interval of the median by order statistics; None for fewer than 6 times."""
    rank = outer_rank(len(times))
    if rank is None:
        return None
    ordered = sorted(times)
    return ordered[rank - 1], ordered[-rank]


def is_settled(times: Sequence[float], within: float) -> bool:
    """Whether both ends of the median's interval lie within the fraction ``within`` of the median."""
    interval = median_interval(times)
    if interval is None:
        return False
    middle = sorted(times)[len(times) // 2]
    return middle - interval[0] <= within * middle and interval[1] - middle <= within * middle


def batch_size(elapsed: Callable[[int], float], reading: float) -> int:
    """Round trips that one repeat must hold to be well above the clock's resolution: doubled until it is.

    ``elapsed(batch)`` times one batch; the smallest of five counts, so that one interrupt does not end the search.
    """
    wanted = max(SHORTEST_REPEAT, READS_PER_REPEAT * reading)
    batch = 1
    while batch < LARGEST_BATCH and min(elapsed(batch) for _ in range(5)) < wanted:
        batch *= 2
    return batch
