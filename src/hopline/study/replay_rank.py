"""One rank's part of a replay: its work on the GPU and its host, with what each waited for and for how long after.

What belongs here: from the columns of a trace to activities with lags, in nanoseconds on the common clock. Putting ranks
together is ``replaying``.

A work begins a lag after its call, and a lag after each work that it waited for. Which of them it began by is seen from what
such lags take where nothing else is in the way (``Dependencies.launching``, ``following``): the one that then comes last gets
what is left over, the others are as quick as ever, or as the measured begin allows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopline.records.trace import KERNEL, NONE, Index, Nanoseconds, Trace
from hopline.schedule.activities import COMPUTE, COPY, HOST, SYNC
from hopline.study.dependencies import Dependencies
from hopline.study.host_time import HostTime, host_time, submitted
from hopline.study.host_waits import SKEW
from hopline.study.replay_host import BACK, LAUNCH, Host, host
from hopline.study.replay_span import Edges, Marks


@dataclass(frozen=True, slots=True, eq=False)
class RankPart:
    """Activities of one rank: first its work on the GPU in order of start, then its host.

    Attributes
    ----------
    kind, event
        As ``Activities.kind``, and row of the trace (NONE: host).
    start, end
        As measured, nanoseconds from the begin of the span.
    work
        Nanoseconds of its own.
    begin
        Nanoseconds before which it cannot be ready, of those that nothing in the span precedes; else 0.
    pairs, lag
        Who waits for whom, rows of this part, shape (k, 2), and nanoseconds in between.
    usual
        The same lags with nothing left over, shape (k,).
    beyond
        For how long work that was launched in the span runs after it; that is no part of it.
    """

    kind: NDArray[np.uint8]
    event: Index
    start: Nanoseconds
    end: Nanoseconds
    work: Nanoseconds
    begin: Nanoseconds
    pairs: Index
    lag: Nanoseconds
    usual: Nanoseconds
    beyond: int = 0


def rank_part(trace: Trace, depend: Dependencies, edges: Edges) -> RankPart:
    """The part of ``trace`` that belongs to a span, cut at its ``edges``."""
    events = trace.events
    begin, finish = edges.at(events.start), edges.at(events.end)
    gpu = edges.work(trace, depend.launch, begin, finish)
    start, end = np.maximum(begin[gpu], 0), np.minimum(finish[gpu], edges.length)
    place = np.full(len(events) + 1, NONE, np.int32)
    place[gpu] = np.arange(len(gpu), dtype=np.int32)
    launch = depend.launch[gpu]
    known = (launch != NONE) & (begin[launch] >= 0)
    blocked = _blocked(depend, begin, finish, place, edges.end)
    calls = np.unique(launch[known]), np.unique(blocked[:, 0])
    points = host(begin, finish, events.lane, *calls, edges.at(submitted(trace, depend)))
    called = np.full(len(gpu), NONE, np.int32)
    called[known] = points.of(LAUNCH, launch[known])
    before, waits = depend.before[gpu], depend.waits
    own = np.stack([np.arange(len(gpu), dtype=np.int32), place[before]], 1)[before != NONE]
    others = np.stack([place[waits[:, 0]], place[waits[:, 1]]], 1)
    behind = np.concatenate([own, others[others[:, 0] != NONE]])
    behind = behind[behind[:, 1] != NONE]
    pairs, lags, usual = _lags(start, end, called, points.time, behind, depend)
    began = (called == NONE) & ~np.isin(np.arange(len(gpu)), behind[:, 0])
    kind = np.where(events.kind[gpu] == KERNEL, COMPUTE, COPY).astype(np.uint8)
    done = [pair + np.array([0, shift]) for pair, shift in zip(pairs, (len(gpu), 0), strict=True)]
    whole = _Rows(kind, gpu, start, end, end - start, np.where(began, start, 0), done, list(lags), list(usual))
    if (reach := edges.host(trace, begin, finish)) is not None:
        seen = host_time(trace, depend)
        seen = HostTime(edges.at(seen.start), edges.at(seen.end))
        back = points.of(BACK, blocked[:, 0])
        _add_host(whole, points, seen, place[blocked[:, 1]], back, *reach)
    return whole.part(edges.beyond(trace, depend.launch, begin, finish))


def _blocked(depend: Dependencies, begin: Nanoseconds, finish: Nanoseconds, place: Index, end: int) -> Index:
    """Pairs (call, work) of waits that are over before ``end``; clocks of host and GPU may differ by SKEW."""
    call, work = depend.blocked.T
    over: Marks = (
        (finish[call] > 0) & (begin[call] < end) & (finish[call] <= end) & (finish[work] <= finish[call] + SKEW)
    )
    kept: Index = depend.blocked[over & (place[work] != NONE)]
    return kept


def _lags(
    start: Nanoseconds, end: Nanoseconds, called: Index, call_time: Nanoseconds, behind: Index, depend: Dependencies
) -> tuple[tuple[Index, Index], tuple[Nanoseconds, Nanoseconds], tuple[Nanoseconds, Nanoseconds]]:
    """Pairs (work, point of its call) and (work, work before it), with their lags, and with these as they usually are."""
    far = np.int64(-(2**62))
    mine = np.flatnonzero(called != NONE).astype(np.int32)
    by_call = np.full(len(start), far)
    by_call[mine] = call_time[called[mine]] + depend.launching
    by_work = np.full(len(start), far)
    np.maximum.at(by_work, behind[:, 0], end[behind[:, 1]] + depend.following)
    rest = np.maximum(start - np.maximum(by_call, by_work), 0)
    rest[np.maximum(by_call, by_work) == far] = 0
    binds = by_call >= by_work
    room = start[mine] - call_time[called[mine]]
    launch_usual = np.minimum(depend.launching, room)
    launch_lag = np.where(binds[mine] & (rest[mine] > 0), room, launch_usual)
    after, first = behind[:, 0], end[behind[:, 1]]
    room = start[after] - first
    last = ~binds[after] & (rest[after] > 0) & (first + depend.following == by_work[after])
    work_usual = np.minimum(depend.following, room)
    work_lag = np.where(last, room, work_usual)
    return (np.stack([mine, called[mine]], 1), behind), (launch_lag, work_lag), (launch_usual, work_usual)


@dataclass(slots=True, eq=False)
class _Rows:
    """A part in the making."""

    kind: NDArray[np.uint8]
    event: Index
    start: Nanoseconds
    end: Nanoseconds
    work: Nanoseconds
    begin: Nanoseconds
    pairs: list[Index]
    lag: list[Nanoseconds]
    usual: list[Nanoseconds]

    def add_host(
        self,
        start: Nanoseconds,
        end: Nanoseconds,
        work: Nanoseconds,
        begin: Nanoseconds,
        back: NDArray[np.bool_] | None = None,
    ) -> None:
        """More rows, of no event; ``back``: which are the end of a wait."""
        kind = np.where(np.zeros(len(start), np.bool_) if back is None else back, SYNC, HOST).astype(np.uint8)
        self.kind = np.concatenate([self.kind, kind])
        self.event = np.concatenate([self.event, np.full(len(kind), NONE, np.int32)])
        self.start, self.end = np.concatenate([self.start, start]), np.concatenate([self.end, end])
        self.work, self.begin = np.concatenate([self.work, work]), np.concatenate([self.begin, begin])

    def wait(self, pairs: Index, lag: Nanoseconds) -> None:
        """More pairs, of lags that stay as measured."""
        self.pairs.append(pairs)
        self.lag.append(lag)
        self.usual.append(lag)

    def part(self, beyond: int) -> RankPart:
        """All of it."""
        pairs = np.concatenate(self.pairs).astype(np.int32).reshape(-1, 2)
        columns = (self.kind, self.event, self.start, self.end, self.work, self.begin)
        lag, usual = (np.concatenate(lags).astype(np.int64) for lags in (self.lag, self.usual))
        return RankPart(*columns, pairs, lag, usual, beyond)


def _add_host(rows: _Rows, points: Host, seen: HostTime, waited: Index, back: Index, begins: int, ends: int) -> None:
    """The chain of the host below the work, from its first event on, and the host's time after its last point.

    What of the time between two points is not ``seen`` lies between them whatever the host costs: it is their lag.
    """
    base, count = len(rows.kind), len(points)
    time, first = points.time.clip(0, ends), base + count
    begins = min([begins, *time[:1].tolist()])
    before = np.where(points.after == NONE, begins, time[points.after])
    reach = before.copy()
    np.maximum.at(reach, back, rows.end[waited])
    work = seen.within(np.minimum(reach, time), time)
    rows.add_host(before, time, work, np.zeros(count, np.int64), (points.what == BACK) & (reach > before))
    rows.add_host(*(np.array([value]) for value in (begins, begins, 0, begins)))
    number = np.arange(count, dtype=np.int32) + base
    came = np.where(points.after == NONE, first, points.after + base)
    rows.wait(np.stack([number, came], 1), time - before - seen.within(before, time))
    rows.wait(np.stack([back + base, waited], 1), np.minimum(time[back] - rows.end[waited], 0))
    if ends > (last := int(time[-1]) if count else begins):
        edges = np.array([last]), np.array([ends])
        rows.add_host(*edges, own := seen.within(*edges), np.array([0]))
        rows.wait(np.array([[first + 1, first - 1 if count else first]], np.int32), ends - last - own)
