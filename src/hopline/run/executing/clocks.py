"""Clocks of several ranks on one axis.

What belongs here: ping-pongs with time stamps, and the offset, drift and error that they tell.

Rank 0 sends at t0, the other stamps t1 and answers, the answer comes at t2. Whatever the two ways took, t1 lies between t0
and t2, so the other's clock is ahead by t1 - (t0 + t2) / 2, with an error of at most half of the round trip. The fastest of
several says most (Cristian, Distributed Computing 3, 1989). One reading before and one after what is timed give the drift.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hopline.run.executing.line import await_all
from hopline.run.executing.transport import Message, Transport
from hopline.run.executing.walk import NANO, now
from hopline.schedule.pieces import Ints

TURNS = 40
"""Ping-pongs of one reading."""
_TAG = 3


@dataclass(frozen=True, slots=True)
class Reading:
    """How far a rank's clock is ahead of rank 0's (ns), at most how wrong that is (ns), and when on rank 0's clock (ns)."""

    ahead: float
    error: float
    at: float


HERE = Reading(0.0, 0.0, 0.0)


def read(line: Transport, peer: int) -> Reading:
    """Rank 0: read the clock of ``peer``, which must ``show`` it at the same time."""
    asked, answered = np.zeros(8, np.uint8), np.zeros(1, np.int64)
    best: Reading | None = None
    for _ in range(TURNS):
        begin = now()
        await_all(line, [Message(True, asked, peer, _TAG)])
        await_all(line, [Message(False, answered.view(np.uint8), peer, _TAG)])
        end = now()
        if best is None or end - begin < 2 * best.error:
            best = Reading(int(answered[0]) - (begin + end) / 2, (end - begin) / 2, (begin + end) / 2)
    assert best is not None
    return best


def show(line: Transport) -> None:
    """Every other rank: let rank 0 read the clock."""
    asked, answer = np.zeros(8, np.uint8), np.zeros(1, np.int64)
    for _ in range(TURNS):
        await_all(line, [Message(False, asked, 0, _TAG)])
        answer[0] = now()
        await_all(line, [Message(True, answer.view(np.uint8), 0, _TAG)])


def read_all(line: Transport) -> list[Reading]:
    """Rank 0: a reading of every rank."""
    return [HERE, *(read(line, rank) for rank in range(1, line.size))]


@dataclass(frozen=True, slots=True)
class Aligned:
    """The clock of one rank against rank 0's, from a reading before and one after."""

    before: Reading
    after: Reading

    @property
    def drift(self) -> float:
        """Seconds a second that it gains."""
        between = self.after.at - self.before.at
        return (self.after.ahead - self.before.ahead) / between if between > 0 else 0.0

    @property
    def drift_error(self) -> float:
        """At most how wrong the drift is."""
        between = self.after.at - self.before.at
        return (self.after.error + self.before.error) / between if between > 0 else 0.0

    @property
    def error(self) -> float:
        """Seconds that a time between the readings is off by, at most, where the drift is steady."""
        return max(self.before.error, self.after.error) * NANO

    def on_rank_0(self, times: Ints) -> Ints:
        """Stamps of this rank (ns) as rank 0's clock has them."""
        since = times - self.before.ahead - self.before.at
        ahead = self.before.ahead + self.drift * since / (1 + self.drift)
        found: Ints = times - np.rint(ahead).astype(np.int64)
        return found
