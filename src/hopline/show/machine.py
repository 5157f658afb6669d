"""A machine as text: its links, nodes and numbers with their sources.

What belongs here: how a Machine reads on a terminal and as JSON.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

from hopline.machine.parts import Link, Node, Operation
from hopline.machine.topology import Machine
from hopline.quantity import show
from hopline.show.document import Block, Grid, Heading, Line
from hopline.show.fitting import show_bandwidth


def page(machine: Machine) -> list[Block]:
    """Its links, nodes and operations."""
    return [Heading(f"{machine.name}: {machine.title}"), *links(machine), *nodes(machine), *operations(machine)]


def links(machine: Machine) -> list[Block]:
    """Each link with its numbers and where they are from."""
    blocks: list[Block] = []
    for link in machine.links.values():
        blocks.append(Heading(f"Link {link.name}: {link.duplex} duplex, {link.forwarding}"))
        rows = [
            (name, value, machine.sources.get(f"links.{link.name}.{key}", "")) for name, key, value in _numbers(link)
        ]
        blocks.append(Grid(("", "", "source"), rows, left=3))
        if link.curve is not None and len(link.curve.pieces) > 1:
            table = [
                (f"from {show(round(p.low), 'size', 3)}", show(p.latency, "time"), show_bandwidth(p.bandwidth))
                for p in link.curve.pieces
            ]
            blocks.append(Grid(("piece", "start-up", "bandwidth"), table))
        if link.fitted is not None:
            f = link.fitted
            measured = f"{show(f.smallest, 'size')} to {show(f.largest, 'size')}"
            errors = f"held-out error {100 * f.mean_error:.1f} % mean, {100 * f.worst_error:.0f} % worst"
            blocks.append(Line(f"  fitted to {f.origin}; measured {measured}; {errors}"))
    return blocks


def _numbers(link: Link) -> list[tuple[str, str, str]]:
    """(name, key in the file, value) of what is known of a link."""
    start = link.startup
    found = [("bandwidth, one way", "bandwidth", show(link.bandwidth, "bandwidth"))]
    if link.peak is not None:
        found.append(("line rate, one way", "peak", show(link.peak, "bandwidth")))
    parts = (("software", start.software), ("dma", start.dma), ("whole", start.unsplit))
    found += [(f"start-up, {part}", f"startup.{part}", show(value, "time")) for part, value in parts if value]
    found += [(f"synchronisation, {n} ranks", f"startup.sync.{n}", show(t, "time")) for n, t in start.sync.table if t]
    if link.header:
        found.append(("header", "header", show(link.header, "size")))
    if link.flit is not None:
        found.append(("flit", "flit", show(link.flit, "size")))
    if link.route_time is not None:
        found.append(("route time", "route_time", show(link.route_time, "time")))
    if link.delay:
        found.append(("delay", "delay", show(link.delay, "time")))
    return found


def operations(machine: Machine) -> list[Block]:
    """What benchmarks measured on it as a whole; none where there is nothing."""
    rows = []
    for operation in machine.operations.values():
        found = operation.fitted
        span = f"{show(found.smallest, 'size')} to {show(found.largest, 'size')}"
        last = operation.curve.pieces[-1]
        rows.append(
            (
                operation.name,
                "gap" if operation.measure == "gap" else "time",
                span,
                str(len(operation.points)),
                show(operation.points[0][1], "time"),
                show_bandwidth(last.bandwidth),
                found.origin,
            )
        )
    header = ("operation", "", "measured", "sizes", "least size takes", "last bandwidth", "source")
    return [Heading("Measured operations"), Grid(header, rows, left=3)] if rows else []


def nodes(machine: Machine) -> list[Block]:
    """Nodes, those of one family in one row, and how they are connected; none where there are no nodes."""
    if not machine.nodes:
        return []
    rows = []
    described = [
        (node.name, (_family(node.name), node.kind, _about(node), _source(machine, node)))
        for node in machine.nodes.values()
    ]
    for (_, *about), group in groupby(described, key=lambda one: one[1]):
        names = [name for name, _ in group]
        rows.append((names[0] if len(names) == 1 else f"{names[0]} .. {names[-1]} ({len(names)})", *about))
    joins = [(f"{a} - {b}", n) for (a, b, n) in _joins(machine)]
    grid = Grid(("", "", "", "source"), rows, left=4)
    return [Heading("Nodes"), grid, Heading("Connections"), Grid(("", "link"), joins, left=2)]


def _source(machine: Machine, node: Node) -> str:
    keys = (f"nodes.{node.name}.memory.bandwidth", f"nodes.{node.name}.latency")
    return next((machine.sources[key] for key in keys if key in machine.sources), "")


def _about(node: Node) -> str:
    if node.kind == "switch":
        return "latency not known" if node.latency is None else f"latency {show(node.latency, 'time')}"
    memory = f", memory {show(node.memory.bandwidth, 'bandwidth')}" if node.memory else ""
    return f"{node.nics} NIC{'s' if node.nics > 1 else ''}{memory}"


def _family(name: str) -> str:
    """The name with every number in it left open, so that ``h0.gpu3`` is one of ``h*.gpu*``."""
    return re.sub(r"\d+", "*", name)


def _joins(machine: Machine) -> list[tuple[str, str, str]]:
    found: dict[tuple[str, str, str], int] = {}
    for c in machine.connections:
        key = (_family(c.ends[0]), _family(c.ends[1]), c.link)
        found[key] = found.get(key, 0) + 1
    single = {(_family(c.ends[0]), _family(c.ends[1]), c.link): c.ends for c in machine.connections}
    return [(*single[k], k[2]) if n == 1 else (*k[:2], f"{k[2]} ({n} connections)") for k, n in found.items()]


def example_path(machine: Machine) -> str:
    """Two device names to try a path with; "" where there are not two."""
    devices = [node.name for node in machine.nodes.values() if node.kind == "device"]
    return f"{devices[0]},{devices[-1]}" if len(devices) > 1 else ""


def data(machine: Machine) -> dict[str, Any]:
    """The machine as JSON-ready data, SI units."""
    return {
        "name": machine.name,
        "title": machine.title,
        "links": {
            link.name: {
                "bandwidth": link.bandwidth,
                "peak": link.peak,
                "startup": link.startup.total(),
                "startup_parts": link.startup.parts(),
                "sync": [list(entry) for entry in link.startup.sync.table],
                "duplex": link.duplex,
                "forwarding": link.forwarding,
                "header": link.header,
                "flit": link.flit,
                "route_time": link.route_time,
                "delay": link.delay,
                "pieces": [[p.low, p.latency, p.bandwidth] for p in link.curve.pieces] if link.curve else None,
            }
            for link in machine.links.values()
        },
        "nodes": {
            node.name: {
                "kind": node.kind,
                "nics": node.nics,
                "latency": node.latency,
                "memory": node.memory.bandwidth if node.memory else None,
                "touches": dict(node.memory.touches) if node.memory else None,
            }
            for node in machine.nodes.values()
        },
        "connections": [[*c.ends, c.link] for c in machine.connections],
        "operations": {name: _operation(operation) for name, operation in machine.operations.items()},
        "sources": dict(machine.sources),
    }


def _operation(operation: Operation) -> dict[str, Any]:
    return {
        "benchmark": operation.benchmark,
        "ranks": operation.ranks,
        "measure": operation.measure,
        "origin": operation.fitted.origin,
        "points": [list(point) for point in operation.points],
        "pieces": [[p.low, p.latency, p.bandwidth] for p in operation.curve.pieces],
        "draws": len(operation.draws),
    }
