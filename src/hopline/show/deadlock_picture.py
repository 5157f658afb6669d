"""The picture of a cycle of waits: switches on a circle, the buffers between them, and the flows that hold them.

What belongs here: its specification. What all pictures share is ``figures``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hopline.quantity import counted
from hopline.records.deadlock import Net, Trails, Wait
from hopline.show.figures import CONFIG, SCHEMA, Spec

MOST_FLOWS = 7
MOST_NODES = 40
_COLOURS = ["#2f6db5", "#d9822b", "#3a8f5c", "#8a5fb0", "#b5473c", "#27a3a8", "#c2649a"]
_GAP, _STEP = 0.16, 0.11
"""Between the circle and the first flow, and between flows; the circle's radius is 1."""


def picture(net: Net, trails: Trails, cycle: Sequence[Wait], title: str) -> Spec:
    """Edges of the cycle as arrows on a circle, clockwise; outside of it the edges that each flow holds and asks for."""
    drawn = _cover(cycle)
    others = len({flow for wait in cycle for flow in wait.flows}) - len(drawn)
    names = [trails.flows[flow] for flow in drawn]
    arcs, heads = _flows(cycle, drawn, names)
    reach = 1 + _GAP + _STEP * len(drawn) + 0.22
    side = {"type": "quantitative", "axis": None, "scale": {"domain": [-reach, reach], "nice": False}}
    x, y = {**side, "field": "x"}, {**side, "field": "y"}
    colour = {
        "field": "flow",
        "type": "nominal",
        "title": None,
        "scale": {"domain": names, "range": _COLOURS[: len(names)]},
    }
    turned = {"field": "angle", "type": "quantitative", "scale": None}
    line = {"x": x, "y": y, "order": {"field": "step"}, "detail": {"field": "part"}}
    ring, tips = _ring(cycle)
    layers: list[Spec] = [
        _layer(ring, {"type": "line", "color": "#555", "strokeWidth": 2.5}, line),
        _layer(tips, {**_HEAD, "color": "#555", "size": 130}, {"x": x, "y": y, "angle": turned}),
        _layer(arcs, {"type": "line", "strokeWidth": 4, "opacity": 0.85}, {**line, "color": colour}),
        _layer(heads, {**_HEAD, "size": 150}, {"x": x, "y": y, "angle": turned, "color": colour}),
        *_labels(net, cycle, x, y),
    ]
    more = f"; {counted(others, 'flow')} more make the same waits" if others else ""
    said = [
        "Arrows between switches: edges; the buffer at the far end of each waits for the one at the next (:class).",
        f"Outside: flows that hold one edge's buffer and ask for the next's{more}.",
    ]
    head = {"text": title, "subtitle": said, "anchor": "start", "fontSize": 14, "subtitleColor": "#666", "offset": 8}
    config = {**CONFIG, "view": {"stroke": None}}
    return {"$schema": SCHEMA, "title": head, "width": 560, "height": 560, "layer": layers, "config": config}


_HEAD = {"type": "point", "shape": "triangle-up", "filled": True, "opacity": 1}


def _layer(rows: list[Spec], mark: Spec, encoding: Spec) -> Spec:
    return {"data": {"values": rows}, "mark": mark, "encoding": encoding}


def _cover(cycle: Sequence[Wait]) -> list[int]:
    """Few flows that make all waits (each the one that makes most of what is left), at most MOST_FLOWS, in order."""
    left = set(range(len(cycle)))
    makes: dict[int, set[int]] = {}
    for place, wait in enumerate(cycle):
        for flow in wait.flows:
            makes.setdefault(flow, set()).add(place)
    chosen: list[int] = []
    while left and len(chosen) < MOST_FLOWS:
        flow = min(makes, key=lambda one: (-len(makes[one] & left), one))
        chosen.append(flow)
        left -= makes[flow]
    return sorted(chosen, key=lambda flow: min(makes[flow]))


def _at(place: float, count: int, radius: float) -> tuple[float, float]:
    turn = math.pi / 2 - 2 * math.pi * place / count
    return radius * math.cos(turn), radius * math.sin(turn)


def _arc(begin: float, end: float, count: int, radius: float, part: str) -> tuple[list[Spec], Spec]:
    """Points along the circle from one place to another, and the head of the arrow at its end."""
    steps = max(2, round(60 * (end - begin) / count) + 2)
    places = [begin + (end - begin) * step / (steps - 1) for step in range(steps)]
    rows: list[Spec] = []
    for step, place in enumerate(places):
        x, y = _at(place, count, radius)
        rows.append({"x": x, "y": y, "step": step, "part": part})
    return rows, {"x": rows[-1]["x"], "y": rows[-1]["y"], "angle": 90 + 360 * end / count}


def _ring(cycle: Sequence[Wait]) -> tuple[list[Spec], list[Spec]]:
    count = len(cycle)
    room = min(0.24, 0.06 * count / 4)
    rows: list[Spec] = []
    tips: list[Spec] = []
    for place in range(count):
        arc, tip = _arc(place + room, place + 1 - room, count, 1.0, f"edge{place}")
        rows += arc
        tips.append(tip)
    return rows, tips


def _runs(made: Sequence[bool]) -> list[tuple[int, int]]:
    """(first, number) of waits in a row, round the end."""
    count = len(made)
    if all(made):
        return [(0, count)]
    begins = [place for place in range(count) if made[place] and not made[place - 1]]
    runs = []
    for begin in begins:
        length = next(step for step in range(1, count + 1) if not made[(begin + step) % count])
        runs.append((begin, length))
    return runs


def _flows(cycle: Sequence[Wait], drawn: Sequence[int], names: Sequence[str]) -> tuple[list[Spec], list[Spec]]:
    """A wait holds the edge at its place and asks for the next, so a run of k waits goes over k + 1 edges."""
    rows: list[Spec] = []
    heads: list[Spec] = []
    for ring, (flow, name) in enumerate(zip(drawn, names, strict=True)):
        for begin, length in _runs([flow in wait.flows for wait in cycle]):
            radius = 1 + _GAP + _STEP * (ring + 0.5)
            arc, head = _arc(begin + 0.08, begin + length + 0.9, len(cycle), radius, f"{name} {begin}")
            rows += [{**row, "flow": name} for row in arc]
            heads.append({**head, "flow": name})
    return rows, heads


def _labels(net: Net, cycle: Sequence[Wait], x: Spec, y: Spec) -> list[Spec]:
    """Names of the switches on the circle, and of the buffers inside of it."""
    count = len(cycle)
    every = -(-count // MOST_NODES)
    switches: list[Spec] = []
    buffers: list[Spec] = []
    for place in range(0, count, every):
        here, inside = _at(place, count, 1.0), _at(place + 0.5, count, 0.78)
        switches.append({"x": here[0], "y": here[1], "label": net.names[net.origin[cycle[place].edge]]})
        told = f"{net.edge(cycle[place].edge)}:{cycle[place].buffer_class}"
        buffers.append({"x": inside[0], "y": inside[1], "label": told})
    spot: Spec = {"x": x, "y": y}
    text = {**spot, "text": {"field": "label"}}
    size = 12 if count <= 16 else 9
    dot = {"type": "point", "filled": True, "color": "white", "opacity": 1, "size": 900 if count <= 16 else 300}
    return [
        _layer(switches, dot, spot),
        _layer(switches, {"type": "text", "fontWeight": "bold", "fontSize": size}, text),
        *([_layer(buffers, {"type": "text", "color": "#666", "fontSize": size - 1}, text)] if count <= 16 else []),
    ]
