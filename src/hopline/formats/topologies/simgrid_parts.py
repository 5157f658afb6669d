"""A SimGrid platform in the making.

What belongs here: what readers of clusters and of routes fill in together.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hopline.formats.topologies.cabling import MOST_CABLES, MOST_NODES, Cabling
from hopline.formats.topologies.simgrid_values import bandwidth, latency
from hopline.formats.topologies.xml import Element
from hopline.machine.parts import Duplex, Node

POLICIES = ("SHARED", "SPLITDUPLEX", "FATPIPE")
"""Both ways share a link; each way has its own; nobody shares it."""


@dataclass(frozen=True, slots=True)
class Wire:
    """A link of SimGrid: byte/s, s, and who shares it."""

    name: str
    bandwidth: float
    latency: float
    policy: str

    @property
    def duplex(self) -> Duplex:
        """As cables have it."""
        return "half" if self.policy == "SHARED" else "full"


@dataclass(slots=True)
class Platform:
    """Nodes, cables and links so far, what should be known, and why there is no machine of it."""

    nodes: dict[str, Node] = field(default_factory=dict)
    cabling: Cabling = field(default_factory=Cabling)
    wires: dict[str, Wire] = field(default_factory=dict)
    remarks: dict[str, None] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)
    cables: int = 0
    closed: set[str] = field(default_factory=set)
    """Routers of clusters that no cable joins to their hosts."""

    def add(self, element: Element, node: Node) -> None:
        """A node. Raises FormatError where its name is taken, or there are too many."""
        if node.name in self.nodes:
            raise element.wrong(f"{node.name} stands here a second time: expected each name once")
        if len(self.nodes) >= MOST_NODES:
            raise element.wrong(f"more than {MOST_NODES} hosts and routers: expected fewer")
        self.nodes[node.name] = node

    def join(self, element: Element, one: str, two: str, wire: Wire, count: int = 1) -> None:
        """A cable like ``wire``. Raises FormatError for too many."""
        self.cables += 1
        if self.cables > MOST_CABLES:
            raise element.wrong(f"more than {MOST_CABLES} cables: expected fewer")
        self.cabling.add((one, two), wire.name, wire.bandwidth, wire.latency, count, wire.duplex)

    def remark(self, text: str) -> None:
        """Once, however often it comes."""
        self.remarks[text] = None

    def refuse(self, text: str) -> None:
        """The first is told."""
        self.refusals.append(text)


def policy(element: Element, name: str, default: str) -> str:
    """Who shares a link. Raises FormatError."""
    found = element.text(name, default).strip().upper()
    found = {"FULLDUPLEX": "SPLITDUPLEX"}.get(found, found)
    if found not in POLICIES:
        raise element.wrong(f"{element.tag} has {name}={found}: expected one of {', '.join(POLICIES)}")
    return found


def wire(element: Element, label: str, names: tuple[str, str, str], default: str) -> Wire:
    """A link out of three attributes: bandwidth, latency, sharing policy."""
    return Wire(label, bandwidth(element, names[0]), latency(element, names[1]), policy(element, names[2], default))
