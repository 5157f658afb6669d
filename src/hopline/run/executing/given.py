"""Ranks that somebody else started: ``mpirun -n 8 hopline run ...``, ``srun -n 8 ...``, ``torchrun --nproc-per-node 8 ...``.

What belongs here: joining them, what rank 0 and the others then do, and how they end together. Rank 0 asks, writes and prints.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

from hopline.errors import DataMismatchError, InputError, RunError
from hopline.run import failures
from hopline.run.executing.line import gathered, tell
from hopline.run.executing.playing import LEADER, attend
from hopline.run.executing.repeating import Event, Job, check, lead, leave
from hopline.run.executing.transport import Transport
from hopline.run.executing.transports import TORCHRUN, Carrier, find
from hopline.run.launcher import launched
from hopline.run.mpi import Started, started_of
from hopline.run.mpi_rank import start_of, where
from hopline.run.world import Stop

_FAILED = 2


def rank_told(environment: Mapping[str, str] = os.environ) -> int | None:
    """Which of several ranks a launcher says we are; None where we are on our own. torchrun counts first: srun may run it."""
    rank, size = (environment.get(name, "") for name in TORCHRUN[:2])
    if rank.isdecimal() and size.isdecimal() and int(size) > 1:
        return int(rank)
    told = launched(environment)
    return told.rank if told else None


@dataclass(slots=True)
class Given:
    """The ranks we are one of. As a context of rank 0, it lets the others leave at the end.

    ``failed``: what ended the jobs; the others cannot be told to leave then, and all are ended at the end.
    """

    transport: Transport
    started: Started
    stop: Stop = field(default_factory=Stop)
    failed: Exception | None = None

    @property
    def ranks(self) -> int:
        """How many there are."""
        return self.transport.size

    @property
    def leads(self) -> bool:
        """Whether this rank asks, writes and prints."""
        return self.transport.rank == LEADER

    def __enter__(self) -> Given:
        return self

    def __exit__(self, *_: object) -> None:
        if self.leads and self.failed is not None:
            self._abort(self.failed)
        elif self.leads:
            leave(self.transport)
            self.transport.close()

    def attend(self) -> None:
        """Every rank but the first: take part in job after job until told to leave."""
        try:
            with self.stop:
                attend(self.transport)
            self.transport.close()
        except Exception as error:  # noqa: BLE001 - whatever it is, the other ranks must not wait for this one
            self._abort(error)

    @contextmanager
    def executing(self, jobs: Sequence[Job]) -> Iterator[Iterator[Started | Event]]:
        """The first rank: what comes of the jobs. Raises as ``launching.executing`` does."""
        for job in jobs:
            check(job, self.ranks, self.transport)
        with self.stop, closing(self._events(jobs)) as events:
            yield events

    def _events(self, jobs: Sequence[Job]) -> Generator[Started | Event]:
        yield self.started
        try:
            with closing(
                lead(self.transport, jobs, self.started.hosts, bool(self.started.crowded), self.stop)
            ) as events:  # fmt: skip
                yield from events
        except (DataMismatchError, InputError, KeyboardInterrupt, GeneratorExit):
            raise
        except Exception as error:
            self.failed = error
            raise RunError(self._said(error)) from error

    def _said(self, error: Exception) -> str:
        return f"rank {self.transport.rank} failed: {failures.said(error)}"

    def _abort(self, error: Exception) -> None:
        """Say why in one line and end all ranks; of ranks that only miss another, the first alone speaks."""
        sys.stdout.flush()
        if self.leads or not isinstance(error, ConnectionError):
            sys.stderr.write(f"hopline: {self._said(error)}\n")
            sys.stderr.flush()
        self.transport.abort(_FAILED)


def joined(name: str) -> Given | None:
    """The ranks that we were started with; None where we were not. Raises RunError where they cannot be joined this way."""
    if rank_told() is None:
        return None
    carrier = find(name)
    seat = carrier.seat()
    if seat is None:
        raise RunError(f"torchrun started these ranks: expected --transport gloo or nccl, not {name}")
    transport = _join(carrier)
    line = transport.line
    if transport.rank != LEADER:
        tell(line, LEADER, where())
        return Given(transport, Started(()))
    return Given(transport, started_of(start_of(gathered(line, where()))))


def _join(carrier: Carrier) -> Transport:
    seat = carrier.seat()
    assert seat is not None
    try:
        return carrier.join(seat)
    except RuntimeError as error:
        said = " ".join(str(error).split())[:200]
        raise RunError(f"the {seat.size} ranks did not come together over {carrier.name}: {said}") from None
