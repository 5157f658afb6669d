"""Blame for a critical path: its time by part, rank, kernel, collective and operator.

What belongs here: adding up stretches. What a stretch is was decided by the walk.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hopline.records.blame import BETWEEN, Blame, Item, Met
from hopline.records.critical import CriticalPath, Stretch
from hopline.records.meeting import Clocks, Meeting
from hopline.records.trace import CALL, OP, Nanoseconds, Trace
from hopline.study.kernel_names import operator_name, short_name
from hopline.study.path_sources import on_common


def blame(path: CriticalPath, traces: Sequence[Trace], clocks: Clocks, meetings: Sequence[Meeting]) -> Blame:
    """What the time of ``path`` is due to; its stretches name ``traces`` by number, on the clock of ``clocks``."""
    stretches = path.stretches
    return Blame(
        path.time,
        _items((stretch.part, stretch.time) for stretch in stretches),
        _items((traces[stretch.trace].label, stretch.time) for stretch in stretches),
        _items(
            (_kernel(traces, stretch), stretch.time) for stretch in stretches if stretch.part in {"compute", "copy"}
        ),
        _met(stretches, traces, meetings),
        _items(_operators(stretches, traces, clocks)),
    )


def _items(named: Iterable[tuple[str, int]]) -> tuple[Item, ...]:
    """Sums by name, from the most; equal ones by name."""
    sums: dict[str, list[int]] = {}
    for name, time in named:
        entry = sums.setdefault(name, [0, 0])
        entry[0] += time
        entry[1] += 1
    return tuple(sorted((Item(name, *entry) for name, entry in sums.items()), key=lambda item: (-item.time, item.name)))


def _kernel(traces: Sequence[Trace], stretch: Stretch) -> str:
    trace = traces[stretch.trace]
    return short_name(trace.names[trace.events.name[stretch.row]])


def _met(stretches: Sequence[Stretch], traces: Sequence[Trace], meetings: Sequence[Meeting]) -> tuple[Met, ...]:
    """Collectives on the path, from the most."""
    known = {
        (trace, row): meeting
        for meeting in meetings
        for trace, row in zip(meeting.traces.tolist(), meeting.row.tolist(), strict=True)
    }
    found = []
    for stretch in stretches:
        if stretch.part not in {"transfer", "communication"}:
            continue
        at = stretch.trace, stretch.row
        meeting = known.get(at)
        if meeting is not None:
            found.append(Met(meeting.op, meeting.group, meeting.number, *at, stretch.part, stretch.time))
            continue
        collective = next(
            collective for collective in traces[stretch.trace].collectives if collective.row == stretch.row
        )
        found.append(Met(collective.op, collective.group, None, *at, stretch.part, stretch.time))
    return tuple(sorted(found, key=lambda met: -met.time))


def _operators(stretches: Sequence[Stretch], traces: Sequence[Trace], clocks: Clocks) -> Iterable[tuple[str, int]]:
    """(name, nanoseconds) of what the host ran, piece by piece."""
    by_thread: dict[tuple[int, int], list[Stretch]] = {}
    for stretch in stretches:
        if stretch.part == "host":
            lane = int(traces[stretch.trace].events.lane[stretch.row])
            by_thread.setdefault((stretch.trace, lane), []).append(stretch)
    for (number, lane), parts in by_thread.items():
        shown = _outermost(on_common(traces[number], number, clocks), lane)
        for part in parts:
            yield from shown.between(part.start, part.end)


@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """What a thread shows: names with begin and end, which do not overlap."""

    names: list[str]
    start: Nanoseconds
    end: Nanoseconds

    def between(self, start: int, end: int) -> Iterable[tuple[str, int]]:
        """(name, nanoseconds) of what lies between ``start`` and ``end``."""
        rest = end - start
        low, high = int(np.searchsorted(self.end, start, side="right")), int(np.searchsorted(self.start, end))
        inside = np.minimum(self.end[low:high], end) - np.maximum(self.start[low:high], start)
        for name, time in zip(self.names[low:high], inside.tolist(), strict=True):
            if time > 0:
                rest -= time
                yield name, time
        if rest:
            yield BETWEEN, rest


def _outermost(trace: Trace, lane: int) -> _Shown:
    """Operators and calls of a thread that stand in no other."""
    events = trace.events
    rows = np.flatnonzero(((events.kind == OP) | (events.kind == CALL)) & (events.lane == lane))
    end = events.end[rows]
    reached = np.maximum.accumulate(np.append(np.iinfo(np.int64).min, end[:-1]))
    rows = rows[events.start[rows] >= reached]
    names = [operator_name(trace.names[name]) for name in events.name[rows].tolist()]
    return _Shown(names, events.start[rows], events.end[rows])
