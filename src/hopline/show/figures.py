"""Pictures as Vega-Lite specifications: plain JSON, one truth for PNG, SVG and a self-contained HTML page.

What belongs here: from values to a specification. Turning one into a file is ``images``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

Spec = dict[str, Any]
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
MOST_POINTS = 5000
COLOURS = ["#2f6db5", "#d9822b", "#3a8f5c", "#8a5fb0", "#b5473c"]
_SIZE_LABEL = (
    "datum.value == 0 ? '0' : datum.value >= 1073741824 ? format(datum.value / 1073741824, '~g') + ' GiB' : "
    "datum.value >= 1048576 ? format(datum.value / 1048576, '~g') + ' MiB' : "
    "datum.value >= 1024 ? format(datum.value / 1024, '~g') + ' KiB' : datum.value + ' B'"
)
TIME_LABEL = (
    "datum.value >= 1 ? format(datum.value, '~g') + ' s' : datum.value >= 1e-3 ? format(datum.value * 1e3, '~g') + ' ms' : "
    "datum.value >= 1e-6 ? format(datum.value * 1e6, '~g') + ' µs' : format(datum.value * 1e9, '~g') + ' ns'"
)


def times(series: Mapping[str, tuple[Sequence[float], Sequence[float]]], axis: str, title: str) -> Spec:
    """Lines of time (s) against ``axis``: ``size`` in bytes or ``chunks``; series: name -> (x, seconds)."""
    rows = [{"x": x, "time": t, "series": name} for name, xy in series.items() for x, t in zip(*xy, strict=True)]
    encoding = {
        "x": size_axis(rows) if axis == "size" else _log("x", "number of chunks k"),
        "y": time_axis([t for _, ts in series.values() for t in ts]),
        "color": colours(list(series)),
        "strokeDash": {"field": "series", "type": "nominal", "title": None, "scale": _dashes(list(series))},
    }
    return _page(title, {"layer": [{"mark": {"type": "line", "strokeWidth": 2.5}, "encoding": encoding}]}, rows)


def marked(spec: Spec, x: float, time: float, label: str) -> Spec:
    """``spec`` with one labelled point."""
    data = {"values": [{"x": x, "time": time, "label": label}]}
    encoding: Spec = {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "time", "type": "quantitative"}}
    point: Spec = {
        "data": data,
        "mark": {"type": "point", "size": 90, "filled": True, "color": "#222"},
        "encoding": encoding,
    }
    text: Spec = {
        "data": data,
        "mark": {"type": "text", "dy": -14, "align": "center", "fontWeight": "bold"},
        "encoding": {**encoding, "text": {"field": "label"}},
    }
    return {**spec, "layer": [*spec["layer"], point, text]}


def ranged(spec: Spec, ranges: Sequence[tuple[float, float, float]]) -> Spec:
    """``spec`` with a bar from one time to another at each x: (x, low, high)."""
    data = {"values": [{"x": x, "low": low, "high": high} for x, low, high in ranges]}
    encoding: Spec = {
        "x": {"field": "x", "type": "quantitative"},
        "y": {"field": "low", "type": "quantitative"},
        "y2": {"field": "high"},
    }
    bar: Spec = {"data": data, "mark": {"type": "rule", "strokeWidth": 7, "opacity": 0.35, "color": COLOURS[0]}}
    return {**spec, "layer": [{**bar, "encoding": encoding}, *spec["layer"]]}


def fit(
    points: Sequence[tuple[float, float, str]],
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    residuals: Sequence[tuple[float, float, str]],
    title: str,
    band: Band = (),
) -> Spec:
    """Measured points, fitted curves and a band above, relative residuals below, over one size axis.

    points: (size in bytes, seconds, role); curves: name -> (sizes, seconds); residuals: (size, predicted/measured - 1, role);
    band: (size, low, high) in s.
    """
    dots = [{"x": x, "time": t, "role": role} for x, t, role in points]
    lines = [{"x": x, "time": t, "series": name} for name, xy in curves.items() for x, t in zip(*xy, strict=True)]
    rest = [{"x": x, "residual": r, "role": role} for x, r, role in residuals]
    x, y = size_axis(dots), time_axis([t for _, t, _ in points])
    shape = _roles(sorted({role for _, _, role in points}))
    drawn = {
        "data": {"values": _thinned(lines)},
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {"x": x, "y": y, "color": colours(list(curves))},
    }
    measured = {"data": {"values": _thinned(dots)}, "mark": _DOT, "encoding": {"x": x, "y": y, "shape": shape}}
    top: Spec = {"width": 640, "height": 330, "layer": [*_band(band, x, y), drawn, measured]}
    panes = [top, _residual_pane(rest, x, shape)]
    return {"$schema": SCHEMA, "title": _title(title, len(points)), "vconcat": panes, "config": CONFIG}


_DOT: Spec = {"type": "point", "size": 60, "filled": True, "color": "#222", "opacity": 0.85}


Band = Sequence[tuple[float, float, float]]
"""(x, low, high)"""


def _band(band: Band, x: Spec, y: Spec) -> list[Spec]:
    """A shaded layer between low and high; none for an empty band."""
    rows = [{"x": m, "time": low, "high": high} for m, low, high in band]
    encoding = {"x": x, "y": y, "y2": {"field": "high"}}
    mark = {"type": "area", "color": "#9ab8d8", "opacity": 0.35}
    return [{"data": {"values": _thinned(rows)}, "mark": mark, "encoding": encoding}] if rows else []


def _roles(roles: list[str]) -> Spec:
    """A shape for each role of a point; a legend where there are several."""
    shapes = ["circle", "diamond", "square"][: len(roles)]
    legend = {"orient": "bottom"} if len(roles) > 1 else None
    scale = {"domain": roles, "range": shapes}
    return {"field": "role", "type": "nominal", "title": None, "legend": legend, "scale": scale}


def _residual_pane(rows: list[Spec], x: Spec, shape: Spec) -> Spec:
    axis = {"format": "+.0%"}
    y = {"field": "residual", "type": "quantitative", "title": "model / measured − 1", "axis": axis}
    zero = {"data": {"values": [{}]}, "mark": {"type": "rule", "color": "#999"}, "encoding": {"y": {"datum": 0}}}
    encoding = {"x": x, "y": y, "shape": {**shape, "legend": None}}
    rest = {"data": {"values": _thinned(rows)}, "mark": {**_DOT, "size": 45}, "encoding": encoding}
    return {"width": 640, "height": 120, "layer": [zero, rest]}


CONFIG: Spec = {
    "background": "white",
    "axis": {"gridColor": "#e6e6e6", "labelFontSize": 11, "titleFontSize": 12},
    "legend": {"labelFontSize": 12, "orient": "bottom", "titleFontSize": 12, "labelLimit": 420},
    "view": {"stroke": "#cccccc"},
}


def _page(title: str, body: Spec, rows: list[Spec]) -> Spec:
    head: Spec = {"$schema": SCHEMA, "title": _title(title, len(rows)), "width": 640, "height": 400}
    return {**head, "data": {"values": _thinned(rows)}, **body, "config": CONFIG}


def _title(title: str, points: int) -> Spec:
    thinned = f"thinned to {MOST_POINTS} of {points} points" if points > MOST_POINTS else ""
    return {"text": title, "subtitle": thinned, "anchor": "start", "fontSize": 14}


def _thinned(rows: list[Spec]) -> list[Spec]:
    """Every n-th row, so that at most MOST_POINTS are drawn; the title says so."""
    if len(rows) <= MOST_POINTS:
        return rows
    return [*rows[: -1 : -(-len(rows) // MOST_POINTS)], rows[-1]]


def _log(name: str, title: str) -> Spec:
    return {"field": name, "type": "quantitative", "title": title, "scale": {"type": "log", "nice": False}}


def size_axis(rows: Sequence[Spec]) -> Spec:
    """Sizes on a logarithmic axis of base 2; a size of 0, which has no place there, makes it symmetric-logarithmic."""
    sizes = [float(row["x"]) for row in rows]
    low, high = min(sizes, default=1.0), max(sizes, default=1.0)
    ticks = [v for v in (4.0**i for i in range(25)) if max(low, 1.0) <= v <= high * 1.01][:: 1 if high < 1e9 else 2]
    scale = {"type": "log", "base": 2, "nice": False} if low > 0 else {"type": "symlog", "constant": 1, "nice": False}
    axis = {"labelExpr": _SIZE_LABEL, "values": ([0.0] if low == 0 else []) + ticks, "labelOverlap": True}
    return {"field": "x", "type": "quantitative", "title": "message size", "scale": scale, "axis": axis}


def time_axis(times: Sequence[float]) -> Spec:
    """Times on a logarithmic axis, labelled at 1, 2 and 5 of each decade, more finely where they span less."""
    low, high = min(times, default=1e-6), max(times, default=1.0)
    ticks = [m * 10.0**e for e in range(-12, 4) for m in (1, 2, 5) if low <= m * 10.0**e <= high]
    axis: Spec = {"labelExpr": TIME_LABEL, **({"values": ticks} if len(ticks) > 2 else {"tickCount": 8})}
    return {**_log("time", "time"), "scale": {"type": "log", "nice": False, "zero": False}, "axis": axis}


def colours(names: list[str]) -> Spec:
    """Colours of named series, in this order."""
    scale = {"domain": names, "range": [COLOURS[i % len(COLOURS)] for i in range(len(names))]}
    return {"field": "series", "type": "nominal", "title": None, "scale": scale}


def _dashes(names: list[str]) -> Spec:
    """Every second line dashed, so that lines which coincide are both seen."""
    return {"domain": names, "range": [[1, 0] if i % 2 == 0 else [6, 5] for i in range(len(names))]}


def heat_map(cells: Sequence[tuple[str, str, float]], axes: tuple[str, str], value: str, title: str) -> Spec:
    """Coloured cells of (row, column, factor): 1 is pale, slower red, faster blue; ``axes`` names rows and columns.

    Rows and columns stand in the order in which the cells first name them as a row.
    """
    rows = [{"row": row, "column": column, "factor": factor} for row, column, factor in cells]
    high = max([1.1, *(max(factor, 1 / factor) for _, _, factor in cells)])
    domain, order = [1 / high, 1.0, high], list(dict.fromkeys(row for row, _, _ in cells))
    colour = {"domain": domain, "range": [COLOURS[0], "#f5f5f5", COLOURS[4]], "type": "linear"}
    sides = {
        side: {
            "field": name,
            "type": "ordinal",
            "title": text,
            "sort": order,
            "axis": {"labelAngle": 0, "labelOverlap": True},
        }
        for side, name, text in (("y", "row", axes[0]), ("x", "column", axes[1]))
    }
    legend = {"format": ".2~f", "orient": "right"}
    paint = {"field": "factor", "type": "quantitative", "title": value, "scale": colour, "legend": legend}
    head: Spec = {"$schema": SCHEMA, "title": {"text": title, "anchor": "start", "fontSize": 14}}
    body: Spec = {"width": 460, "height": 460, "mark": {"type": "rect"}, "encoding": {**sides, "color": paint}}
    return {**head, "data": {"values": rows}, **body, "config": CONFIG}


_BELOW = 4.0


def against(
    points: Sequence[tuple[float, float, str]],
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    band: Band,
    title: str,
) -> Spec:
    """Measured times beside what they are held against, over size.

    points: (size in bytes, seconds, verdict); lines: name -> (sizes, seconds), the first the most telling: where others lie
    far below it they are not drawn; band: (size, low, high) in s.
    """
    dots: list[Spec] = [{"x": x, "time": t, "verdict": verdict} for x, t, verdict in points]
    every = [(name, x, t) for name, xy in lines.items() for x, t in zip(*xy, strict=True)]
    least = min([t for _, t, _ in points] + list(next(iter(lines.values()))[1]), default=0.0) / _BELOW
    drawn: list[Spec] = [{"x": x, "time": t, "series": name} for name, x, t in every if t >= least]
    rows = [*dots, *drawn]
    x, y = size_axis(rows), time_axis([float(row["time"]) for row in rows])
    names = [name for name in _VERDICTS if any(row["verdict"] == name for row in dots)]
    colour = {**colours(names), "field": "verdict", "scale": {"domain": names, "range": [_VERDICTS[n] for n in names]}}
    dashes = {"field": "series", "type": "nominal", "legend": None, "scale": _dashes(list(lines))}
    encoding = {"x": x, "y": y, "color": colours(list(lines)), "strokeDash": dashes}
    line = {"mark": {"type": "line", "strokeWidth": 2}, "encoding": encoding}
    dot = {"mark": _DOT, "encoding": {"x": x, "y": y, "color": colour}}
    layers = [*_band(band, x, y), {"data": {"values": _thinned(drawn)}, **line}]
    layers += [{"data": {"values": _thinned(dots)}, **dot}] if dots else []
    own = {"scale": {"color": "independent"}, "legend": {"color": "independent"}}
    head: Spec = {"$schema": SCHEMA, "title": _title(title, len(rows)), "width": 640, "height": 360}
    return {**head, "layer": layers, "resolve": own, "config": CONFIG}


def ratios(rows: Sequence[tuple[float, float, float, float, str]], band: float, title: str) -> Spec:
    """Ratios with their intervals against size: (size, ratio, low, high, what it is); ``band``: what does not matter.

    Bounds that are not finite are left out.
    """
    points: list[Spec] = [{"x": x, "ratio": ratio, "verdict": verdict} for x, ratio, _, _, verdict in rows]
    bars: list[Spec] = [
        {"x": x, "low": low, "high": high} for x, _, low, high, _ in rows if low > 0 and math.isfinite(high)
    ]
    x = size_axis(points)
    scale = {"type": "log", "nice": False, "zero": False}
    y = {"type": "quantitative", "title": "time after / before", "scale": scale, "axis": {"format": ".3~g"}}
    names = [name for name in _VERDICTS if any(row["verdict"] == name for row in points)]
    colour = {**colours(names), "field": "verdict", "scale": {"domain": names, "range": [_VERDICTS[n] for n in names]}}
    shade = {"data": {"values": [{}]}, "mark": {"type": "rect", "color": "#eeeeee"}}
    middle = {"data": {"values": [{}]}, "mark": {"type": "rule", "color": "#999"}, "encoding": {"y": {"datum": 1.0}}}
    layers: list[Spec] = [
        {**shade, "encoding": {"y": {"datum": 1 / (1 + band)}, "y2": {"datum": 1 + band}}},
        middle,
        {
            "data": {"values": _thinned(bars)},
            "mark": {"type": "rule", "color": "#555"},
            "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
        },
        {
            "data": {"values": _thinned(points)},
            "mark": _DOT,
            "encoding": {"x": x, "y": {**y, "field": "ratio"}, "color": colour},
        },
    ]
    head: Spec = {"$schema": SCHEMA, "title": _title(title, len(points)), "width": 640, "height": 320}
    return {**head, "layer": layers, "config": CONFIG}


_VERDICTS = {
    "slower": "#b5473c", "faster": "#3a8f5c", "small": "#d9822b", "noise": "#2f6db5", "cannot tell": "#999999",
    "fail": "#b5473c", "pass": "#3a8f5c", "unknown": "#999999",
}  # fmt: skip


def stacked(specs: Sequence[Spec]) -> Spec:
    """Several pictures, one above the other."""
    parts = [{k: v for k, v in spec.items() if k not in ("$schema", "config")} for spec in specs]
    own = {"scale": {"color": "independent", "strokeDash": "independent"}}
    return {"$schema": SCHEMA, "vconcat": parts, "config": CONFIG, "resolve": own}


def gantt(bars: Sequence[tuple[str, str, float, float]], title: str, subtitle: str = "") -> Spec:
    """Bars of (lane, kind, start, end) in s, a row for each lane in the order of their first bars."""
    rows = [{"lane": lane, "kind": kind, "time": start, "end": end} for lane, kind, start, end in bars]
    lanes = sorted({lane for lane, _, _, _ in bars}, key=_numbered)
    kinds = list(dict.fromkeys(kind for _, kind, _, _ in bars))
    axis = {"labelExpr": TIME_LABEL, "tickCount": 8}
    encoding = {
        "x": {"field": "time", "type": "quantitative", "title": "time", "axis": axis, "scale": {"nice": False}},
        "x2": {"field": "end"},
        "y": {"field": "lane", "type": "nominal", "sort": lanes, "title": None, "scale": {"paddingInner": 0.25}},
        "color": colours(kinds) | {"field": "kind"},
    }
    head = {"text": title, "subtitle": subtitle, "anchor": "start", "fontSize": 14}
    body = {"mark": {"type": "bar", "stroke": "white", "strokeWidth": 0.3}, "encoding": encoding}
    height = {"step": 16 if len(lanes) < 40 else 10}
    return {
        "$schema": SCHEMA,
        "title": head,
        "width": 760,
        "height": height,
        "data": {"values": rows},
        **body,
        "config": CONFIG,
    }


def _numbered(text: str) -> list[tuple[int, str]]:
    """Numbers in order of their value."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", text)]
