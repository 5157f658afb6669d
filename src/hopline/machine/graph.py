"""A machine as arrays: nodes and directed edges by number, for routing and for flows.

What belongs here: numbers for names, and which edges leave a node. Which of them a message takes is ``routing``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hopline.errors import UnknownNameError
from hopline.machine.parts import Link
from hopline.machine.topology import Machine

Index = NDArray[np.int32]
Start = NDArray[np.int64]


class Graph:
    """Nodes and edges of a machine, in the order of the file.

    Edge 2c leads from the first to the second end of connection c, edge 2c + 1 back.

    Attributes
    ----------
    names
        Of each node.
    devices
        Numbers of the nodes that are devices, in the order of the file.
    origin, target
        Node at either end of each edge, shape (edges,).
    link
        Number of the link of each edge, among ``links``, shape (edges,).
    links
        All links, by number.
    first, leaving
        Edges that leave node n, in the order of the file: ``leaving[first[n] : first[n + 1]]``.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.names = tuple(machine.nodes)
        self._number = {name: number for number, name in enumerate(self.names)}
        self.links: tuple[Link, ...] = tuple(machine.links.values())
        links = {name: number for number, name in enumerate(machine.links)}
        number = self._number
        ends = [(number[c.ends[0]], number[c.ends[1]], links[c.link]) for c in machine.connections]
        table = np.array(ends, np.int32).reshape(-1, 3)
        self.origin: Index = table[:, [0, 1]].ravel()
        self.target: Index = table[:, [1, 0]].ravel()
        self.link: Index = np.repeat(table[:, 2], 2)
        self.devices: Index = np.array(
            [number for number, node in enumerate(machine.nodes.values()) if node.kind == "device"], np.int32
        )
        self.leaving: Index = np.argsort(self.origin, kind="stable").astype(np.int32)
        counts = np.bincount(self.origin, minlength=len(self.names))
        self.first: Start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    @property
    def edges(self) -> int:
        """Number of edges, two a connection."""
        return len(self.origin)

    @cached_property
    def is_device(self) -> NDArray[np.bool_]:
        """By node."""
        found = np.zeros(len(self.names), np.bool_)
        found[self.devices] = True
        return found

    @cached_property
    def rate(self) -> NDArray[np.float64]:
        """Byte/s by edge, of one NIC."""
        return np.array([link.bandwidth for link in self.links])[self.link]

    @cached_property
    def by_leaf(self) -> Start:
        """By node, of devices: the place of the device among all, leaf by leaf, then in the order of the file.

        Its leaf is the first switch next to it from which others are reached. So devices of one leaf have places in a row,
        also where the file goes through them node by node (rails).
        """
        inner = ~self.is_device[self.origin] & ~self.is_device[self.target]
        passes = np.zeros(len(self.names), np.bool_)
        passes[self.origin[inner]] = True
        leaf = np.full(len(self.names), len(self.names), np.int64)
        up = np.flatnonzero(self.is_device[self.origin] & passes[self.target])[::-1]
        leaf[self.origin[up]] = self.target[up]
        order = self.devices[np.argsort(leaf[self.devices], kind="stable")]
        place = np.full(len(self.names), -1, np.int64)
        place[order] = np.arange(len(order))
        return place

    def number(self, name: str) -> int:
        """Of a node. Raises UnknownNameError."""
        if name not in self._number:
            raise UnknownNameError(f"node of {self.machine.name}", name, self._number)
        return self._number[name]

    def edge(self, number: int) -> str:
        """How people speak of an edge: ``A>B``."""
        return f"{self.names[self.origin[number]]}>{self.names[self.target[number]]}"


@dataclass(frozen=True, slots=True, eq=False)
class Hops:
    """The way of each flow: flow f takes edges ``edge[start[f] : start[f + 1]]``, in this order."""

    start: Start
    edge: Index

    def __len__(self) -> int:
        return len(self.start) - 1

    def of(self, flow: int) -> Index:
        """Edges of one flow."""
        return self.edge[self.start[flow] : self.start[flow + 1]]
