"""Bounds of clocks: traces that only messages join.

What belongs here: how parts are joined that no collective joins. A receive cannot end before its send began, which bounds the
difference of two clocks; a message the other way bounds it from the other side. Such bounds are a system of differences, and
shortest paths close it (Bellman): each clock lies between two bounds, and the middles satisfy all of them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hopline.curve import Floats
from hopline.records.matched import Match
from hopline.records.meeting import Clocks
from hopline.records.trace import Index, Trace


def join(traces: Sequence[Trace], matches: Sequence[Match], clocks: Clocks) -> Clocks:
    """Clocks with those parts made one that messages bound from both sides; the others stay apart.

    The error of what is joined is half the width between its bounds; where the files' own clocks lie in the middle half they
    stand, and it is the way to the further bound. Parts whose messages contradict each other stay apart.
    """
    count = int(clocks.part.max()) + 1 if len(traces) else 0
    least = _most(traces, matches, clocks, count)
    if not np.isfinite(least).any():
        return clocks
    np.fill_diagonal(least, np.minimum(np.diag(least), 0))
    for k in range(count):
        np.minimum(least, least[:, [k]] + least[[k]], out=least)
    sound = np.diag(least) >= 0
    offset, error, part, basis = clocks.offset.copy(), clocks.error.copy(), clocks.part.copy(), list(clocks.basis)
    first = np.unique(clocks.part, return_index=True)[1]
    for root in range(count):
        if not sound[root] or part[first[root]] != root:
            continue
        for other in range(root + 1, count):
            high, low = least[root, other], -least[other, root]
            if not sound[other] or part[first[other]] != other or not np.isfinite(high - low):
                continue
            members = np.flatnonzero(clocks.part == other)
            own = _own(traces, clocks, int(first[root]), int(first[other]))
            middle = (low + high) / 2
            shift = own if own is not None and abs(own - middle) <= (high - low) / 4 else round(middle)
            offset[members] += shift
            error[members] = np.rint(np.hypot(error[members], max(high - shift, shift - low))).astype(np.int64)
            part[members] = root
            for t in members:
                basis[t] = "messages"
    return replace(clocks, offset=offset, error=error, part=_renumbered(part), basis=tuple(basis))


def _most(traces: Sequence[Trace], matches: Sequence[Match], clocks: Clocks, count: int) -> Floats:
    """[a, b]: nanoseconds that must at most be added to part b more than to part a; inf where nothing bounds it."""
    most = np.full((count, count), np.inf)
    for match in matches:
        if match.op != "send" or len(match.traces) != 2:
            continue
        one, other = match.traces
        a, b = clocks.part[other], clocks.part[one]
        if a != b:
            began = clocks.common(one, traces[one].events.start[match.row[:1]])[0]
            ended = clocks.common(other, traces[other].events.end[match.row[1:]])[0]
            most[a, b] = min(most[a, b], float(ended - began) + float(clocks.error[one] + clocks.error[other]))
    return most


def _own(traces: Sequence[Trace], clocks: Clocks, root: int, other: int) -> int | None:
    """What the files' own clocks say must be added to the part of trace ``other``; None where they say nothing."""
    if clocks.basis[root] != "given" or clocks.basis[other] != "given":
        return None
    if not (traces[root].absolute and traces[other].absolute):
        return None
    return int(traces[other].base - traces[root].base)


def _renumbered(part: Index) -> Index:
    """Numbers of parts without holes."""
    return np.unique(part, return_inverse=True)[1].astype(np.int32)
