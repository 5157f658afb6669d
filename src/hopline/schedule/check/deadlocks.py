"""Does every operation come to its end, where sends block and where they are buffered.

What belongs here: the two verdicts, the ring behind them, and the order in which operations can run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hopline.schedule.check import order, rings, words
from hopline.schedule.check.pasts import Past
from hopline.schedule.check.sorts import Sort
from hopline.schedule.faults import Fault
from hopline.schedule.operations import NONE, RECV, SEND, Index, Schedule

_ADVICE = "; where sends are buffered it passes: let the receive not wait for the send"


@dataclass(frozen=True, slots=True)
class Course:
    """How a schedule runs: waits of ranks (``inner``), messages (``mate``), and whether all ends where sends block, or not."""

    schedule: Schedule
    inner: order.Edges
    mate: Index
    blocking: bool
    buffered: bool
    faults: tuple[Sort, ...] = ()

    @property
    def down(self) -> bool:
        """Whether every row waits for earlier rows only, a Recv for its Send too."""
        sends = np.flatnonzero(self.schedule.columns.kind == SEND)
        return self.inner.down and bool(np.all(self.mate[sends] > sends))

    def levels(self, extra: order.Edges | None = None) -> Index:
        """A step of each row after those of all it waits for, with ``extra`` waits of ranks; NONE for rows that never end.

        A message is one step, if sends that block come to an end.
        """
        inner = order.joined(self.inner, extra) if extra else self.inner
        graph = order.waits(self.schedule, inner, self.mate, self.blocking)
        return order.levels(graph.count, graph.source, graph.target)[graph.ends]

    def past(self) -> Past:
        """Questions to the graph where sends are buffered."""
        graph = order.waits(self.schedule, self.inner, self.mate)
        if not self.blocking:
            return Past(self.schedule, graph, order.levels(graph.count, graph.source, graph.target))
        block = order.waits(self.schedule, self.inner, self.mate, blocking=True)
        level = order.levels(block.count, block.source, block.target)
        rows = len(self.schedule)
        step = 2 * np.concatenate([level[block.ends], level[rows:]])
        step[:rows] += self.schedule.columns.kind == RECV
        return Past(self.schedule, graph, step)


def course(schedule: Schedule, mate: Index) -> Course:
    """The verdicts. Every Send must have its Recv.

    Where every row waits for earlier rows only and each Recv is the row below its Send, all comes to its end: in the order of
    rows, a message when its Recv is reached. Else the graph is taken apart level by level.
    """
    inner = order.within(schedule)
    sends = np.flatnonzero(schedule.columns.kind == SEND)
    if inner.down and bool(np.all(mate[sends] == sends + 1)):
        return Course(schedule, inner, mate, True, True)
    blocks = _stuck(schedule, "blocks", order.waits(schedule, inner, mate, blocking=True))
    if not blocks:
        return Course(schedule, inner, mate, True, True)
    deadlock = _stuck(schedule, "deadlock", order.waits(schedule, inner, mate))
    if not deadlock:
        return Course(schedule, inner, mate, False, True, blocks)
    alone = _stuck(schedule, "order", order.waits(schedule, inner, None))
    return Course(schedule, inner, mate, False, False, alone or deadlock)


def _stuck(schedule: Schedule, kind: str, graph: order.Waits) -> tuple[Sort, ...]:
    """The fault of a graph with a ring in it; nothing of one without."""
    level = order.levels(graph.count, graph.source, graph.target)
    if not np.any(level[graph.ends] == NONE):
        return ()
    hops = rings.ring(graph, level)
    stuck = int(np.count_nonzero(level[graph.ends] == NONE))
    lead, advice = ("where sends block, ", _ADVICE) if kind == "blocks" else ("", "")
    never = f" ({words.counted(stuck, 'operation')} never end{'s' if stuck == 1 else ''})"
    rows = tuple(dict.fromkeys(row for row, _, _ in hops))
    return (Sort((Fault(kind, f"{lead}{rings.told(schedule, hops)}{never}{advice}", rows),), 1),)
