"""Schedules done with real numbers, one operation after another in any order that the rules of order allow."""

from __future__ import annotations

import random
from collections import defaultdict, deque

import numpy as np

from hopline.schedule.operations import COPY, FREE, NONE, RECV, REDUCE, SEND, Schedule
from hopline.schedule.promises import EVERY

UNSET = 10**9
"""Above all sums of given numbers: it shows wherever it gets to."""


class Memory:
    """The buffers of all ranks: a number for each byte, small where data were given, else ``UNSET`` and more."""

    def __init__(self, schedule: Schedule, seed: int) -> None:
        draw = np.random.default_rng(seed)
        self.buffers = [draw.integers(UNSET, 2 * UNSET, (schedule.ranks, buffer.size)) for buffer in schedule.buffers]
        given = schedule.promise.given
        for rank, buffer, start, size in zip(given.rank, given.buffer, given.start, given.size, strict=True):
            self.buffers[buffer][rank, start : start + size] = draw.integers(1, 1000, size)
        self.before = [buffer.copy() for buffer in self.buffers]

    def part(self, buffer: int, rank: int, start: int, size: int) -> np.ndarray:
        """Some bytes of a rank."""
        return self.buffers[buffer][rank, start : start + size]

    def wrong(self, schedule: Schedule) -> list[tuple[int, int, int]]:
        """(rank, first byte, bytes) of wanted ranges that hold something else."""
        wanted, found = schedule.promise.wanted, []
        rows = zip(*(getattr(wanted, name) for name in ("rank", "buffer", "start", "size")), strict=True)
        for row, (rank, buffer, start, size) in enumerate(rows):
            there = self.before[wanted.source[row]][:, wanted.other[row] : wanted.other[row] + size]
            origin = wanted.origin[row]
            expected = there.sum(axis=0) if origin == EVERY else there[origin]
            if not np.array_equal(self.part(buffer, rank, start, size), expected):
                found.append((int(rank), int(start), int(size)))
        return found


def execute(schedule: Schedule, seed: int) -> Memory:
    """Do all operations in an order drawn by ``seed``; a message takes a while, and must not change meanwhile.

    Raises AssertionError where something waits for ever, or changes under way.
    """
    columns, draw = schedule.columns, random.Random(seed)
    memory, mates = Memory(schedule, seed), _mates(schedule)
    pending, followers = _waits(schedule)
    able = [row for row in range(len(schedule)) if not pending[row]]
    ready, under_way, done = set(), {}, 0

    def finish(*rows: int) -> None:
        nonlocal done
        for row in rows:
            done += 1
            for follower in followers[row]:
                pending[follower] -= 1
                if not pending[follower]:
                    able.append(follower)

    def local(row: int, buffer: str, start: str) -> np.ndarray:
        where = getattr(columns, buffer)[row], columns.rank[row], getattr(columns, start)[row], columns.size[row]
        return memory.part(*map(int, where))

    while able or under_way:
        if under_way and (not able or draw.random() < 0.5):
            send = draw.choice(list(under_way))
            assert np.array_equal(under_way[send], local(send, "buffer", "start")), (
                f"row {send} changed while it was sent"
            )
            local(mates[send], "buffer", "start")[:] = under_way.pop(send)
            finish(send, mates[send])
            continue
        row = able.pop(draw.randrange(len(able)))
        if columns.kind[row] in (SEND, RECV):
            ready.add(row)
            if mates[row] in ready:
                send = row if columns.kind[row] == SEND else mates[row]
                under_way[send] = local(send, "buffer", "start").copy()
        elif columns.kind[row] == REDUCE:
            local(row, "buffer", "start")[:] += local(row, "source", "other")
            finish(row)
        elif columns.kind[row] == COPY:
            local(row, "buffer", "start")[:] = local(row, "source", "other")
            finish(row)
        else:
            finish(row)
    assert done == len(schedule), f"{len(schedule) - done} operations wait for ever"
    return memory


def _mates(schedule: Schedule) -> dict[int, int]:
    columns = schedule.columns
    ends: dict[tuple[int, ...], tuple[deque[int], deque[int]]] = defaultdict(lambda: (deque(), deque()))
    for row in range(len(schedule)):
        rank, peer, tag = int(columns.rank[row]), int(columns.peer[row]), int(columns.other[row])
        if columns.kind[row] == SEND:
            ends[rank, peer, tag][0].append(row)
        elif columns.kind[row] == RECV:
            ends[peer, rank, tag][1].append(row)
    mates = {}
    for sends, receives in ends.values():
        for send, receive in zip(sends, receives, strict=True):
            mates[send], mates[receive] = receive, send
    return mates


def _waits(schedule: Schedule) -> tuple[list[int], dict[int, list[int]]]:
    """How many rows each waits for, and who waits for each; ``begun`` is left out, so that more orders are tried."""
    columns, last = schedule.columns, {}
    pairs = [(row, int(after)) for row, after in enumerate(columns.after) if after != NONE]
    for row in range(len(schedule)):
        lane = int(columns.rank[row]), int(columns.lane[row])
        if lane[1] != FREE:
            pairs += [(row, last[lane])] if lane in last else []
            last[lane] = row
    pairs += [(int(later), int(earlier)) for later, earlier in schedule.more]
    pending, followers = [0] * len(schedule), defaultdict(list)
    for row, other in pairs:
        pending[row] += 1
        followers[other].append(row)
    return pending, followers
