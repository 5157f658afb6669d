"""Stand-ins for a communicator: all ranks in one process, a thread each, joined by mailboxes."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from hopline.run.cells import cells_of
from hopline.run.comm import LEADER
from hopline.run.course import Course, attend
from hopline.run.ends import Cell, End
from hopline.run.leading import Leader
from hopline.run.plan import Plan

WAIT = 20.0
Corrupt = Callable[[int, int, np.ndarray], None]


def intact(rank: int, tag: int, data: np.ndarray) -> None:
    """Change nothing."""


@dataclass
class Post:
    """What is on its way: (to, source, tag, content), in order."""

    changed: threading.Condition = field(default_factory=threading.Condition)
    letters: list[tuple[int, int, int, Any]] = field(default_factory=list)
    seen: list[tuple[int, int, int, int]] = field(default_factory=list)
    broken: list[BaseException] = field(default_factory=list)
    aborted: list[tuple[int, int]] = field(default_factory=list)
    groups: dict[tuple[int, ...], threading.Barrier] = field(default_factory=dict)

    def put(self, to: int, source: int, tag: int, content: Any) -> None:
        """Add a letter."""
        with self.changed:
            self.letters.append((to, source, tag, content))
            self.changed.notify_all()

    def find(self, to: int, source: int, tag: int) -> int | None:
        """Place of the first letter of this kind."""
        found = (i for i, letter in enumerate(self.letters) if letter[:3] == (to, source, tag))
        return next(found, None)

    def take(self, to: int, source: int, tag: int) -> Any:
        """Wait for a letter and take it out."""
        with self.changed:
            there = self.changed.wait_for(lambda: self.broken or self.find(to, source, tag) is not None, WAIT)
            if not there or self.broken:
                raise RuntimeError(f"rank {to} waited in vain for tag {tag} of rank {source}")
            return self.letters.pop(self.find(to, source, tag))[3]

    def fail(self, error: BaseException) -> None:
        """End all that wait."""
        with self.changed:
            self.broken.append(error)
            self.changed.notify_all()
        for barrier in self.groups.values():
            barrier.abort()


@dataclass
class Request:
    """A persistent request: ``start`` at once, ``finish`` when waited for."""

    start: Callable[[], None]
    finish: Callable[[], None]
    freed: bool = False

    @staticmethod
    def Startall(requests: list[Request]) -> None:  # noqa: N802
        """Start all of them."""
        for request in requests:
            assert not request.freed
            request.start()

    @staticmethod
    def Waitall(requests: list[Request]) -> None:  # noqa: N802
        """Finish all of them."""
        for request in requests:
            request.finish()

    def Free(self) -> None:  # noqa: N802
        """Never to be started again."""
        self.freed = True


class FakeComm:
    """One rank; ``corrupt(rank, tag, data)`` may change what is about to arrive at ``rank``."""

    def __init__(self, rank: int, size: int, post: Post, corrupt: Corrupt) -> None:
        self.rank, self.size, self.post, self.corrupt = rank, size, post, corrupt
        self.group = SimpleNamespace(Incl=tuple)
        self.requests: list[Request] = []

    def Send(self, buf: np.ndarray, dest: int, tag: int) -> None:  # noqa: N802
        """Send a copy, changed or not."""
        data = buf.copy()
        self.corrupt(dest, tag, data)
        self.post.seen.append((self.rank, dest, tag, data.nbytes))
        self.post.put(dest, self.rank, tag, data)

    def Recv(self, buf: np.ndarray, source: int, tag: int) -> None:  # noqa: N802
        """Take the next; it must be as long as what is waited for."""
        data = self.post.take(self.rank, source, tag)
        if data.nbytes != buf.nbytes:
            raise RuntimeError(f"rank {self.rank} expected {buf.nbytes} B, got {data.nbytes} B")
        buf[:] = data

    def Send_init(self, buf: np.ndarray, dest: int, tag: int) -> Request:  # noqa: N802
        """A request that sends."""
        return self._kept(Request(lambda: self.Send(buf, dest, tag), lambda: None))

    def Recv_init(self, buf: np.ndarray, source: int, tag: int) -> Request:  # noqa: N802
        """A request that receives."""
        return self._kept(Request(lambda: None, lambda: self.Recv(buf, source, tag)))

    def _kept(self, request: Request) -> Request:
        self.requests.append(request)
        return request

    def send(self, obj: object, dest: int, tag: int) -> None:
        """Send any object."""
        self.post.put(dest, self.rank, tag, obj)

    def recv(self, *, source: int, tag: int) -> Any:
        """Take any object."""
        return self.post.take(self.rank, source, tag)

    def iprobe(self, source: int, tag: int) -> bool:
        """Whether one is there."""
        if self.post.broken:
            raise RuntimeError("another rank failed")
        return self.post.find(self.rank, source, tag) is not None

    def Abort(self, code: int) -> None:  # noqa: N802
        """End all ranks; here, those that wait."""
        self.post.aborted.append((self.rank, code))
        self.post.fail(RuntimeError("aborted"))

    def Create_group(self, group: tuple[int, ...], tag: int) -> Any:  # noqa: N802
        """Ranks that can meet."""
        with self.post.changed:
            barrier = self.post.groups.setdefault(tuple(group), threading.Barrier(len(group), timeout=WAIT))
        return SimpleNamespace(Barrier=barrier.wait)


def add(addend: np.ndarray, target: np.ndarray) -> None:
    """In place of MPI_Reduce_local."""
    target += addend


@dataclass
class Played:
    """What a run in one process left."""

    course: Course
    cells: list[Cell]
    events: list[dict[str, Any]]
    comms: list[FakeComm]

    @property
    def leader(self) -> Leader:
        """Rank 0."""
        return self.course.leader

    @property
    def samples(self) -> list[tuple[Cell, dict[str, Any]]]:
        """Each sample event with its cell."""
        return [(self.cells[event["cell"]], event) for event in self.events if event["event"] == "sample"]


def play(
    plan: Plan,
    corrupt: Corrupt = intact,
    ranks: int = 2,
    earlier: Any = None,
    most: int | None = None,
    events: list | None = None,
    **options: Any,
) -> Played:
    """Run the plan with all ranks in this process. Errors of any rank are raised; ``most`` events are asked for."""
    post, cells = Post(), cells_of(plan, ranks)
    comms = [FakeComm(rank, ranks, post, corrupt) for rank in range(ranks)]
    leaders = [Leader(End.of(comm, cells, plan.seed, add), plan, **options) for comm in comms]
    threads = [threading.Thread(target=_attend, args=(one, cells, post), daemon=True) for one in leaders[1:]]
    for thread in threads:
        thread.start()
    played = Played(Course(leaders[LEADER], cells, earlier or {}), cells, [] if events is None else events, comms)
    try:
        with contextlib.closing(played.course.run()) as run:
            for event in run:
                played.events.append(event)
                if most is not None and len(played.events) >= most:
                    break
    finally:
        played.course.end()
        for thread in threads:
            thread.join(WAIT)
    if post.broken:
        raise post.broken[0]
    if any(thread.is_alive() for thread in threads):
        raise RuntimeError("a rank was not told to end")
    if post.letters:
        raise RuntimeError(f"letters that nobody took: {[letter[:3] for letter in post.letters]}")
    return played


def _attend(leader: Leader, cells: list[Cell], post: Post) -> None:
    try:
        attend(leader, cells)
    except BaseException as error:  # noqa: BLE001
        post.fail(error)
