"""Collectives cut into buckets: each begins when its share of the work before it is done.

What belongs here: new rows for the pieces. A collective that waited for kernels on another stream is cut into n; the i-th
waits for the kernel by which i / n of the work is done that the same thread launched since the collective before. So a
reduction of all gradients at the end of the backward pass goes on beside it, and one that is ready at once is merely cut.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hopline.errors import InputError
from hopline.quantity import counted
from hopline.schedule.activities import COMPUTE, NONE, TRANSFER, Activities, Index, Picoseconds
from hopline.study.changing import Changed, Setting
from hopline.study.replaying import Inferred
from hopline.study.swapping import collectives_of, members

Rows = NDArray[np.intp]
MOST = 1024
_MIXED = "of which transfer cannot be told from waiting (a rank has no trace, or not all wait for all)"
_NO_INPUTS = "of which no trace tells what work its stream waited for"


def buckets(inferred: Inferred, setting: Setting) -> Changed:
    """Each collective with known inputs in ``setting.value`` pieces. Raises InputError for less than 1 or too many."""
    count = int(setting.value or 0)
    if not 1 <= count <= MOST or count != setting.value:
        raise InputError(f"{setting.value} buckets: expected a whole number from 1 to {MOST}")
    cut = _Cut(inferred, count)
    for number in sorted(set(inferred.activities.meeting.tolist()) - {NONE}):
        cut.meeting(number, setting)
    if not cut.done:
        why = "; ".join(cut.whole()) or "no collective is seen on two ranks or more"
        raise InputError(f"nothing can be cut into buckets: {why}")
    return Changed(cut.made(), cut.premises(setting))


class _Cut:
    """Pieces so far."""

    def __init__(self, inferred: Inferred, count: int) -> None:
        self.inferred, self.count = inferred, count
        self.work = inferred.activities.work.copy()
        self.lane = inferred.lane
        self.threads = inferred.thread
        self.told = collectives_of(inferred)
        self.inputs = self._inputs()
        self.since: dict[tuple[int, int], int] = {}
        self.rows: list[tuple[int, int, int]] = []
        self.pairs: list[tuple[int, int, int]] = []
        self.drops: set[int] = set()
        self.next, self.done, self.kept = len(inferred.meetings), 0, Counter[str]()
        self.start_up = start_up(inferred)

    def meeting(self, number: int, setting: Setting) -> None:
        """Cut one, unless what it waited for is not known on every rank."""
        made = self.inferred.activities
        rows = np.flatnonzero(made.meeting == number)
        inputs = [self.inputs.get(row, NONE) for row in rows.tolist()]
        mixed = bool((made.kind[rows] != TRANSFER).any())
        if mixed or NONE in inputs:
            self.kept[_MIXED if mixed else _NO_INPUTS] += 1
            return
        for row, last in zip(rows.tolist(), inputs, strict=True):
            self._piece(row, last, self._share(number, setting))
        self.next += self.count - 1
        self.done += 1

    def made(self) -> Activities:
        """Activities with all pieces."""
        made = self.inferred.activities
        rows = np.array(self.rows, np.int64).reshape(-1, 3)
        pairs = np.array(self.pairs, np.int64).reshape(-1, 3)
        kept = np.ones(len(made.done), np.bool_)
        kept[sorted(self.drops)] = False
        return replace(
            made,
            kind=np.concatenate([made.kind, np.full(len(rows), TRANSFER, np.uint8)]),
            rank=np.concatenate([made.rank, rows[:, 0].astype(np.int32)]),
            work=np.concatenate([self.work, rows[:, 1]]),
            begin=np.concatenate([made.begin, np.zeros(len(rows), np.int64)]),
            meeting=np.concatenate([made.meeting, rows[:, 2].astype(np.int32)]),
            done=np.concatenate([made.done[kept], pairs[:, :2].astype(np.int32)]),
            lag=np.concatenate([made.lag[kept], pairs[:, 2]]),
        )

    def premises(self, setting: Setting) -> tuple[str, ...]:
        """What is taken to be so."""
        told = ["gradients become ready evenly over the work that their thread launched"]
        if setting.price is None:
            cost = f"each further bucket costs a start-up of {self.start_up * 1e-6:.3g} us"
            told.append(
                cost if self.start_up else "a further bucket costs nothing: no start-up can be told from one size"
            )
        return (*told, *(f"{text} stayed whole" for text in self.whole()))

    def whole(self) -> list[str]:
        """What stays whole, and why."""
        return [f"{counted(times, 'collective')} {why}" for why, times in self.kept.items()]

    def _inputs(self) -> dict[int, int]:
        """Transfer -> the last kernel on another stream that it waited for."""
        made, end = self.inferred.activities, self.inferred.end
        after, before = made.done.T
        mine = (made.kind[after] == TRANSFER) & (made.kind[before] == COMPUTE) & (self.lane[after] != self.lane[before])
        found: dict[int, int] = {}
        for row, other in zip(after[mine].tolist(), before[mine].tolist(), strict=True):
            if row not in found or end[other] > end[found[row]]:
                found[row] = other
        return found

    def _share(self, number: int, setting: Setting) -> float:
        """Part of the transfer that one piece takes; its start-up in it."""
        met = self.inferred.meetings[number]
        ranks = members(self.inferred, number, self.told)
        if setting.price is not None and met.size is not None and len(ranks) > 1:
            all_, one = (setting.price(met.op, size, ranks) for size in (met.size, -(-met.size // self.count)))
            if all_ is not None and one is not None:
                return one.time / all_.time if all_.time else 1.0
        whole = float(self.work[np.flatnonzero(self.inferred.activities.meeting == number)].max(initial=1)) or 1.0
        fixed = min(self.start_up, whole)
        return (fixed + (whole - fixed) / self.count) / whole

    def _piece(self, row: int, last: int, share: float) -> None:
        """Rows of one rank: n - 1 new ones before ``row``, each after its kernel and after the one before."""
        made, rank = self.inferred.activities, int(self.inferred.activities.rank[row])
        kernels = self._window(rank, last)
        each = round(int(self.work[row]) * share)
        edges = np.flatnonzero(made.done[:, 0] == row)
        own = [int(edge) for edge in edges if self.lane[made.done[edge, 1]] == self.lane[row]]
        lag = int(max((made.lag[edge] for edge in edges if made.done[edge, 1] == last), default=0))
        before = [(int(made.done[edge, 1]), int(made.lag[edge])) for edge in own]
        for piece in range(self.count - 1):
            new = len(made) + len(self.rows)
            kernel = int(kernels[piece])
            self.rows.append((rank, each, self.next + piece))
            self.pairs += [(new, other, wait) for other, wait in [*before, (kernel, lag)]]
            before = [(new, 0)]
        self.work[row] = each
        self.pairs += [(row, other, wait) for other, wait in before]
        if self.count > 1:
            self.drops.update(own)

    def _window(self, rank: int, last: int) -> Index:
        """The kernel by which each i / n of the work before ``last`` is done, shape (n - 1,)."""
        inferred, made = self.inferred, self.inferred.activities
        thread = self._thread(last)
        key = (rank, thread)
        since = self.since.get(key, -1)
        mine = np.flatnonzero(
            (made.rank == rank) & (made.kind == COMPUTE) & (self.lane == self.lane[last])
            & (inferred.start > since) & (inferred.start <= inferred.start[last])
        )  # fmt: skip
        mine = mine[[self._thread(row) == thread for row in mine.tolist()]]
        self.since[key] = int(inferred.start[last])
        if not len(mine):
            return np.full(self.count - 1, last, np.int32)
        done: Picoseconds = np.cumsum(made.work[mine])
        wanted = done[-1] * np.arange(1, self.count) / self.count
        kernels: Index = mine[np.minimum(np.searchsorted(done, wanted), len(mine) - 1)].astype(np.int32)
        return kernels

    def _thread(self, row: int) -> int:
        return int(self.threads[row])


def start_up(inferred: Inferred) -> float:
    """Picoseconds of a transfer of nothing: by the line through the transfers of the op with most sizes; of one size, 0."""
    made = inferred.activities
    points: dict[tuple[str, int | None], list[tuple[int, int]]] = {}
    for number, met in enumerate(inferred.meetings):
        rows = np.flatnonzero(made.meeting == number)
        if len(rows) and met.size is not None:
            points.setdefault((met.op, met.ranks), []).append((met.size, int(made.work[rows].max())))
    several = [np.array(each, np.float64) for each in points.values() if len({size for size, _ in each}) > 1]
    if not several:
        return 0.0
    size, time = max(several, key=lambda each: len(np.unique(each[:, 0]))).T
    slope, first = np.polyfit(size, time, 1)
    return float(min(max(first, 0.0), time.min())) if slope > 0 else 0.0
