"""One burst of messages between two ranks, on anything that can Send and Recv.

What belongs here: what both ends of a ping-pong share, and the whole of rank 1. Rank 0's turns are in ``pingpong``.

A burst is: the leader's order, one untimed round trip of at most LEAD_IN bytes (both ends are there, caches and pages
are warm), then ``batch`` timed round trips. Where the order says so, both ends then compare what the last of them left
in their inbox with what was sent, byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hopline.run.pattern import Bytes, Difference, Pattern, first_difference
from hopline.run.plan import Plan

LEADER, FOLLOWER = 0, 1
ORDER_TAG, DATA_TAG, VERDICT_TAG = 1, 2, 3
LEAD_IN = 64 * 1024


class Comm(Protocol):
    """What is needed of a communicator (mpi4py's buffer calls)."""

    def Send(self, buf: NDArray[Any], dest: int, tag: int) -> None:  # noqa: N802
        """Send a buffer and block until it may be reused."""

    def Recv(self, buf: NDArray[Any], source: int, tag: int) -> None:  # noqa: N802
        """Block until the buffer is filled."""


@dataclass(frozen=True, slots=True)
class Burst:
    """An order of the leader: ``batch`` round trips of ``size`` bytes, or none to check an earlier burst."""

    size: int
    batch: int
    iteration: int
    check: bool

    def pack(self) -> NDArray[np.int64]:
        """As the integers that are sent."""
        return np.array([self.size, self.batch, self.iteration, self.check], dtype=np.int64)

    @classmethod
    def unpack(cls, order: NDArray[np.int64]) -> Burst:
        """From the integers that arrived."""
        size, batch, iteration, check = (int(number) for number in order)
        return cls(size, batch, iteration, bool(check))


END = Burst(0, 0, 0, False)


@dataclass(slots=True)
class End:
    """One end of the ping-pong: its rank, and buffers that are allocated and touched once."""

    comm: Comm
    rank: int
    pattern: Pattern
    inbox: Bytes

    @classmethod
    def of(cls, comm: Comm, rank: int, plan: Plan) -> End:
        """The end of ``rank`` for a plan."""
        largest = max(plan.sizes)
        return cls(comm, rank, Pattern(largest, plan.seed), np.full(largest, 0xA5, dtype=np.uint8))

    def buffers(self, burst: Burst) -> tuple[Bytes, Bytes]:
        """What this end sends, and where it receives."""
        return self.pattern.window(self.rank, burst.size, burst.iteration), self.inbox[: burst.size]

    def difference(self, burst: Burst) -> Difference | None:
        """How what arrived here differs from what the other end sent."""
        sent = self.pattern.window(1 - self.rank, burst.size, burst.iteration)
        return first_difference(self.rank, sent, self.inbox[: burst.size])


def ping(comm: Comm, send: Bytes, receive: Bytes, batch: int) -> None:
    """The leader's half of ``batch`` round trips."""
    for _ in range(batch):
        comm.Send(send, FOLLOWER, DATA_TAG)
        comm.Recv(receive, FOLLOWER, DATA_TAG)


def pong(comm: Comm, send: Bytes, receive: Bytes, batch: int) -> None:
    """The follower's half of ``batch`` round trips."""
    for _ in range(batch):
        comm.Recv(receive, LEADER, DATA_TAG)
        comm.Send(send, LEADER, DATA_TAG)


def follow(end: End) -> None:
    """Rank 1: carry out the leader's orders until it says END."""
    order = np.zeros(4, dtype=np.int64)
    while True:
        end.comm.Recv(order, LEADER, ORDER_TAG)
        burst = Burst.unpack(order)
        if burst == END:
            return
        send, receive = end.buffers(burst)
        if burst.batch:
            pong(end.comm, send[:LEAD_IN], receive[:LEAD_IN], 1)
            pong(end.comm, send, receive, burst.batch)
        if burst.check:
            end.comm.Send(_verdict(end.difference(burst)), LEADER, VERDICT_TAG)


def _verdict(difference: Difference | None) -> NDArray[np.int64]:
    """A difference as the integers that are sent; an offset of -1 says there is none."""
    found = (-1, 0, 0) if difference is None else (difference.offset, difference.expected, difference.got)
    return np.array(found, dtype=np.int64)
