"""Write GOAL text, which ``goal`` reads back to the same messages in the same order.

What belongs here: from rows to statements. The order on a lane becomes ``requires``.

GOAL has neither buffers nor sums: a Reduce or a Copy becomes a ``calc`` of its time, and where that is nothing (the rate
is 0, as long as none is given) it is left out and what waits for it waits for what it waited for.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise

import numpy as np

from hopline.errors import FormatError
from hopline.formats.schedules.bounded import new_file
from hopline.formats.schedules.goal import NANOSECOND
from hopline.formats.schedules.order import before_on_lane
from hopline.quantity import NON_NEGATIVE
from hopline.schedule.operations import COMPUTE, COPY, NONE, RECV, REDUCE, SEND, Schedule, channel
from hopline.schedule.pieces import Ints

_BLOCK = 4096
"""Lines written at a time."""
_WIDE = 8
"""An operation without time that waits for more than this is written as ``calc 0``, so that what waits for it stays short."""

Wait = tuple[int, bool]
"""A row, and whether it need only have begun."""


def write(schedule: Schedule, path: str, reduce: float = 0.0, copy: float = 0.0) -> tuple[str, ...]:
    """Write ``schedule`` to a new file at ``path``.

    Parameters
    ----------
    reduce, copy
        Seconds a byte of a Reduce and of a Copy; their times are rounded to whole nanoseconds.

    Returns
    -------
    What a reader should know.

    Raises
    ------
    FormatError
        Where GOAL cannot say it: a Compute that is no whole number of nanoseconds, negative tags.
    OutputError
        Where the file exists or cannot be written.
    """
    times = _times(
        schedule, NON_NEGATIVE.check("time to reduce a byte", reduce), NON_NEGATIVE.check("time to copy a byte", copy)
    )
    _check(schedule)
    order = _Order(schedule, times)
    with new_file(path) as file:
        text = _text(schedule, times, order)
        while block := list(islice(text, _BLOCK)):
            file.write("".join(block).encode())
    return order.remarks()


def _times(schedule: Schedule, reduce: float, copy: float) -> Ints:
    """Nanoseconds of each row; 0 for messages. Raises FormatError for parts of one."""
    columns = schedule.columns
    compute = np.flatnonzero(columns.kind == COMPUTE)
    odd = compute[columns.size[compute] % NANOSECOND != 0]
    if len(odd):
        row = int(odd[0])
        raise FormatError(f"row {row} computes for {columns.size[row]} ps: GOAL counts whole nanoseconds")
    times = np.zeros(len(schedule), np.int64)
    times[compute] = columns.size[compute] // NANOSECOND
    for kind, rate in ((REDUCE, reduce), (COPY, copy)):
        rows = columns.kind == kind
        times[rows] = np.rint(columns.size[rows] * rate * 1e9)
    return times


def _check(schedule: Schedule) -> None:
    columns = schedule.columns
    tags = columns.other[columns.kind <= RECV]
    if len(tags) and (tags.min() < 0 or tags.max() >= 1 << 32):
        raise FormatError(f"tags from {tags.min()} to {tags.max()}: GOAL takes 0 to {(1 << 32) - 1}")


def _text(schedule: Schedule, times: Ints, order: _Order) -> Iterator[str]:
    name = "".join(c if c.isprintable() else "?" for c in schedule.name)
    yield f"// {name}, written by hopline\nnum_ranks {schedule.ranks}\n"
    columns, nic = schedule.columns, channel(schedule.columns.lane)
    rows = np.argsort(columns.rank, kind="stable")
    bounds = np.searchsorted(columns.rank[rows], np.arange(schedule.ranks + 1)).tolist()
    for rank, (low, high) in enumerate(pairwise(bounds)):
        own = order.kept(rows[low:high].tolist())
        labels = {row: f"l{number}" for number, row in enumerate(own, 1)}
        yield f"\nrank {rank} {{\n"
        for row in own:
            kind, label = int(columns.kind[row]), labels[row]
            if kind in (SEND, RECV):
                way, word = ("send", "to") if kind == SEND else ("recv", "from")
                last = f" nic {nic[row]}" if nic[row] else ""
                yield f"{label}: {way} {columns.size[row]}b {word} {columns.peer[row]} tag {columns.other[row]}{last}\n"
            else:
                yield f"{label}: calc {times[row]}\n"
        for row in own:
            for on, begun in sorted(order.waits(row)):
                yield f"{labels[row]} {'irequires' if begun else 'requires'} {labels[on]}\n"
        yield "}\n"


class _Order:
    """What each row waits for, in rows that are written."""

    def __init__(self, schedule: Schedule, times: Ints) -> None:
        columns = schedule.columns
        messages = (columns.kind == SEND) | (columns.kind == RECV)
        self._kept = messages | (columns.kind == COMPUTE) | (times > 0)
        self._dropped = {int(kind): np.count_nonzero(~self._kept & (columns.kind == kind)) for kind in (REDUCE, COPY)}
        self._lane = before_on_lane(columns.rank, columns.lane)
        self._after = columns.after
        self._others: dict[int, list[Wait]] = {}
        for pairs, begun in ((schedule.more, False), (schedule.begun, True)):
            for row, on in pairs.tolist():
                self._others.setdefault(row, []).append((on, begun))
        self._known: dict[int, frozenset[Wait]] = {}

    def kept(self, rows: list[int]) -> list[int]:
        """Those of ``rows`` that are written."""
        for row in rows:
            if not self._kept[row]:
                self._resolve(row)
        return [row for row in rows if self._kept[row]]

    def waits(self, row: int) -> set[Wait]:
        """What a row waits for; a row that is done has begun."""
        found: set[Wait] = set()
        for on, begun in self._before(row):
            found |= {(on, begun)} if self._kept[on] else self._known[on]
        return {(on, begun) for on, begun in found if not (begun and (on, False) in found)}

    def remarks(self) -> tuple[str, ...]:
        """What was left out."""
        words = {REDUCE: "reductions", COPY: "copies"}
        return tuple(
            f"{count} {words[kind]} take no time and are left out: GOAL has no buffers"
            for kind, count in self._dropped.items()
            if count
        )

    def _before(self, row: int) -> list[Wait]:
        direct = [(int(on), False) for on in {self._lane[row], self._after[row]} if on != NONE]
        return direct + self._others.get(row, [])

    def _resolve(self, row: int) -> None:
        """Work out what stands for ``row`` and for the rows without time that it waits for; wide ones are kept."""
        stack, open_rows = [row], {row}
        while stack:
            here = stack[-1]
            left = [on for on, _ in self._before(here) if not self._kept[on] and on not in self._known]
            if not left:
                self._known[here] = frozenset(self.waits(here))
                self._kept[here] = len(self._known[here]) > _WIDE
                open_rows.discard(stack.pop())
            elif left[0] in open_rows:
                raise FormatError(f"row {here} waits for itself in a circle: 'hopline schedule check' names it")
            else:
                stack.append(left[0])
                open_rows.add(left[0])
