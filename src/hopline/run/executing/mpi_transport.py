"""MPI as a transport.

What belongs here: Isend, Irecv and Testsome of mpi4py.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from hopline.run import mpi_rank
from hopline.run.executing.memory import HostMemory
from hopline.run.executing.transport import Handle, Message


class MpiTransport:
    """Ranks of a communicator of mpi4py, on one of their own so that nobody else's messages get in between."""

    batches = False
    sleeps = False

    def __init__(self, comm: Any, label: str = "mpi") -> None:
        self.comm, self.label = comm, label
        self.rank, self.size = comm.rank, comm.size
        self.crowded = False
        self.most_tag, self._nobody, self._some = mpi_rank.limits(comm)

    @property
    def line(self) -> MpiTransport:
        """Itself."""
        return self

    def memory(self, sizes: Sequence[int]) -> HostMemory:
        """In the host's memory."""
        return HostMemory(sizes)

    def post(self, messages: Sequence[Message]) -> list[Handle]:
        """MPI_Isend and MPI_Irecv."""
        comm = self.comm
        return [
            comm.Isend(data, peer, tag) if sends else comm.Irecv(data, peer, tag) for sends, data, peer, tag in messages
        ]

    def finished(self, handles: list[Handle], wait: float) -> Sequence[int]:
        """MPI_Testsome: it looks once and never waits."""
        del wait
        found: Sequence[int] = self._some(handles) or ()
        if not found and self.crowded:
            os.sched_yield()
        return found

    def silent(self) -> MpiTransport:
        """The same calls, with MPI_PROC_NULL at the other end."""
        return _Silent(self)

    def abort(self, code: int) -> None:
        """MPI_Abort."""
        self.comm.Abort(code)

    def close(self) -> None:
        """mpi4py ends MPI when the process leaves."""


class _Silent(MpiTransport):
    def __init__(self, real: MpiTransport) -> None:
        self.__dict__.update(real.__dict__)

    def post(self, messages: Sequence[Message]) -> list[Handle]:
        comm, nobody = self.comm, self._nobody
        return [
            comm.Isend(data, nobody, tag) if sends else comm.Irecv(data, nobody, tag)
            for sends, data, _, tag in messages
        ]
