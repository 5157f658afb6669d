"""How parts join: the machine, and the paths through it.

What belongs here: nodes, connections, and the hops between two nodes with what each costs. The time of a transfer over
them is ``model``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from hopline.curve import Curve
from hopline.errors import MachineError, UnknownNameError
from hopline.machine.parts import Forwarding, Link, Node, Operation, Touch


@dataclass(frozen=True, slots=True)
class Leg:
    """One hop: from a node to the next over a link."""

    origin: Node
    target: Node
    link: Link

    @property
    def name(self) -> str:
        """How people speak of it: ``A>B``."""
        return f"{self.origin.name}>{self.target.name}"

    def latency_known(self) -> bool:
        """False where a switch's latency is not in the machine file and was taken as 0."""
        return self.origin.kind == "device" or self.origin.latency is not None

    def cost(self, ranks: int) -> Curve:
        """α-β of the hop: an end node pays its start-up, a switch only its own latency, so software is not paid again.

        Both pay the delay of the cable.
        """
        if self.origin.kind == "device":
            return self.link.cost(ranks)
        latency = (self.origin.latency or 0.0) + self.link.delay
        return Curve.line(latency, self.link.bandwidth)


@dataclass(frozen=True, slots=True)
class Path:
    """Hops one after the other, from one end node to another."""

    legs: tuple[Leg, ...]

    def __post_init__(self) -> None:
        if not self.legs:
            raise MachineError("the path has no hops: expected at least two nodes, like --path A,B")

    @property
    def names(self) -> tuple[str, ...]:
        """Node names along the path."""
        return (self.legs[0].origin.name, *(leg.target.name for leg in self.legs))

    @property
    def forwarding(self) -> Forwarding:
        """How the nodes between forward; where links differ, the slowest of their ways."""
        order: Sequence[Forwarding] = ("store-and-forward", "cut-through", "wormhole")
        ways = {leg.link.forwarding for leg in self.legs}
        if any(leg.origin.kind == "device" for leg in self.legs[1:]):
            ways.add("store-and-forward")
        return min(ways, key=order.index)

    def hops(self, ranks: int = 2, nics: int = 1) -> list[Curve]:
        """The cost curve of each hop over ``nics`` NICs at once; what the memories at its ends allow comes on top."""
        curves = [leg.cost(ranks) for leg in self.legs]
        if nics == 1:
            return curves
        return [Curve(tuple(replace(p, bandwidth=p.bandwidth * nics) for p in curve.pieces)) for curve in curves]

    def memory_caps(self, hop: int, overlap: bool = True, reduce: bool = False) -> list[tuple[float, str]]:
        """(byte/s, node) that the memories at both ends of a hop allow.

        ``overlap``: hops work at once, so that a relaying device reads and writes together. ``reduce``: the last device
        adds what arrives to what it has.
        """
        leg = self.legs[hop]
        first, last = hop == 0, hop == len(self.legs) - 1
        sends: Touch = "send" if first or not overlap else "relay"
        arrives: Touch = "reduce" if last and reduce else "receive" if last or not overlap else "relay"
        ends = ((leg.origin, sends), (leg.target, arrives))
        return [(node.memory.share(use), node.name) for node, use in ends if node.memory]


def _once(path: Path) -> Path:
    if len(set(path.names)) < len(path.names):
        raise MachineError(f"the path {','.join(path.names)} comes twice to a node: expected each node once")
    return path


@dataclass(frozen=True, slots=True)
class Connection:
    """Two nodes joined by a link, usable both ways."""

    ends: tuple[str, str]
    link: str


@dataclass(frozen=True, slots=True)
class Machine:
    """Nodes and links by name. ``sources`` says for each number (by its key in the file) where it is from.

    ``operations`` are what benchmarks measured on it as a whole, by benchmark and ranks.
    """

    name: str
    title: str
    links: Mapping[str, Link]
    nodes: Mapping[str, Node]
    connections: tuple[Connection, ...]
    sources: Mapping[str, str] = field(default_factory=dict)
    operations: Mapping[str, Operation] = field(default_factory=dict)

    def __post_init__(self) -> None:
        seen: set[frozenset[str]] = set()
        for connection in self.connections:
            pair = frozenset(connection.ends)
            if len(pair) < 2 or pair in seen:
                ends = " - ".join(connection.ends)
                raise MachineError(
                    f"connection {ends}: expected two different nodes, joined once (several NICs: nics = 2)"
                )
            seen.add(pair)
            if connection.link not in self.links:
                raise UnknownNameError("link", connection.link, self.links)
            for end in connection.ends:
                if end not in self.nodes:
                    raise UnknownNameError("node", end, self.nodes)

    def neighbours(self, node: str) -> dict[str, str]:
        """Node -> link name, for the nodes that ``node`` is connected to."""
        found = {}
        for (a, b), link in ((c.ends, c.link) for c in self.connections):
            if node in (a, b):
                found[b if node == a else a] = link
        return found

    def path(self, names: Sequence[str]) -> Path:
        """The path through ``names``; between two that are not neighbours, the fewest hops.

        Raises UnknownNameError for unknown nodes and MachineError for fewer than two or where no way leads on.
        """
        if not self.nodes:
            raise MachineError(
                f"{self.name} has no nodes, only measured operations ({', '.join(self.operations)}): ask hopline expect for "
                "these; a link between nodes comes from a table of single sends, like osu_latency"
            )
        for name in names:
            if name not in self.nodes:
                raise UnknownNameError(f"node of {self.name}", name, self.nodes)
        if len(names) < 2:
            raise MachineError(f"the path {','.join(names)!r} has no hops: expected at least two nodes, like A,B")
        legs: list[Leg] = []
        for a, b in pairwise(names):
            stops = self._way(a, b)
            legs += [self._leg(x, y) for x, y in pairwise(stops)]
        return _once(Path(tuple(legs)))

    def _leg(self, a: str, b: str) -> Leg:
        return Leg(self.nodes[a], self.nodes[b], self.links[self.neighbours(a)[b]])

    def _way(self, a: str, b: str) -> list[str]:
        """Breadth first from ``a`` to ``b``; the order of the file decides between equals."""
        if a == b:
            raise MachineError(f"the path goes from {a} to itself: expected two different nodes")
        near: dict[str, list[str]] = {}
        for first, second in (connection.ends for connection in self.connections):
            near.setdefault(first, []).append(second)
            near.setdefault(second, []).append(first)
        came: dict[str, str] = {a: a}
        queue = deque([a])
        while queue and b not in came:
            here = queue.popleft()
            for there in near.get(here, ()):
                if there not in came:
                    came[there] = here
                    queue.append(there)
        if b not in came:
            beside = ", ".join(near.get(a, [])) or "nothing"
            raise MachineError(f"no way leads from {a} to {b}: {a} is connected to {beside}")
        stops = [b]
        while stops[-1] != a:
            stops.append(came[stops[-1]])
        return stops[::-1]
