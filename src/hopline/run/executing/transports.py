"""TRANSPORTS: what can carry the messages of a schedule, and how its ranks come together.

What belongs here: the table, what each needs, and joining ranks that we started or that somebody else did.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hopline.errors import RunError, UnknownNameError
from hopline.run import mpi_rank
from hopline.run.executing import torch_transport
from hopline.run.executing.mpi_transport import MpiTransport
from hopline.run.executing.transport import Transport
from hopline.run.launcher import launched
from hopline.run.mpirun import MISSING
from hopline.run.world import joined as mpi_joined

NO_TORCH = "torch not found: gloo and nccl need the torch extra: pip install 'hopline[torch]'"


@dataclass(frozen=True, slots=True)
class Seat:
    """The place of a process among ranks, and where they meet (a URL of torch; "" where MPI knows)."""

    rank: int
    size: int
    meets: str = ""


@dataclass(frozen=True, slots=True)
class Carrier:
    """One entry of TRANSPORTS.

    Attributes
    ----------
    name, says
        How it is called, and what it is.
    mpirun
        Whether mpirun starts its ranks; else they are plain processes.
    missing
        Why it cannot be used here; "" where it can.
    seat
        Our place among ranks that somebody else started; None where nobody did.
    join
        Be one of the ranks.
    """

    name: str
    says: str
    mpirun: bool
    missing: Callable[[], str]
    seat: Callable[[], Seat | None]
    join: Callable[[Seat], Transport]


def _no_mpi() -> str:
    return "" if importlib.util.find_spec("mpi4py") else f"mpi4py not found: {MISSING}"


def _no_torch() -> str:
    return "" if importlib.util.find_spec("torch") else NO_TORCH


def _mpi_seat() -> Seat | None:
    told = launched()
    return None if told is None else Seat(told.rank, told.size)


def _mpi(seat: Seat) -> Transport:
    """``seat.meets``: whether we started the ranks ourselves."""
    if seat.meets:
        return MpiTransport(mpi_rank.world())
    world = mpi_joined()
    if world is None:
        raise RunError("a launcher says that we are one of several ranks, and MPI knows of no other")
    return MpiTransport(world.comm.Dup(), world.place.transport)


TORCHRUN = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def torch_seat(environment: Mapping[str, str] = os.environ) -> Seat | None:
    """As torchrun tells, or as mpirun and srun do with MASTER_ADDR and MASTER_PORT set by the user.

    Raises RunError where a launcher started several ranks and nobody says where they meet.
    """
    given = [environment.get(name, "") for name in TORCHRUN]
    if given[0].isdecimal() and given[1].isdecimal():
        return Seat(int(given[0]), int(given[1]), "env://") if int(given[1]) > 1 else None
    told = launched(environment)
    if told is None:
        return None
    if not (told.size and given[2] and given[3]):
        raise RunError(
            "torch's ranks must know where they meet: use torchrun, or set MASTER_ADDR to the host of rank 0 and MASTER_PORT "
            "to a free port there"
        )
    return Seat(told.rank, told.size, f"tcp://{given[2]}:{given[3]}")


def _torch(backend: str) -> Callable[[Seat], Transport]:
    return lambda seat: torch_transport.joined(backend, seat.rank, seat.size, seat.meets)


def _no_gpu() -> str:
    return _no_torch() or ("" if os.path.exists("/dev/nvidiactl") else "nccl needs a GPU of NVIDIA, and none is here")


TRANSPORTS: dict[str, Carrier] = {
    carrier.name: carrier
    for carrier in (
        Carrier("mpi", "Isend and Irecv of MPI by mpi4py", True, _no_mpi, _mpi_seat, _mpi),
        Carrier("gloo", "torch.distributed between CPUs, over TCP", False, _no_torch, torch_seat, _torch("gloo")),
        Carrier("nccl", "torch.distributed between GPUs, one a rank", False, _no_gpu, torch_seat, _torch("nccl")),
    )
}


def find(name: str) -> Carrier:
    """The entry of ``name``. Raises UnknownNameError; RunError where it cannot be used here."""
    if name not in TRANSPORTS:
        raise UnknownNameError("transport", name, TRANSPORTS)
    carrier = TRANSPORTS[name]
    if missing := carrier.missing():
        raise RunError(missing)
    return carrier
