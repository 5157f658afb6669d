"""Clocks: what must be added to each trace's times to have all of them on one clock.

What belongs here: offsets from ends of the same collectives, their errors, and whether the files' own clocks stand. Fits are
``study/clock_fit``; where only messages join traces, ``study/clock_bounds``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hopline.curve import Floats
from hopline.records.matched import Match
from hopline.records.meeting import Clocks
from hopline.records.trace import Index, Nanoseconds, Trace
from hopline.study.clock_bounds import join
from hopline.study.clock_drift import drifts, straight
from hopline.study.clock_fit import Block, Fit, blocks, parts

_AGREE = 10_000
"""Nanoseconds within which the files' own clocks are taken for one: clocks of different hosts seldom agree so well by chance,
and ranks may always end so much after one another."""
_COARSEST = 1_000
"""Nanoseconds: stamps of profilers are whole microseconds at worst."""


def solve(traces: Sequence[Trace], matches: Sequence[Match]) -> Clocks:
    """Offsets of all traces from what they have in common.

    The files' own clocks stand where ends do not speak against them: a systematic difference of ends cannot be told from one
    of clocks, and clocks of one host agree better than ends do. The error of a clock is two standard deviations of its ends
    about the fit and of the fit itself: what ends are always off by is unknown, but hardly more than what they scatter by.
    """
    ends = [trace.events.end for trace in traces]
    found = blocks(matches)
    offset = np.array([trace.base - traces[0].base for trace in traces], np.int64)
    part = parts(found, len(traces))
    _rough(found, ends, offset, part)
    fit = Fit.of(found, ends, offset, part)
    drifting = drifts(traces, found, ends, offset + np.rint(fit.correction).astype(np.int64))
    if drifting.rate:
        ends = [straight(end, m, d) for end, m, d in zip(ends, drifting.middle, drifting.rate, strict=True)]
        fit = Fit.of(found, ends, offset, part)
    offset = offset + np.rint(fit.correction).astype(np.int64)
    error = np.maximum(2 * fit.deviation, [_grain(trace) for trace in traces])
    alone = np.bincount(part, minlength=len(traces))[part] == 1
    error[alone] = 0
    offset -= offset[np.unique(part, return_index=True)[1]][part]
    kept = alone if drifting.rate else alone | _keep_given(traces, part, offset, error)
    basis = tuple("given" if own else "meetings" for own in kept)
    drift = drifting.rate, drifting.middle, drifting.apart
    return join(traces, matches, Clocks(offset, np.rint(error).astype(np.int64), part, basis, *drift))


def _rough(found: Sequence[Block], ends: Sequence[Nanoseconds], offset: Nanoseconds, part: Index) -> None:
    """Bring the offsets of each part together in whole numbers, from one trace to the next, so that what is left is small."""
    settled = np.zeros(len(offset), np.bool_)
    settled[np.unique(part, return_index=True)[1]] = True
    left = sorted(found, key=lambda block: -len(block.row))
    while left:
        ready = [block for block in left if settled[block.traces].any()]
        for block in ready:
            known = int(np.argmax(settled[block.traces]))
            last = np.stack([ends[t][block.row[:, k]] for k, t in enumerate(block.traces)], axis=1)
            ahead = np.sort(last - last[:, [known]], axis=0)[len(last) // 2]
            new = ~settled[block.traces]
            offset[block.traces[new]] = (offset[block.traces[known]] - ahead)[new]
            settled[block.traces] = True
        done = set(map(id, ready))
        left = [block for block in left if id(block) not in done]


def _keep_given(traces: Sequence[Trace], part: Index, offset: Nanoseconds, error: Floats) -> NDArray[np.bool_]:
    """Put the files' own clocks back in parts that they agree with, and tell where.

    They agree where no offset is further from them than one standard deviation, or than _AGREE. Which of the two is right is
    then unknown: the difference counts as error, times sqrt 2 so that those of two clocks, squared and added, hold their sum.
    """
    kept = np.zeros(len(traces), np.bool_)
    for number in range(int(part.max()) + 1 if len(traces) else 0):
        members = np.flatnonzero(part == number).tolist()
        own = np.array([traces[t].base - traces[members[0]].base for t in members], np.int64)
        away = offset[members] - own
        away = np.abs(away - np.sort(away)[(len(away) - 1) // 2])
        if all(traces[t].absolute for t in members) and np.all(away <= np.maximum(error[members] / 2, _AGREE)):
            offset[members], kept[members] = own, True
            error[members] = np.hypot(error[members], np.sqrt(2) * away)
    return kept


def _grain(trace: Trace) -> int:
    """Nanoseconds to which a file's stamps are whole, as far as its collectives show it."""
    times = trace.events.end[[collective.row for collective in trace.collectives]]
    return min(int(np.gcd.reduce(times)) if len(times) else _COARSEST, _COARSEST)
