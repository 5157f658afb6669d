"""What the critical path is made of and what a change would bring, as bars.

What belongs here: one function a picture, from ``explain_rows``; None where there is nothing to show.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from hopline.quantity import show
from hopline.show.explain_drawing import PART_COLOURS, PATH, TIME, WIDTH, Figure, abridged, colours, names
from hopline.show.explain_rows import PART_WORDS, Numbers, WhatIfRow, path_changes, replayed, what_if_title
from hopline.show.figures import Spec

MOST_CAUSES, MOST_CHANGES = 12, 16
_WORDS_WIDE, _LEAST_WIDE = 165, 60
"""Pixels beyond the longest bar for the words beside it, and of the longest bar where they leave it no more."""
_CHANGE, _CEILING = "#5fa97c", "#0d2418"
_WORDS: Spec = {"type": "text", "align": "left", "dx": 6, "fontSize": 12}

Bar = tuple[str, str, float]
"""(kind, label, seconds)"""


def parts(found: Numbers) -> Figure | None:
    """Kinds of time on the path."""
    if not found.parts:
        return None
    bars = [(part, f"{part}: {PART_WORDS[part]}", time) for part, time in found.parts.items()]
    note = f"The chain of work and waits that set the time: shortening anything else changes nothing. {path_changes(found)}"
    spec = _bars(bars, sum(found.parts.values()), PART_COLOURS, legend=False)
    return Figure("parts", "What the critical path is made of", note, spec)


def causes(found: Numbers) -> Figure | None:
    """Kernels, collectives and calls on the path."""
    rows = found.causes[:MOST_CAUSES]
    if not rows:
        return None
    bars = [(row.part, f"{row.times:,} × {abridged(row.name or row.part, 44)}", row.time) for row in rows]
    left = len(found.causes) + found.causes_left_out - len(rows)
    here = {part: colour for part, colour in PART_COLOURS.items() if any(row.part == part for row in rows)}
    spec = _bars(bars, sum(found.parts.values()), here, legend=True)
    return Figure("causes", "What is on it the longest", f"{left:,} more are shorter." if left else "", spec)


def _bars(bars: Sequence[Bar], whole: float, of: Mapping[str, str], legend: bool) -> Spec:
    """Bars with their time and share beside them; equal labels stand apart."""
    values = [
        {"i": i, "k": kind, "t": time, "w": f"{show(time, 'time')} · {100 * time / whole:.1f} %" if whole else ""}
        for i, (kind, _, time) in enumerate(bars)
    ]
    labels = json.dumps([label for _, label, _ in bars])
    y: Spec = {
        "field": "i", "type": "ordinal", "title": None,
        "axis": {"labelExpr": f"{labels}[datum.value]", "ticks": False, "domain": False},
    }  # fmt: skip
    return _with_words(values, y, max(time for _, _, time in bars), colours("k", of, legend))


def _with_words(values: Sequence[Spec], y: Spec, most: float, colour: Spec, beside: str = "t") -> Spec:
    """Bars of ``t`` with the words ``w`` beside them, at ``beside``."""
    room = {"expr": f"{most or 1.0!r} * width / max(width - {_WORDS_WIDE}, {_LEAST_WIDE})"}
    x: Spec = {**TIME, "field": "t", "scale": {"domainMin": 0, "domainMax": room, "nice": False}}
    own = {"data": {"values": list(values)}}
    bar: Spec = {**own, "mark": {"type": "bar"}, "encoding": {"x": x, "y": y, "color": colour}}
    words: Spec = {**own, "mark": _WORDS, "encoding": {"x": {**x, "field": beside}, "y": y, "text": {"field": "w"}}}
    return {"width": WIDTH, "height": 25 * len(values), "layer": [bar, words]}


def what_ifs(found: Numbers) -> Figure | None:
    """The time after each change, with the ceiling of its kind, and as it was."""
    rows = found.what_ifs[:MOST_CHANGES]
    if not rows or found.replayed is None:
        return None
    before = found.replayed
    values: list[Spec] = [
        {
            "i": abridged(row.change, 60), "t": row.time, "k": "after the change", "c": row.ceiling,
            "w": f"{show(row.time, 'time')} · {_changed(row, before)}", "x": max(row.time, before),
        }
        for row in rows
    ]  # fmt: skip
    order = list(dict.fromkeys(value["i"] for value in values))
    y = names("i", order)
    at_best: Spec = {
        "data": {"values": [value for value in values if value["c"] is not None]},
        "mark": {"type": "tick", "color": _CEILING, "thickness": 2.5, "size": 17},
        "encoding": {"x": {"field": "c", "type": "quantitative"}, "y": y},
    }
    now: Spec = {
        "data": {"values": [{"now": before}]},
        "mark": {"type": "rule", "strokeDash": [4, 3], "color": PATH, "strokeWidth": 1.5},
        "encoding": {"x": {"field": "now", "type": "quantitative"}},
    }
    most = max(before, *(row.time for row in rows))
    spec = _with_words(values, y, most, {"value": _CHANGE}, "x")
    spec["layer"] += [at_best, now]
    return Figure("what_if", what_if_title(found), _what_if_note(found, len(rows)), spec)


def _changed(row: WhatIfRow, before: float) -> str:
    if row.within:
        return "within the error"
    share = -100 * row.saved / before if before else 0.0
    return f"{share:+.1f} %{' at most' if row.at_most else ''}" if abs(share) >= 0.05 else "no change"


def _what_if_note(found: Numbers, drawn: int) -> str:
    note = (
        f"The time with each change, the most helpful first. {replayed(found)} Dashed: without a change. Black: the ceiling, "
        "if what the change speeds up cost nothing."
    )
    if left := len(found.what_ifs) - drawn:
        note += f" {left} more help less."
    return note
