"""What a topology file says: the page, and the picture of nodes and cables.

What belongs here: text and specifications of a Wiring. Where nodes are drawn is ``positions``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hopline.machine.wiring import Cable, Fact, Wiring
from hopline.quantity import counted, show
from hopline.show import figures
from hopline.show.document import Block, Grid, Heading, Line
from hopline.show.positions import Point, positions

_FACTS, _WIDTH = 24, 90


def page(wiring: Wiring, title: str) -> list[Block]:
    """All that was understood, and what is missing for a machine."""
    blocks: list[Block] = [Heading(f"{wiring.name}: {title}")]
    if wiring.nodes:
        kinds = Counter(node.kind for node in wiring.nodes)
        switches = "1 switch" if kinds["switch"] == 1 else f"{kinds['switch']:,} switches"
        joined = counted(len(wiring.cables), "connection")
        blocks.append(Line(f"{counted(kinds['device'], 'device')}, {switches}, {joined}"))
    blocks += _nodes(wiring) + _cables(wiring) + _facts(wiring.facts) + _islands(wiring)
    blocks += [Line(f"note: {remark}", "faint") for remark in wiring.remarks]
    if wiring.refusal:
        blocks.append(Line(f"No machine can be made of it: {wiring.refusal}", "bad"))
    return blocks


def _family(name: str) -> str:
    return re.sub(r"[0-9a-fA-F]*\d[0-9a-fA-F]*", "*", name)


def _nodes(wiring: Wiring) -> list[Block]:
    """Nodes of one kind and family in a row."""
    families: dict[tuple[str, str], list[str]] = {}
    for node in wiring.nodes:
        families.setdefault((node.kind, _family(node.name)), []).append(node.name)
    rows = [(_span(names), kind) for (kind, _), names in families.items()]
    more = [Line(f"  and {len(rows) - _FACTS} more kinds", "faint")] if len(rows) > _FACTS else []
    return [Heading("Nodes"), Grid(("", ""), rows[:_FACTS], left=2), *more] if rows else []


def _span(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) < 3 else f"{names[0]} .. {names[-1]} ({len(names)})"


def _cables(wiring: Wiring) -> list[Block]:
    """Cables of one kind in a row: how many entries, cables in all, what one carries one way, its latency."""
    kinds: Counter[tuple[str, float | None, float | None, str]] = Counter()
    entries: Counter[tuple[str, float | None, float | None, str]] = Counter()
    for cable in wiring.cables:
        key = (cable.label, cable.bandwidth, cable.latency, cable.duplex)
        kinds[key] += cable.count
        entries[key] += 1
    rows = [
        (label, f"{entries[label, rate, latency, duplex]:,}", f"{number:,}", _rate(rate), _latency(latency), duplex)
        for (label, rate, latency, duplex), number in kinds.items()
    ]
    header = ("cable", "connections", "cables", "each, one way", "latency", "duplex")
    return [Heading("Cables"), Grid(header, rows)] if rows else []


def _rate(rate: float | None) -> str:
    return "not in the file" if rate is None else show(rate, "bandwidth")


def _latency(latency: float | None) -> str:
    return "not in the file" if latency is None else show(latency, "time")


def _facts(facts: Mapping[str, Fact]) -> list[Block]:
    rows = [(name, _words(value)) for name, value in facts.items()]
    return [Heading("Counted in the file"), Grid(("", ""), rows, left=2)] if rows else []


def _words(value: Fact) -> str:
    if isinstance(value, Mapping):
        text = ", ".join(f"{name}: {number:,}" for name, number in value.items()) or "none"
    elif isinstance(value, tuple):
        text = ", ".join(str(part) for part in value) or "none"
    elif isinstance(value, bool):
        text = "yes" if value else "no"
    else:
        text = f"{value:,}" if isinstance(value, int) else f"{value:.6g}" if isinstance(value, float) else value
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."


def _islands(wiring: Wiring) -> list[Block]:
    parts = wiring.parts
    if len(parts) < 2 or wiring.refusal:
        return []
    told = ", ".join(str(size) for size in parts[:6]) + (" ..." if len(parts) > 6 else "")
    return [Line(f"note: it falls into {len(parts)} parts without a way between them, of {told} nodes", "bad")]


def ends(wiring: Wiring) -> tuple[str, ...]:
    """Two devices to try a path with; none where there are not two."""
    devices = [node.name for node in wiring.nodes if node.kind == "device"]
    return (devices[0], devices[-1]) if len(devices) > 1 else ()


def data(wiring: Wiring, title: str) -> dict[str, Any]:
    """All of it as JSON-ready data, SI units."""
    return {
        "format": wiring.format,
        "title": title,
        "name": wiring.name,
        "nodes": {node.name: {"kind": node.kind, "latency": node.latency} for node in wiring.nodes},
        "cables": [
            {
                "ends": list(c.ends), "label": c.label, "count": c.count, "bandwidth": c.bandwidth, "latency": c.latency,
                "duplex": c.duplex,
            }
            for c in wiring.cables
        ],
        "facts": dict(wiring.facts),
        "parts": wiring.parts,
        "remarks": list(wiring.remarks),
        "refusal": wiring.refusal,
        "unknown_rates": list(wiring.unknown),
    }  # fmt: skip


MOST_DEVICES, MOST_NAMES = 128, 72
"""Devices that a picture shows, and names that stand beside their nodes."""


def picture(wiring: Wiring) -> figures.Spec:
    """Nodes by tier (distance from the devices), or on a circle where devices are joined directly; cables by label."""
    devices = [node.name for node in wiring.nodes if node.kind == "device"]
    drawn, cables = _drawn(wiring, set(devices[:MOST_DEVICES]) if devices else None)
    kinds = {node.name: node.kind for node in wiring.nodes if node.name in drawn}
    where = positions(kinds, [cable.ends for cable in cables])
    left_out = len(wiring.nodes) - len(drawn)
    note = (
        f"{len(drawn)} of {len(wiring.nodes)} nodes: the first {MOST_DEVICES} devices and what joins them"
        if left_out
        else ""
    )
    named = [name for name in drawn if len(drawn) <= MOST_NAMES or kinds[name] == "switch"]
    layers = [_lines(cables, where), _points(kinds, where)]
    layers += [_names({n: where[n] for n in named if kinds[n] == kind}, kind) for kind in ("device", "switch")]
    head: figures.Spec = {"$schema": figures.SCHEMA, "width": 900, "height": 480}
    title = {"text": wiring.name, "subtitle": note, "anchor": "start", "fontSize": 14}
    return {
        **head,
        "title": title,
        "layer": layers,
        "resolve": {"scale": {"color": "independent"}},
        "config": _CONFIG,
    }


def _drawn(wiring: Wiring, devices: set[str] | None) -> tuple[set[str], list[Cable]]:
    """Nodes and cables of a picture: all, or some devices with all switches on the way to them, tier by tier."""
    names = {node.name for node in wiring.nodes}
    if devices is None or len(devices) == sum(node.kind == "device" for node in wiring.nodes):
        return names, list(wiring.cables)
    switches = {node.name for node in wiring.nodes if node.kind == "switch"}
    drawn, grown = set(devices), True
    while grown:
        reached = {b for c in wiring.cables for a, b in (c.ends, c.ends[::-1]) if a in drawn and b in switches}
        grown = not reached <= drawn and len(drawn) < 4 * MOST_DEVICES
        drawn |= reached
    return drawn, [cable for cable in wiring.cables if set(cable.ends) <= drawn]


_CONFIG = {**figures.CONFIG, "view": {"stroke": None}, "legend": {**figures.CONFIG["legend"], "orient": "top"}}
_X = {"type": "quantitative", "axis": None, "field": "x"}
_Y = {**_X, "field": "y", "scale": {"domain": [-0.12, 1.14]}}


def _lines(cables: Sequence[Cable], where: Mapping[str, Point]) -> figures.Spec:
    rows = [
        {
            "x": where[a][0], "y": where[a][1], "x2": where[b][0], "y2": where[b][1],
            "cable": f"{c.count} x {c.label}" if c.count > 1 else c.label,
        }
        for c in cables
        for a, b in [c.ends]
    ]  # fmt: skip
    names = list(dict.fromkeys(str(row["cable"]) for row in rows))
    colour = figures.colours(names) | {"field": "cable"}
    ends = {"x": _X, "y": _Y, "x2": {"field": "x2"}, "y2": {"field": "y2"}}
    mark = {"type": "rule", "opacity": 0.55 if len(rows) < 400 else 0.25, "strokeWidth": 1.4}
    return {"data": {"values": rows}, "mark": mark, "encoding": {**ends, "color": colour}}


def _points(kinds: Mapping[str, str], where: Mapping[str, Point]) -> figures.Spec:
    rows = [{"x": x, "y": y, "kind": kinds[name], "name": name} for name, (x, y) in where.items()]
    shape = {
        "field": "kind",
        "type": "nominal",
        "title": None,
        "scale": {"domain": ["device", "switch"], "range": ["circle", "square"]},
    }
    mark = {
        "type": "point",
        "filled": True,
        "size": 110 if len(rows) <= MOST_NAMES else 40,
        "opacity": 1,
        "color": "#222",
    }
    return {
        "data": {"values": rows},
        "mark": mark,
        "encoding": {"x": _X, "y": _Y, "shape": shape},
    }


def _names(where: Mapping[str, Point], kind: str) -> figures.Spec:
    """Devices' names stand below them, switches' above."""
    rows = [{"x": x, "y": y, "name": name} for name, (x, y) in where.items()]
    tilted = len(where) * max((len(name) for name in where), default=0) > _LETTERS
    side = 1 if kind == "device" else -1
    mark = {
        "type": "text", "fontSize": 10, "limit": 150, "dy": 14 * side, "dx": 0, "angle": -40 if tilted else 0,
        "align": ("right" if side > 0 else "left") if tilted else "center",
    }  # fmt: skip
    encoding = {"x": _X, "y": _Y, "text": {"field": "name"}}
    return {"data": {"values": rows}, "mark": mark, "encoding": encoding}


_LETTERS = 150
"""That stand side by side."""
