"""What ranks do in a burst of each kind.

What belongs here: the inner loops, and which bytes must be where after them. Each function gets an end, a cell and the number
of the burst; it makes ready and returns an Act. Only ``Act.run`` is timed.

A window of messages is made of persistent requests: they send and receive as MPI_Isend and MPI_Irecv do, and start in one
call, so that a gap is MPI's and not that of so many calls from Python. After each window the receiver sends a byte back
(as the OSU benchmarks do), which keeps the sender from running ahead: a gap holds 1/window of a short round trip's rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopline.run.comm import ACK_TAG, DATA_TAG, start_all, wait_all
from hopline.run.ends import FLOAT, Act, Cell, End, Expected
from hopline.run.pattern import Bytes

_ACK = np.zeros(1, dtype=np.uint8)


def _other(end: End, cell: Cell) -> int:
    first, second = cell.ranks
    return second if end.rank == first else first


def ping_pong(end: End, cell: Cell, iteration: int) -> Act:
    """One message there and one back."""
    comm, other = end.comm, _other(end, cell)
    send, receive = end.pattern.window(end.rank, cell.size, iteration), end.inbox[: cell.size]

    def ping(steps: int) -> None:
        for _ in range(steps):
            comm.Send(send, other, DATA_TAG)
            comm.Recv(receive, other, DATA_TAG)

    def pong(steps: int) -> None:
        for _ in range(steps):
            comm.Recv(receive, other, DATA_TAG)
            comm.Send(send, other, DATA_TAG)

    expected = end.pattern.window(other, cell.size, iteration)
    return Act(ping if end.rank == cell.ranks[0] else pong, lambda: [(expected, receive)])


def _outgoing(end: End, cell: Cell, iteration: int, to: int) -> list[Any]:
    """Requests that send a window, each message another part of the pattern."""
    messages = (end.pattern.window(end.rank, cell.size, iteration + step) for step in range(cell.in_flight))
    return [end.comm.Send_init(message, to, DATA_TAG) for message in messages]


def _slot(end: End, cell: Cell, step: int) -> Bytes:
    return end.inbox[step * cell.size : (step + 1) * cell.size]


def _incoming(end: End, cell: Cell, source: int) -> list[Any]:
    """Requests that receive a window, each message into a place of its own."""
    return [end.comm.Recv_init(_slot(end, cell, step), source, DATA_TAG) for step in range(cell.in_flight)]


def _window_from(end: End, cell: Cell, iteration: int, source: int) -> Callable[[], Expected]:
    return lambda: (
        (end.pattern.window(source, cell.size, iteration + step), _slot(end, cell, step))
        for step in range(cell.in_flight)
    )


def _freeing(requests: list[Any]) -> Callable[[], None]:
    def free() -> None:
        for request in requests:
            request.Free()

    return free


def _one_way(end: End, cell: Cell, iteration: int, sender: int, receiver: int) -> Act:
    comm, sends, ack = end.comm, end.rank == sender, _ACK.copy()
    requests = _outgoing(end, cell, iteration, receiver) if sends else _incoming(end, cell, sender)

    def give(steps: int) -> None:
        for _ in range(steps):
            start_all(requests)
            wait_all(requests)
            comm.Recv(ack, receiver, ACK_TAG)

    def take(steps: int) -> None:
        for _ in range(steps):
            start_all(requests)
            wait_all(requests)
            comm.Send(ack, sender, ACK_TAG)

    if sends:
        return Act(give, free=_freeing(requests))
    return Act(take, _window_from(end, cell, iteration, sender), _freeing(requests))


def stream(end: End, cell: Cell, iteration: int) -> Act:
    """Windows from the first rank to the second."""
    return _one_way(end, cell, iteration, cell.ranks[0], cell.ranks[1])


def halves(end: End, cell: Cell, iteration: int) -> Act:
    """Windows from each rank of the first half to its counterpart in the second, all at once."""
    half = len(cell.ranks) // 2
    pair = cell.ranks.index(end.rank) % half
    return _one_way(end, cell, iteration, cell.ranks[pair], cell.ranks[pair + half])


def both_ways(end: End, cell: Cell, iteration: int) -> Act:
    """Windows in both directions; who has received all the other sent goes on to the next, so no acknowledgement."""
    other = _other(end, cell)
    requests = _incoming(end, cell, other) + _outgoing(end, cell, iteration, other)

    def run(steps: int) -> None:
        for _ in range(steps):
            start_all(requests)
            wait_all(requests)

    return Act(run, _window_from(end, cell, iteration, other), _freeing(requests))


def barrier(end: End, cell: Cell, iteration: int) -> Act:
    """Barriers one after another."""
    del iteration
    meet = end.group(cell.ranks).Barrier

    def run(steps: int) -> None:
        for _ in range(steps):
            meet()

    return Act(run)


def copy(end: End, cell: Cell, iteration: int) -> Act:
    """Copies from the pattern to the inbox: slices of memory views, which the C library's memmove copies."""
    source = end.pattern.window(end.rank, cell.size, iteration)
    target = end.inbox[: cell.size]
    read, write = source.data, target.data

    def run(steps: int) -> None:
        for _ in range(steps):
            write[:] = read

    return Act(run, lambda: [(source, target)])


def add(end: End, cell: Cell, iteration: int) -> Act:
    """Sums in place: target += addend. All values are whole and small, so float32 holds them exactly."""
    target: NDArray[np.float32] = end.inbox[: cell.size].view(np.float32)
    addend = end.addends[: cell.size // FLOAT]
    start, added = float(iteration % 7), [0]
    target[:] = start
    reduce_local = end.reduce_local

    def run(steps: int) -> None:
        for _ in range(steps):
            reduce_local(addend, target)
        added[0] += steps

    def received() -> Expected:
        return [((start + added[0] * addend).astype(np.float32).view(np.uint8), end.inbox[: cell.size])]

    return Act(run, received)
