"""Which marks a timeline of many ranks is drawn with, so that a page stays light and says what it leaves out.

What belongs here: from traces and meetings to marks. The path is ``explain_path_pieces``.

The rule: work of one kind on one rank that is less than a gap apart is one mark. The gap is 0 where all fits, else about the
least with which it does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopline.quantity import show
from hopline.records.explained import Explained
from hopline.records.meeting import Meeting
from hopline.records.trace import KERNEL, MEMSET, Nanoseconds
from hopline.show.explain_drawing import shortened
from hopline.show.explain_path_pieces import PathPiece, path_pieces
from hopline.show.explain_rows import GIGA
from hopline.show.figures import Spec

MOST_MARKS, MOST_ROWS = 4000, 64


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Intervals of one kind on one rank, ordered by start, on the common clock; ``name`` counts the trace's names."""

    kind: str
    trace: int
    start: Nanoseconds
    end: Nanoseconds
    name: Nanoseconds


@dataclass(frozen=True, slots=True)
class Thinned:
    """What is drawn.

    Attributes
    ----------
    traces
        Numbers of the traces, a row each.
    marks
        ``k`` kind, ``r`` row, ``s`` and ``e`` start and end in seconds since the span began, ``f`` the share of it with work,
        ``n`` what it is.
    path
        Of the critical path, in order.
    said
        What was left out and by which rule; "" for nothing.
    """

    traces: tuple[int, ...]
    marks: list[Spec]
    path: list[PathPiece]
    said: str


def thinned(explained: Explained, most: int = MOST_MARKS) -> Thinned:
    """At most ``most`` marks, but for one of each kind and rank."""
    traces = _traces(explained)
    met = _met(explained)
    every = [pieces for i in traces for pieces in _pieces(explained, i, met[i])]
    gap = _gap(every, explained.time, most)
    joined = [_joined(pieces, gap) for pieces in every]
    marks = [
        mark
        for pieces, first in zip(every, joined, strict=True)
        for mark in _marks(explained, pieces, first, traces.index(pieces.trace))
    ]
    total = sum(len(pieces.start) for pieces in every)
    path, of_path = path_pieces(explained, set(traces))
    said = f"{_said(explained, total, len(marks), gap, len(traces))} {of_path}".strip()
    return Thinned(traces, marks, path, said)


def _gap(every: Sequence[Pieces], span: int, most: int) -> int:
    """0 where all marks fit, else about the least gap with which they do: found by halves, to a 64th of itself."""

    def fits(gap: int) -> bool:
        return sum(len(_joined(pieces, gap)) for pieces in every) <= most

    if fits(0):
        return 0
    high = max(1, span // 1_000_000)
    while high <= span and not fits(high):
        high *= 2
    low = high // 2
    while high - low > max(1, high // 64):
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def _said(explained: Explained, total: int, drawn: int, gap: int, rows: int) -> str:
    said = []
    if drawn < total:
        near = f"what is of one kind and less than {show(gap / GIGA, 'time', 2)} apart" if gap else "what overlaps"
        said.append(
            f"Thinned: {drawn:,} marks stand for {total:,} pieces of work; {near} is one mark, paler the less of it is work."
        )
    if rows < len(explained.traces):
        said.append(f"{rows} of {len(explained.traces)} ranks are drawn: those with most of the critical path.")
    return " ".join(said)


def _traces(explained: Explained) -> tuple[int, ...]:
    """All, or those with most of the path."""
    time = np.zeros(len(explained.traces), np.int64)
    for stretch in explained.path.stretches if explained.path else ():
        time[stretch.trace] += stretch.time
    return tuple(sorted(np.argsort(-time, kind="stable")[:MOST_ROWS].tolist()))


def _met(explained: Explained) -> dict[int, list[tuple[Meeting, int]]]:
    """Meetings with a known transfer, of each trace, with its place in them."""
    met: dict[int, list[tuple[Meeting, int]]] = defaultdict(list)
    for meeting in explained.meetings:
        if meeting.transfer is not None:
            for at, i in enumerate(meeting.traces.tolist()):
                met[i].append((meeting, at))
    return met


def _pieces(explained: Explained, i: int, met: list[tuple[Meeting, int]]) -> Iterator[Pieces]:
    """Work of the GPU by kind; of collectives whose transfer is known, waiting and transfer apart."""
    events, talks = explained.traces[i].events, explained.traces[i].is_communication()
    work, kernels = events.kind <= MEMSET, events.kind == KERNEL
    parted = np.zeros(len(events), np.bool_)
    parted[[int(meeting.row[at]) for meeting, at in met]] = True
    kinds = {"compute": kernels & ~talks, "copy": ~kernels & ~talks, "communication": talks & ~parted}
    for kind, marks in kinds.items():
        rows = np.flatnonzero(work & marks)
        start, end = (explained.clocks.common(i, times[rows]) for times in (events.start, events.end))
        yield _inside(explained, kind, i, start, end, events.name[rows].astype(np.int64))
    columns = np.array(
        [(m.start[at], m.end[at], m.transfer, events.name[m.row[at]]) for m, at in met], np.int64
    ).reshape(-1, 4)
    start, end, transfer, name = columns.T
    turn = np.maximum(start, end - transfer)
    yield _inside(explained, "waiting", i, start, turn, name)
    yield _inside(explained, "transfer", i, turn, end, name)


def _inside(explained: Explained, kind: str, i: int, start: Nanoseconds, end: Nanoseconds, name: Nanoseconds) -> Pieces:
    """What of it lies in the span, in order."""
    start, end = start.clip(explained.start, explained.end), end.clip(explained.start, explained.end)
    order = np.argsort(start, kind="stable")
    order = order[end[order] > start[order]]
    return Pieces(kind, i, start[order], end[order], name[order])


def _joined(pieces: Pieces, gap: int) -> NDArray[np.int64]:
    """Number of the first piece of each mark."""
    if not len(pieces.start):
        return np.empty(0, np.int64)
    reach = np.maximum.accumulate(pieces.end)
    return np.concatenate(([0], np.flatnonzero(pieces.start[1:] - reach[:-1] >= max(gap, 0)) + 1))


def _added(pieces: Pieces) -> Nanoseconds:
    """What each piece adds to the union of those before it."""
    reach = np.maximum.accumulate(pieces.end)
    before = np.concatenate((pieces.start[:1], reach[:-1]))
    return np.asarray((pieces.end - np.maximum(pieces.start, before)).clip(min=0))


def _marks(explained: Explained, pieces: Pieces, first: NDArray[np.int64], row: int) -> Iterator[Spec]:
    if not len(first):
        return
    names = explained.traces[pieces.trace].names
    counts = np.diff(np.append(first, len(pieces.start))).tolist()
    ends = np.maximum.reduceat(pieces.end, first)
    full = (np.add.reduceat(_added(pieces), first) / (ends - pieces.start[first])).tolist()
    length = pieces.end - pieces.start
    for at, end, count, part in zip(first.tolist(), ends.tolist(), counts, full, strict=True):
        name = shortened(names[int(pieces.name[at + int(np.argmax(length[at : at + count]))])])
        yield {
            "k": pieces.kind,
            "r": row,
            "s": (int(pieces.start[at]) - explained.start) / GIGA,
            "e": (end - explained.start) / GIGA,
            "f": round(part, 4),
            "n": name if count == 1 else f"{name} and {count - 1:,} more",
        }
