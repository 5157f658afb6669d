"""Pictures of headroom: its terms as bars, and the level at which pause comes as more queues are congested.

What belongs here: specifications for ``hopline headroom --plot``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hopline.records.headroom import Firing, Headroom
from hopline.show.figures import CONFIG, SCHEMA, Spec

_KIB = 1024
_BLUE = "#2f6db5"
_COLOURS = {
    "frame": _BLUE, "pause": "#222222", "cable": "#d9822b", "response": "#3a8f5c", "interfaces": "#8a5fb0",
}  # fmt: skip
"""First word of a term -> its colour."""


def terms(accounts: Sequence[Headroom], title: str) -> Spec:
    """A bar for each account, of its terms."""
    rows = [
        {"account": account.name, "kind": _kind(term.name), "size": term.size / _KIB, "place": place}
        for account in accounts
        for place, term in enumerate(account.terms)
    ]
    kinds = [kind for kind in _COLOURS if any(row["kind"] == kind for row in rows)]
    encoding: Spec = {
        "y": {"field": "account", "type": "nominal", "title": None, "sort": None, "axis": {"labelLimit": 260}},
        "x": {"field": "size", "type": "quantitative", "title": "headroom (KiB)", "stack": "zero"},
        "order": {"field": "place", "type": "quantitative"},
        "color": {
            "field": "kind",
            "type": "nominal",
            "title": None,
            "scale": {"domain": kinds, "range": [_COLOURS[kind] for kind in kinds]},
        },
    }
    body: Spec = {
        "width": 560,
        "height": {"step": 46},
        "mark": {"type": "bar", "stroke": "white"},
        "encoding": encoding,
    }
    return _page(title, {"data": {"values": rows}, **body})


def _kind(term: str) -> str:
    return term.split(",")[0].split()[0]


def order(firings: Sequence[Firing], marks: Mapping[str, float], flips: int | None, title: str) -> Spec:
    """Bytes in each congested egress queue when pause comes, over their number, with ECN's thresholds across."""
    rows = [{"queues": firing.queues, "size": firing.pause / _KIB} for firing in firings]
    scale: Spec = {"type": "log", "base": 2, "nice": False}
    axis: Spec = {"format": "d"}
    x: Spec = {
        "field": "queues",
        "type": "quantitative",
        "title": "congested egress queues",
        "scale": scale,
        "axis": axis,
    }
    y: Spec = {
        "field": "size",
        "type": "quantitative",
        "title": "in each when pause comes (KiB)",
        "scale": {"type": "log", "nice": False, "padding": 12},
    }
    curve: Spec = {
        "data": {"values": rows},
        "mark": {"type": "line", "strokeWidth": 2.4, "color": _BLUE, "point": True},
    }
    layers: list[Spec] = [{**curve, "encoding": {"x": x, "y": y}}]
    for name, level in marks.items():
        layers += _across(name, level / _KIB)
    if flips is not None:
        layers += _flip(flips)
    return _page(title, {"width": 620, "height": 320, "layer": layers})


def _across(name: str, level: float) -> list[Spec]:
    data = {"values": [{"label": name}]}
    y = {"datum": level}
    rule: Spec = {
        "data": data,
        "mark": {"type": "rule", "color": "#d9822b", "strokeDash": [4, 3]},
        "encoding": {"y": y},
    }
    words: Spec = {
        "data": data,
        "mark": {"type": "text", "align": "left", "color": "#a85c10", "fontSize": 11},
        "encoding": {"y": y, "x": {"value": 626}, "text": {"field": "label"}},
    }
    return [rule, words]


def _flip(count: int) -> list[Spec]:
    data = {"values": [{"label": f"from {count} on PFC is first"}]}
    x = {"datum": count}
    rule: Spec = {"data": data, "mark": {"type": "rule", "color": "#b5473c"}, "encoding": {"x": x}}
    words: Spec = {
        "data": data,
        "mark": {"type": "text", "align": "right", "dx": -5, "color": "#b5473c", "fontSize": 11},
        "encoding": {"x": x, "y": {"value": 308}, "text": {"field": "label"}},
    }
    return [rule, words]


def _page(title: str, body: Spec) -> Spec:
    return {"$schema": SCHEMA, "title": {"text": title, "anchor": "start", "fontSize": 14}, **body, "config": CONFIG}
