"""The picture of a contest: times of many series against size, the fastest marked, and how much slower the others are.

What belongs here: its specification. What all pictures share is ``figures``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hopline.quantity import binary
from hopline.show.figures import CONFIG, SCHEMA, Spec, size_axis, time_axis


def contest(
    lines: Mapping[str, Sequence[tuple[float, float]]],
    spans: Sequence[tuple[float, float, str]],
    dots: Sequence[tuple[float, float, str]],
    title: str,
    subtitle: Sequence[str] = (),
) -> Spec:
    """Times against size of many series above, how much slower each is than the fastest below.

    lines: name -> (size in bytes, seconds), all at the same sizes; spans: (from, to, name) of the fastest, whose changes are
    marked; dots: (size, seconds, name) beside the lines; subtitle: lines of text.
    """
    same = _alike(lines)
    lines = {same[name]: xy for name, xy in lines.items()}
    spans = [(low, high, same[name]) for low, high, name in spans]
    dots = [(m, t, same[name]) for m, t, name in dots]
    best: dict[float, float] = {}
    for m, t in (pair for xy in lines.values() for pair in xy):
        best[m] = min(t, best.get(m, math.inf))
    rows: list[Spec] = [
        {"x": m, "time": t, "series": name, "ratio": t / best[m]} for name, xy in lines.items() for m, t in xy
    ]
    x, y = size_axis(rows), time_axis([t for xy in lines.values() for _, t in xy])
    y["scale"] = {**y["scale"], "domainMin": min(best.values(), default=1e-6) / _ROOM}
    names = list(lines)
    colour = {**_many(names, _MANY), "legend": _LEGEND}
    dashes = _many(names, [_DASHES[i % len(_DASHES)] for i in range(len(names))])
    encoding = {"x": {**x, "title": None}, "y": y, "color": colour, "strokeDash": dashes}
    shared: Spec = {"data": {"values": rows}}
    line: Spec = {**shared, "mark": {"type": "line", "strokeWidth": 2.2}, "encoding": encoding}
    points: list[Spec] = [{"x": m, "time": t, "series": name} for m, t, name in dots]
    simulated: Spec = {
        "data": {"values": points},
        "mark": {"type": "point", "size": 34, "filled": True, "opacity": 0.9},
        "encoding": {key: encoding[key] for key in ("x", "y", "color")},
    }
    top = [*_envelope(best, spans, x, y), line, *([simulated] if points else []), *_winning(best, spans, names, x, y)]
    scale = {"type": "log", "base": 2, "domain": [_FASTEST, _SLOWEST], "nice": False}
    axis = {"values": [1, 1.5, 2, 3, 4, 6, 8], "labelExpr": "datum.value + '×'", "tickCount": 7}
    ratio = {"field": "ratio", "type": "quantitative", "title": "against the fastest", "scale": scale, "axis": axis}
    thin = {"type": "line", "strokeWidth": 2.2, "clip": True}
    below = {**shared, "mark": thin, "encoding": {**encoding, "x": x, "y": ratio}}
    panes: list[Spec] = [
        {"width": _WIDTH, "height": 380, "layer": top},
        {"width": _WIDTH, "height": 150, "layer": [*_borders(spans, x), below]},
    ]
    head = {
        "text": title,
        "subtitle": list(subtitle),
        "anchor": "start",
        "fontSize": 14,
        "subtitleColor": "#666",
        "offset": 12,
    }
    return {"$schema": SCHEMA, "title": head, "vconcat": panes, "spacing": 14, "config": CONFIG}


_MANY = [
    "#2f6db5", "#d9822b", "#3a8f5c", "#8a5fb0", "#b5473c", "#27a3a8", "#c2649a", "#8f7a2d", "#5d6f8a", "#9bb03c", "#6b4a3a",
    "#b08fd8",
]  # fmt: skip
_LEGEND: Spec = {
    "orient": "right", "direction": "vertical", "rowPadding": 5, "symbolType": "stroke", "symbolStrokeWidth": 3,
    "symbolSize": 500, "labelLimit": 220,
}  # fmt: skip
_DASHES = [[1, 0], [7, 3], [2, 2.5], [10, 3, 2, 3]]
_SLOWEST = 8
"""Ratios above it are not drawn."""
_FASTEST = 0.92
"""A little below 1, so that the fastest is seen."""
_WIDTH, _LETTER = 640, 7.6
"""Of the picture and of a letter of a name in it."""
_ROOM = 2.2
"""Below the fastest time, for its name."""


def _alike(lines: Mapping[str, Sequence[tuple[float, float]]]) -> dict[str, str]:
    """What each series is called: those that take the same time everywhere hide one another, and have one name."""
    names: dict[tuple[str, ...], list[str]] = {}
    for name, xy in lines.items():
        names.setdefault(tuple(f"{t:.8g}" for _, t in xy) or (name,), []).append(name)
    return {name: " = ".join(own) for own in names.values() for name in own}


def _many(names: Sequence[str], values: Sequence[Any]) -> Spec:
    """A scale of as many values as names, over and over."""
    scale = {"domain": list(names), "range": [values[i % len(values)] for i in range(len(names))]}
    return {"field": "series", "type": "nominal", "title": None, "scale": scale}


def _borders(spans: Sequence[tuple[float, float, str]], x: Spec) -> list[Spec]:
    """A thin line at each size where the fastest changes."""
    rows = [{"x": low} for low, _, _ in spans[1:]]
    mark = {"type": "rule", "color": "#999", "strokeDash": [3, 3]}
    return [{"data": {"values": rows}, "mark": mark, "encoding": {"x": x}}] if rows else []


def _envelope(best: Mapping[float, float], spans: Sequence[tuple[float, float, str]], x: Spec, y: Spec) -> list[Spec]:
    """A broad pale line along the fastest times, and the borders."""
    rows = [{"x": size, "time": time} for size, time in sorted(best.items())]
    mark = {"type": "line", "strokeWidth": 11, "color": "#e9dfb4", "strokeCap": "round"}
    broad: Spec = {"data": {"values": rows}, "mark": mark, "encoding": {"x": x, "y": y}}
    return [broad, *_borders(spans, x)] if spans else []


def _winning(
    best: Mapping[float, float], spans: Sequence[tuple[float, float, str]], names: Sequence[str], x: Spec, y: Spec
) -> list[Spec]:
    """The name of the fastest over its part of the envelope, where there is room, and the sizes of the borders."""
    if not spans or not best:
        return []
    sizes = sorted(best)
    width = math.log(sizes[-1] / sizes[0]) or 1.0
    labels = []
    for low, high, name in spans:
        begin, end = max(low, sizes[0]), min(high, sizes[-1])
        if math.log(max(end / begin, 1.0)) >= width / 9:
            fits = math.log(end) - width * (len(name) + 1) * _LETTER / _WIDTH
            place = max(min(math.log(begin * end) / 2, fits), math.log(begin))
            nearest = min(sizes, key=lambda size: abs(math.log(size) - place))
            labels.append({"x": nearest, "time": best[nearest], "series": name, "label": name})
    mark = {"type": "text", "dy": 22, "dx": 6, "align": "left", "fontWeight": "bold", "fontSize": 12}
    colour = {**_many(names, _MANY), "legend": None}
    inside = [(low, _short(low)) for low, _, _ in spans[1:] if sizes[0] < low <= sizes[-1]]
    borders = [{"x": low, "label": text} for low, text in inside]
    over = {"type": "text", "align": "left", "dx": 4, "dy": 10, "color": "#666", "fontSize": 11, "baseline": "top"}
    text = {"field": "label"}
    return [
        {"data": {"values": labels}, "mark": mark, "encoding": {"x": x, "y": y, "text": text, "color": colour}},
        {"data": {"values": borders}, "mark": {**over, "y": 0}, "encoding": {"x": x, "text": text}},
    ]


def _short(size: float) -> str:
    """A size to three figures."""
    return binary(size, 3)
