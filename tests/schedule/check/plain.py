"""Schedules written row by row: ``made(2, send(0, 1, 4), recv(1, 0, 4), ...)``; each rank has data and scratch of 64 bytes."""

import numpy as np

from hopline.schedule.operations import COMPUTE, COPY, DTYPES, NONE, RECV, REDUCE, SEND, Buffer, Columns, Schedule

BUFFERS = (Buffer("data", 64), Buffer("scratch", 64))


def _row(kind, rank, size, at=0, /, *, buffer=0, lane=0, after=NONE, **more):
    return (
        {"kind": kind}
        | {"rank": rank, "size": size, "start": at, "buffer": buffer, "lane": lane, "after": after}
        | more
    )


def send(rank, peer, size, at=0, *, tag=0, **more):
    return _row(SEND, rank, size, at, peer=peer, other=tag, **more)


def recv(rank, peer, size, at=0, *, tag=0, lane=1, **more):
    return _row(RECV, rank, size, at, peer=peer, other=tag, lane=lane, **more)


def reduce(rank, size, at=0, *, source=1, other=None, lane=1, **more):
    return _row(REDUCE, rank, size, at, source=source, other=at if other is None else other, lane=lane, **more)


def copy(rank, size, at=0, *, source=1, other=None, lane=1, **more):
    return _row(COPY, rank, size, at, source=source, other=at if other is None else other, lane=lane, **more)


def compute(rank, ticks, **more):
    return _row(COMPUTE, rank, ticks, **more)


def made(ranks, *rows, buffers=BUFFERS, promise=None, more=(), begun=(), name="plain"):
    unset = {"buffer": 0, "source": 0, "peer": NONE, "other": 0}
    columns = {key: np.array([row.get(key, unset.get(key)) for row in rows], dtype) for key, dtype in DTYPES.items()}
    pairs = {key: np.array(value, np.int32).reshape(-1, 2) for key, value in (("more", more), ("begun", begun))}
    return Schedule(name, ranks, Columns(**columns), buffers, promise, **pairs)
