"""One burst of messages between the ranks of a cell, on anything that can send and receive.

What belongs here: what all ranks of a burst share, and the whole of those that do not lead it (``follow``). The rank that
leads is in ``leading``, what moves in a burst in ``acts``.

A burst is: the leader's order, one untimed step of at most LEAD_IN bytes (all are there, caches and pages are warm),
then ``batch`` timed steps. Where the order says so, all ranks then compare what the last step left in their inbox with
what was sent, byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopline.run.clock import Clock, now
from hopline.run.comm import ORDER_TAG, SLOWEST_TAG, VERDICT_TAG
from hopline.run.ends import Cell, End
from hopline.run.kinds import BY_NAME
from hopline.run.pattern import Difference, first_difference


@dataclass(frozen=True, slots=True)
class Burst:
    """An order of the leader: ``batch`` steps, or none to check an earlier burst."""

    batch: int
    iteration: int
    check: bool

    def pack(self) -> NDArray[np.int64]:
        """As the integers that are sent."""
        return np.array([self.batch, self.iteration, self.check], dtype=np.int64)

    @classmethod
    def unpack(cls, order: NDArray[np.int64]) -> Burst:
        """From the integers that arrived."""
        batch, iteration, check = (int(number) for number in order)
        return cls(batch, iteration, bool(check))


END = Burst(0, 0, False)


def play(end: End, cell: Cell, burst: Burst, clock: Clock = now) -> float:
    """Take part in the timed steps of a burst; seconds they took here."""
    kind = BY_NAME[cell.kind]
    release(end)
    end.act = act = kind.act(end, cell, burst.iteration)
    if len(cell.ranks) > 1:
        lead_in = kind.act(end, cell.lead_in(), burst.iteration - 1)
        lead_in.run(1)
        lead_in.free()
    if kind.together:
        end.group(cell.ranks).Barrier()
    start = clock()
    act.run(burst.batch)
    return clock() - start


def difference(end: End) -> Difference | None:
    """How what is here after the last burst differs from what was sent."""
    for expected, got in end.act.received() if end.act else ():
        found = first_difference(end.rank, expected, got)
        if found is not None:
            return found
    return None


def release(end: End) -> None:
    """Free the requests of the last burst."""
    if end.act is not None:
        end.act.free()
        end.act = None


def follow(end: End, cell: Cell) -> None:
    """Take part in a turn that another rank leads: carry out its orders until it says END."""
    leader, together = cell.ranks[0], BY_NAME[cell.kind].together
    order = np.zeros(3, dtype=np.int64)
    end.settle(cell.ranks.index(end.rank))
    while True:
        end.comm.Recv(order, leader, ORDER_TAG)
        burst = Burst.unpack(order)
        if burst == END:
            release(end)
            return
        if burst.batch:
            elapsed = play(end, cell, burst)
            if together:
                end.comm.Send(np.array([elapsed]), leader, SLOWEST_TAG)
        if burst.check:
            end.comm.Send(packed(difference(end)), leader, VERDICT_TAG)


def packed(difference: Difference | None) -> NDArray[np.int64]:
    """A difference as the integers that are sent; an offset of -1 says there is none."""
    found = (-1, 0, 0) if difference is None else (difference.offset, difference.expected, difference.got)
    return np.array(found, dtype=np.int64)


def unpacked(rank: int, verdict: NDArray[Any]) -> Difference | None:
    """A difference from the integers that ``rank`` sent."""
    offset, expected, got = (int(number) for number in verdict)
    return None if offset < 0 else Difference(rank, offset, expected, got)
