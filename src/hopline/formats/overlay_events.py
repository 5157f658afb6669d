"""The events of a step for Perfetto: slices, threads with names, and arrows.

What belongs here: the Trace Event Format. A process for each rank with a thread for its steps, one for what its host does on
the critical path, one for each stream of its GPU and, beside it, one on which its collectives stand with waiting and transfer
apart; the critical path as a process of its own, with a thread for each rank that it goes over and an arrow wherever it
changes rank. All on the common clock; times are microseconds, their three decimals the nanoseconds of a trace. Which works
are shown, and the file, are ``overlay``.
"""

from __future__ import annotations

import heapq
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hopline.records.critical import Stretch
from hopline.records.explained import Explained
from hopline.records.meeting import Meeting
from hopline.records.trace import KINDS, NONE, Trace

MARK = '{"displayTimeUnit":"ns","otherData":{"written by":"hopline explain"'
"""How a file of ours begins."""
_MEETINGS = 1 << 20
"""Added to the number of a stream's thread for the one with its collectives."""
_STEPS, _HOST = 1 << 28, (1 << 28) + 1
"""Threads of steps, and of the host's stretches of the path."""
_OF_HOST = {"host", "launch", "sync"}
"""Parts of a path that are the host's, or between it and its GPU."""
_SIDE = 1 << 10
"""Threads of one stream, where works of it overlap."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """What is written: ``rows`` of each trace, of so many ``works`` in all, with time 0 at ``origin`` of the common clock."""

    explained: Explained
    rows: list[NDArray[np.int32]]
    works: int
    origin: int

    @property
    def left_out(self) -> int:
        """Works that are not shown."""
        return self.works - sum(map(len, self.rows))

    def lines(self) -> Iterator[str]:
        """The document, an event a line."""
        said = {
            "what": self.explained.what,
            "works of GPUs left out": self.left_out,
            "time 0 in ns of the common clock": self.origin,
        }
        yield f'{MARK},{json.dumps(said)[1:]},"traceEvents":[\n'
        yield _named("process_name", self.path, 0, "critical path")
        yield f',\n{{"ph":"M","name":"process_sort_index","pid":{self.path},"args":{{"sort_index":-1}}}}'
        for event in self._events():
            yield ",\n" + event
        yield "\n]}\n"

    @property
    def path(self) -> int:
        """The process of the critical path."""
        return len(self.explained.traces) + 1

    def _events(self) -> Iterator[str]:
        if self.left_out:
            text = json.dumps(
                f"thinned: {self.left_out} works left out, those off the path, of no collective, and shortest"
            )
            yield f'{{"ph":"M","name":"process_labels","pid":{self.path},"args":{{"labels":{text}}}}}'
        hosts: dict[int, list[Stretch]] = defaultdict(list)
        for stretch in self.explained.path.stretches if self.explained.path else ():
            if stretch.part in _OF_HOST and stretch.time > 0:
                hosts[stretch.trace].append(stretch)
        for i, trace in enumerate(self.explained.traces):
            yield _named("process_name", i + 1, 0, trace.label)
            yield f'{{"ph":"M","name":"process_sort_index","pid":{i + 1},"args":{{"sort_index":{i}}}}}'
            yield from self._steps(i, trace)
            yield from self._host(i, trace, hosts[i])
            yield from self._works(i, trace)
        yield from self._meetings()
        yield from self._path()

    def _steps(self, i: int, trace: Trace) -> Iterator[str]:
        """Steps as the rank's program marked them."""
        steps = [step for step in trace.steps if self.explained.step in (None, step.number)]
        if steps:
            yield _named("thread_name", i + 1, _STEPS, "steps, as its program marks them")
            yield _first(i + 1, _STEPS, -2)
        for step in steps:
            start, end = (self.explained.clocks.common(i, np.array([step.start, step.end])) - self.origin).tolist()
            yield _slice(f"step {step.number}", "step", i + 1, _STEPS, start, end, f'{{"number":{step.number}}}')

    def _host(self, i: int, trace: Trace, stretches: Sequence[Stretch]) -> Iterator[str]:
        """What of the path the rank's host is."""
        if stretches:
            yield _named("thread_name", i + 1, _HOST, "host, on the critical path")
            yield _first(i + 1, _HOST, -1)
        for s in stretches:
            start, end = s.start - self.origin, s.end - self.origin
            yield _slice(_called(s, trace), f"host: {s.part}", i + 1, _HOST, start, end, f'{{"row":{s.row}}}')

    def _works(self, i: int, trace: Trace) -> Iterator[str]:
        """Work of each stream; what overlaps stands on threads side by side."""
        events, rows = trace.events, self.rows[i]
        columns = (events.kind, events.name, events.lane)
        values = [column[rows].tolist() for column in columns]
        common = [self.explained.clocks.common(i, times[rows]) - self.origin for times in (events.start, events.end)]
        times = common[0].tolist(), common[1].tolist()
        free: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for row, kind, name, lane, start, end in zip(rows.tolist(), *values, *times, strict=True):
            side, new = _beside(free[lane], start, end)
            if new:
                yield _named("thread_name", i + 1, _thread(lane, side), _stream(trace, lane, side))
            yield _slice(trace.names[name], KINDS[kind], i + 1, _thread(lane, side), start, end, f'{{"row":{row}}}')

    def _meetings(self) -> Iterator[str]:
        """Each collective on each rank: waiting, then transfer; in one where they cannot be told apart."""
        named: set[tuple[int, int]] = set()
        free: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        for meeting in sorted(self.explained.meetings, key=lambda m: int(m.start.min())):
            for at, i in enumerate(meeting.traces.tolist()):
                lane = int(self.explained.traces[i].events.lane[meeting.row[at]])
                start, end = int(meeting.start[at]) - self.origin, int(meeting.end[at]) - self.origin
                side, _ = _beside(free[i, lane], start, end)
                thread = _MEETINGS + _thread(lane, side)
                if (i, thread) not in named:
                    named.add((i, thread))
                    name = f"collectives of {_stream(self.explained.traces[i], lane, side)}"
                    yield _named("thread_name", i + 1, thread, name)
                yield from _halves(meeting, self._who(meeting), i + 1, thread, start, end)

    def _who(self, meeting: Meeting) -> str:
        return "unknown" if meeting.last is None else self.explained.traces[meeting.last].label

    def _path(self) -> Iterator[str]:
        """Stretches on a thread for each rank, and an arrow from one rank to the next."""
        path = self.explained.path
        stretches = [stretch for stretch in (path.stretches if path else ()) if stretch.time > 0]
        for i in sorted({stretch.trace for stretch in stretches}):
            yield _named("thread_name", self.path, i + 1, f"on {self.explained.traces[i].label}")
        for s in stretches:
            trace = self.explained.traces[s.trace]
            args = f'{{"rank":{json.dumps(trace.label)},"row":{s.row}}}'
            yield _slice(
                _called(s, trace), s.part, self.path, s.trace + 1, s.start - self.origin, s.end - self.origin, args
            )
        for number, (before, after) in enumerate(pairwise(stretches)):
            if before.trace != after.trace:
                yield _arrow(True, number, self.path, before.trace + 1, before.end - self.origin - 1)
                yield _arrow(False, number, self.path, after.trace + 1, after.start - self.origin)


def _called(stretch: Stretch, trace: Trace) -> str:
    if stretch.row == NONE:
        return stretch.part
    return f"{stretch.part}: {trace.names[int(trace.events.name[stretch.row])]}"


def _first(pid: int, tid: int, place: int) -> str:
    """A thread that stands above those of streams."""
    return f'{{"ph":"M","name":"thread_sort_index","pid":{pid},"tid":{tid},"args":{{"sort_index":{place}}}}}'


def _beside(free: list[tuple[int, int]], start: int, end: int) -> tuple[int, bool]:
    """Which of the threads of a stream is free then, and whether it is a new one; ``free``: a heap of (end, thread)."""
    if free and free[0][0] <= start:
        side = heapq.heappop(free)[1]
        heapq.heappush(free, (end, side))
        return side, False
    heapq.heappush(free, (end, len(free)))
    return len(free) - 1, True


def _thread(lane: int, side: int) -> int:
    return 1 + lane * _SIDE + side


def _stream(trace: Trace, lane: int, side: int) -> str:
    where = trace.lanes[lane]
    return f"stream {where.number}" + (f", {side + 1}" if side else "")


def _halves(meeting: Meeting, last: str, pid: int, tid: int, start: int, end: int) -> Iterator[str]:
    size = "null" if meeting.size is None else meeting.size
    args = f'{{"number":{meeting.number},"bytes":{size},"last":{json.dumps(last)},"group":{json.dumps(meeting.group)}}}'
    if meeting.transfer is None:
        yield _slice(f"{meeting.op}, waiting unknown", "communication", pid, tid, start, end, args)
        return
    turn = min(end, max(start, end - meeting.transfer))
    if turn > start:
        yield _slice(f"{meeting.op}: waits for {last}", "waiting", pid, tid, start, turn, args)
    yield _slice(f"{meeting.op}: transfer", "transfer", pid, tid, turn, end, args)


def _named(what: str, pid: int, tid: int, name: str) -> str:
    return f'{{"ph":"M","name":"{what}","pid":{pid},"tid":{tid},"args":{{"name":{json.dumps(name)}}}}}'


def _time(ns: int) -> str:
    """Microseconds with all nanoseconds."""
    return f"{ns // 1000}.{ns % 1000:03d}"


def _slice(name: str, category: str, pid: int, tid: int, start: int, end: int, args: str) -> str:
    return (
        f'{{"ph":"X","name":{json.dumps(name)},"cat":"{category}","pid":{pid},"tid":{tid},"ts":{_time(start)},'
        f'"dur":{_time(end - start)},"args":{args}}}'
    )


def _arrow(begins: bool, number: int, pid: int, tid: int, at: int) -> str:
    head = '"ph":"s"' if begins else '"ph":"f","bp":"e"'
    return f'{{{head},"name":"path","cat":"path","id":{number},"pid":{pid},"tid":{tid},"ts":{_time(at)}}}'
