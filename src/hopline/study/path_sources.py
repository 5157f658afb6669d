"""What an event of any rank may have waited for, on the common clock, worked out only for ranks that a path comes to.

What belongs here: look-ups for a walk. They give plain numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hopline.records.meeting import Clocks
from hopline.records.trace import NONE, Nanoseconds, Trace
from hopline.study.dependencies import Dependencies, depend
from hopline.study.host_time import HostTime, host_time, submitted
from hopline.study.streams import EVENTS
from hopline.study.threads import Thread, threads_of


class Source(NamedTuple):
    """What work may have waited for.

    Attributes
    ----------
    part
        What lies between it and the begin of the work, a word of ``records.critical.PARTS``.
    row
        The work that ended, or the call that launched.
    time
        When it ended, or when the call handed the work over.
    ready
        When the work could begin as far as this goes: as soon as the quickest of its kind.
    through
        Until when the delay is due to this: of a launch, until its call was through.
    inferred
        Whether no event of the file tells it.
    """

    part: str
    row: int
    time: int
    ready: int
    through: int
    inferred: bool = False


def on_common(trace: Trace, number: int, clocks: Clocks) -> Trace:
    """A trace with the times of its events and steps on the common clock."""
    events = trace.events
    start, end = clocks.common(number, events.start), clocks.common(number, events.end)
    edges = clocks.common(number, np.array([(step.start, step.end) for step in trace.steps], np.int64).reshape(-1, 2))
    steps = (replace(step, start=s, end=e) for step, (s, e) in zip(trace.steps, edges.tolist(), strict=True))
    return replace(trace, events=replace(events, start=start, end=end), steps=tuple(steps))


class Sources:
    """Traces with their dependencies and threads; rows are those of a trace, times are on the common clock."""

    def __init__(
        self, traces: Sequence[Trace], clocks: Clocks, dependencies: Sequence[Dependencies | None] = ()
    ) -> None:
        self.traces = [on_common(trace, number, clocks) for number, trace in enumerate(traces)]
        self._dependencies = dict(enumerate(dependencies))
        self._threads: dict[int, dict[int, Thread]] = {}
        self._submitted: dict[int, Nanoseconds] = {}
        self._host: dict[int, HostTime] = {}
        self._communication = [{collective.row for collective in trace.collectives} for trace in traces]

    def start(self, trace: int, row: int) -> int:
        """When an event began."""
        return int(self.traces[trace].events.start[row])

    def end(self, trace: int, row: int) -> int:
        """When an event ended."""
        return int(self.traces[trace].events.end[row])

    def communicates(self, trace: int, row: int) -> bool:
        """Whether the row is the kernel of a collective."""
        return row in self._communication[trace]

    def dependencies(self, trace: int) -> Dependencies:
        """Of a trace."""
        found = self._dependencies.get(trace)
        if found is None:
            found = self._dependencies[trace] = depend(self.traces[trace])
        return found

    def of(self, trace: int, row: int) -> list[Source]:
        """All that the work ``row`` may have waited for on its own rank."""
        known = self.dependencies(trace)
        return [*self._launch(trace, row, known), *self._before(trace, row, known), *self._waits(trace, row, known)]

    def _launch(self, trace: int, row: int, known: Dependencies) -> list[Source]:
        call = int(known.launch[row])
        if call == NONE:
            return []
        if trace not in self._submitted:
            self._submitted[trace] = submitted(self.traces[trace], known)
        time = int(self._submitted[trace][call])
        ready = time + known.launching
        return [Source("launch", call, time, ready, max(self.end(trace, call), ready))]

    def _before(self, trace: int, row: int, known: Dependencies) -> list[Source]:
        before = int(known.before[row])
        if before == NONE:
            return []
        time = self.end(trace, before)
        return [Source("gap", before, time, time + known.following, time)]

    def _waits(self, trace: int, row: int, known: Dependencies) -> list[Source]:
        low, high = np.searchsorted(known.waits[:, 0], [row, row + 1]).tolist()
        found = []
        for at in range(low, high):
            work = int(known.waits[at, 1])
            time = self.end(trace, work)
            inferred = bool(known.waits_basis[at] != EVENTS)
            found.append(Source("sync", work, time, time + known.following, time, inferred))
        return found

    def threads(self, trace: int) -> dict[int, Thread]:
        """Threads of a trace, by lane."""
        found = self._threads.get(trace)
        if found is None:
            found = self._threads[trace] = threads_of(self.traces[trace], self.dependencies(trace))
        return found

    def host(self, trace: int) -> HostTime:
        """When the host of a trace is seen to run."""
        found = self._host.get(trace)
        if found is None:
            found = self._host[trace] = host_time(self.traces[trace], self.dependencies(trace))
        return found

    def hold(self, trace: int, thread: int, time: int) -> tuple[int, int, int] | None:
        """(until, call, work) of the last call of a thread that the GPU held and that ended by ``time``."""
        holds = self.threads(trace)[thread].holds
        at = int(np.searchsorted(holds.until, time, side="right")) - 1
        return (int(holds.until[at]), int(holds.call[at]), int(holds.work[at])) if at >= 0 else None

    def turn(self, trace: int, thread: int, time: int) -> tuple[int, int, int] | None:
        """(at, thread, since) of the last turn of a thread by ``time``: the other thread, and when that had fallen silent."""
        turns = self.threads(trace)[thread].turns
        at = int(np.searchsorted(turns.at, time, side="right")) - 1
        if at < 0:
            return None
        return int(turns.at[at]), int(turns.thread[at]), int(turns.since[at])

    def latest(self, trace: int, thread: int, time: int) -> int:
        """Row of the last event that a thread had begun before ``time``."""
        events = self.traces[trace].events
        until = int(np.searchsorted(events.start, time))
        return int(np.flatnonzero(events.lane[:until] == thread)[-1])
