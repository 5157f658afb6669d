"""What is needed of MPI, as types, and waiting without keeping a core busy.

What belongs here: the part of mpi4py's communicator that ranks use, the tags of their messages. No import of mpi4py
(``mpi_rank``), so that anything with these methods can stand in for it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

LEADER = 0
"""The rank that hands out the turns."""
ORDER_TAG, DATA_TAG, VERDICT_TAG, ACK_TAG, SLOWEST_TAG, TURN_TAG, RESULT_TAG, GROUP_TAG = range(1, 9)
SHORTEST_NAP, LONGEST_NAP = 20e-6, 2e-3
"""Seconds between two looks of a rank that has nothing to do, growing from the first to the second."""


class Comm(Protocol):
    """mpi4py's communicator, as far as it is used."""

    rank: int
    size: int
    group: Any

    def Send(self, buf: NDArray[Any], dest: int, tag: int) -> None:  # noqa: N802
        """Send a buffer and block until it may be reused."""

    def Recv(self, buf: NDArray[Any], source: int, tag: int) -> None:  # noqa: N802
        """Block until the buffer is filled."""

    def Send_init(self, buf: NDArray[Any], dest: int, tag: int) -> Any:  # noqa: N802
        """A request that sends the buffer each time it is started."""

    def Recv_init(self, buf: NDArray[Any], source: int, tag: int) -> Any:  # noqa: N802
        """A request that fills the buffer each time it is started."""

    def Create_group(self, group: Any, tag: int) -> Comm:  # noqa: N802
        """A communicator of the ranks in ``group``; only these call it."""

    def Barrier(self) -> None:  # noqa: N802
        """Return when all ranks have called it."""

    def send(self, obj: object, dest: int, tag: int) -> None:
        """Send any object."""

    def recv(self, *, source: int, tag: int) -> Any:
        """Block until an object is there."""

    def iprobe(self, source: int, tag: int) -> bool:
        """Whether a message waits."""


def napping(nap: float) -> float:
    """Sleep, and say how long to sleep next."""
    time.sleep(nap)
    return min(2 * nap, LONGEST_NAP)


def wait_for(comm: Comm, source: int, tag: int) -> Any:
    """The next object, waited for asleep: a rank that is not being timed leaves its core to those that are."""
    nap = SHORTEST_NAP
    while not comm.iprobe(source, tag):
        nap = napping(nap)
    return comm.recv(source=source, tag=tag)


def start_all(requests: Sequence[Any]) -> None:
    """Start persistent requests."""
    type(requests[0]).Startall(requests)


def wait_all(requests: Sequence[Any]) -> None:
    """Block until all requests are done."""
    type(requests[0]).Waitall(requests)
