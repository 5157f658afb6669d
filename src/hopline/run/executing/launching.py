"""Schedules carried out by ranks that are started here, on this host.

What belongs here: from jobs to events, by way of processes. ``launch`` knows processes, ``repeating`` what the ranks do; ranks
that somebody else started are ``given``'s.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from hopline.errors import DataMismatchError, InputError, RunError
from hopline.run.executing.part import parts_of
from hopline.run.executing.rank import JOBS_FILE
from hopline.run.executing.repeating import Event, Finished, Job, Repeated
from hopline.run.executing.transports import Carrier, find
from hopline.run.launch import Ranks
from hopline.run.mpi import Started, parse, started_of
from hopline.run.mpirun import environment, private_folder, rank_command
from hopline.run.plan import MOST_RANKS

RANK_PROGRAM, SPAWN_PROGRAM = "hopline.run.executing.rank", "hopline.run.executing.spawn"
SIGNAL = "signal"
"""In the last words of who started ranks: one was killed, and what the others complain of comes of it."""


OTHER_MPI = ": do mpirun and mpi4py belong to the same MPI library?"


@contextmanager
def executing(
    jobs: Sequence[Job], transport: str, ranks: int, program: str = RANK_PROGRAM
) -> Iterator[Iterator[Started | Event]]:
    """Start ranks; what they tell of the jobs. On the way out, also by an exception or Ctrl-C, no rank is left.

    Raises InputError where real ranks cannot carry a schedule out, RunError where something is missing or ranks fail,
    DataMismatchError where a rank ends with other bytes than were promised.
    """
    carrier = find(transport)
    if not 1 <= ranks <= MOST_RANKS:
        raise InputError(f"{ranks} ranks: expected 1 to {MOST_RANKS} that are started here")
    for job in jobs:
        if job.schedule.ranks != ranks:
            raise InputError(f"{job.schedule.name} is for {job.schedule.ranks} ranks: expected {ranks}")
        parts_of(job.schedule)
    with closing(_events(jobs, carrier, ranks, program)) as events:
        yield events


def _events(jobs: Sequence[Job], carrier: Carrier, ranks: int, program: str) -> Generator[Started | Event]:
    with private_folder() as folder:
        Path(folder, JOBS_FILE).write_bytes(pickle.dumps(list(jobs)))
        told = environment(folder)
        if carrier.mpirun:
            command = rank_command(program, [carrier.name], ranks, folder)
        else:
            command = [sys.executable, "-P", "-m", SPAWN_PROGRAM, str(ranks), program, carrier.name, folder]
            told.setdefault("OMP_NUM_THREADS", "1")
        with Ranks(command, told, "mpirun" if carrier.mpirun else SPAWN_PROGRAM) as running:
            yield from events_of(running, folder)


def events_of(running: Ranks, folder: str) -> Iterator[Started | Event]:
    """What the ranks say, as events. Raises RunError where they end other than well."""
    failure, begun = "", False
    for line in running.lines():
        said = parse(line)
        match said.get("event"):
            case "start":
                begun = True
                yield started_of(said)
            case "mismatch":
                raise DataMismatchError(str(said["message"]))
            case "failure":
                failure = failure or str(said["message"])
            case "repeat":
                yield Repeated(said["job"], said["repeat"], said["time"], said["started"])
            case "finished":
                file = Path(folder, f"{said['job']}.pickle")
                yield Finished(said["job"], pickle.loads(file.read_bytes()))
                os.unlink(file)
    if failure:
        words = running.last_words()
        raise RunError(f"the ranks failed{words if SIGNAL in words else f': {failure}'}")
    running.finish()
    if not begun:
        raise RunError(f"the ranks ended without a word{'' if running.starter == SPAWN_PROGRAM else OTHER_MPI}")
