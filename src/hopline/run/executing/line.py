"""What ranks tell each other besides the messages of a schedule.

What belongs here: objects from rank to rank, on anything that can send and receive bytes, and waiting for them.
"""

from __future__ import annotations

import os
import pickle
import time
from typing import Any

import numpy as np

from hopline.run.comm import LONGEST_NAP, SHORTEST_NAP
from hopline.run.executing.transport import Message, Transport
from hopline.run.pattern import Bytes

_LENGTH_TAG, _CONTENT_TAG = 1, 2
_PATIENCE = 0.05
"""Seconds that a transport which can wait is asked to wait at a time."""


def tell(line: Transport, peer: int, what: object) -> None:
    """Send an object; returns when it may be forgotten here."""
    content = np.frombuffer(pickle.dumps(what, protocol=5), np.uint8)
    length = np.array([len(content)], np.int64).view(np.uint8)
    await_all(
        line, [Message(True, length, peer, _LENGTH_TAG), Message(True, content.copy(), peer, _CONTENT_TAG)]
    )  # fmt: skip


def heard(line: Transport, peer: int, patient: bool = False) -> Any:
    """The next object from ``peer``; ``patient``: asleep, since it may take long."""
    length = np.zeros(1, np.int64)
    await_all(line, [Message(False, length.view(np.uint8), peer, _LENGTH_TAG)], patient)
    content: Bytes = np.empty(int(length[0]), np.uint8)
    await_all(line, [Message(False, content, peer, _CONTENT_TAG)])
    return pickle.loads(content.tobytes())


def await_all(line: Transport, messages: list[Message], patient: bool = False) -> None:
    """Begin messages and return when they are done."""
    handles, nap = line.post(messages), SHORTEST_NAP
    while handles:
        done = set(line.finished(handles, _PATIENCE))
        handles = [handle for place, handle in enumerate(handles) if place not in done]
        if done or not handles:
            continue
        if patient:
            time.sleep(nap)
            nap = min(2 * nap, LONGEST_NAP)
        elif line.crowded:
            os.sched_yield()


def gathered(line: Transport, mine: Any) -> list[Any]:
    """Rank 0: what all ranks tell, in their order."""
    return [mine, *(heard(line, rank) for rank in range(1, line.size))]


def tell_all(line: Transport, what: object) -> None:
    """Rank 0: tell every other rank."""
    for rank in range(1, line.size):
        tell(line, rank, what)
