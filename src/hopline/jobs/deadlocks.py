"""Deadlock among buffers: the trails of a machine's routing or of a route file, with their classes, and the search.

What belongs here: making nets and trails of what a user names, and CLASS_RULES.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopline.errors import InputError, MachineError, UnknownNameError
from hopline.formats.routes import Flow
from hopline.jobs.loading import resolve
from hopline.machine.graph import Graph, Hops, Index
from hopline.machine.topology import Machine
from hopline.quantity import counted
from hopline.records.deadlock import Answer, Net, Start, Trails
from hopline.study.deadlock import search
from hopline.study.deadlock_order import Ways, best_top, valleys
from hopline.study.deadlock_waits import inner, running

Rule = Callable[[Start, Index], NDArray[np.int64]]
"""(start, edge) of flows -> the class of each hop."""
MOST_PAIRS = 4_000_000
"""Flows made of all pairs of devices."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Trails to be looked at.

    Attributes
    ----------
    title
        In words.
    net, trails
        See records.deadlock.
    rule
        Of the classes; None: those of the file.
    note
        What had to be assumed.
    """

    title: str
    net: Net
    trails: Trails
    rule: Rule | None = None
    note: str = ""

    def classify(self, flow: int, edges: list[int]) -> list[int]:
        """Classes of a flow that takes other edges: by the rule, else that of its first hop all along."""
        if self.rule is None:
            return [int(self.trails.classes_of(flow)[0])] * len(edges)
        start = np.array([0, len(edges)], np.int64)
        classes: list[int] = self.rule(start, np.array(edges, np.int32)).tolist()
        return classes


def _one(_net: Net, _trails: Trails, _marked: Sequence[str]) -> Rule:
    return lambda _start, edge: np.zeros(len(edge), np.int64)


def _hop(_net: Net, _trails: Trails, _marked: Sequence[str]) -> Rule:
    return lambda start, edge: running(start, np.ones(len(edge), np.bool_)) - 1


def _dateline(net: Net, _trails: Trails, marked: Sequence[str]) -> Rule:
    if not marked:
        raise InputError("--classes dateline needs the links that it rises on: --mark n4>n0; 'valley' needs none")
    edges = {net.edge(number): number for number in range(len(net.origin))}
    crossing = np.zeros(len(net.origin), np.bool_)
    for name in marked:
        if name not in edges:
            raise UnknownNameError("edge", name, edges)
        crossing[edges[name]] = crossing[edges[">".join(reversed(name.split(">")))]] = True
    return lambda start, edge: running(start, crossing[edge])


def _valley(net: Net, trails: Trails, _marked: Sequence[str]) -> Rule:
    place = best_top(net, trails, Ways(net)).place
    return lambda start, edge: valleys(place, net, start, edge)


CLASS_RULES: dict[str, tuple[str, Callable[[Net, Trails, Sequence[str]], Rule]]] = {
    "one": ("one class for all", _one),
    "hop": ("rises with each hop", _hop),
    "dateline": ("rises with each hop over a link of --mark", _dateline),
    "valley": ("rises where a flow goes up again after it went down, in an order of nodes", _valley),
}
"""Name -> (what it does, how it is made)."""


def of_name(name: str, routing: str, pairs: Sequence[str] = (), channels: int = 1) -> Asked:
    """See ``of_machine``; the machine by its name, file or topology."""
    return of_machine(resolve("hopline.jobs.machines:find")(name), routing, pairs, channels)


def of_machine(machine: Machine, routing: str, pairs: Sequence[str] = (), channels: int = 1) -> Asked:
    """All pairs of devices of a machine, or those named (``A>B``), by a key of ROUTINGS.

    Raises MachineError, UnknownNameError and InputError where they are not there, and InputError for too many.
    """
    graph = Graph(machine)
    flows = (len(pairs) or len(graph.devices) * (len(graph.devices) - 1)) * channels
    if flows > MOST_PAIRS:
        raise InputError(f"{flows:,} flows: expected at most {MOST_PAIRS:,}; name some with --pairs")
    origin, target = _pairs(graph, pairs)
    origin, target = np.repeat(origin, channels), np.repeat(target, channels)
    channel = np.tile(np.arange(channels, dtype=np.int32), len(origin) // channels)
    hops = resolve("hopline.machine.routing.table:find")(routing)(graph, origin, target, channel)
    net = _net(graph, hops)
    names = _Pairs(graph.names, origin, target, channels)
    classes = np.zeros(len(hops.edge), np.int32)
    trails = Trails(names, hops.start, hops.edge, classes, np.full(len(origin), math.inf))
    return Asked(f"{graph.machine.name}, routing {routing}", net, trails)


def _pairs(graph: Graph, pairs: Sequence[str]) -> tuple[Index, Index]:
    if pairs:
        ends = [pair.split(">") for pair in pairs]
        wrong = next((">".join(pair) for pair in ends if len(pair) != 2 or pair[0] == pair[1]), None)
        if wrong is not None:
            raise InputError(f"--pairs {wrong!r}: expected two different nodes, like A>B")
        table = np.array([[graph.number(name) for name in pair] for pair in ends], np.int32)
        return table[:, 0], table[:, 1]
    devices = graph.devices
    if len(devices) < 2:
        raise MachineError(f"{graph.machine.name} has {counted(len(devices), 'device')}: expected at least two")
    origin, target = np.repeat(devices, len(devices)), np.tile(devices, len(devices))
    return origin[origin != target], target[origin != target]


def _net(graph: Graph, hops: Hops) -> Net:
    """Nodes that forward are switches, and devices that the routing goes through."""
    forwards = ~graph.is_device
    forwards[graph.target[hops.edge[inner(hops.start, len(hops.edge))]]] = True
    rate = np.array([link.bandwidth for link in graph.links])[graph.link]
    return Net(graph.names, graph.origin, graph.target, forwards, rate)


class _Pairs(Sequence[str]):
    """Names of flows, made when they are asked for: ``A->B``, with ``.c`` for each of several channels."""

    def __init__(self, names: Sequence[str], origin: Index, target: Index, channels: int) -> None:
        self._names, self._origin, self._target, self._channels = names, origin, target, channels

    def __len__(self) -> int:
        return len(self._origin)

    def __getitem__(self, flow: Any) -> Any:
        name = f"{self._names[self._origin[flow]]}->{self._names[self._target[flow]]}"
        return name if self._channels == 1 else f"{name}.{flow % self._channels}"


BOTH_WAYS = "Without a machine, other ways go over the edges that the file names, taken to lead both ways."


def of_file(path: str, machine: str | None = None, rate: float | None = None) -> Asked:
    """The flows of a route file; on a machine, whose edges and rates hold, else on the edges that the file names.

    rate: byte/s of every edge where there is no machine. Raises FormatError, and what finding the machine raises.
    """
    flows: tuple[Flow, ...] = resolve("hopline.formats.routes:read")(path)
    if machine is None:
        net = _net_of(flows, rate)
    else:
        graph = Graph(resolve("hopline.jobs.machines:find")(machine))
        fixed = np.array([link.bandwidth for link in graph.links])[graph.link]
        net = Net(graph.names, graph.origin, graph.target, _forwarding(graph.names, flows, ~graph.is_device), fixed)
    number = {name: place for place, name in enumerate(net.names)}
    edges = {pair: e for e, pair in enumerate(zip(net.origin.tolist(), net.target.tolist(), strict=True))}
    hops = [_edge(flow, a, b, number, edges) for flow in flows for a, b in pairwise(flow.nodes)]
    start = np.cumsum([0, *(len(flow.nodes) - 1 for flow in flows)], dtype=np.int64)
    classes = [one for flow in flows for one in (flow.classes or (0,) * (len(flow.nodes) - 1))]
    rates = np.array([math.inf if flow.rate is None else flow.rate for flow in flows])
    trails = Trails([flow.name for flow in flows], start, np.array(hops, np.int32), np.array(classes, np.int32), rates)
    where = "" if machine is None else f" on {machine}"
    note = BOTH_WAYS if machine is None else ""
    return Asked(f"{path}{where}", net, trails, note=note)


def _edge(flow: Flow, a: str, b: str, number: dict[str, int], edges: dict[tuple[int, int], int]) -> int:
    for node in (a, b):
        if node not in number:
            raise MachineError(f"flow {flow.name} goes through {node!r}: the machine has no such node")
    if (number[a], number[b]) not in edges:
        raise MachineError(f"flow {flow.name} goes from {a} to {b}: the machine has no link between them")
    return edges[number[a], number[b]]


def _net_of(flows: Sequence[Flow], rate: float | None) -> Net:
    """Nodes and edges in the order of the file; an edge comes with the one back."""
    names = tuple(dict.fromkeys(node for flow in flows for node in flow.nodes))
    number = {name: place for place, name in enumerate(names)}
    cables = dict.fromkeys(
        (min(a, b), max(a, b)) for flow in flows for a, b in pairwise([number[node] for node in flow.nodes])
    )
    table = np.array([*cables], np.int32).reshape(-1, 2)
    rates = None if rate is None else np.full(2 * len(table), rate)
    forwards = _forwarding(names, flows, np.zeros(len(names), np.bool_))
    return Net(names, table.ravel(), table[:, ::-1].ravel(), forwards, rates)


def _forwarding(names: Sequence[str], flows: Sequence[Flow], known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    through = {node for flow in flows for node in flow.nodes[1:-1]}
    found: NDArray[np.bool_] = known | np.array([name in through for name in names])
    return found


def with_classes(asked: Asked, name: str, marked: Sequence[str] = ()) -> Asked:
    """The trails with classes by a key of CLASS_RULES. Raises UnknownNameError and InputError."""
    if name not in CLASS_RULES:
        raise UnknownNameError("rule of classes", name, CLASS_RULES)
    rule = CLASS_RULES[name][1](asked.net, asked.trails, marked)
    classes = rule(asked.trails.start, asked.trails.edge).astype(np.int32)
    return replace(asked, trails=replace(asked.trails, classes=classes), rule=rule)


def find(asked: Asked, ttl: int | None = None) -> Answer:
    """Look for deadlock; ``ttl``: hops that a packet lives."""
    return search(asked.net, asked.trails, asked.classify, ttl)
