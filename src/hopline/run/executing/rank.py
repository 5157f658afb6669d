"""The program of one rank: ``python -m hopline.run.executing.rank TRANSPORT FOLDER``, started by ``launching`` only.

What belongs here: what a rank owes to who started it: events as JSON lines on standard output, results as files in the folder,
and an end when its parent ends.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from pathlib import Path

from hopline.errors import DataMismatchError
from hopline.run import failures
from hopline.run.executing.line import gathered, tell
from hopline.run.executing.playing import LEADER, attend
from hopline.run.executing.repeating import Finished, Job, lead, leave
from hopline.run.executing.transport import Transport
from hopline.run.executing.transports import Seat, find
from hopline.run.mpi_rank import emit, end_with_parent, start_of, where

JOBS_FILE = "jobs.pickle"
SEAT = ("HOPLINE_RANK", "HOPLINE_RANKS")
"""Variables that tell plain processes their place."""
_FAILED = 1


def work(transport: Transport, folder: str) -> None:
    """Be one rank of the jobs in the folder."""
    line = transport.line
    if transport.rank != LEADER:
        tell(line, LEADER, where())
        attend(transport)
        return
    start = start_of(gathered(line, where()))
    emit(start)
    jobs: list[Job] = pickle.loads(Path(folder, JOBS_FILE).read_bytes())
    hosts = start["hosts"]
    assert isinstance(hosts, list)
    try:
        for event in lead(transport, jobs, hosts, bool(start["crowded"])):
            if isinstance(event, Finished):
                Path(folder, f"{event.job}.pickle").write_bytes(pickle.dumps(event.executed))
                emit({"event": "finished", "job": event.job})
            else:
                emit(
                    {"event": "repeat", "job": event.job, "repeat": event.repeat, "time": event.time,
                     "started": event.started}
                )  # fmt: skip
    except DataMismatchError as error:
        emit({"event": "mismatch", "message": str(error)})
    leave(transport)


def main(argv: list[str]) -> None:
    """Run one rank; an error that is not reported as an event ends all ranks."""
    name, folder = argv
    parent = os.getppid()
    rank, ranks = (int(os.environ.get(variable, "0")) for variable in SEAT)
    transport: Transport | None = None
    try:
        carrier = find(name)
        if not carrier.mpirun:
            _watch(parent, rank, folder)
        transport = carrier.join(Seat(rank, ranks, f"file://{folder}/meeting"))
        if carrier.mpirun:
            _watch(parent, transport.rank, folder)
        work(transport, folder)
        transport.close()
    except Exception as error:  # noqa: BLE001 - whatever it is, the other ranks must not wait for this one
        number = transport.rank if transport else rank
        emit({"event": "failure", "message": f"rank {number}: {failures.said(error)}"})
        if transport is None:
            os._exit(_FAILED)
        transport.abort(_FAILED)


def _watch(parent: int, rank: int, folder: str) -> None:
    threading.Thread(target=end_with_parent, args=(parent, rank == LEADER, folder), daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1:])
