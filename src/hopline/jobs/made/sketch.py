"""Traces drawn by hand, event by event: what a case or a question looks like to a profiler.

What belongs here: from rows in microseconds to a Trace. Whole training steps are ``steps``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hopline.records.trace import KINDS, MEMSET, NONE, SYNC, Collective, Events, Lane, Step, Syncs, Trace

_THOUSAND = 1000


@dataclass(frozen=True, slots=True)
class Mark:
    """An event: kind (a word of KINDS), name, begin and length in microseconds, number of its stream or thread, correlation.

    ``op`` makes a kernel a collective of so many bytes (``size``).
    """

    kind: str
    name: str
    start: float
    time: float
    lane: int = 7
    correlation: int = NONE
    op: str = ""
    size: int | None = None


def sketch(marks: Iterable[Mark], rank: int = 0, world: int = 1, steps: Sequence[tuple[float, float]] = ()) -> Trace:
    """The trace of one rank, all of whose collectives are in one group of the whole job; ``steps`` from number 0 on."""
    drawn = sorted(marks, key=lambda mark: (mark.start, -mark.time))
    names = tuple(dict.fromkeys(mark.name for mark in drawn))
    lanes = tuple(dict.fromkeys(_lane(mark, rank) for mark in drawn))
    start = [round(mark.start * _THOUSAND) for mark in drawn]
    end = [round((mark.start + mark.time) * _THOUSAND) for mark in drawn]
    rows = np.array([row for row, mark in enumerate(drawn) if mark.kind == KINDS[SYNC]], np.int32)
    events = Events(
        np.array([KINDS.index(mark.kind) for mark in drawn], np.uint8),
        np.array([names.index(mark.name) for mark in drawn], np.int32),
        np.array(start, np.int64),
        np.array(end, np.int64),
        np.array([lanes.index(_lane(mark, rank)) for mark in drawn], np.int32),
        np.array([mark.correlation for mark in drawn], np.int64),
    )
    met = tuple(
        Collective(row, mark.op, mark.size, group="job", ranks=tuple(range(world)), count=world)
        for row, mark in enumerate(drawn)
        if mark.op
    )
    marked = tuple(Step(i, round(a * _THOUSAND), round(b * _THOUSAND)) for i, (a, b) in enumerate(steps))
    unknown = np.full(len(rows), NONE, np.int64)
    return Trace(
        f"rank {rank} as drawn",
        rank,
        world,
        0,
        True,
        names,
        lanes,
        events,
        met,
        marked,
        Syncs(rows, unknown, unknown.copy()),
    )


def _lane(mark: Mark, rank: int) -> Lane:
    kind = KINDS.index(mark.kind)
    on_gpu = kind <= MEMSET or kind == SYNC
    return Lane("stream" if on_gpu else "thread", 0 if on_gpu else 1000 + rank, mark.lane)
