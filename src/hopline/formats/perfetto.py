"""Write what happened as a trace for Perfetto (ui.perfetto.dev) and chrome://tracing.

What belongs here: the Trace Event Format. A process for each rank, a thread for each lane, a slice for each operation, an
arrow from each Send to its Recv, and the critical path as a process of its own. Times are microseconds; their six decimals
are the picoseconds of a timeline. Operations on no lane that go on at once stand on threads side by side.
"""

from __future__ import annotations

import gzip
import heapq
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from hopline.errors import InputError
from hopline.formats.schedules.bounded import new_file
from hopline.records.timeline import Ticks, Timeline
from hopline.schedule.matching import match
from hopline.schedule.operations import COMPUTE, COPY, FREE, KINDS, NONE, RECV, REDUCE, SEND, Index, Schedule

_OPENING = '{"displayTimeUnit":"ns","otherData":{"schedule": '
"""How each file begins that is written here."""
_BLOCK = 1 << 14
"""Rows and lines that are worked on at a time."""
_MICROSECOND = 1_000_000
"""In picoseconds."""


def write_perfetto(schedule: Schedule, timeline: Timeline, path: str, most: int | None = None) -> int:
    """Write a trace to a new file at ``path``, compressed where its name ends in ``.gz``.

    Parameters
    ----------
    timeline
        Of this schedule, with the start and end of each row.
    most
        Slices of operations at most: those of the critical path, then the longest. None: all.

    Returns
    -------
    How many operations were left out.

    Raises
    ------
    InputError
        Where the timeline has no times of rows, or is not of this schedule.
    OutputError
        Where the file exists or cannot be written.
    """
    start, end = timeline.start, timeline.end
    if start is None or end is None:
        raise InputError(f"the timeline of {timeline.name} has no times of single operations: simulate with keep=True")
    if len(start) != len(schedule) or len(end) != len(schedule):
        raise InputError(
            f"the timeline has {len(start)} operations, schedule {schedule.name} {len(schedule)}: expected equally many"
        )
    if most is not None and most < 0:
        raise InputError(f"{most} slices at most: expected 0 or more")
    trace = _Trace(schedule, timeline, start, end, _chosen(timeline, start, end, most))
    with new_file(path) as file:
        lines = trace.lines()
        while block := list(islice(lines, _BLOCK)):
            file.write("".join(block).encode())
    return len(schedule) - len(trace.rows)


def is_ours(path: str) -> bool:
    """Whether a file was written here."""
    try:
        with gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb") as file:
            return file.read(len(_OPENING)) == _OPENING.encode()
    except (OSError, EOFError, ValueError, zlib.error):
        return False


def _chosen(timeline: Timeline, start: Ticks, end: Ticks, most: int | None) -> Index:
    """Rows that are shown, in order."""
    if most is None or most >= len(start):
        return np.arange(len(start), dtype=np.int32)
    weight = end - start
    weight[[row for row, _, _ in timeline.path]] += weight.max(initial=0) + 1
    return np.sort(np.argsort(-weight, kind="stable")[:most]).astype(np.int32)


@dataclass(frozen=True, slots=True)
class _Trace:
    schedule: Schedule
    timeline: Timeline
    start: Ticks
    end: Ticks
    rows: Index

    def lines(self) -> Iterator[str]:
        """The document, an event a line."""
        left = len(self.schedule) - len(self.rows)
        other = {"schedule": self.schedule.name, "machine": self.timeline.machine, "operations left out": left}
        yield f'{{"displayTimeUnit":"ns","otherData":{json.dumps(other)},"traceEvents":[\n'
        threads = self._threads()
        yield ",\n".join(self._names(threads))
        for event in self._events(threads):
            yield ",\n" + event
        yield "\n]}\n"

    def _threads(self) -> Index:
        """Thread of each row that is shown: its lane, or one beyond all lanes for those on none."""
        columns = self.schedule.columns
        threads = columns.lane[self.rows].astype(np.int32)
        free = np.flatnonzero(threads == FREE)
        order = free[np.lexsort((self.start[self.rows[free]], columns.rank[self.rows[free]]))]
        busy: list[tuple[int, int]] = []
        """When each thread of a rank is free again."""
        before, used = NONE, 0
        for place in order.tolist():
            row = int(self.rows[place])
            if columns.rank[row] != before:
                before, used, busy = int(columns.rank[row]), 0, []
            if busy and busy[0][0] <= self.start[row]:
                thread = heapq.heappop(busy)[1]
            else:
                thread, used = FREE + used, used + 1
            threads[place] = thread
            heapq.heappush(busy, (int(self.end[row]), thread))
        return threads

    def _names(self, threads: Index) -> Iterator[str]:
        """Of processes and threads."""
        for rank in range(self.schedule.ranks):
            yield _named("process_name", rank + 1, 0, f"rank {rank}")
        path = self.schedule.ranks + 1
        yield _named("process_name", path, 0, "critical path")
        yield f'{{"ph":"M","name":"process_sort_index","pid":{path},"args":{{"sort_index":-1}}}}'
        ranks = self.schedule.columns.rank[self.rows].astype(np.int64)
        for code in np.unique((ranks << 32) + threads).tolist():
            rank, thread = code >> 32, code & 0xFFFFFFFF
            name = f"lane {thread}" if thread < FREE else f"no lane, {thread - FREE + 1}"
            yield _named("thread_name", rank + 1, thread + 1, name)

    def _events(self, threads: Index) -> Iterator[str]:
        mate = match(self.schedule)
        shown = np.zeros(len(self.schedule), np.bool_)
        shown[self.rows] = True
        mate[~shown[np.maximum(mate, 0)]] = NONE
        for low in range(0, len(self.rows), _BLOCK):
            yield from self._slices(self.rows[low : low + _BLOCK], threads[low : low + _BLOCK], mate)
        pid = self.schedule.ranks + 1
        for row, begin, end in self.timeline.path:
            rank, size = int(self.schedule.columns.rank[row]), int(self.schedule.columns.size[row])
            words = _words(int(self.schedule.columns.kind[row]), int(self.schedule.columns.peer[row]))
            args = f'{{"row":{row},"rank":{rank},"bytes":{size}}}'
            yield _slice(f"rank {rank} {words}", "path", pid, 1, begin, end - begin, args)

    def _slices(self, rows: Index, threads: Index, mate: Index) -> Iterator[str]:
        columns = self.schedule.columns
        names = ("kind", "rank", "peer", "size", "buffer", "start", "source", "other")
        values: list[list[Any]] = [getattr(columns, name)[rows].tolist() for name in names]
        times = self.start[rows].tolist(), self.end[rows].tolist()
        for row, thread, other_end, begin, end, kind, rank, peer, size, buffer, first, source, other in zip(
            rows.tolist(), threads.tolist(), mate[rows].tolist(), *times, *values, strict=True
        ):
            args = [f'"row":{row}', f'"ps":{size}' if kind == COMPUTE else f'"bytes":{size}']
            if kind in (SEND, RECV):
                args += [f'"peer":{peer}', f'"tag":{other}']
            if kind != COMPUTE and self.schedule.buffers:
                args.append(f'"range":{self._range(buffer, first, size)}')
            if kind in (REDUCE, COPY) and self.schedule.buffers:
                args.append(f'"from":{self._range(source, other, size)}')
            place = rank + 1, thread + 1
            yield _slice(_words(kind, peer), KINDS[kind], *place, begin, end - begin, "{" + ",".join(args) + "}")
            if other_end != NONE:
                yield _arrow(kind == SEND, row if kind == SEND else other_end, *place, begin)

    def _range(self, buffer: int, start: int, size: int) -> str:
        return json.dumps(f"{self.schedule.buffers[buffer].name} [{start}, {start + size})")


def _words(kind: int, peer: int) -> str:
    return f"send to {peer}" if kind == SEND else f"recv from {peer}" if kind == RECV else KINDS[kind]


def _named(what: str, pid: int, tid: int, name: str) -> str:
    return f'{{"ph":"M","name":"{what}","pid":{pid},"tid":{tid},"args":{{"name":"{name}"}}}}'


def _time(ticks: int) -> str:
    """Microseconds with all picoseconds."""
    return f"{ticks // _MICROSECOND}.{ticks % _MICROSECOND:06d}"


def _slice(name: str, category: str, pid: int, tid: int, begin: int, duration: int, args: str) -> str:
    return (
        f'{{"ph":"X","name":"{name}","cat":"{category}","pid":{pid},"tid":{tid},"ts":{_time(begin)},"dur":{_time(duration)},'
        f'"args":{args}}}'
    )


def _arrow(begins: bool, number: int, pid: int, tid: int, at: int) -> str:
    head = '"ph":"s"' if begins else '"ph":"f","bp":"e"'
    return f'{{{head},"name":"message","cat":"message","id":{number},"pid":{pid},"tid":{tid},"ts":{_time(at)}}}'
