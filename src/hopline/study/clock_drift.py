"""Drift of clocks: which of them run fast or slow, and by how much.

What belongs here: slopes of what is left of ends over time. Offsets are ``study/clocks``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hopline.curve import Floats
from hopline.records.trace import Nanoseconds, Trace
from hopline.study import chance
from hopline.study.clock_fit import Block, ends_of, least_squares, parts, polish

_SURE = 5.0
"""Standard errors that a drift must be away from none."""
_MANY = 12
"""Meetings of a block that show a drift."""
_LEAST = 1_000
"""Nanoseconds over a trace below which a drift does not matter."""
_MOST = 5e-4
"""Seconds per second between two clocks beyond which it is no drift: clocks of computers are right to 1e-4."""
_FAR = 20_000
"""Nanoseconds by which ends must diverge to be said not to belong together: ends of one collective may be so far apart."""


def straight(times: Nanoseconds, middle: int, drift: float) -> Nanoseconds:
    """Times without their drift."""
    return np.asarray(times + np.rint((times - middle) * drift).astype(np.int64))


@dataclass(frozen=True, slots=True)
class Drifts:
    """What each clock must gain per second and the middle of its trace, () where no block shows that clocks drift; and what
    ends diverge by where that is no drift: seconds per second, and the numbers of the two traces.
    """

    rate: tuple[float, ...] = ()
    middle: tuple[int, ...] = ()
    apart: tuple[float, int, int] | None = None


def drifts(traces: Sequence[Trace], found: Sequence[Block], ends: Sequence[Nanoseconds], offset: Nanoseconds) -> Drifts:
    """How clocks drift. Where ends diverge by more than clocks do, nothing is taken for drift."""
    slopes = [_slope(block, ends, offset) for block in found if len(block.row) >= _MANY]
    told = [slope for slope in slopes if slope is not None]
    sure = [slope for slope in told if slope.sure and (np.ptp(slope.values) <= _MOST or slope.far)]
    beyond = max(sure, key=lambda slope: float(np.ptp(slope.values)), default=None)
    if beyond is None:
        return Drifts()
    if np.ptp(beyond.values) > _MOST:
        two = beyond.block.traces[[int(np.argmin(beyond.values)), int(np.argmax(beyond.values))]]
        return Drifts(apart=(float(np.ptp(beyond.values)), int(two.min()), int(two.max())))
    told = [slope for slope in told if np.ptp(slope.values) <= _MOST]
    blocks, scale = [slope.block for slope in told], max(slope.weight for slope in told)
    weights = [slope.weight / scale for slope in told]
    drift, _ = least_squares(blocks, [slope.values for slope in told], weights, parts(blocks, len(traces)))
    if np.ptp(drift) > _MOST:
        one, other = sorted((int(np.argmin(drift)), int(np.argmax(drift))))
        return Drifts(apart=(float(np.ptp(drift)), one, other))
    return Drifts(tuple(drift.tolist()), tuple(_middle(trace) for trace in traces))


@dataclass(frozen=True, slots=True, eq=False)
class _Slope:
    """By how much the ends of each trace of a block fall behind, s/s; whether that is more than noise, and more than _FAR."""

    block: Block
    values: Floats
    weight: float
    sure: bool
    far: bool


def _slope(block: Block, ends: Sequence[Nanoseconds], offset: Nanoseconds) -> _Slope | None:
    """From the first third of the collectives to the last, by medians; None where they take no time."""
    third = len(block.row) // 3
    _, rest = polish(ends_of(block, ends, offset))
    times = ends[block.traces[0]][block.row[:, 0]].astype(np.float64)
    order = np.argsort(times)
    early, late = order[:third], order[-third:]
    length = float(np.median(times[late]) - np.median(times[early]))
    if not length > 0:
        return None
    change = np.median(rest[late], axis=0) - np.median(rest[early], axis=0)
    noise = chance.MAD * np.median(np.abs(np.diff(rest[order], axis=0)), axis=0) / np.sqrt(2)
    limit = np.maximum(max(_SURE * np.sqrt(np.pi / third), 1.0) * noise, _LEAST)
    weight = len(block.row) * length**2 / float(np.mean(noise**2) + _LEAST**2)
    return _Slope(block, change / length, weight, bool(np.any(np.abs(change) > limit)), bool(np.ptp(change) > _FAR))


def _middle(trace: Trace) -> int:
    """Time in the middle of a trace."""
    events = trace.events
    return (int(events.start[0]) + int(events.end.max())) // 2 if len(events) else 0
