"""What flows share on a machine: its links, each way for itself or both together, its NICs and its memories.

What belongs here: from machines, and from levels, to resources and routes. Which way is taken is ``routing``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hopline.errors import MachineError
from hopline.machine.fabric import Levels
from hopline.machine.graph import Graph, Hops, Index, Start
from hopline.machine.parts import TOUCHES, Link, Memory, Touch
from hopline.machine.resources import Floats, Resources, Routes
from hopline.machine.routing.table import find
from hopline.machine.topology import Machine


class Wires(Resources):
    """Ranks on the devices of a machine, whose links, NICs and memories they share.

    Each way of a full-duplex link is a resource, both ways of a half-duplex one together are one. A link's bandwidth is that
    of one NIC: where its device has several, channel c goes over NIC c modulo their number, each a resource. A link with a
    fitted curve has its last piece's bandwidth. A byte takes as many bytes of a memory as it touches it times.

    Several ranks may be on one device; what they send each other only crosses its memory. Raises MachineError, when such a
    route is asked for, where the device has none, and where no way leads from one place to another.
    """

    def __init__(
        self, machine: Machine, places: Sequence[str], routing: str = "shortest", reduce: float | None = None,
        copy: float = 0.0,
    ) -> None:  # fmt: skip
        self.name, self.machine, self.places, self.routing = machine.name, machine, tuple(places), routing
        self.ranks, self.copy = len(self.places), copy
        self.graph = Graph(machine)
        self._route = find(routing)
        self._node: Index = np.array([self.graph.number(place) for place in self.places], np.int32)
        memories = [machine.nodes[place].memory for place in dict.fromkeys(self.places)]
        slowest = min((memory.share("reduce") for memory in memories if memory), default=None)
        self.reduce = reduce if reduce is not None else 0.0 if slowest is None else 1 / slowest
        self._number_links()
        self._number_memories()

    def _number_links(self) -> None:
        """Resources of connection c begin at ``_first[c]``: first those of all NICs one way, then the other way."""
        graph, nodes = self.graph, list(self.machine.nodes.values())
        most = np.iinfo(np.int32).max
        nics = np.array([node.nics if node.kind == "device" else most for node in nodes], np.int32)
        either = np.minimum(nics[graph.origin], nics[graph.target])
        self._nics: Index = np.where(either == most, 1, either).astype(np.int32)
        half = np.array([link.duplex == "half" for link in graph.links], np.bool_)[graph.link]
        self._ways: Index = np.where(half, 1, 2).astype(np.int32)[::2]
        count = self._nics[::2] * self._ways
        self._first: Start = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
        bandwidth = np.array([_last(link) for link in graph.links], float)
        self._link_capacity: Floats = np.repeat(bandwidth[graph.link[::2]], count)
        self._latency = _latencies(graph)

    def _number_memories(self) -> None:
        """Memories come after the links, in the order of the file; -1: a node without one."""
        nodes = list(self.machine.nodes.values())
        own = [i for i, node in enumerate(nodes) if node.memory is not None]
        base = int(self._first[-1])
        self._memory: Start = np.full(len(nodes), -1, np.int64)
        self._memory[own] = np.arange(base, base + len(own))
        self._memory_node = own
        found = [memory for node in nodes if (memory := node.memory) is not None]
        rates = np.array([memory.bandwidth for memory in found], float)
        self._capacity: Floats = np.concatenate([self._link_capacity, rates])
        self._touches = {use: _touches(found, own, use, len(nodes)) for use in ("send", "receive", "relay")}

    @property
    def capacity(self) -> Floats:
        """Byte/s of each resource."""
        return self._capacity

    def hops(self, sender: Index, receiver: Index, channel: Index) -> Hops:
        """The way of each flow over the edges of ``graph``."""
        return self._route(self.graph, self._node[sender], self._node[receiver], channel)

    def routes(self, sender: Index, receiver: Index, channel: Index) -> Routes:
        """Each distinct pair and channel is routed once."""
        channels = int(np.max(channel, initial=0)) + 1
        keys, where = np.unique(
            (sender.astype(np.int64) * self.ranks + receiver) * channels + channel, return_inverse=True
        )
        ends, way = keys // channels, keys % channels
        found = self._routes(*(part.astype(np.int32) for part in (ends // self.ranks, ends % self.ranks, way)))
        return found if len(keys) == len(where) and (where[1:] > where[:-1]).all() else _taken(found, where)

    def _routes(self, sender: Index, receiver: Index, channel: Index) -> Routes:
        graph, hops = self.graph, self.hops(sender, receiver, channel)
        flow = np.repeat(np.arange(len(hops)), np.diff(hops.start))
        edge = hops.edge
        back = (edge & 1) * (self._ways[edge >> 1] - 1)
        link = self._first[edge >> 1] + back * self._nics[edge] + channel[flow] % self._nics[edge]
        last = np.ones(len(edge), np.bool_)
        last[:-1] = flow[1:] != flow[:-1]
        relays = np.flatnonzero(~last)
        every = np.arange(len(hops))
        uses = [
            (every, self._node[sender], "send"),
            (every, self._node[receiver], "receive"),
            (flow[relays], graph.target[edge[relays]], "relay"),
        ]
        memories = [self._uses(flows, nodes, self._touches[use]) for flows, nodes, use in uses]
        flows, resources, weights = (
            np.concatenate(parts) for parts in zip((flow, link, np.ones(len(link))), *memories, strict=True)
        )
        self._check_own(hops, sender, receiver)
        latency: Floats = np.bincount(flow, self._latency[edge], len(hops)).astype(float)
        return _grouped(flows, resources, weights, latency)

    def _uses(self, flow: Start, node: Index, touches: Floats) -> tuple[Start, Start, Floats]:
        has = self._memory[node] >= 0
        return flow[has], self._memory[node[has]], touches[node[has]]

    def _check_own(self, hops: Hops, sender: Index, receiver: Index) -> None:
        alone = np.flatnonzero((np.diff(hops.start) == 0) & (self._memory[self._node[sender]] < 0))
        if len(alone):
            a, b = int(sender[alone[0]]), int(receiver[alone[0]])
            who = f"rank {a} sends to itself" if a == b else f"ranks {a} and {b} are both"
            raise MachineError(
                f"{who} on {self.places[a]}, which has no memory to send over: expected one rank a device, or a memory with a "
                "bandwidth"
            )

    def resource(self, number: int) -> str:
        """``leaf0>spine1``, ``a - b`` for both ways together, ``memory of h0.gpu0``."""
        if number >= self._first[-1]:
            return f"memory of {self.graph.names[self._memory_node[number - int(self._first[-1])]]}"
        connection = int(np.searchsorted(self._first, number, side="right")) - 1
        nics = int(self._nics[2 * connection])
        back, nic = divmod(number - int(self._first[connection]), nics)
        name = self.graph.edge(2 * connection + back)
        if self._ways[connection] == 1:
            name = " - ".join(self.machine.connections[connection].ends)
        return f"{name} NIC {nic}" if nics > 1 else name


def _last(link: Link) -> float:
    return link.cost().pieces[-1].bandwidth


def _latencies(graph: Graph) -> Floats:
    """Of each edge for a message of no bytes, as ``Leg.cost`` has it."""
    nodes = graph.machine.nodes.values()
    switch = np.array([(node.latency or 0.0) if node.kind == "switch" else 0.0 for node in nodes])
    startup = np.array([link.cost().pieces[0].latency for link in graph.links])[graph.link]
    delay = np.array([link.delay for link in graph.links])[graph.link]
    return np.where(graph.is_device[graph.origin], startup, switch[graph.origin] + delay)


def _touches(memories: Sequence[Memory], own: Sequence[int], use: Touch, nodes: int) -> Floats:
    found = np.zeros(nodes)
    found[own] = [memory.touches.get(use, TOUCHES[use]) for memory in memories]
    return found


def _grouped(flow: Start, resource: Start, weight: Floats, latency: Floats) -> Routes:
    """Uses in order of flow; a resource that a flow uses twice is one use of both weights."""
    order = np.lexsort((resource, flow))
    flow, resource, weight = flow[order], resource[order], weight[order]
    new: NDArray[np.bool_] = np.ones(len(flow), np.bool_)
    new[1:] = (flow[1:] != flow[:-1]) | (resource[1:] != resource[:-1])
    total: Floats = np.add.reduceat(weight, np.flatnonzero(new)) if len(flow) else weight
    start = np.concatenate([[0], np.cumsum(np.bincount(flow[new], minlength=len(latency)))]).astype(np.int64)
    return Routes(start, resource[new].astype(np.int32), total, latency)


def _taken(routes: Routes, which: Start) -> Routes:
    """The routes numbered ``which``, in this order."""
    count = np.diff(routes.start)[which]
    start = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    use = np.arange(start[-1]) + np.repeat(routes.start[which] - start[:-1], count)
    return Routes(start, routes.resource[use], routes.weight[use], routes.latency[which])


class Crossbar(Resources):
    """Ranks in nested levels: what they share are the out and in ports of each rank, on each level and NIC."""

    def __init__(self, levels: Levels) -> None:
        self.levels = levels
        self.name, self.ranks, self.reduce, self.copy = levels.name, levels.ranks, levels.reduce, levels.copy
        count = [2 * levels.ranks * level.nics for level in levels.levels]
        self._capacity: Floats = np.repeat([curve.pieces[-1].bandwidth for curve in levels.curves], count)

    @property
    def capacity(self) -> Floats:
        """Byte/s of each port."""
        return self._capacity

    def routes(self, sender: Index, receiver: Index, channel: Index) -> Routes:
        """Out of one port, into the other."""
        ways = self.levels.ways(sender, receiver, channel)
        first = np.array([curve.pieces[0].latency for curve in self.levels.curves])
        resource = np.column_stack([ways.out, ways.into]).ravel().astype(np.int32)
        start = np.arange(len(sender) + 1, dtype=np.int64) * 2
        return Routes(start, resource, np.ones(len(resource)), first[ways.curve])

    def resource(self, number: int) -> str:
        """``rank 3 out``."""
        return self.levels.port(number)
