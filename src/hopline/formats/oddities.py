"""What the rows of a table say against taking them for a smooth curve.

What belongs here: judgements that follow from sizes and times alone, whichever tool printed them. One short note each, and
only where a fit or a plateau read off the last row would mislead.
"""

from __future__ import annotations

import numpy as np

from hopline.quantity import show
from hopline.records.table import Floats, Measure

_SLOWER = 1.5
"""A message that takes this many times as long as a larger one is no noise."""
_FIRST_SLOWER = 1.3
"""The same for the first row of a table, which also pays for the first touch."""
_FALLS = 1.25
"""The peak bandwidth over that of the largest size, from which on the last row is no plateau."""
_STEADY = 1e-3
_SHORTEST_TIMER = 20e-6


def oddities(size: Floats, time: Floats, measure: Measure) -> tuple[str, ...]:
    """Notes on rows in ascending sizes; none for other orders, repeats, or fewer than three rows."""
    if len(size) < 3 or not np.all(np.diff(size) > 0):
        return ()
    found = [_timer(time) if measure == "time" else _peak(size, time)]
    if not found[0]:
        found = [_inversion(size, time)]
    return tuple(note for note in found if note)


def _inversion(size: Floats, time: Floats) -> str:
    """The row that is slowest against a larger message."""
    least_after = np.minimum.accumulate(time[::-1])[::-1]
    ratio = time[:-1] / least_after[1:]
    if ratio[0] >= _FIRST_SLOWER and (len(ratio) == 1 or ratio[1:].max() < _SLOWER):
        return (f"the first row ({show(size[0], 'size')}) takes {ratio[0]:.2g} times as long as a larger one: "
                f"first touch or warm-up?")  # fmt: skip
    worst = int(np.argmax(ratio))
    if ratio[worst] < _SLOWER:
        return ""
    later = worst + 1 + int(np.argmin(time[worst + 1 :]))
    return (
        f"not monotone: {show(size[worst], 'size')} takes {show(time[worst], 'time')}, "
        f"{show(size[later], 'size')} only {show(time[later], 'time')}"
    )


def _peak(size: Floats, gap: Floats) -> str:
    """A bandwidth that falls again."""
    rate = size / gap
    peak = int(np.argmax(rate))
    if rate[peak] < _FALLS * rate[-1]:
        return ""
    return (
        f"bandwidth peaks at {show(rate[peak], 'bandwidth')} ({show(size[peak], 'size')}) and falls to "
        f"{show(rate[-1], 'bandwidth')} at the largest size: the last row is not the peak, nor the peak a plateau"
    )


def _timer(time: Floats) -> str:
    """Times that are one and the same, and a round number a second."""
    rate = 1 / time.mean()
    round_rate = abs(rate / 1000 - round(rate / 1000)) < _STEADY * max(rate / 1000, 1)
    if np.ptp(time) > _STEADY * time.mean() or time.mean() < _SHORTEST_TIMER or not round_rate:
        return ""
    return (f"every size takes {show(float(time.mean()), 'time')}: a timer ({rate:.0f} a second, interrupt moderation?), "
            f"not the wire")  # fmt: skip
