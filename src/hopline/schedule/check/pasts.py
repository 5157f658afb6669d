"""What has surely happened before: questions to the graph of waits where sends are buffered.

What belongs here: exact answers to "is X done before Y begins".

X is done at the end of its node: a Send has read its bytes when it ends and when its Recv ends, a Recv, Reduce or Copy has
written by its end. A Recv writes after both its own and its Send's beginning. All of this holds when sends block, too: then
more is in order, so what is in order here is in order always.

The method: operations on one lane of a rank are a chain, in which whoever comes after one comes after all before it. So the
past of an operation is one number for each chain, the last row of it that is done before (a vector clock), and the clock of a
node is the maximum of those it waits for, worked out level by level. An operation on no lane is a chain by itself. Three
questions, the cheap ones first: the same chain? Clocks of the rank's own lanes, over waits within ranks? For pairs still open,
clocks over the whole graph, of those chains only that are asked for. The last is exact by itself; the first two say yes only
where it would.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hopline.errors import InputError
from hopline.schedule.check.forms import Truth
from hopline.schedule.check.order import MESSAGE, Waits, adjacency, spread
from hopline.schedule.operations import FREE, Index, Schedule
from hopline.schedule.pieces import Ints

Words = NDArray[np.uint64]
DEEP = 4_000_000_000
"""Nodes x chains up to which clocks are worked out over the whole graph."""
_TABLE = 1 << 27
"""Entries of a clock table at most."""


class Steps:
    """Nodes of a graph in an order in which none waits for one of its own or a later step."""

    def __init__(self, count: int, source: Index, target: Index, step: Index) -> None:
        self.count = count
        begin, size, before = adjacency(count, target, source)
        waiting = np.flatnonzero(size)
        self._nodes = waiting[np.argsort(step[waiting], kind="stable")]
        steps = step[self._nodes]
        self._bounds = np.concatenate([[0], np.flatnonzero(np.diff(steps)) + 1, [len(steps)]]).tolist()
        self._begin, self._size, self._before = begin[self._nodes], size[self._nodes], before

    def carry(self, table: Ints | Index | Words, join: np.ufunc) -> None:
        """Join to the row of each node, in place, the rows of all nodes before it: shape (count, anything)."""
        for low, high in pairwise(self._bounds):
            if low == high:
                continue
            nodes, size = self._nodes[low:high], self._size[low:high]
            past = table[self._before[spread(self._begin[low:high], size)]]
            if len(past) > len(nodes):
                past = join.reduceat(past, np.cumsum(size) - size)
            table[nodes] = join(table[nodes], past)


class Past:
    """Answers for one schedule; ``step`` orders the nodes of ``graph`` (sends buffered)."""

    def __init__(self, schedule: Schedule, graph: Waits, step: Index) -> None:
        self._schedule, self._graph, self._step = schedule, graph, step
        self._local: Index | None = None
        self._slots: Index = np.empty(0, np.int32)

    def before(self, first: Index, second: Index) -> Truth:
        """Whether each row of ``first`` is surely done before the one of ``second`` begins; shape (pairs,)."""
        columns = self._schedule.columns
        same = (columns.lane[first] == columns.lane[second]) & (columns.lane[first] != FREE)
        out: Truth = same & (columns.rank[first] == columns.rank[second]) & (first < second)
        for ask in (self._within, self._throughout):
            still = np.flatnonzero(~out)
            if len(still):
                out[still] = ask(first[still], second[still])
        apart: Truth = out & (first != second)
        return apart

    @property
    def count(self) -> int:
        """Nodes of the graph."""
        return self._graph.count

    def place(self) -> Index:
        """Place of each row in an order in which none waits for a later one, shape (rows,)."""
        rows = len(self._schedule)
        place = np.empty(rows, np.int32)
        place[np.argsort(self._step[:rows], kind="stable")] = np.arange(rows, dtype=np.int32)
        return place

    def steps(self) -> Steps:
        """The nodes of the whole graph in order."""
        return Steps(self._graph.count, self._graph.source, self._graph.target, self._step)

    def _within(self, first: Index, second: Index) -> Truth:
        """By waits within the rank; both rows are of one rank."""
        columns, rows = self._schedule.columns, len(self._schedule)
        if self._local is None:
            bound = np.flatnonzero(columns.lane != FREE)
            used = np.unique(columns.lane[bound])
            if self._graph.count * len(used) > _TABLE:
                return np.zeros(len(first), np.bool_)
            self._slots = np.zeros(FREE + 1, np.int32)
            self._slots[used] = np.arange(len(used))
            self._local = np.zeros((self._graph.count, max(len(used), 1)), np.int32)
            self._local[bound, self._slots[columns.lane[bound]]] = bound + 1
            inner = self._graph.edges.cause != MESSAGE
            Steps(self._graph.count, self._graph.source[inner], self._graph.target[inner], self._step).carry(
                self._local, np.maximum
            )
        lane = columns.lane[first]
        same = columns.rank[first] == columns.rank[second]
        ordered: Truth = same & (lane != FREE) & (self._local[:rows][second, self._slots[lane]] > first)
        return ordered

    def _throughout(self, first: Index, second: Index) -> Truth:
        """By the whole graph: clocks of the chains of ``first``, as many at a time as a table may hold."""
        columns, count = self._schedule.columns, self._graph.count
        chain = columns.rank.astype(np.int64) << 8 | columns.lane
        free = np.flatnonzero(columns.lane == FREE)
        chain[free] = (self._schedule.ranks << 8) + free
        asked, which = np.unique(chain[first], return_inverse=True)
        if count * len(asked) > DEEP:
            raise InputError(f"{len(asked)} lanes x {count} operations to follow: expected at most {DEEP:.0e} in all")
        steps, width = self.steps(), max(16, _TABLE // 4 // count)
        column = np.searchsorted(asked, chain)
        known = np.flatnonzero(asked[np.minimum(column, len(asked) - 1)] == chain)
        out = np.zeros(len(first), np.bool_)
        for low in range(0, len(asked), width):
            table = np.zeros((count, min(width, len(asked) - low)), np.int32)
            own = known[(column[known] >= low) & (column[known] < low + width)]
            table[own, column[own] - low] = own + 1
            steps.carry(table, np.maximum)
            here = np.flatnonzero((which >= low) & (which < low + width))
            out[here] = table[second[here], which[here] - low] > first[here]
        return out
