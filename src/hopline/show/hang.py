"""Why ranks hang, on a page and as JSON.

What belongs here: what stands where. What breaks are is ``study.hangs``, their sentences are ``hang_words``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hopline.quantity import counted
from hopline.records.flight import COMPLETED, Call, Group, Shape
from hopline.records.hang import MISMATCHES, Behind, Break, Hang
from hopline.show.document import Block, Grid, Heading, Line
from hopline.show.hang_words import (
    behind_text,
    call_text,
    capital,
    circle_text,
    earlier_text,
    empty_text,
    is_long,
    missing_text,
    ranks_text,
    sentence,
    short_text,
)  # fmt: skip

MOST_RANKS, MOST_BREAKS = 16, 8
"""Rows of a table of ranks, odd ranks first; and breaks of a kind that the page has (the JSON has all)."""
_SHORT = (
    "How long they wait is not in the dumps: a job at work, dumped between two calls of a rank, would look the same."
)


def page(hang: Hang) -> list[Block]:
    """The verdict, the call on which ranks differ as each has it, what follows from it, and what each rank did last."""
    blocks: list[Block] = [Heading(f"Flight recorder dumps of {ranks_text(hang.ranks)}"), *_verdict(hang)]
    roots, rest = hang.breaks[: hang.roots], hang.breaks[hang.roots :]
    for found in roots[:MOST_BREAKS]:
        blocks += _views(found)
    if rest:
        lines = [Line(f"  {sentence(one, _bare(hang, one))}") for one in rest[:MOST_BREAKS]]
        blocks += [Heading("What follows from it"), *lines, *_more(rest)]
    return [*blocks, *_last(hang), *(Line(remark, "faint") for remark in hang.told)]


def _more(breaks: Sequence[object]) -> list[Block]:
    left = len(breaks) - MOST_BREAKS
    return [Line(f"  and {left:,} more, which --json lists", "faint")] if left > 0 else []


def _verdict(hang: Hang) -> list[Block]:
    known = [Line(text, "bad") for text in _unknown(hang)]
    before = [Line(earlier_text(one), "bad") for one in hang.earlier]
    if not hang.compared + hang.messages and not hang.breaks:
        return [Line("Nothing can be compared: no two dumps have a call of one group in common.", "bad"), *known]
    met = f" and {counted(hang.messages, 'message')}" if hang.messages else ""
    compared = f"{counted(hang.compared, 'collective')}{met} of {counted(len(hang.groups), 'group')} compared"
    if hang.breaks:
        return [
            *_roots(hang),
            *before,
            *known,
            Line(f"{compared}{'' if before else '; nothing earlier differs'}.", "faint"),
        ]
    if before or hang.behind:
        return [*before, *known, Line(f"None is known to wait ({compared}).")]
    done = all(call is None or call.state == COMPLETED for call in hang.last.values())
    rest = f"{' and done' if done else ', and none is known to wait'} ({compared})."
    short = [Line(short_text(one), "bad") for one in hang.short]
    if known or short:
        alike = f"No defect among {ranks_text(hang.held)}: every call that two or more of them have is the same on each"
        return [*known, *short[:MOST_BREAKS], *_more(short), Line(f"{alike}{rest}")]
    return [Line(f"No defect: every call of each group is the same on all its ranks{rest}", "good")]


def _unknown(hang: Hang) -> list[str]:
    """Ranks for which what is said does not hold, and why."""
    empty = [empty_text(hang.empty)] if hang.empty else []
    missing = [missing_text(hang.missing)] if hang.missing else []
    return [*empty, *missing, *map(behind_text, hang.behind)]


def _roots(hang: Hang) -> list[Block]:
    roots = hang.breaks[: hang.roots]
    lines = [Line(sentence(found, _bare(hang, found)), "bad") for found in roots[:MOST_BREAKS]]
    circles = [Line(circle_text(circle), "bad") for circle in hang.circles[:MOST_BREAKS]]
    sure = hang.circles or any(one.kind in MISMATCHES or not one.waiting or is_long(one) for one in roots)
    return [*lines, *_more(roots), *circles, *([] if sure else [Line(_SHORT, "faint")])]


def _bare(hang: Hang, found: Break) -> bool:
    """Whether a cause other than the usual one is known: a circle, or an earlier call that went wrong."""
    return any(found in circle for circle in hang.circles) or any(one.group == found.group for one in hang.earlier)


# --- tables -------------------------------------------------------------------------------------------------------


def _views(found: Break) -> list[Block]:
    order = sorted(found.views, key=lambda view: (view.rank not in found.odd, view.rank))
    rows = [row for view in order[:MOST_RANKS] for row in _view(view.rank, view.calls)]
    more = [Line(f"  and {len(order) - MOST_RANKS} more ranks", "faint")] if len(order) > MOST_RANKS else []
    head = f"{capital(call_text(found))}, as each rank has it"
    return [Heading(head), Grid(("rank", "op", "state", "in", "out", "type", "made at"), rows, left=7), *more]


def _view(rank: int, calls: Sequence[Call]) -> list[tuple[str, ...]]:
    if not calls:
        return [(str(rank), "not made", "", "", "", "", "")]
    rows = [
        (str(rank), call.op, call.state, _shapes(call.inputs), _shapes(call.outputs), _types(call), call.where)
        for call in calls[:4]
    ]
    return [*rows, *([(str(rank), f"and {len(calls) - 4} more", "", "", "", "", "")] if len(calls) > 4 else [])]


def _shapes(shapes: Sequence[Shape]) -> str:
    text = " ".join("x".join(map(str, shape)) or "1" for shape in shapes[:2])
    return text + (f" and {len(shapes) - 2} more" if len(shapes) > 2 else "")


def _types(call: Call) -> str:
    return "/".join(sorted({*call.dtypes[0], *call.dtypes[1]}))


def _last(hang: Hang) -> list[Block]:
    odd = {rank for found in hang.breaks for rank in found.odd}
    order = sorted(hang.last.items(), key=lambda item: (item[0] not in odd, item[0]))
    rows = [
        (str(rank), "nothing", "", "", "", "") if call is None
        else (str(rank), call.op, call.group, str(call.sequence), call.state, call.where)
        for rank, call in order[:MOST_RANKS]
    ]  # fmt: skip
    more = [Line(f"  and {len(order) - MOST_RANKS} more ranks", "faint")] if len(order) > MOST_RANKS else []
    return [
        Heading("What each rank called last"),
        Grid(("rank", "op", "group", "call", "state", "made at"), rows, left=6),
        *more,
    ]


# --- JSON ---------------------------------------------------------------------------------------------------------


def as_json(hang: Hang) -> dict[str, Any]:
    """All of it, with times in seconds and sizes in elements."""
    return {
        "ranks": list(hang.ranks), "missing": list(hang.missing), "compared": hang.compared,
        "groups": [_group_json(group) for group in hang.groups],
        "messages": hang.messages, "defect": bool(hang.breaks or hang.earlier), "roots": hang.roots,
        "circle": list(dict.fromkeys(found.group.name for circle in hang.circles for found in circle)),
        "circles": [circle_text(circle) for circle in hang.circles], "earlier": [_break_json(found) for found in hang.earlier],
        "behind": [_behind_json(found) for found in hang.behind], "empty": list(hang.empty), "held": list(hang.held),
        "short": [
            {"group": _group_json(one.group), "sequence": one.sequence, "ranks": list(one.ranks)} for one in hang.short
        ],
        "breaks": [_break_json(found, _bare(hang, found)) for found in hang.breaks],
        "last": {str(rank): None if call is None else _call_json(call) for rank, call in hang.last.items()},
        "told": list(hang.told),
    }  # fmt: skip


def _group_json(group: Group) -> dict[str, Any]:
    return {"name": group.name, "about": group.about, "ranks": list(group.ranks)}


def _behind_json(found: Behind) -> dict[str, Any]:
    return {
        "rank": found.rank, "group": None if found.group is None else found.group.name, "reached": found.reached,
        "done": found.done, "earlier": found.earlier, "sentence": behind_text(found),
    }  # fmt: skip


def _break_json(found: Break, bare: bool = False) -> dict[str, Any]:
    return {
        "kind": found.kind, "mismatch": found.kind in MISMATCHES, "group": _group_json(found.group),
        "sequence": found.sequence, "op": found.op, "odd": list(found.odd), "waiting": list(found.waiting),
        "unknown": list(found.unknown), "detail": found.detail, "waited": found.waited, "timeout": found.timeout,
        "meets": found.meets or None, "timed": found.timed,
        "sentence": sentence(found, bare), "views": [
            {"rank": view.rank, "calls": [_call_json(call) for call in view.calls]} for view in found.views
        ],
    }  # fmt: skip


def _call_json(call: Call) -> dict[str, Any]:
    return {
        "record": call.record, "group": call.group, "sequence": call.sequence, "op": call.op, "state": call.state,
        "inputs": [list(shape) for shape in call.inputs], "outputs": [list(shape) for shape in call.outputs],
        "dtypes": [list(types) for types in call.dtypes], "where": call.where,
    }  # fmt: skip
