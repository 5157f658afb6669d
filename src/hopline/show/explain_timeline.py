"""The timeline of an explained step as a picture: every rank's work, waiting and transfer, and the critical path under it.

What belongs here: the specification. What of it is drawn is ``explain_thinning``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from hopline.quantity import show
from hopline.records.explained import Explained
from hopline.show.explain_drawing import PART_COLOURS, PATH, WHERE, WIDTH, abridged, colours, tips
from hopline.show.explain_numbers import labels
from hopline.show.explain_rows import GIGA, PART_WORDS
from hopline.show.explain_thinning import Thinned
from hopline.show.figures import TIME_LABEL, Spec

COLOURS = {"waiting": WHERE["waiting for the last rank"], **PART_COLOURS}
"""Kind of a mark or part of the path -> its colour; ``communication``: waiting and transfer that cannot be told apart."""
_ABOVE, _BELOW, _PATH = (0.10, 0.46), (0.48, 0.84), 0.93
"""Where in the row of a rank compute, communication and the path stand."""
_PALEST = 0.12
"""Opacity of a mark that stands for hardly any work."""
_WIDE, _NARROW, _ROOMY = 5.0, 2.5, 30
"""Pixels of the path's line, where a row has so many and where it has fewer."""
_TALLEST, _LEAST_ROW, _MOST_ROW = 1000, 15, 46
"""Pixels."""


def timeline(explained: Explained, thin: Thinned) -> Spec:
    """A row a rank; the path has lines where it goes over to another rank."""
    called = labels(explained.traces)
    count = len(thin.traces)
    kinds = {mark["k"] for mark in thin.marks} | {piece.part for piece in thin.path}
    here = {kind: colour for kind, colour in COLOURS.items() if kind in kinds}
    x = _across(explained.time / GIGA)
    y = _rows([abridged(called[i], 24) for i in thin.traces])
    upper = [mark for mark in thin.marks if mark["k"] in ("compute", "copy")]
    lower = [mark for mark in thin.marks if mark["k"] not in ("compute", "copy")]
    zoom: Spec = {"type": "interval", "encodings": ["x"], "zoom": "wheel![event.ctrlKey || event.metaKey]"}
    first = {**_band(upper, _ABOVE, x, y, here), "params": [{"name": "zoom", "select": zoom, "bind": "scales"}]}
    height = max(60, min(_MOST_ROW * count, max(_TALLEST, _LEAST_ROW * count)))
    wide = _WIDE if height >= _ROOMY * count else _NARROW
    layers = [first, _band(lower, _BELOW, x, y, here), *_path(explained, thin, x, y, here, wide)]
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
        "grid": False, "ticks": False, "domain": False, "labelOverlap": False,
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


def _path(
    explained: Explained, thin: Thinned, x: Spec, y: Spec, here: Mapping[str, str], wide: float
) -> Iterator[Spec]:
    """Its pieces in the colours of their parts, and a line wherever it goes over to another rank."""
    row = {trace: i for i, trace in enumerate(thin.traces)}
    pieces: list[Spec] = [
        {
            "y": row[piece.trace] + _PATH, "k": piece.part, "n": f"critical path: {PART_WORDS[piece.part]}",
            "s": (piece.start - explained.start) / GIGA, "e": (piece.end - explained.start) / GIGA,
            "t": show((piece.end - piece.start) / GIGA, "time"),
        }
        for piece in thin.path
    ]  # fmt: skip
    turns: list[Spec] = [{"s": b["s"], "y": a["y"], "y2": b["y"]} for a, b in pairwise(pieces) if a["y"] != b["y"]]
    line: Spec = {"type": "rule", "clip": True}
    height = {**y, "field": "y"}
    if turns:
        encoding: Spec = {"x": x, "y": height, "y2": {"field": "y2"}}
        yield {"data": {"values": turns}, "mark": {**line, "strokeWidth": 1.2, "color": PATH}, "encoding": encoding}
    if pieces:
        tooltip = tips(n="what", t="lasts")
        encoding = {"x": x, "x2": {"field": "e"}, "y": height, "color": colours("k", here), "tooltip": tooltip}
        yield {"data": {"values": pieces}, "mark": {**line, "strokeWidth": wide}, "encoding": encoding}
