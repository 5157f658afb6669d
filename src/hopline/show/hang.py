"""Why ranks hang, on a page and as JSON.

What belongs here: words for breaks. What they are is ``study.hangs``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hopline.quantity import counted, show
from hopline.records.hang import BREAKS, MISMATCHES, Break, Call, Group, Hang, Shape
from hopline.show.document import Block, Grid, Heading, Line

MOST_RANKS = 16
"""Rows of a table of ranks; odd ranks come first."""
SOON = 0.1
"""Of the timeout: ranks that waited less may just be working."""


def page(hang: Hang) -> list[Block]:
    """The verdict, the call on which ranks differ as each has it, what follows from it, and what each rank did last."""
    blocks: list[Block] = [Heading(f"Flight recorder dumps of {_ranks(hang.ranks)}"), *_verdict(hang)]
    for number, found in enumerate(hang.breaks):
        if number == hang.roots and number:
            blocks += [Heading("What follows from it"), *(Line(f"  {sentence(one)}") for one in hang.breaks[number:])]
            break
        blocks += _views(found)
    return [*blocks, *_last(hang), *(Line(remark, "faint") for remark in hang.told)]


def _verdict(hang: Hang) -> list[Block]:
    known = (
        [Line(f"There is no dump of {_ranks(hang.missing)}: what happened there is not known.", "bad")]
        if hang.missing
        else []
    )
    compared = f"{counted(hang.compared, 'collective')} of {counted(len(hang.groups), 'group')} compared"
    if not hang.breaks:
        if not hang.compared:
            return [
                Line("Nothing can be compared: no two dumps have a collective of one group in common.", "bad"),
                *known,
            ]
        return [
            Line(f"No defect: every call of each group is the same on all its ranks and done ({compared}).", "good"),
            *known,
        ]
    lines = [Line(sentence(found), "bad") for found in hang.breaks[: hang.roots]]
    if hang.circle:
        names = ", ".join(_group(group) for group in hang.circle)
        lines.append(Line(f"They wait in a circle: ranks make the calls of {names} in different orders.", "bad"))
    return [*lines, *known, Line(f"{compared}; nothing earlier differs.", "faint")]


def sentence(found: Break) -> str:
    """What broke, in one sentence or two."""
    call = f"call {found.sequence} of group {_group(found.group)} ({found.op})"
    text = _SENTENCES.get(found.kind, _differs)(found, call)
    waits = f" {_capital(_ranks(found.waiting))} wait{'s' if len(found.waiting) == 1 else ''} in it{_waited(found)}."
    unknown = f" Of {_ranks(found.unknown)} it is not known." if found.unknown and found.kind != "unknown" else ""
    return text + (waits if found.waiting else "") + unknown


def _differs(found: Break, call: str) -> str:
    return f"{_capital(BREAKS[found.kind])} at {call}: {found.detail}."


def _absent(found: Break, call: str) -> str:
    return f"{_capital(_ranks(found.odd))} never made {call}."


def _scheduled(found: Break, call: str) -> str:
    return (
        f"The GPU of {_ranks(found.odd)} did not come to {call}, though the program did: earlier work holds its stream."
    )


def _state(found: Break, call: str) -> str:
    done = [view.rank for view in found.views if view.rank not in found.waiting]
    return f"{_capital(_ranks(done))} {'is' if len(done) == 1 else 'are'} done with {call}, and others are not."


def _stuck(_found: Break, call: str) -> str:
    cause = "look at the network and at the GPUs, not at the program"
    return f"None is done with {call}, which all its ranks made alike: {cause}."


def _unknown(found: Break, call: str) -> str:
    return f"Whether {_ranks(found.unknown)} made {call} is not known."


_SENTENCES: dict[str, Callable[[Break, str], str]] = {
    "absent": _absent, "scheduled": _scheduled, "state": _state, "stuck": _stuck, "unknown": _unknown,
}  # fmt: skip


def _waited(found: Break) -> str:
    if found.waited is None:
        return ""
    text = f", for at least {show(found.waited, 'time')}"
    if found.timeout is None:
        return text
    soon = "; so little may be a job at work" if found.waited < SOON * found.timeout else ""
    return f"{text} of a timeout of {show(found.timeout, 'time')}{soon}"


def _group(group: Group) -> str:
    about = f" ({group.about})" if group.about else ""
    return f"{group.name}{about} of {_ranks(group.ranks)}" if group.ranks else f"{group.name}{about}"


def _ranks(ranks: Sequence[int], most: int = 8) -> str:
    """``rank 3``, ``ranks 0-2, 5``."""
    runs: list[list[int]] = []
    for rank in sorted(set(ranks)):
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    parts = [str(a) if a == b else f"{a}-{b}" for a, b in runs[:most]] + (["..."] if len(runs) > most else [])
    return f"rank{'s' if len(set(ranks)) != 1 else ''} {', '.join(parts)}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# --- tables -------------------------------------------------------------------------------------------------------


def _views(found: Break) -> list[Block]:
    order = sorted(found.views, key=lambda view: (view.rank not in found.odd, view.rank))
    rows = [row for view in order[:MOST_RANKS] for row in _view(view.rank, view.calls)]
    more = [Line(f"  and {len(order) - MOST_RANKS} more ranks", "faint")] if len(order) > MOST_RANKS else []
    head = f"Call {found.sequence} of group {_group(found.group)}, as each rank has it"
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
        "defect": bool(hang.breaks), "roots": hang.roots, "circle": [group.name for group in hang.circle],
        "breaks": [_break_json(found) for found in hang.breaks],
        "last": {str(rank): None if call is None else _call_json(call) for rank, call in hang.last.items()},
        "told": list(hang.told),
    }  # fmt: skip


def _group_json(group: Group) -> dict[str, Any]:
    return {"name": group.name, "about": group.about, "ranks": list(group.ranks)}


def _break_json(found: Break) -> dict[str, Any]:
    return {
        "kind": found.kind, "mismatch": found.kind in MISMATCHES, "group": _group_json(found.group),
        "sequence": found.sequence, "op": found.op, "odd": list(found.odd), "waiting": list(found.waiting),
        "unknown": list(found.unknown), "detail": found.detail, "waited": found.waited, "timeout": found.timeout,
        "sentence": sentence(found), "views": [
            {"rank": view.rank, "calls": [_call_json(call) for call in view.calls]} for view in found.views
        ],
    }  # fmt: skip


def _call_json(call: Call) -> dict[str, Any]:
    return {
        "record": call.record, "group": call.group, "sequence": call.sequence, "op": call.op, "state": call.state,
        "inputs": [list(shape) for shape in call.inputs], "outputs": [list(shape) for shape in call.outputs],
        "dtypes": [list(types) for types in call.dtypes], "where": call.where,
    }  # fmt: skip
