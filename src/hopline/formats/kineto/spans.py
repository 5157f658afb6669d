"""Spans on the host in which collectives are called.

What belongs here: which of them are around a moment on a thread.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hopline.formats.kineto.events import Arguments
from hopline.records.trace import CALL, NONE, Events


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """A call of a collective on the host, and the one around it on its thread."""

    row: int
    start: int
    end: int
    name: str
    said: Arguments
    outer: Span | None


class Spans:
    """All of them, by thread in the order of their start."""

    def __init__(self, events: Events, names: Sequence[str], said: Mapping[int, Arguments]) -> None:
        self._events = events
        self._lanes: dict[int, list[Span]] = defaultdict(list)
        for row in sorted(row for row in said if events.kind[row] > CALL):
            lane = self._lanes[int(events.lane[row])]
            start, end = int(events.start[row]), int(events.end[row])
            outer = lane[-1] if lane else None
            while outer is not None and outer.end < end:
                outer = outer.outer
            lane.append(Span(row, start, end, names[int(events.name[row])], said[row], outer))

    def around(self, call: int) -> list[Span]:
        """The spans around the start of the call in row ``call``, from the innermost on; none for NONE."""
        if call == NONE:
            return []
        time = int(self._events.start[call])
        spans = self._lanes.get(int(self._events.lane[call]), [])
        at = bisect_right(spans, time, key=lambda span: span.start)
        span = spans[at - 1] if at else None
        found = []
        while span is not None:
            if span.end >= time:
                found.append(span)
            span = span.outer
        return found
