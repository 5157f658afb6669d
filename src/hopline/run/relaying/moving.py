"""What a station does with the bytes of one message: send, receive, or both at once.

What belongs here: the loops over sockets. They block; nothing here polls. A relay receives on a thread of its own, so that
the next chunk comes in while one goes out.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue

from hopline.errors import RunError
from hopline.run.clock import Clock, now
from hopline.run.relaying.ways import Marks

PIECE = 65536
"""Bytes that are taken from a socket at most where they are sent on as they come."""


def send(target: socket.socket, message: memoryview, clock: Clock = now) -> float:
    """Send the whole message; when that began."""
    start = clock()
    target.sendall(message)
    return start


def nobody(_here: int) -> None:
    """Nobody wants to know how many bytes are here."""


def receive(
    source: socket.socket,
    inbox: memoryview,
    ends: Sequence[int],
    told: Callable[[int], None] = nobody,
    in_pieces: bool = False,
    clock: Clock = now,
) -> list[float]:
    """Fill ``inbox`` chunk by chunk; when the bytes up to each of ``ends`` had arrived.

    ``told`` hears how many bytes are here after each chunk, or ``in_pieces`` as they come. Raises RunError where the
    connection ends before.
    """
    here, times = 0, []
    for end in ends:
        while here < end:
            wanted, how = (min(end, here + PIECE), 0) if in_pieces else (end, socket.MSG_WAITALL)
            count = source.recv_into(inbox[here:wanted], 0, how)
            if not count:
                raise RunError(f"the connection ended after {here} of {ends[-1]} bytes")
            here += count
            if here == end:
                times.append(clock())
            told(here)
    return times


class Relay:
    """One message on its way through a relay: it is received from now on, and ``forward`` sends on what came."""

    def __init__(self, source: socket.socket, inbox: memoryview, ends: Sequence[int], marks: Marks) -> None:
        self._inbox, self._ends, self._marks = inbox, ends, marks
        self._came: SimpleQueue[int | Exception] = SimpleQueue()
        self._times: list[float] = []
        self._thread = threading.Thread(target=self._receive, args=(source,), daemon=True)
        self._thread.start()

    def forward(self, target: socket.socket) -> list[float]:
        """Send the message on; when each chunk had arrived here. Raises what receiving raised."""
        sent = 0
        while sent < self._ends[-1]:
            came = self._came.get()
            if isinstance(came, Exception):
                raise came
            target.sendall(self._inbox[sent:came])
            sent = came
        self._thread.join()
        return self._times

    def _receive(self, source: socket.socket) -> None:
        try:
            self._times = receive(source, self._inbox, self._ends, self._heard, in_pieces=self._marks is None)
        except (OSError, RunError) as error:
            self._came.put(error)

    def _heard(self, here: int) -> None:
        if self._marks is None or here in self._marks:
            self._came.put(here)
