"""Which buffers wait for which, and what came out of it: cycles, what makes them, and what would break them.

What belongs here: trails (the edges of each flow with their buffer classes), and the answer of a search for deadlock. The
search itself is ``study``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int32]
Start = NDArray[np.int64]
Floats = NDArray[np.float64]
RemedyKind = Literal["raise", "reroute", "up-down"]


@dataclass(frozen=True, slots=True, eq=False)
class Net:
    """Nodes and directed edges by number.

    Attributes
    ----------
    names
        Of each node.
    origin, target
        Node at either end of each edge, shape (edges,).
    forwards
        Whether flows may go through a node, shape (nodes,); the others only begin and end them.
    rate
        Byte/s of each edge, shape (edges,); None: not told.
    """

    names: tuple[str, ...]
    origin: Index
    target: Index
    forwards: NDArray[np.bool_]
    rate: Floats | None = None

    def edge(self, number: int) -> str:
        """How people speak of an edge: ``A>B``."""
        return f"{self.names[self.origin[number]]}>{self.names[self.target[number]]}"


@dataclass(frozen=True, slots=True, eq=False)
class Trails:
    """The edges of each flow, and the class of the buffer that it takes behind each of them.

    Attributes
    ----------
    flows
        Name of each flow.
    start
        Flow f takes hops ``start[f]`` to ``start[f + 1]``, shape (flows + 1,).
    edge, classes
        Of each hop, shape (hops,): the edge, and the class (priority, virtual channel) of the buffer at its far end.
    rate
        Byte/s that each flow offers, shape (flows,); infinite: as fast as its edges carry it.
    """

    flows: Sequence[str]
    start: Start
    edge: Index
    classes: Index
    rate: Floats

    def __len__(self) -> int:
        return len(self.start) - 1

    def of(self, flow: int) -> Index:
        """Edges of one flow."""
        return self.edge[self.start[flow] : self.start[flow + 1]]

    def classes_of(self, flow: int) -> Index:
        """Classes of the hops of one flow."""
        return self.classes[self.start[flow] : self.start[flow + 1]]


@dataclass(frozen=True, slots=True)
class Wait:
    """Whoever holds the buffer behind ``edge`` of class ``buffer_class`` waits for that of the next entry, for ``flows``.

    Attributes
    ----------
    flows
        Numbers of the flows that make the wait, in order.
    offered
        The most byte/s that can come together for the edge waited for: each edge that feeds it at its rate, or at what its
        flows offer where that is less; None: rates are not told.
    carries
        Byte/s of the edge waited for.
    """

    edge: int
    buffer_class: int
    flows: tuple[int, ...]
    offered: float | None = None
    carries: float | None = None

    @property
    def congests(self) -> bool | None:
        """Whether more can come for the edge waited for than it carries; None: rates are not told."""
        if self.offered is None or self.carries is None:
            return None
        return self.offered > self.carries * (1 + 1e-9)


@dataclass(frozen=True, slots=True)
class Change:
    """What one flow does differently: its new edges and their classes."""

    flow: int
    edges: tuple[int, ...]
    classes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Remedy:
    """One way of breaking all cycles, looked at again after the change.

    Attributes
    ----------
    changes
        Of each flow that has to change.
    least
        No change of this kind does with fewer flows.
    classes
        Buffer classes in use afterwards.
    free
        Whether the changed trails were searched again and are without a cycle.
    turns
        Where classes rise: pairs of edges (coming over, leaving by).
    root
        Node at the top of an up-down order.
    """

    kind: RemedyKind
    changes: tuple[Change, ...]
    least: int
    classes: int
    free: bool
    turns: tuple[tuple[int, int], ...] = ()
    root: int | None = None

    @property
    def exact(self) -> bool:
        """Whether no change of this kind does with fewer flows."""
        return len(self.changes) == self.least


@dataclass(frozen=True, slots=True)
class Bounds:
    """A least number that was searched for: it is between ``least`` and ``most``."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Loop:
    """A flow that comes back to a node: its first loop.

    Attributes
    ----------
    nodes
        From the node to itself.
    rate
        Byte/s of the slowest edge of the loop; None: not told.
    threshold
        Byte/s of injection above which packets of ``ttl`` hops lock the loop; None: rate or ttl are not told.
    """

    flow: int
    nodes: tuple[int, ...]
    rate: float | None = None
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search for deadlock found.

    Attributes
    ----------
    flows, buffers, dependencies
        Numbers of flows, of (edge, class) in use, and of pairs of which one waits for the other.
    classes
        Number of buffer classes in use.
    tangles
        Sizes of the sets of buffers in which each waits for all others, the largest first.
    tangled
        Number of flows that make a wait inside of one.
    cycle
        A shortest cycle: each waits for the next, the last for the first; empty where there is none.
    shortest
        Whether it is known that no cycle is shorter.
    turns, changed
        Dependencies that have to go, and flows that have to change in whatever way, so that no cycle is left.
    forbidden
        Dependencies that do, as pairs of (edge, class).
    remedies, hopeless
        What would break all cycles, and kinds of remedy that would not, with the reason.
    loops
        Of flows that come back to a node.
    overloaded
        Number of edges for which more can come than they carry; None: rates are not told.
    """

    flows: int
    buffers: int
    dependencies: int
    classes: int
    tangles: tuple[int, ...] = ()
    tangled: int = 0
    cycle: tuple[Wait, ...] = ()
    shortest: bool = True
    turns: Bounds | None = None
    changed: Bounds | None = None
    forbidden: tuple[tuple[tuple[int, int], tuple[int, int]], ...] = ()
    remedies: tuple[Remedy, ...] = ()
    hopeless: tuple[tuple[RemedyKind, str], ...] = ()
    loops: tuple[Loop, ...] = ()
    overloaded: int | None = None
