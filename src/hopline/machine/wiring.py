"""What a topology file says, before every number is known: nodes, cables, and what was counted.

What belongs here: files often tell how parts are joined and not how fast; here both can be said, and a machine is made of it
once the rates are known. Reading files is ``formats``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from hopline.errors import MachineError, UnknownNameError
from hopline.machine.parts import Duplex, Link, Node, Startup
from hopline.machine.topology import Connection, Machine
from hopline.quantity import NON_NEGATIVE, POSITIVE

Fact = int | float | str | bool | tuple[float, ...] | tuple[str, ...] | Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Cable:
    """``count`` equal cables side by side between two nodes.

    Attributes
    ----------
    ends
        Names of two nodes.
    label
        What the file calls its kind: ``NV12``, ``4xHDR``, ``16 GT/s x16``. Cables of one label are one kind.
    count
        So many side by side; together they are one link of so many times the bandwidth.
    bandwidth
        Byte/s of one of them, one way; None: the file does not say.
    latency
        Seconds along it; None: the file does not say.
    """

    ends: tuple[str, str]
    label: str
    count: int = 1
    bandwidth: float | None = None
    latency: float | None = None
    duplex: Duplex = "full"

    def __post_init__(self) -> None:
        ends = " - ".join(self.ends)
        if self.count < 1:
            raise MachineError(f"cable {ends}: {self.count} side by side: expected at least 1")
        if self.bandwidth is not None:
            POSITIVE.check(f"bandwidth of cable {ends}", self.bandwidth)
        if self.latency is not None:
            NON_NEGATIVE.check(f"latency of cable {ends}", self.latency)


@dataclass(frozen=True, slots=True)
class Wiring:
    """What a file says.

    Attributes
    ----------
    format, name
        Key of TOPOLOGIES, and what the file calls its machine (else the name of the file).
    nodes, cables
        In the order of the file; no pair of nodes has cables of two entries.
    facts
        What was counted, by the names that the format itself uses.
    remarks
        What a reader should know before he uses it.
    refusal
        Why no machine can be made of it; empty: one can, once all rates are known.
    """

    format: str
    name: str
    nodes: tuple[Node, ...] = ()
    cables: tuple[Cable, ...] = ()
    facts: Mapping[str, Fact] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    refusal: str = ""

    @property
    def unknown(self) -> tuple[str, ...]:
        """Labels of cables whose bandwidth the file does not say, each once."""
        return tuple(dict.fromkeys(cable.label for cable in self.cables if cable.bandwidth is None))

    @property
    def parts(self) -> tuple[int, ...]:
        """Number of nodes of each connected part, the largest first."""
        near: dict[str, list[str]] = {node.name: [] for node in self.nodes}
        for a, b in (cable.ends for cable in self.cables):
            near[a].append(b)
            near[b].append(a)
        left, sizes = dict.fromkeys(near), []
        while left:
            queue, size = deque([left.popitem()[0]]), 0
            while queue:
                size += 1
                fresh = [there for there in near[queue.popleft()] if there in left]
                queue += dict.fromkeys(fresh)
                for there in fresh:
                    left.pop(there, None)
            sizes.append(size)
        return tuple(sorted(sizes, reverse=True))

    @property
    def timed(self) -> bool:
        """Whether the file says the latency of every cable."""
        return all(cable.latency is not None for cable in self.cables)

    def machine(self, rates: Mapping[str, float] | None = None, latency: float | None = None) -> Machine:
        """The machine, with ``rates`` (byte/s of one cable, one way) by label for what the file does not say.

        ``latency``: seconds of cables of which the file says none; None: 0, and the title of the machine says so.

        Raises MachineError where it cannot be one, or a rate is missing; UnknownNameError for a label that needs none.
        """
        if self.refusal:
            raise MachineError(f"{self.name}: {self.refusal}")
        rates = rates or {}
        for label in rates:
            if label not in self.unknown:
                raise UnknownNameError("cable without a rate", label, self.unknown)
        missing = [label for label in self.unknown if label not in rates]
        if missing:
            told = ", ".join(missing[:6]) + (f" and {len(missing) - 6} more" if len(missing) > 6 else "")
            raise MachineError(
                f"{self.name} does not say how fast {told} is: give it, like --rate '{missing[0]}=25GB/s' (one, one way; "
                "hopline machine with --save keeps it)"
            )
        links: dict[str, Link] = {}
        connections = tuple(Connection(cable.ends, _link(cable, rates, latency or 0.0, links)) for cable in self.cables)
        title = f"read from {self.format}" + ("" if self.timed or latency is not None else "; no latencies are known")
        return Machine(self.name, title, links, {node.name: node for node in self.nodes}, connections)


def _link(cable: Cable, rates: Mapping[str, float], latency: float, links: dict[str, Link]) -> str:
    """Name of the link of a cable among ``links``; one that is not there yet is added. ``latency``: where it has none."""
    rate = cable.bandwidth if cable.bandwidth is not None else rates[cable.label]
    base = f"{cable.count} x {cable.label}" if cable.count > 1 else cable.label
    bandwidth, delay = rate * cable.count, latency if cable.latency is None else cable.latency
    number = 1
    while True:
        name = base if number == 1 else f"{base} ({number})"
        known = links.get(name)
        if known is None:
            links[name] = Link(name, bandwidth, Startup(), cable.duplex, "cut-through", peak=bandwidth, delay=delay)
            return name
        if (known.bandwidth, known.delay, known.duplex) == (bandwidth, delay, cable.duplex):
            return name
        number += 1


def wiring_of(machine: Machine) -> Wiring:
    """What a machine is wired like, all rates known."""
    links = machine.links
    cables = tuple(
        Cable(c.ends, c.link, 1, links[c.link].bandwidth, links[c.link].delay, links[c.link].duplex)
        for c in machine.connections
    )
    return Wiring("machine", machine.name, tuple(machine.nodes.values()), cables)
