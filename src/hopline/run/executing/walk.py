"""One rank carries out its rows.

What belongs here: the loop that begins what may begin, asks for what has ended, and notes when each row began and ended. It
is one loop on one thread; nothing spins beside it.

A message begins when it is given to the transport and ends when the loop learns that it is done. A sum or copy keeps the
loop to itself until it is done; messages that can begin go first. A Compute lasts its picoseconds, during which the loop
goes on with other lanes.
"""

from __future__ import annotations

import gc
import heapq
import os
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from hopline.errors import RunError
from hopline.run.executing.part import Part
from hopline.run.executing.transport import CONTROL_TAGS, Handle, Memory, Message, Transport
from hopline.schedule.operations import COMPUTE, COPY, KINDS, RECV, SEND
from hopline.schedule.pieces import Ints

STALL = 20.0
"""Seconds in which nothing ends, nothing is computed and nothing can begin, after which a schedule counts as stuck."""
PATIENCE = 0.05
"""Seconds that a transport which can wait may do so at a time."""
SPIN = 50_000
"""Nanoseconds before the start that are waited for awake."""
NANO = 1e-9
now: Callable[[], int] = time.perf_counter_ns
"""The clock of rows: nanoseconds."""


@dataclass(frozen=True, slots=True)
class Stamps:
    """When a rank set out and was done, and when each of its rows began and ended, on its own clock in ns."""

    begin: int
    finish: int
    start: Ints
    end: Ints


class Walk:
    """The rows of a part made ready: what each does, what it waits for and what waits for it.

    ``empty``: all the steps without any bytes, to see what the steps themselves cost.
    """

    def __init__(self, part: Part, memory: Memory, transport: Transport, *, empty: bool = False) -> None:
        self.part, self.transport, self.stall = part, transport, STALL
        count = len(part)
        self.then: list[list[int]] = [[] for _ in range(count)]
        self.at_once: list[list[int]] = [[] for _ in range(count)]
        self.waits = [0] * count
        for pairs, table in ((part.waits, self.then), (part.begun, self.at_once)):
            for row, before in pairs.tolist():
                table[before].append(row)
                self.waits[row] += 1
        self.group = part.group.tolist()
        self.kind = part.kind.tolist()
        self.messages: list[Message] = []
        self.work: list[Callable[[], None]] = []
        self._prepare(memory, empty)

    def _prepare(self, memory: Memory, empty: bool) -> None:
        part, none = self.part, Message(False, None, 0, 0)
        names = ("kind", "buffer", "start", "size", "source", "other", "peer", "message")
        columns = [getattr(part, name).tolist() for name in names]
        for kind, buffer, start, size, source, other, peer, number in zip(*columns, strict=True):
            moved = 0 if empty else size
            if kind in (SEND, RECV):
                data = memory.view(buffer, start, moved)
                self.messages.append(Message(kind == SEND, data, peer, CONTROL_TAGS + number))
                self.work.append(_nothing)
                continue
            self.messages.append(none)
            if kind == COMPUTE:
                self.work.append(_nothing)
                continue
            act = memory.copy if kind == COPY else memory.add
            self.work.append(_bound(act, memory.view(buffer, start, moved), memory.view(source, other, moved)))
        self.lasts = [-(-size // 1000) if kind == COMPUTE and not empty else 0 for kind, size in zip(
            columns[0], columns[3], strict=True)]  # fmt: skip

    def run(self, at: int = 0) -> Stamps:
        """Set out when the clock shows ``at``. Raises RunError where nothing can go on."""
        collects = gc.isenabled()
        gc.disable()
        try:
            return _Run(self).run(at)
        finally:
            if collects:
                gc.enable()


def _nothing() -> None:
    """Nothing to do."""


def _bound(act: Callable[..., None], target: object, source: object) -> Callable[[], None]:
    return lambda: act(target, source)


class _Run:
    """One repeat of a walk."""

    def __init__(self, walk: Walk) -> None:
        self.walk, self.transport = walk, walk.transport
        count = len(walk.waits)
        self.left, self.done = walk.waits.copy(), 0
        self.start, self.end = [0] * count, [0] * count
        self.posts: list[int] = []
        self.tasks: deque[int] = deque()
        self.deadlines: list[tuple[int, int]] = []
        self.flying: list[int] = []
        self.handles: list[Handle] = []
        self.now_in = 0
        self.in_group = np.bincount(walk.group, minlength=1).tolist() if count else [0]
        self.held: dict[int, list[int]] = {}
        self.moved_at = 0

    def run(self, at: int) -> Stamps:
        self._await(at)
        begin = self.moved_at = now()
        for row in [row for row, waits in enumerate(self.left) if not waits]:
            self._ready(row)
        self._next_group()
        count = len(self.left)
        while self.done < count:
            if self.posts:
                self._post()
            if self.tasks:
                self._task()
            if self.deadlines:
                self._computed()
            if self.handles:
                self._ask()
            elif not (self.posts or self.tasks or self.deadlines) and self.done < count:
                raise RunError(self._stuck("rows wait for one another"))
        return Stamps(begin, now(), np.array(self.start, np.int64), np.array(self.end, np.int64))

    def _await(self, at: int) -> None:
        """Until the clock shows ``at``; threads that carry messages need the core that a spin would keep from them."""
        if self.transport.sleeps and (left := at - now() - SPIN) > 0:
            time.sleep(left * NANO)
        while now() < at:
            if self.transport.crowded:
                os.sched_yield()

    def _ready(self, row: int) -> None:
        """All that the row waited for is done."""
        if self.walk.group[row] > self.now_in:
            self.held.setdefault(self.walk.group[row], []).append(row)
            return
        kind = self.walk.kind[row]
        if kind in (SEND, RECV):
            self.posts.append(row)
        elif kind == COMPUTE:
            self.start[row] = at = now()
            heapq.heappush(self.deadlines, (at + self.walk.lasts[row], row))
            self._drop(self.walk.at_once[row])
        else:
            self.tasks.append(row)

    def _drop(self, rows: Iterable[int]) -> None:
        for row in rows:
            self.left[row] -= 1
            if not self.left[row]:
                self._ready(row)

    def _finish(self, row: int, at: int) -> None:
        self.end[row] = self.moved_at = at
        self.done += 1
        self.in_group[self.walk.group[row]] -= 1
        self._drop(self.walk.then[row])
        if not self.in_group[self.now_in]:
            self._next_group()

    def _next_group(self) -> None:
        last = len(self.in_group) - 1
        while not self.in_group[self.now_in] and self.now_in < last:
            self.now_in += 1
            for row in self.held.pop(self.now_in, ()):
                self._ready(row)

    def _post(self) -> None:
        rows, self.posts = self.posts, []
        for group in [rows] if self.transport.batches else [[row] for row in rows]:
            at = now()
            self.handles += self.transport.post([self.walk.messages[row] for row in group])
            self.flying += group
            for row in group:
                self.start[row] = at
        for row in rows:
            self._drop(self.walk.at_once[row])

    def _task(self) -> None:
        row = self.tasks.popleft()
        self.start[row] = now()
        self._drop(self.walk.at_once[row])
        self.walk.work[row]()
        self._finish(row, now())

    def _computed(self) -> None:
        at = now()
        while self.deadlines and self.deadlines[0][0] <= at:
            self._finish(heapq.heappop(self.deadlines)[1], at)
        self.moved_at = at

    def _ask(self) -> None:
        busy = self.posts or self.tasks or self.deadlines
        found = self.transport.finished(self.handles, 0.0 if busy else PATIENCE)
        at = now()
        if not found:
            if (at - self.moved_at) * NANO > self.walk.stall:
                raise RunError(self._stuck(f"nothing has moved for {self.walk.stall:g} s"))
            return
        rows = sorted(self.flying[place] for place in found)
        gone = set(found)
        self.flying = [row for place, row in enumerate(self.flying) if place not in gone]
        self.handles = [handle for place, handle in enumerate(self.handles) if place not in gone]
        for row in rows:
            self._finish(row, at)

    def _stuck(self, why: str) -> str:
        part = self.walk.part
        open_rows = self.flying or [row for row, waits in enumerate(self.left) if waits]
        told = []
        for row in open_rows[:3]:
            kind, peer = KINDS[part.kind[row]], part.peer[row]
            to = {"send": f" to {peer}", "recv": f" from {peer}"}.get(kind, "")
            told.append(f"{kind}{to} (row {part.rows[row]})")
        more = f" and {len(open_rows) - 3} more" if len(open_rows) > 3 else ""
        return (
            f"{part.name}: rank {part.rank} is stuck, {why}: {', '.join(told)}{more}; hopline schedule check tells why"
        )
