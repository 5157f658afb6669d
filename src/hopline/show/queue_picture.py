"""Pictures of queues: what is in them over time, and what comes, leaves and is lost.

What belongs here: specifications for ``hopline queue --plot``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hopline.quantity import show
from hopline.records.queue import Course, Looped, Steps
from hopline.show.figures import CONFIG, SCHEMA, Spec, colours

Curve = tuple[Sequence[float], Sequence[float]]
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_SIZES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))
_RATES = ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "KB/s"), (1.0, "B/s"))
_MOST_POINTS = 1500
"""Of one curve."""
_MOST_BANDS, _MOST_WORDS = 200, 16


def filled(
    courses: Mapping[str, Course], arrivals: Mapping[str, Steps], marks: Mapping[str, float], title: str
) -> Spec:
    """Levels with their limits above, and below what comes to each queue and what it loses."""
    end = max(float(course.times[-1]) for course in courses.values())
    levels = {name: _level(course) for name, course in courses.items()}
    rates = {f"comes{_of(name, arrivals)}": _staircase(steps, end) for name, steps in arrivals.items()}
    for name, course in courses.items():
        rates[f"leaves{_of(name, courses)}"] = _staircase(course.departs, end)
    above = _pane(levels, "in the queue", _SIZES, 300, marks)
    second, _ = _unit([end], _TIMES)
    above["layer"] = [*_losses(courses, second), *above["layer"]]
    return _panes(above, _pane(rates, "rate", _RATES, 170, {}, "step-after"), title)


def _losses(courses: Mapping[str, Course], second: float) -> list[Spec]:
    """A red band wherever a queue drops, with what it drops."""
    rows = [
        {
            "start": float(part.start) / second,
            "end": float(part.end) / second,
            "label": f"drops {show(float(part.size), 'size', 3)}",
        }
        for course in courses.values()
        for part in course.lost[:_MOST_BANDS]
    ]
    if not rows:
        return []
    x: Spec = {"field": "start", "type": "quantitative"}
    band: Spec = {
        "mark": {"type": "rect", "color": "#b5473c", "opacity": 0.14},
        "encoding": {"x": x, "x2": {"field": "end"}},
    }
    words: Spec = {
        "mark": {"type": "text", "align": "left", "angle": 270, "dy": 10, "color": "#b5473c", "fontSize": 11},
        "encoding": {"x": x, "y": {"value": 292}, "text": {"field": "label"}},
    }
    return [{"data": {"values": rows}, **layer} for layer in ((band, words) if len(rows) <= _MOST_WORDS else (band,))]


def _of(name: str, all_of_them: Mapping[str, object]) -> str:
    return f", {name}" if len(all_of_them) > 1 else ""


def _level(course: Course) -> Curve:
    return [float(time) for time in course.times], [float(level) for level in course.levels]


def _staircase(steps: Steps, end: float) -> Curve:
    inside = [(float(start), float(rate)) for start, rate in steps if float(start) < end]
    return [*(start for start, _ in inside), end], [*(rate for _, rate in inside), inside[-1][1]]


def loops(
    runs: Mapping[str, Looped], marks: Mapping[str, float], service: float, jumps: bool, title: str, subtitle: str
) -> Spec:
    """Levels of several delays above, the rates that arrive below; ``jumps``: they change in steps."""
    levels = {name: _thinned((run.times, run.levels)) for name, run in runs.items()}
    rates = {name: _thinned((run.times, run.rates)) for name, run in runs.items()}
    below = _pane(rates, "arrives", _RATES, 150, {"service": service}, "step-after" if jumps else "linear")
    return _panes(_pane(levels, "in the queue", _SIZES, 300, marks), below, title, subtitle)


def _thinned(curve: Curve) -> Curve:
    every = -(-len(curve[0]) // _MOST_POINTS)
    return ([*curve[0][::every], curve[0][-1]], [*curve[1][::every], curve[1][-1]])


def _panes(above: Spec, below: Spec, title: str, subtitle: str = "") -> Spec:
    head = {"text": title, "subtitle": subtitle, "anchor": "start", "fontSize": 14}
    own = {"scale": {"color": "independent", "strokeDash": "independent"}}
    return {"$schema": SCHEMA, "title": head, "vconcat": [above, below], "resolve": own, "config": CONFIG}


def _pane(
    curves: Mapping[str, Curve], what: str, units: Sequence[tuple[float, str]], height: int, marks: Mapping[str, float],
    shape: str = "linear",
) -> Spec:  # fmt: skip
    """Lines over time; ``marks``: name -> a level drawn across."""
    scale, unit = _unit([y for _, ys in curves.values() for y in ys] + list(marks.values()), units)
    second, tick = _unit([x for xs, _ in curves.values() for x in xs], _TIMES)
    rows = [
        {"x": x / second, "y": y / scale, "series": name, "order": i}
        for name, (xs, ys) in curves.items()
        for i, (x, y) in enumerate(zip(xs, ys, strict=True))
    ]
    names = list(curves)
    dashes = {"domain": names, "range": [[1, 0] if i % 2 == 0 else [6, 4] for i in range(len(names))]}
    alone = {"legend": None} if len(names) == 1 else {}
    encoding: dict[str, Any] = {
        "x": {"field": "x", "type": "quantitative", "title": f"time ({tick})", "scale": {"nice": False}},
        "y": {"field": "y", "type": "quantitative", "title": f"{what} ({unit})", "scale": {"zero": True}},
        "order": {"field": "order", "type": "quantitative"},
        "color": colours(names) | alone,
        "strokeDash": {"field": "series", "type": "nominal", "title": None, "scale": dashes} | alone,
    }
    line: Spec = {
        "data": {"values": rows},
        "mark": {"type": "line", "strokeWidth": 2.2, "strokeJoin": "round", "interpolate": shape},
        "encoding": encoding,
    }
    layers: list[Spec] = [line]
    for name, level in marks.items():
        layers += _mark(name, level / scale)
    return {"width": 680, "height": height, "layer": layers}


def _mark(name: str, level: float) -> list[Spec]:
    data = {"values": [{"label": name}]}
    rule: Spec = {
        "data": data,
        "mark": {"type": "rule", "color": "#888", "strokeDash": [3, 3]},
        "encoding": {"y": {"datum": level}},
    }
    text: Spec = {
        "data": data,
        "mark": {"type": "text", "align": "left", "color": "#555", "fontSize": 11},
        "encoding": {"y": {"datum": level}, "x": {"value": 686}, "text": {"field": "label"}},
    }
    return [rule, text]


def _unit(values: Sequence[float], units: Sequence[tuple[float, str]]) -> tuple[float, str]:
    """The largest unit in which the largest value is at least 2."""
    most = max(values, default=0.0)
    return next(((scale, unit) for scale, unit in units if most >= 2 * scale), units[-1])
