"""Ranks and steps beside one another as pictures: where their time goes, and who comes last.

What belongs here: one function a picture, from ``explain_rows``; None where there is nothing to show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hopline.quantity import show
from hopline.show.explain_drawing import LATE, TIME, WHERE, WIDTH, Figure, abridged, colours, names, ticks, tips
from hopline.show.explain_rows import MeetingRow, Numbers, RankRow, StepRow
from hopline.show.figures import TIME_LABEL, Spec

MOST_RANKS, MOST_LAST, MOST_DOTS = 64, 24, 600
_APART = 0.001
"""Share of the span from which on it is drawn that a trace does not cover it."""
_NOT_IN = "not in its trace"
_NOTHING = 1e-12
"""Share of the span that is what rounding leaves."""
_STEPS = {"compute": WHERE["compute"], "exposed communication": "#d9822b", "idle": WHERE["idle"]}


def where(found: Numbers) -> Figure | None:
    """A bar for each rank, in pieces that add up to its span."""
    kept = sorted(range(len(found.ranks)), key=lambda i: -(found.ranks[i].exposed or 0.0))[:MOST_RANKS]
    rows = [found.ranks[i] for i in sorted(kept)]
    pieces = [piece for row in rows for piece in _pieces(row, found.time)]
    if not pieces:
        return None
    here = {kind: colour for kind, colour in WHERE.items() if any(piece["k"] == kind for piece in pieces)}
    spec: Spec = {
        "width": WIDTH,
        "height": len(rows) * (24 if len(rows) <= 16 else 14),
        "data": {"values": pieces},
        "mark": {"type": "bar"},
        "encoding": {
            "x": {**TIME, "field": "s"},
            "x2": {"field": "e"},
            "y": names("l", [_label(row) for row in rows]),
            "color": colours("k", here),
            "tooltip": tips(l="rank", k="kind", t="time"),
        },
    }
    note = "Each bar is one rank; what stands in one colour is a sum over the span, not a moment in it."
    if any(piece["k"] == _NOT_IN for piece in pieces):
        note += f" All bars are {show(found.time, 'time')} long; what a trace does not cover of that is pale."
    if left := len(found.ranks) - len(rows):
        note += f" The {len(rows)} ranks with the most exposed communication; {left} more are in the tables."
    if blind := [_label(row) for row in rows if row.busy is None]:
        note += f" Their files show no work of a GPU: {', '.join(blind[:8])}{' and more' if len(blind) > 8 else ''}."
    return Figure("where", "Where the time of each rank goes", note, spec)


def _label(row: RankRow) -> str:
    return abridged(row.label, 40)


def _pieces(row: RankRow, whole: float) -> Iterator[Spec]:
    if row.compute is None or row.hidden is None or row.exposed is None or row.idle is None:
        return
    waiting = row.waiting or 0.0
    untold = row.exposed - waiting if row.untold is None else row.untold
    lengths = {
        "compute": row.compute - row.hidden,
        "compute and communication": row.hidden,
        "waiting for the last rank": waiting,
        "transfer nothing covers": row.exposed - waiting - untold,
        "exposed, waiting or transfer": untold,
        "idle": row.idle,
        _NOT_IN: whole - row.span if whole - row.span > _APART * whole else 0.0,
    }
    at = 0.0
    for kind, length in lengths.items():
        if length > _NOTHING * whole:
            yield {"l": _label(row), "k": kind, "s": at, "e": at + length, "t": show(length, "time")}
            at += length


def last(found: Numbers) -> Figure | None:
    """A dot for each collective of which it is known who came last."""
    shown = [row.label for row in found.last[:MOST_LAST]]
    told = [row for row in found.meetings if row.last in shown][:MOST_DOTS]
    if not any(row.waiting for row in told):
        return None
    label = {row.label: f"{abridged(row.label, 40)}  ({row.times} of {row.of})" for row in found.last}
    most = max(row.waiting or 0.0 for row in told)
    sizes = [float(f"{most * part:.0e}") for part in (0.1, 0.5, 1.0)]
    across = {"format": "d", "values": ticks(found.collectives, 12), "grid": False}
    spec: Spec = {
        "width": WIDTH,
        "height": len(shown) * (28 if len(shown) <= 12 else 18),
        "data": {"values": [_dot(row, label) for row in told]},
        "mark": {"type": "circle", "color": LATE},
        "encoding": {
            "x": {
                "field": "x", "type": "quantitative", "title": "collective, in order of time", "axis": across,
                "scale": {"domain": [-0.5, found.collectives - 0.5], "nice": False, "zero": False},
            },
            "y": names("l", [label[name] for name in shown]),
            "size": {
                "field": "w", "type": "quantitative", "title": "longest wait", "scale": {"range": [24, _largest(len(told))]},
                "legend": {"orient": "top", "labelExpr": TIME_LABEL, "values": sizes},
            },
            "opacity": {"condition": {"test": "datum.sure", "value": 0.8}, "value": 0.3},
            "tooltip": tips(o="collective", l="last", t="longest wait", m="behind the next by"),
        },
    }  # fmt: skip
    return Figure("last", "Who comes last", _last_note(found, told, shown), spec)


def _largest(dots: int) -> float:
    """Square pixels of the largest dot: smaller where they are many."""
    return max(60.0, min(380.0, 24_000 / dots))


def _dot(row: MeetingRow, label: dict[str, str]) -> Spec:
    return {
        "x": row.number, "l": label[str(row.last)], "w": row.waiting or 0.0, "sure": row.sure, "o": f"{row.op} {row.number}",
        "t": show(row.waiting, "time"), "m": show(row.margin, "time"),
    }  # fmt: skip


def _last_note(found: Numbers, told: Sequence[MeetingRow], shown: Sequence[str]) -> str:
    note = "A dot is a collective, in the row of the rank that came last; the larger, the longer others waited for it."
    if any(not row.sure for row in told):
        note += " Pale: the clocks cannot tell it from another."
    if len(told) < found.collectives:
        note += f" {len(told):,} of {found.collectives:,} collectives are drawn: the longest waits of which the last is known."
    if more := len(found.last) - len(shown):
        note += f" {more:,} more ranks were last at times."
    return note


def steps(found: Numbers) -> Figure | None:
    """A bar for each step, of the mean over ranks; None for a single one."""
    if len(found.steps) < 2 or not any(step.compute is not None for step in found.steps):
        return None
    axis: Spec = {
        "labelExpr": f"{[step.number for step in found.steps]}[datum.value]", "grid": False,
        "values": ticks(len(found.steps), 24),
    }  # fmt: skip
    spec: Spec = {
        "width": WIDTH,
        "height": 200,
        "data": {"values": [piece for i, step in enumerate(found.steps) for piece in _step(i, step)]},
        "mark": {"type": "rect"},
        "encoding": {
            "x": {
                "field": "a", "type": "quantitative", "title": "step", "axis": axis, "scale": {"nice": False, "zero": False},
            },
            "x2": {"field": "b"},
            "y": {**TIME, "field": "s"},
            "y2": {"field": "e"},
            "color": colours("k", _STEPS),
            "tooltip": tips(n="step", k="kind", t="time"),
        },
    }  # fmt: skip
    more = f" The first {len(found.steps)} steps; {found.steps_left_out} more." if found.steps_left_out else ""
    return Figure("steps", "Steps beside one another", f"The mean over ranks.{more}", spec)


def _step(i: int, step: StepRow) -> Iterator[Spec]:
    at = 0.0
    for kind, length in zip(_STEPS, (step.compute or 0.0, step.exposed or 0.0, step.idle or 0.0), strict=True):
        told = {"k": kind, "n": str(step.number), "t": show(length, "time")}
        yield {"a": i - 0.4, "b": i + 0.4, "s": at, "e": at + length, **told}
        at += length
