"""The timeline of an explained step as a picture: every rank's work, waiting and transfer, and the critical path under it.

What belongs here: the specification. What of it is drawn is ``explain_thinning``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise

from hopline.records.explained import Explained
from hopline.show.explain_drawing import PATH, WIDTH, colours, shortened, tips
from hopline.show.explain_numbers import labels
from hopline.show.explain_rows import GIGA
from hopline.show.explain_thinning import Thinned
from hopline.show.figures import TIME_LABEL, Spec

MARKS = {
    "compute": "#2f6db5", "copy": "#3a9aa0", "waiting": "#e3a0a0", "transfer": "#d9822b", "communication": "#c9a227",
}  # fmt: skip
"""Kind of a mark -> its colour; ``communication``: waiting and transfer that cannot be told apart."""
_ABOVE, _BELOW, _PATH = (0.10, 0.46), (0.48, 0.84), 0.93
"""Where in the row of a rank compute, communication and the path stand."""
_PALEST = 0.12
"""Opacity of a mark that stands for hardly any work."""
_TALLEST, _LEAST_ROW, _MOST_ROW = 1000, 15, 46
"""Pixels."""


def timeline(explained: Explained, thin: Thinned) -> Spec:
    """A row a rank; the path has lines where it goes over to another rank."""
    called = labels(explained.traces)
    count = len(thin.traces)
    here = {kind: colour for kind, colour in MARKS.items() if any(mark["k"] == kind for mark in thin.marks)}
    x = _across(explained.time / GIGA)
    y = _rows([shortened(called[i], 24) for i in thin.traces])
    upper = [mark for mark in thin.marks if mark["k"] in ("compute", "copy")]
    lower = [mark for mark in thin.marks if mark["k"] not in ("compute", "copy")]
    zoom: Spec = {"type": "interval", "encodings": ["x"], "zoom": "wheel![event.ctrlKey || event.metaKey]"}
    first = {**_band(upper, _ABOVE, x, y, here), "params": [{"name": "zoom", "select": zoom, "bind": "scales"}]}
    height = max(60, min(_MOST_ROW * count, max(_TALLEST, _LEAST_ROW * count)))
    layers = [first, _band(lower, _BELOW, x, y, here), *_path(explained, thin, x, y)]
    return {"width": WIDTH, "height": height, "layer": layers}


def _across(span: float) -> Spec:
    return {
        "field": "s", "type": "quantitative", "title": "time since the span began",
        "axis": {"labelExpr": TIME_LABEL, "tickCount": 8}, "scale": {"domain": [0, span or 1.0], "nice": False},
    }  # fmt: skip


def _rows(called: Sequence[str]) -> Spec:
    """A quantitative axis on which row r takes [r, r + 1), from above."""
    axis: Spec = {
        "values": [row + 0.5 for row in range(len(called))], "labelExpr": f"{json.dumps(called)}[floor(datum.value)]",
        "grid": False, "ticks": False, "domain": False, "labelLimit": 160, "labelOverlap": False,
    }  # fmt: skip
    scale = {"domain": [0, len(called)], "reverse": True, "nice": False, "zero": False}
    return {"type": "quantitative", "title": None, "scale": scale, "axis": axis}


def _band(marks: Sequence[Spec], at: tuple[float, float], x: Spec, y: Spec, here: dict[str, str]) -> Spec:
    length = "format((datum.e - datum.s) * 1e6, ',.1f') + ' µs'"
    full = "datum.f >= 1 ? 'all of it' : format(datum.f, '.0%')"
    derived = {"y": f"datum.r + {at[0]}", "y2": f"datum.r + {at[1]}", "t": length, "w": full}
    paler = {"domain": [0, 1], "range": [_PALEST, 1]}
    return {
        "data": {"values": list(marks)},
        "transform": [{"calculate": expression, "as": name} for name, expression in derived.items()],
        "mark": {"type": "rect", "clip": True},
        "encoding": {
            "x": x, "x2": {"field": "e"}, "y": {**y, "field": "y"}, "y2": {"field": "y2"}, "color": colours("k", here),
            "opacity": {"field": "f", "type": "quantitative", "scale": paler, "legend": None},
            "tooltip": tips(n="what", k="kind", t="lasts", w="with work"),
        },
    }  # fmt: skip


def _path(explained: Explained, thin: Thinned, x: Spec, y: Spec) -> Iterator[Spec]:
    row = {trace: i for i, trace in enumerate(thin.traces)}
    stays: list[Spec] = [
        {"y": row[trace] + _PATH, "s": (start - explained.start) / GIGA, "e": (end - explained.start) / GIGA}
        for trace, start, end in thin.path
    ]
    turns: list[Spec] = [{"s": b["s"], "y": a["y"], "y2": b["y"]} for a, b in pairwise(stays) if a["y"] != b["y"]]
    line: Spec = {"type": "rule", "color": PATH, "clip": True}
    height = {**y, "field": "y"}
    for values, width, ends in ((stays, 3, {"x2": {"field": "e"}}), (turns, 1.2, {"y2": {"field": "y2"}})):
        if values:
            encoding: Spec = {"x": x, "y": height, **ends}
            yield {"data": {"values": values}, "mark": {**line, "strokeWidth": width}, "encoding": encoding}
