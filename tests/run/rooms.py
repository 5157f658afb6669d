"""A transport without processes: all ranks in one, a thread each, joined by mailboxes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hopline.run.executing.memory import HostMemory
from hopline.run.executing.playing import attend
from hopline.run.executing.repeating import Job, lead, leave
from hopline.run.executing.transport import CONTROL_TAGS, Message

Corrupt = Callable[[int, Message, np.ndarray], None]


def intact(rank: int, message: Message, data: np.ndarray) -> None:
    """Change nothing."""


@dataclass
class Room:
    """Letters by (from, to, tag), in order of sending; who waits is woken by any."""

    changed: threading.Condition = field(default_factory=threading.Condition)
    letters: dict[tuple[int, int, int], list[np.ndarray]] = field(default_factory=dict)
    broken: list[BaseException] = field(default_factory=list)
    aborted: list[int] = field(default_factory=list)


@dataclass
class RoomTransport:
    """One rank of a room. Sends are buffered; ``corrupt(rank, message, data)`` may change what ``rank`` sends."""

    rank: int
    size: int
    room: Room
    corrupt: Corrupt = intact
    batches: bool = False
    sleeps: bool = False
    label: str = "room"
    most_tag: int = 2**20
    crowded: bool = False
    seen: list[list[Message]] = field(default_factory=list)

    @property
    def line(self) -> RoomTransport:
        """Itself."""
        return self

    def memory(self, sizes: Sequence[int]) -> HostMemory:
        """Numpy."""
        return HostMemory(sizes)

    def post(self, messages: Sequence[Message]) -> list[Any]:
        """Put what is sent into the room at once."""
        if messages and messages[0].tag >= CONTROL_TAGS:
            self.seen.append(list(messages))
        for message in messages:
            if message.sends:
                data = np.array(message.data)
                if message.tag >= CONTROL_TAGS:
                    self.corrupt(self.rank, message, data)
                with self.room.changed:
                    self.room.letters.setdefault((self.rank, message.peer, message.tag), []).append(data)
                    self.room.changed.notify_all()
        return list(messages)

    def finished(self, handles: list[Any], wait: float) -> Sequence[int]:
        """All sends, and the receives whose letter is there."""
        with self.room.changed:
            found = self._there(handles)
            if not found and wait:
                self.room.changed.wait(wait)
                found = self._there(handles)
            if self.room.broken:
                raise RuntimeError("another rank failed")
            return found

    def _there(self, handles: list[Any]) -> list[int]:
        found = []
        for place, message in enumerate(handles):
            if message.sends:
                found.append(place)
            elif letters := self.room.letters.get((message.peer, self.rank, message.tag)):
                data = letters.pop(0)
                if len(data) != len(message.data):
                    raise RuntimeError(f"rank {self.rank} expected {len(message.data)} bytes, got {len(data)}")
                message.data[:] = data
                found.append(place)
        return found

    def silent(self) -> Any:
        """Everything is done at once."""
        return Silent()

    def abort(self, code: int) -> None:
        """Noted."""
        self.room.aborted.append(code)

    def close(self) -> None:
        """Nothing to do."""


class Silent(RoomTransport):
    """Nobody is there."""

    def __init__(self) -> None:
        super().__init__(0, 1, Room())

    def post(self, messages: Sequence[Message]) -> list[Any]:
        """Nothing goes out."""
        return list(messages)

    def finished(self, handles: list[Any], wait: float) -> Sequence[int]:
        """All are done."""
        return range(len(handles))


@dataclass
class Held:
    """What a run of all ranks left."""

    events: list[Any] = field(default_factory=list)
    transports: list[RoomTransport] = field(default_factory=list)
    room: Room = field(default_factory=Room)

    @property
    def executed(self) -> list[Any]:
        """What each finished job came to."""
        return [event.executed for event in self.events if hasattr(event, "executed")]


def hold(jobs: Sequence[Job], ranks: int, held: Held | None = None, most: int | None = None, **options: Any) -> Held:
    """Carry out jobs with all ranks in this process; errors of any rank are raised."""
    stop = options.pop("stop", lambda: False)
    held = held or Held()
    held.transports = [RoomTransport(rank, ranks, held.room, **options) for rank in range(ranks)]
    threads = [
        threading.Thread(target=_attend, args=(one,), name=f"rank {one.rank}", daemon=True)
        for one in held.transports[1:]
    ]
    for thread in threads:
        thread.start()
    events = lead(held.transports[0], jobs, ("here",) * ranks, False, stop)
    try:
        for event in events:
            held.events.append(event)
            if most is not None and len(held.events) >= most:
                break
    except BaseException as error:
        if held.room.broken:
            raise held.room.broken[0] from error
        raise
    finally:
        events.close()
        if not held.room.broken:
            leave(held.transports[0])
        for thread in threads:
            thread.join(20)
    if held.room.broken:
        raise held.room.broken[0]
    assert not any(thread.is_alive() for thread in threads)
    assert not any(held.room.letters.values()), "letters that nobody took"
    return held


def _attend(transport: RoomTransport) -> None:
    try:
        attend(transport)
    except BaseException as error:  # noqa: BLE001
        with transport.room.changed:
            transport.room.broken.append(error)
            transport.room.changed.notify_all()
