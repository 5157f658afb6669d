"""What ranks see of a machine when they send: the curve of each message, and the ports at both ends.

What belongs here: from pairs of ranks to curves and ports, by levels or by a machine's wires. What a message takes when
ports are busy is ``sim``.

A port carries one message at a time, from its start-up to its last byte. A message over several hops holds, at either end,
the slowest one of its half of the way: there the others wait.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hopline.curve import Curve
from hopline.errors import InputError, MachineError
from hopline.machine.topology import Leg, Machine, Path
from hopline.quantity import NON_NEGATIVE

Index = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Ways:
    """Number of the curve, of the sender's port and of the receiver's, for each message."""

    curve: Index
    out: Index
    into: Index


class Fabric(ABC):
    """How ``ranks`` ranks reach one another.

    Attributes
    ----------
    curves
        What a message takes, by the numbers that ``ways`` gives.
    ports
        Number of ports; ``port`` names them.
    reduce, copy
        Seconds a byte for adding up and for copying inside of a rank.
    """

    name: str
    ranks: int
    curves: tuple[Curve, ...]
    ports: int
    reduce: float
    copy: float

    @abstractmethod
    def ways(self, sender: Index, receiver: Index, channel: Index) -> Ways:
        """The way of each message; ``channel`` chooses among NICs."""

    @abstractmethod
    def port(self, number: int) -> str:
        """How people speak of a port: ``rank 3 out``."""


@dataclass(frozen=True, slots=True)
class Level:
    """Groups of ``ranks`` members each (ranks, or groups of the level inside); ``nics`` work at once for each rank."""

    ranks: int
    curve: Curve
    nics: int = 1

    def __post_init__(self) -> None:
        if self.ranks < 1 or self.nics < 1:
            raise InputError(f"a level of {self.ranks} ranks with {self.nics} NICs: expected at least 1 of each")


class Levels(Fabric):
    """Ranks in nested groups, the innermost level first; each rank has its own ports on each level.

    One level is a uniform network. Two ranks talk over the innermost level whose group holds both.
    """

    def __init__(self, levels: Sequence[Level], reduce: float = 0.0, copy: float = 0.0, name: str = "levels") -> None:
        if not levels:
            raise InputError("no levels: expected at least one")
        self.levels, self.name = tuple(levels), name
        self.reduce = NON_NEGATIVE.check("time to reduce a byte", reduce)
        self.copy = NON_NEGATIVE.check("time to copy a byte", copy)
        self.curves = tuple(level.curve for level in levels)
        self._spans = np.cumprod([level.ranks for level in levels])
        self.ranks = int(self._spans[-1])
        self._nics = np.array([level.nics for level in levels])
        self._base = np.concatenate([[0], np.cumsum(2 * self.ranks * self._nics)])
        self.ports = int(self._base[-1])

    @classmethod
    def uniform(
        cls, ranks: int, curve: Curve, nics: int = 1, reduce: float = 0.0, copy: float = 0.0, name: str = "uniform"
    ) -> Levels:
        """One level of all ranks."""
        return cls([Level(ranks, curve, nics)], reduce, copy, name)

    def ways(self, sender: Index, receiver: Index, channel: Index) -> Ways:
        """Raises InputError for ranks that it has not got."""
        if len(self._spans) == 1:
            level: Index | int = 0
        else:
            level = np.zeros(len(sender), np.int32)
            for span in self._spans[:-1]:
                level += sender // span != receiver // span
        nics = self._nics[level]
        first = self._base[level] + 2 * (channel % nics)
        out, into = first + 2 * nics * sender, first + 2 * nics * receiver + 1
        number = np.broadcast_to(np.asarray(level, np.int32), sender.shape)
        return Ways(number, out.astype(np.int32), into.astype(np.int32))

    def port(self, number: int) -> str:
        """Rank, direction, and level and NIC where there are several."""
        level = int(np.searchsorted(self._base, number, side="right")) - 1
        rank, rest = divmod(number - int(self._base[level]), 2 * int(self._nics[level]))
        nic, into = divmod(rest, 2)
        parts = [f"rank {rank}", "in" if into else "out"]
        parts += [f"level {level}"] if len(self.levels) > 1 else []
        parts += [f"NIC {nic}"] if self._nics[level] > 1 else []
        return " ".join(parts)


class Wired(Fabric):
    """Ranks on the devices of a machine, one each; messages go the fewest hops, as ``Machine.path`` does.

    Where several ways over links of one name are equally short, channel c takes the c-th at each branching, in the order of
    the file. Raises MachineError where no way leads from one place to another, when that way is asked for.
    """

    def __init__(self, machine: Machine, places: Sequence[str], reduce: float | None = None, copy: float = 0.0) -> None:
        self.name, self.machine, self.places, self.ranks = machine.name, machine, tuple(places), len(places)
        memories = [machine.nodes[place].memory for place in places]
        slowest = min((memory.share("reduce") for memory in memories if memory), default=None)
        self.reduce = reduce if reduce is not None else 0.0 if slowest is None else 1 / slowest
        self.copy = copy
        self.curves: tuple[Curve, ...] = ()
        self.ports = 0
        self._numbers: dict[str, int] = {}
        self._near = _neighbours(machine)
        self._distances: dict[str, dict[str, int]] = {}

    def ways(self, sender: Index, receiver: Index, channel: Index) -> Ways:
        """Each distinct pair and channel is looked up once."""
        channels = int(np.max(channel, initial=0)) + 1
        pair = sender.astype(np.int64) * self.ranks + receiver
        keys, where = np.unique(pair * channels + channel, return_inverse=True)
        rows = []
        for key in keys.tolist():
            ends, way = divmod(key, channels)
            rows.append(self._way(ends // self.ranks, ends % self.ranks, way))
        table = np.array(rows, np.int32).reshape(-1, 3)[where]
        return Ways(table[:, 0], table[:, 1], table[:, 2])

    def port(self, number: int) -> str:
        """The hop it leads over and the direction."""
        return list(self._numbers)[number]

    def nics(self, a: int, b: int) -> int:
        """How many ports channels from rank ``a`` to ``b`` spread over, at its own end."""
        many = np.arange(MOST_NICS, dtype=np.int32)
        ways = self.ways(np.full_like(many, a), np.full_like(many, b), many)
        return len(np.unique(ways.out))

    def path(self, a: int, b: int, channel: int = 0) -> Path:
        """The path between two ranks."""
        start, end = self.places[a], self.places[b]
        if start == end:
            raise MachineError(f"ranks {a} and {b} are both on {start}: expected one rank a device")
        if end not in self._distances:
            self._distances[end] = _distances(self._near, end)
        left = self._distances[end]
        if start not in left:
            self.machine.path((start, end))
        legs: list[Leg] = []
        here = start
        while here != end:
            nearer = [(there, link) for there, link in self._near[here] if left.get(there, left[here]) < left[here]]
            alike = [way for way in nearer if way[1] == nearer[0][1]]
            there, link = alike[channel % len(alike)]
            legs.append(Leg(self.machine.nodes[here], self.machine.nodes[there], self.machine.links[link]))
            here = there
        return Path(tuple(legs))

    def _way(self, a: int, b: int, channel: int) -> tuple[int, int, int]:
        path = self.path(a, b, channel)
        half = (len(path.legs) + 1) // 2
        first = min(path.legs[:half], key=_rate)
        last = min(path.legs[len(path.legs) // 2 :], key=_rate)
        return self._curve(through(path)), self._port(first, channel, "out"), self._port(last, channel, "in")

    def _curve(self, curve: Curve) -> int:
        if curve not in self.curves:
            self.curves += (curve,)
        return self.curves.index(curve)

    def _port(self, leg: Leg, channel: int, direction: str) -> int:
        """Half duplex: both directions of a link are one port, at both ends."""
        ends = (leg.origin, leg.target)
        name = " - ".join(sorted(end.name for end in ends)) if leg.link.duplex == "half" else f"{leg.name} {direction}"
        nics = min((end.nics for end in ends if end.kind == "device"), default=1)
        name += f" NIC {channel % nics}" if nics > 1 else ""
        self.ports = max(self.ports, self._numbers.setdefault(name, len(self._numbers)) + 1)
        return self._numbers[name]


MOST_NICS = 16
"""Channels tried when the NICs of a rank are counted."""


def through(path: Path) -> Curve:
    """One send over a path: its hop's own curve; over several hops all latencies and the least bandwidth (cut-through)."""
    hops = path.hops()
    if len(hops) == 1:
        return hops[0]
    lasts = [hop.pieces[-1] for hop in hops]
    return Curve.line(sum(hop.pieces[0].latency for hop in hops), min(piece.bandwidth for piece in lasts))


def _rate(leg: Leg) -> float:
    return leg.link.bandwidth


def _neighbours(machine: Machine) -> dict[str, list[tuple[str, str]]]:
    """Node -> (neighbour, link), in the order of the file."""
    near: dict[str, list[tuple[str, str]]] = {}
    for connection in machine.connections:
        for here, there in pairwise((*connection.ends, connection.ends[0])):
            near.setdefault(here, []).append((there, connection.link))
    return near


def _distances(near: dict[str, list[tuple[str, str]]], end: str) -> dict[str, int]:
    """Node -> hops to ``end``; nodes from which no way leads there are left out."""
    found = {end: 0}
    queue = deque([end])
    while queue:
        here = queue.popleft()
        for there, _ in near.get(here, ()):
            if there not in found:
                found[there] = found[here] + 1
                queue.append(there)
    return found
