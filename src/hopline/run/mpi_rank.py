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
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hopline.errors import DataMismatchError
from hopline.run import cores, failures
from hopline.run.cells import Earlier, cells_of
from hopline.run.comm import LEADER
from hopline.run.course import Course, attend
from hopline.run.ends import Cell, End, ReduceLocal
from hopline.run.leading import Leader, never
from hopline.run.plan import Plan

LOOK_EVERY = 0.25
"""Seconds between two looks at whether the parent is still there."""
PARENT_GONE = 3
"""Exit code of a rank whose parent ended."""
EARLIER_FILE = "earlier.json"
"""In the run's folder: what an earlier run left, as [number of a cell, turns, times] each."""


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


def library() -> tuple[str, ReduceLocal]:
    """Name and version of the MPI library, and its sum of two arrays."""
    from mpi4py import MPI

    name, version = MPI.get_vendor()
    return f"{name} {'.'.join(map(str, version))}", MPI.SUM.Reduce_local


def limits(comm: Any) -> tuple[int, int, Callable[[list[Any]], list[int] | None]]:
    """The largest tag, the rank that nobody is, and the call that tells which of several requests are done."""
    from mpi4py import MPI

    return int(comm.Get_attr(MPI.TAG_UB)), int(MPI.PROC_NULL), MPI.Request.Testsome


def where() -> dict[str, Any]:
    """Host of this rank, and the cores that it may run on."""
    return {"host": platform.node(), "cores": cores.own()}


def start_event(comm: Any) -> Mapping[str, object]:
    """Where all ranks are; every rank calls it. ``crowded`` says where more ranks than cores are: host, ranks, cores."""
    return start_of(comm.allgather(where()))


def start_of(places: Sequence[Mapping[str, Any]]) -> Mapping[str, object]:
    """The first event of a run, from ``where`` of all ranks."""
    ranks: dict[str, int] = defaultdict(int)
    there: dict[str, set[int]] = defaultdict(set)
    for place in places:
        ranks[place["host"]] += 1
        there[place["host"]] |= set(place["cores"])
    crowded = [[host, ranks[host], len(there[host])] for host in ranks if ranks[host] > len(there[host])]
    return {"event": "start", "hosts": [place["host"] for place in places], "crowded": crowded}


def leader_of(comm: Any, plan: Plan, stop: Callable[[], bool] = never) -> tuple[Leader, list[Cell]]:
    """A rank ready for the plan, and the plan's cells."""
    cells = cells_of(plan, comm.size)
    return Leader(End.of(comm, cells, plan.seed, library()[1]), plan, stop=stop), cells


def work(comm: Any, plan: Plan, folder: str) -> None:
    """Be one rank of the plan."""
    start = start_event(comm)
    leader, cells = leader_of(comm, plan)
    if start["crowded"] and hasattr(os, "sched_setaffinity"):
        leader.end.settle = own_core
    comm.Barrier()
    if comm.rank != LEADER:
        attend(leader, cells)
        return
    emit(start)
    course = Course(leader, cells, _earlier(folder, cells))
    try:
        for event in course.run():
            emit(event)
    except DataMismatchError as error:
        emit({"event": "mismatch", "message": str(error)})
    course.end()


def own_core(position: int) -> None:
    """Move to the core of a place in a cell: of ranks that share cores, those of one pair then do not share theirs."""
    os.sched_setaffinity(0, {_CORES[position % len(_CORES)]})


_CORES = cores.own()


def _earlier(folder: str, cells: list[Cell]) -> dict[Cell, Earlier]:
    file = Path(folder, EARLIER_FILE)
    rows = json.loads(file.read_text()) if file.exists() else []
    return {cells[number]: Earlier(turns, tuple(times)) for number, turns, times in rows}


def main(argv: list[str]) -> None:
    """Run one rank; an error that is not reported as an event ends all ranks."""
    parent = os.getppid()
    comm = world()
    threading.Thread(target=end_with_parent, args=(parent, comm.rank == LEADER, argv[1]), daemon=True).start()
    try:
        plan = Plan.from_json(json.loads(argv[0]))
        if comm.size != plan.ranks:
            raise RuntimeError(f"{comm.size} ranks, not {plan.ranks}: mpirun and mpi4py use different MPI libraries")
        work(comm, plan, argv[1])
    except Exception as error:  # noqa: BLE001 - whatever it is, the other ranks must not wait for this one
        emit({"event": "failure", "message": f"rank {comm.rank}: {failures.said(error)}"})
        comm.Abort(1)


if __name__ == "__main__":
    main(sys.argv[1:])
