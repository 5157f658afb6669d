"""The picture of a step: a lane of compute and one of the network, before and after a change, the exposed part marked.

What belongs here: its specification.
"""

from __future__ import annotations

from hopline.quantity import show
from hopline.records.step import Answer, Bubble, Stepped
from hopline.show.figures import CONFIG, SCHEMA, Spec

_KINDS = {
    "compute": "#2f6db5",
    "bubble": "#d8dde3",
    "update": "#8a5fb0",
    "hidden communication": "#3a8f5c",
    "exposed communication": "#b5473c",
}
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_MOST_BARS = 400
_MOST_NAMES = 24
_FEW = 60
"""Bars with a border."""


def picture(found: Answer) -> Spec:
    """One pane for each course."""
    courses = [("now", found.now)] + ([("after", found.after)] if found.after else [])
    end = max(float(course.step) for _, course in courses)
    second, unit = next(((s, u) for s, u in _TIMES if end >= 2 * s), _TIMES[-1])
    bars = [bar for name, course in courses for bar in _bars(name, course, found.bubble, second)]
    ends = [
        {"pane": name, "x": float(course.step) / second, "label": f"{show(float(course.step), 'time')}"}
        for name, course in courses
    ]
    kinds = [kind for kind in _KINDS if any(bar["kind"] == kind for bar in bars)]
    x: Spec = {
        "field": "start",
        "type": "quantitative",
        "title": f"time ({unit})",
        "scale": {"domain": [0, end / second * 1.09], "nice": False},
    }
    y: Spec = {
        "field": "lane",
        "type": "nominal",
        "sort": ["compute", "network"],
        "title": None,
        "axis": {"labelFontSize": 12},
    }
    colour = {
        "field": "kind",
        "type": "nominal",
        "title": None,
        "sort": kinds,
        "scale": {"domain": kinds, "range": [_KINDS[k] for k in kinds]},
    }
    layers: list[Spec] = [
        {
            "mark": {
                "type": "bar",
                "height": {"band": 0.78},
                "stroke": "white",
                "strokeWidth": 0.6 if len(bars) <= _FEW else 0,
            },
            "encoding": {"x": x, "x2": {"field": "end"}, "y": y, "color": colour},
        },
        {
            "mark": {"type": "text", "fontSize": 11, "color": "white", "clip": True},
            "encoding": {"x": {"field": "middle", "type": "quantitative"}, "y": y, "text": {"field": "label"}},
        },
    ]
    several = len(courses) > 1
    panes = [_pane(name, f"{name}: {_parts(c)}" if several else "", bars, ends, layers) for name, c in courses]
    head: Spec = {
        "text": _title(found),
        "subtitle": _subtitle(found),
        "anchor": "start",
        "fontSize": 14,
        "subtitleColor": "#666",
        "offset": 10,
    }
    shared = {"scale": {"x": "shared", "color": "shared"}}
    return {"$schema": SCHEMA, "title": head, "vconcat": panes, "resolve": shared, "spacing": 14, "config": CONFIG}


def _pane(name: str, words: str, bars: list[Spec], ends: list[Spec], layers: list[Spec]) -> Spec:
    mine = [bar for bar in bars if bar["pane"] == name]
    stop = {"data": {"values": [one for one in ends if one["pane"] == name]}}
    x = {"field": "x", "type": "quantitative"}
    closing: list[Spec] = [
        {**stop, "mark": {"type": "rule", "color": "#333", "strokeDash": [4, 3]}, "encoding": {"x": x}},
        {
            **stop,
            "mark": {"type": "text", "align": "left", "dx": 5, "fontWeight": "bold", "fontSize": 12},
            "encoding": {"x": x, "y": {"value": 20}, "text": {"field": "label"}},
        },
    ]
    title = {"text": words, "anchor": "start", "fontSize": 12, "fontWeight": "normal"} if words else None
    pane: Spec = {"width": 700, "height": 110, "data": {"values": mine}, "layer": [*layers, *closing]}
    return pane | ({"title": title} if title else {})


def _bars(pane: str, course: Stepped, bubble: Bubble | None, second: float) -> list[Spec]:
    """Bars of both lanes; neighbours on the network run together where there are too many."""
    found: list[Spec] = []

    def bar(lane: str, kind: str, start: float, end: float, label: str) -> None:
        if end > start:
            room = (end - start) / float(course.step)
            words = label if room > 0.0105 * len(label) else ""
            row = {"pane": pane, "lane": lane, "kind": kind, "start": start / second, "end": end / second}
            found.append({**row, "middle": (start + end) / 2 / second, "label": words})

    end, later = float(course.compute_end), float(course.compute_end + course.exposed)
    waits = bubble.bubble if bubble else 0.0
    bar("compute", "bubble", 0.0, waits, "")
    bar("compute", "compute", waits, end, f"compute {show(end - waits, 'time')}")
    bar("compute", "update", later, later + float(course.update), f"update {show(float(course.update), 'time')}")
    names = len(course.buckets) <= _MOST_NAMES
    for number, (start, stop) in enumerate(_spans(course), 1):
        split, alone = min(max(start, end), stop), len(course.buckets) == 1
        for kind, first, last in (("hidden", start, split), ("exposed", split, stop)):
            words = show(last - first, "time") if alone else str(number) if names else ""
            bar("network", f"{kind} communication", first, last, words)
    return found


def _spans(course: Stepped) -> list[tuple[float, float]]:
    spans = sorted((float(bucket.start), float(bucket.end)) for bucket in course.buckets)
    if len(spans) <= _MOST_BARS:
        return spans
    joined: list[tuple[float, float]] = []
    for start, stop in spans:
        if joined and start - joined[-1][1] <= float(course.step) / _MOST_BARS:
            joined[-1] = (joined[-1][0], stop)
        else:
            joined.append((start, stop))
    return joined


def _title(found: Answer) -> str:
    title = f"A step of {show(float(found.now.step), 'time')}"
    if found.after is not None:
        title += f", {show(float(found.after.step), 'time')} after"
    return title


def _parts(course: Stepped) -> str:
    return f"exposed {show(float(course.exposed), 'time')}, hidden {show(float(course.hidden), 'time')}"


def _subtitle(found: Answer) -> list[str]:
    last = found.last
    free = f"if communication cost nothing: {show(float(last.ceiling), 'time')}"
    told = [free if found.after else f"{_parts(last)}; {free}"]
    if found.bubble and found.bubble.bubble:
        told.append(
            f"the pipeline's bubble of {show(found.bubble.bubble, 'time')} is drawn in one piece; it lies among the work"
        )
    return told
