"""The program of one MPI rank: ``python -m hopline.run.mpi_rank PLAN FOLDER``, started by ``mpi`` only.

What belongs here: mpi4py, and what a rank owes to who started it: events as JSON lines on standard output, and an end
when its parent ends. This is the one file that imports mpi4py.
"""

from __future__ import annotations

import json
import os
import platform
import select
import shutil
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

from hopline.errors import DataMismatchError
from hopline.run.burst import LEADER, End, follow
from hopline.run.pingpong import Leader
from hopline.run.plan import RANKS, Plan

LOOK_EVERY = 0.25
"""Seconds between two looks at whether the parent is still there."""
PARENT_GONE = 3
"""Exit code of a rank whose parent ended."""


def emit(event: Mapping[str, object]) -> None:
    """Write one event as one line."""
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def end_with_parent(parent: int, watch_input: bool, folder: str) -> None:
    """End this process when mpirun is gone or, on the rank that has it, standard input is closed. Never returns.

    Nobody else may be left to remove the run's private folder, so that is done too.
    """
    while os.getppid() == parent:
        if not watch_input:
            time.sleep(LOOK_EVERY)
        elif select.select([0], [], [], LOOK_EVERY)[0] and not os.read(0, 4096):
            break
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(PARENT_GONE)


def world() -> Any:
    """mpi4py's communicator of all ranks. Only the thread that starts MPI calls it, so no locks are needed in there."""
    import mpi4py

    mpi4py.rc.thread_level = "funneled"
    from mpi4py import MPI

    return MPI.COMM_WORLD


def work(comm: Any, plan: Plan) -> None:
    """Be rank 0 or 1 of the plan."""
    end = End.of(comm, comm.rank, plan)
    comm.Barrier()
    if comm.rank != LEADER:
        follow(end)
        return
    emit({"event": "start", "host": platform.node()})
    try:
        Leader(end, plan, emit).lead()
    except DataMismatchError as error:
        emit({"event": "mismatch", "message": str(error)})


def main(argv: list[str]) -> None:
    """Run one rank; an error that is not reported as an event ends all ranks."""
    parent = os.getppid()
    comm = world()
    threading.Thread(target=end_with_parent, args=(parent, comm.rank == LEADER, argv[1]), daemon=True).start()
    try:
        if comm.size != RANKS:
            raise RuntimeError(f"{comm.size} ranks instead of {RANKS}: mpirun and mpi4py use different MPI libraries")
        fields = json.loads(argv[0])
        work(comm, Plan(**{**fields, "sizes": tuple(fields["sizes"])}))
    except Exception as error:  # noqa: BLE001 - whatever it is, the other rank must not wait for this one
        emit({"event": "failure", "message": f"rank {comm.rank}: {type(error).__name__}: {error}"})
        comm.Abort(1)


if __name__ == "__main__":
    main(sys.argv[1:])
