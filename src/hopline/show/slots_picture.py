"""Pictures of slots: each slot over time, end times against their number, state against nodes, what is left after a fault.

What belongs here: specifications for ``hopline slots --plot``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hopline.show import figures
from hopline.show.figures import Spec

MOST_LANES, MOST_BARS = 64, 4000
Request = tuple[float, float, float, float]
"""Submit, begin, completion and release in s."""


def lanes(requests: Sequence[Request], slots: int | None, title: str) -> Spec:
    """A row for each slot; request i holds the slot that request i - slots gave back."""
    count = slots or max(1, len(requests))
    shown = [(i, times) for i, times in enumerate(requests) if i % count < MOST_LANES][: MOST_BARS // 3]
    bars: list[tuple[str, str, float, float]] = []
    for i, (submit, begin, complete, release) in shown:
        parts = (
            ("waits for the wire", submit, begin),
            ("in flight", begin, complete),
            ("completed, not released", complete, release),
        )
        bars += [(f"slot {i % count}", kind, start, end) for kind, start, end in parts if end > start]
    cut = f"{len(shown)} of {len(requests)} requests" if len(shown) < len(requests) else ""
    cut += f", the first {MOST_LANES} of {count} slots" if cut and count > MOST_LANES else ""
    return figures.gantt(bars, title, cut)


def ends(rows: Sequence[tuple[int, float, float]], title: str) -> Spec:
    """(slots, transfer end, release end): more slots move the transfer earlier, not the release."""
    series = {"transfer end": [(float(n), t) for n, t, _ in rows], "release end": [(float(n), r) for n, _, r in rows]}
    return _lines(series, ("number of slots", "time"), title, log=True, time=True)


def left(series: Mapping[str, Sequence[tuple[float, float]]], title: str) -> Spec:
    """Answered requests so far over time, for each way of sharing: its slope is the rate."""
    return _lines(series, ("time", "answered requests so far"), title, time_x=True)


def grown(series: Mapping[str, Sequence[tuple[float, float]]], cache: float, title: str) -> Spec:
    """Bytes of contexts of a NIC against the number of nodes, with a rule where the cache ends."""
    spec = _lines(series, ("nodes", "bytes of contexts of a NIC"), title, log=True, log_y=True)
    y = {"datum": cache}
    rule = {
        "mark": {"type": "rule", "color": "#222", "strokeDash": [4, 4]},
        "data": {"values": [{}]},
        "encoding": {"y": y},
    }
    text: Spec = {
        "mark": {"type": "text", "align": "right", "dy": -8, "fontWeight": "bold"},
        "data": {"values": [{"label": "cache"}]},
        "encoding": {"y": y, "x": {"value": 632}, "text": {"field": "label"}},
    }
    return {**spec, "layer": [*spec["layer"], rule, text]}


def _lines(
    series: Mapping[str, Sequence[tuple[float, float]]], axes: tuple[str, str], title: str,
    *, log: bool = False, log_y: bool = False, time: bool = False, time_x: bool = False,
) -> Spec:  # fmt: skip
    rows = [{"x": x, "y": y, "series": name} for name, points in series.items() for x, y in points]
    names = list(series)
    colours = {"domain": names, "range": figures.COLOURS[: len(names)]}
    dashes = {"domain": names, "range": [[1, 0] if i % 2 == 0 else [6, 5] for i in range(len(names))]}
    encoding = {
        "x": _axis("x", axes[0], log, time_x, [row["x"] for row in rows] if log else []),
        "y": _axis("y", axes[1], False, time, []) | (_decades([row["y"] for row in rows]) if log_y else {}),
        "color": {"field": "series", "type": "nominal", "title": None, "scale": colours},
        "strokeDash": {"field": "series", "type": "nominal", "title": None, "scale": dashes},
    }
    mark = {"type": "line", "strokeWidth": 2.5, "point": len(rows) <= 80}
    head: Spec = {"$schema": figures.SCHEMA, "title": {"text": title, "anchor": "start", "fontSize": 14}}
    size = {"width": 640, "height": 300, "data": {"values": rows}}
    return {**head, **size, "layer": [{"mark": mark, "encoding": encoding}], "config": figures.CONFIG}


def _decades(values: list[Any]) -> Spec:
    """A logarithmic axis of bytes, marked at powers of ten."""
    ticks = [10**power for power in range(16) if min(values) <= 10**power <= max(values)]
    return {"scale": {"type": "log", "nice": False}, "axis": {"format": "~s", "values": ticks}}


def _axis(field: str, title: str, log: bool, time: bool, values: list[Any]) -> Spec:
    scale = {"type": "log", "base": 2, "nice": False} if log else {"zero": True, "nice": True}
    axis: Spec = {"labelExpr": figures.TIME_LABEL} if time else {"format": "d" if log else "~s"}
    axis |= {"values": sorted({v for v in values if not int(v) & (int(v) - 1)})} if values else {}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": axis}
