"""Ranks that somebody else started: ``mpirun -n 8 hopline measure``, ``srun -n 8 hopline measure``.

What belongs here: joining the ranks we were started with, what rank 0 and the others then do, and how they end together. No
flag of ours is set: which transport carries the bytes is up to the user's MPI.

Rank 0 asks, writes and prints; the others wait asleep for a plan, take part, and leave when they are told to. A signal
only asks to stop: a turn is left between two bursts, where no rank waits for a message that does not come.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from hopline.errors import DataMismatchError, RunError
from hopline.run import failures, mpi_rank
from hopline.run.cells import NOTHING, Place, cells_of
from hopline.run.comm import LEADER, TURN_TAG, wait_for
from hopline.run.course import Course, attend
from hopline.run.ends import Cell
from hopline.run.launcher import UNKNOWN, Launched, launched
from hopline.run.mpi import EVENTS, Context, Event, Known, Started, started_of
from hopline.run.plan import Plan

LEAVE = None
"""Sent in place of a plan: nothing more is asked."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
_FAILED = 2


@dataclass(slots=True)
class Stop:
    """Whether a signal asked to stop. Use as a context: the handlers that were there come back."""

    asked: bool = False
    _before: dict[int, Any] = field(default_factory=dict)

    def __call__(self) -> bool:
        """Whether a signal came."""
        return self.asked

    def __enter__(self) -> Stop:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._heard) for number in SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _heard(self, _number: int, _frame: FrameType | None) -> None:
        self.asked = True


@dataclass(slots=True)
class World:
    """The ranks we are one of. Every rank makes one, with ``joined``; as a context, it lets the others leave at the end."""

    comm: Any
    started: Started
    place: Place
    stop: Stop = field(default_factory=Stop)

    @property
    def leads(self) -> bool:
        """Whether this rank asks, writes and prints."""
        return bool(self.comm.rank == LEADER)

    @property
    def ranks(self) -> int:
        """How many there are."""
        return len(self.started.hosts)

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        if self.leads:
            self._tell(LEAVE)

    def attend(self) -> None:
        """Every rank but the leader: take part in plan after plan until told to leave."""
        try:
            with self.stop:
                while (plan := wait_for(self.comm, LEADER, TURN_TAG)) is not LEAVE:
                    attend(*mpi_rank.leader_of(self.comm, plan, self.stop))
        except Exception as error:  # noqa: BLE001 - whatever it is, the other ranks must not wait for this one
            self._abort(error)

    def places(self, plan: Plan) -> dict[Cell, Place]:
        """All cells of a plan on these ranks, and where."""
        return dict.fromkeys(cells_of(plan, self.ranks), self.place)

    @contextlib.contextmanager
    def measuring(self, plan: Plan, earlier: Known = NOTHING) -> Iterator[Iterator[Event]]:
        """The leader: the events of a run on all ranks; ``earlier`` holds what need not be measured again.

        Raises DataMismatchError, and KeyboardInterrupt where a signal asked to stop. Any other failure ends all ranks.
        """
        cells_of(plan, self.ranks)
        self._tell(plan)
        leader, cells = mpi_rank.leader_of(self.comm, plan, self.stop)
        with self.stop, contextlib.closing(self._events(Course(leader, cells, earlier))) as events:
            yield events

    def _events(self, course: Course) -> Generator[Event]:
        context = Context(course.cells, self.place)
        try:
            yield self.started
            with contextlib.closing(course.run()) as run:
                for said in run:
                    yield EVENTS[said["event"]](said, context)
        except (DataMismatchError, KeyboardInterrupt, GeneratorExit):
            course.end()
            raise
        except Exception as error:  # noqa: BLE001 - the other ranks may be in the middle of a burst
            self._abort(error)
        else:
            course.end()

    def _tell(self, plan: Plan | None) -> None:
        for rank in range(1, self.comm.size):
            self.comm.send(plan, rank, TURN_TAG)

    def _abort(self, error: Exception) -> None:
        """Say why in one line and end all ranks."""
        sys.stderr.write(f"hopline: rank {self.comm.rank} failed: {failures.said(error)}\n")
        sys.stderr.flush()
        self.comm.Abort(_FAILED)


def joined(told: Launched | None = None) -> World | None:
    """The ranks that we were started with; None where we were not. Raises RunError where MPI knows nothing of them."""
    told = told or launched()
    if told is None:
        return None
    count = f"one of {told.size} ranks" if told.size else "a rank"
    try:
        comm = mpi_rank.world()
        library, _ = mpi_rank.library()
    except (ImportError, RuntimeError) as error:
        raise RunError(f"started as {count}, but mpi4py cannot be used: {error}; {_BUILD}") from None
    if told.size == UNKNOWN and comm.size == 1:
        return None
    if told.size not in (UNKNOWN, comm.size):
        raise RunError(
            f"started as {count} ({told.told_by}={told.size}), but mpi4py's MPI ({library}) knows of "
            f"{comm.size}: the launcher and mpi4py belong to different MPI libraries; {_BUILD}"
        )
    started = started_of(mpi_rank.start_event(comm))
    return World(comm, started, Place(started.hosts, f"mpi: {library}"))


_BUILD = "use the mpirun of that library, or build mpi4py with yours (pip install --no-binary mpi4py mpi4py)"
