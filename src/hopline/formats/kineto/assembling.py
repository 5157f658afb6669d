"""The parts of a trace put together.

What belongs here: what the file says of itself, steps, waits, and what is told of defects.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from hopline.errors import FormatError
from hopline.formats.kineto.blocks import Document
from hopline.formats.kineto.collectives import collectives
from hopline.formats.kineto.columns import Gathered
from hopline.formats.kineto.container import documents
from hopline.formats.kineto.events import Arguments
from hopline.formats.kineto.head import SINCE_1970, base_of, info_of, plain, text_of
from hopline.formats.kineto.identity import identity
from hopline.formats.kineto.strangers import StrangerError
from hopline.formats.kineto.times import whole
from hopline.formats.packing import Source
from hopline.formats.source import shown
from hopline.records.trace import CALL, KINDS, SYNC, Events, Step, Syncs, Trace

_STEP = re.compile(r"ProfilerStep#(\d{1,18})")
_APART = "whose begin and end stand apart (ph b, n, e, B, E): left out"


def traces_in(path: str, more: Callable[[int], None] | None = None) -> list[Trace]:
    """The traces in a file; ``more`` is called with the bytes of text that were read since. Raises FormatError.

    What else is in an archive is left out and told.
    """
    found: list[Trace] = []
    strangers: list[str] = []
    for name, source in documents(path):
        try:
            found.append(trace_of(source, name, more))
        except StrangerError as error:
            if name == path:
                raise
            strangers.append(str(error))
    if not found:
        raise FormatError(f"{shown(path)} has no trace in it: {strangers[0]}")
    if strangers:
        what = f"the archive also holds what is no trace, left out: {strangers[0].partition(': expected')[0]}"
        found[0] = replace(found[0], told=(*found[0].told, what))
    return found


def trace_of(source: Source, path: str, more: Callable[[int], None] | None = None) -> Trace:
    """The trace that ``source`` holds; ``path`` names it and may say the rank."""
    document = Document(source, shown(path))
    gathered = Gathered()
    for text, events in document.blocks():
        gathered.add(text, events)
        if more is not None:
            more(len(text))
    return _put_together(path, document, gathered)


def _put_together(path: str, document: Document, gathered: Gathered) -> Trace:
    head = document.head
    counts = _counts(document, gathered)
    if not counts["X_events"]:
        raise FormatError(
            f"{document.name} {_without_lengths(gathered)}: expected events with a length (ph X), as Kineto writes them"
        )
    origin, events, place = gathered.columns()
    if gathered.rows and not len(events):
        raise FormatError(f"{document.name} has no event at a time that can be: {', '.join(_odd(gathered))}")
    names = gathered.name_list()
    who = identity(path, head)
    told = [*who.told, *document.told, *_mended(document), *_odd(gathered)]
    base = base_of(head, origin, told)
    said = {int(place[row]): item for row, item in gathered.said.items() if place[row] >= 0}
    found = collectives(events, names, said, head, told)
    return Trace(
        source=path, rank=who.rank, world=who.world, base=base + origin, absolute=base + origin > SINCE_1970,
        names=names, lanes=gathered.lane_list(), events=events, collectives=found,
        steps=_steps(events, names), syncs=_syncs(events, said), counts=counts, about=_about(head), told=tuple(told),
    )  # fmt: skip


def _counts(document: Document, gathered: Gathered) -> dict[str, int]:
    spans = {f"X:{category}": number for category, number in gathered.spans.items()}
    return {"events": document.events, "X_events": gathered.phases["X"], **spans}


def _without_lengths(gathered: Gathered) -> str:
    if not gathered.phases:
        return "has no events"
    found = ", ".join(
        f"{number} of ph {kind if kind.isalnum() else plain(kind)}" for kind, number in gathered.phases.most_common(4)
    )
    plugin = (
        ": begins and ends, as NCCL's profiler plugin writes them, are times of the host"
        if gathered.phases["b"]
        else ""
    )
    return f"has no event with a length ({found}){plugin}"


def _about(head: dict[str, Any]) -> dict[str, str]:
    devices = head.get("deviceProperties")
    first = devices[0] if isinstance(devices, list) and devices and isinstance(devices[0], dict) else {}
    info = info_of(head, [])
    found = {
        "device": first.get("name"), "backend": info.get("backend"), "nccl": info.get("nccl_version"),
        "name": head.get("traceName"),
    }  # fmt: skip
    return {key: text for key, value in found.items() if (text := text_of(value))}


def _steps(events: Events, names: tuple[str, ...]) -> tuple[Step, ...]:
    numbers = {at: int(match[1]) for at, name in enumerate(names) if (match := _STEP.fullmatch(name))}
    if not numbers:
        return ()
    found: list[Step] = []
    for row in np.flatnonzero(np.isin(events.name, list(numbers)) & (events.kind > CALL)).tolist():
        step = Step(numbers[int(events.name[row])], int(events.start[row]), int(events.end[row]))
        if not found or found[-1].number != step.number or found[-1].end < step.end:
            found.append(step)
    return tuple(found)


def _syncs(events: Events, said: dict[int, Arguments]) -> Syncs:
    rows = np.flatnonzero(events.kind == SYNC).astype(np.int32)
    waits = [said[int(row)] for row in rows]
    return Syncs(rows, whole([wait.waits_on for wait in waits]), whole([wait.recorded_by for wait in waits]))


def _mended(document: Document) -> list[str]:
    if not document.mends:
        return []
    what = ", ".join(f"{defect} ({number})" for defect, number in document.mends.items())
    return [f"the text is no JSON and was mended: {what}"]


def _odd(gathered: Gathered) -> list[str]:
    odd = gathered.odd + Counter({_APART: sum(gathered.phases[phase] for phase in "bneBE")})
    told = [f"{number} event{'s' if number > 1 else ''} {what}" for what, number in odd.items() if number]
    if not gathered.rows:
        told.append("no event is of a kind that is used: " + ", ".join(KINDS))
    return told
