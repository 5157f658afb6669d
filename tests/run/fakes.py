"""Stand-ins for a communicator: two ends in one process, joined by queues."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from hopline.run.burst import FOLLOWER, LEADER, End, follow
from hopline.run.pingpong import Leader
from hopline.run.plan import Plan

WAIT = 20.0
Corrupt = Callable[[int, int, np.ndarray], None]


class FakeComm:
    """One end; ``corrupt(rank, tag, data)`` may change what is about to arrive at ``rank``."""

    def __init__(self, rank: int, boxes: tuple[queue.Queue, queue.Queue], corrupt: Corrupt) -> None:
        self.rank, self.boxes, self.corrupt = rank, boxes, corrupt
        self.sent: list[tuple[int, int]] = []

    def Send(self, buf: np.ndarray, dest: int, tag: int) -> None:  # noqa: N802
        """Put a copy, changed or not, in the other end's box."""
        data = buf.copy()
        self.corrupt(dest, tag, data)
        self.sent.append((tag, data.nbytes))
        self.boxes[dest].put((tag, data))

    def Recv(self, buf: np.ndarray, source: int, tag: int) -> None:  # noqa: N802
        """Take from our box; what comes must be what is waited for."""
        got, data = self.boxes[self.rank].get(timeout=WAIT)
        if got != tag or data.nbytes != buf.nbytes:
            raise RuntimeError(
                f"rank {self.rank} expected tag {tag} of {buf.nbytes} B, got tag {got} of {data.nbytes} B"
            )
        buf[:] = data


def intact(rank: int, tag: int, data: np.ndarray) -> None:
    """Change nothing."""


def play(plan: Plan, corrupt: Corrupt = intact, **options: Any) -> tuple[Leader, list[dict[str, Any]]]:
    """Run the plan with both ends in this process; the leader and its events. Errors of the leader are raised."""
    boxes = (queue.Queue(), queue.Queue())
    ends = [End.of(FakeComm(rank, boxes, corrupt), rank, plan) for rank in (LEADER, FOLLOWER)]
    events: list[dict[str, Any]] = []
    follower = threading.Thread(target=follow, args=(ends[FOLLOWER],), daemon=True)
    follower.start()
    leader = Leader(ends[LEADER], plan, lambda event: events.append(dict(event)), **options)
    try:
        leader.lead()
    finally:
        follower.join(WAIT)
        if follower.is_alive():
            raise RuntimeError("the follower was not told to end")
    return leader, events
