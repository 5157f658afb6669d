"""Events become columns.

What belongs here: which events are kept, numbers for names and lanes, and the order of rows. Not here: how a time is written
(``times``), what arguments say of collectives (``collectives``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopline.formats.kineto import names as words
from hopline.formats.kineto.events import Arguments, Event, arguments, correlations, exact_times
from hopline.formats.kineto.repeats import REPEATED, repeats
from hopline.formats.kineto.times import MISSING, each, nanoseconds, says_none, whole
from hopline.records.trace import CALL, KERNEL, NONE, SYNC, Events, Lane, Nanoseconds

_LONGEST = 30 * 86400 * 10**9
"""Nanoseconds from most events at which an event is none of the same run."""
_Marks = NDArray[np.bool_]


class Numbers(dict[Any, int]):
    """Numbers for things, in the order in which they come."""

    def __missing__(self, key: Any) -> int:
        number = self[key] = len(self)
        return number

    def of(self, keys: Sequence[Any]) -> NDArray[np.int32]:
        """Number of each key. Raises TypeError for what cannot be one."""
        return np.fromiter(map(self.__getitem__, keys), np.int32, len(keys))


@dataclass(slots=True)
class Gathered:
    """All events of a trace so far, block by block.

    Attributes
    ----------
    phases
        Types of events (``X``), and how many there are of each.
    spans
        Categories of those with a length, and how many there are of each.
    said
        Row -> arguments of communication kernels, of calls of collectives on the host and of waits on a GPU.
    odd
        What was odd -> how often.
    """

    phases: Counter[str] = field(default_factory=Counter)
    spans: Counter[str] = field(default_factory=Counter)
    names: Numbers = field(default_factory=Numbers)
    said: dict[int, Arguments] = field(default_factory=dict)
    odd: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    _phases: Numbers = field(default_factory=lambda: Numbers(X=0))
    _categories: Numbers = field(default_factory=Numbers)
    _threads: Numbers = field(default_factory=Numbers)
    _streams: Numbers = field(default_factory=Numbers)
    _kinds: list[int] = field(default_factory=list)
    """By number of a category: what is kept as."""
    _talking: list[bool] = field(default_factory=list)
    """By number of a name: whether what is so called has arguments that are kept."""
    _parts: list[tuple[NDArray[Any], ...]] = field(default_factory=list)

    def add(self, text: bytes, events: list[Event]) -> None:
        """Take the events that ``text`` holds."""
        try:
            phase = self._phases.of([event.ph for event in events])
            category = self._categories.of([event.cat for event in events])
        except TypeError:
            _tidy(events)
            self.add(text, events)
            return
        spans = phase == 0
        _count(self.phases, self._phases, phase)
        _count(self.spans, self._categories, category[spans])
        self._kinds += [words.kind_of(name) for name in islice(self._categories, len(self._kinds), None)]
        kind = np.array(self._kinds, np.int8)[category]
        keep = spans & (kind != NONE)
        mask = keep.tolist()
        kept = list(compress(events, mask))
        if kept:
            self._rows(kept, kind[keep].astype(np.uint8), self._starts(text, kept, mask))

    def _starts(self, text: bytes, kept: list[Event], mask: list[bool]) -> Nanoseconds:
        times = [event.ts for event in kept]
        start = nanoseconds(times)
        if start is None:
            exact = exact_times(text)
            start = each(times if exact is None else list(compress(exact, mask)))
        return start

    def _rows(self, kept: list[Event], kind: NDArray[np.uint8], start: Nanoseconds) -> None:
        try:
            name = self.names.of([event.name for event in kept])
        except TypeError:
            _tidy(kept)
            name = self.names.of([event.name for event in kept])
        length = self._lengths([event.dur for event in kept])
        correlation, lane = np.full(len(kept), NONE, np.int64), np.empty(len(kept), np.int32)
        calls = np.flatnonzero(kind == CALL)
        correlation[calls] = self._numbers(correlations([kept[row].args for row in calls.tolist()]))
        lane[kind > SYNC] = _lanes(self._threads, [event.pid for event in compress(kept, kind > SYNC)],
                                   [event.tid for event in compress(kept, kind > SYNC)])  # fmt: skip
        self._work(kept, kind, lane, correlation)
        self._listen(kept, kind, name)
        self._parts.append((kind, name, start, length, lane, correlation))
        self.rows += len(kept)

    def _work(
        self, kept: list[Event], kind: NDArray[np.uint8], lane: NDArray[np.int32], correlation: NDArray[np.int64]
    ) -> None:
        """What stands on streams: where, and for which call; streams have negative numbers for now."""
        rows = np.flatnonzero(kind <= SYNC)
        events = [kept[row] for row in rows.tolist()]
        said = arguments([event.args for event in events])
        correlation[rows] = self._numbers([item.correlation for item in said])
        lane[rows] = -1 - _lanes(
            self._streams,
            [event.pid if item.device is None else item.device for event, item in zip(events, said, strict=True)],
            [event.tid if item.stream is None else item.stream for event, item in zip(events, said, strict=True)],
        )
        for at in np.flatnonzero(kind[rows] == SYNC).tolist():
            self.said[self.rows + int(rows[at])] = said[at]

    def _listen(self, kept: list[Event], kind: NDArray[np.uint8], name: NDArray[np.int32]) -> None:
        """Keep the arguments of communication kernels and of calls of collectives on the host."""
        for text in islice(self.names, len(self._talking), None):
            self._talking.append(words.is_host_call(str(text)) or words.communication(str(text)) is not None)
        marks: _Marks = np.array(self._talking, np.bool_)[name]
        rows = np.flatnonzero(marks & ((kind == KERNEL) | (kind > CALL))).tolist()
        said = arguments([kept[row].args for row in rows])
        self.said.update({self.rows + row: item for row, item in zip(rows, said, strict=True)})

    def _numbers(self, values: list[Any]) -> Nanoseconds:
        """Correlations, NONE for what is none."""
        found = whole(values)
        odd = sum(not says_none(values[at]) for at in np.flatnonzero(found == NONE).tolist())
        self.odd["with a correlation that is no whole number: taken as without one"] += odd
        return found

    def _lengths(self, values: list[Any]) -> Nanoseconds:
        length = nanoseconds(values)
        if length is None:
            length = each([0 if value is None else value for value in values])
        wrong = length == MISSING
        self.odd["without a length: taken as of no length"] += values.count(None)
        below = int((length < 0).sum() - wrong.sum())
        self.odd["with a length that is no number: taken as of no length"] += int(wrong.sum())
        self.odd["of negative length: taken as of no length"] += below
        return np.maximum(length, 0)

    # --- all of them ----------------------------------------------------------------------------------------------

    def columns(self) -> tuple[int, Events, NDArray[np.int64]]:
        """Nanoseconds of time 0, all events in order, and the new row of each old one (NONE: left out)."""
        if not self._parts:
            return 0, _none(), np.empty(0, np.int64)
        kind, name, start, length, lane, correlation = (
            np.concatenate(column) for column in zip(*self._parts, strict=True)
        )
        self._parts.clear()
        fit = self._fitting(start, length)
        origin = int(start[fit].min()) if fit.any() else 0
        start -= origin
        end = start + length
        order = np.lexsort((-length, start))
        order = order[fit[order]]
        lane = np.where(lane < 0, len(self._threads) - 1 - lane, lane)
        rows = Events(kind[order], name[order], start[order], end[order], lane[order], correlation[order])
        again = repeats(rows)
        if again is not None:
            self.odd[REPEATED] += int(again.sum())
            order, rows = order[~again], rows.only(~again)
        place = np.full(len(kind), NONE, np.int64)
        place[order] = np.arange(len(order))
        return origin, rows, place

    def _fitting(self, start: Nanoseconds, length: Nanoseconds) -> _Marks:
        known: _Marks = start != MISSING
        self.odd["without a time that is a number: left out"] += int((~known).sum())
        if not known.any():
            return known
        middle = int(np.median(start[known]))
        near: _Marks = known & (start > middle - _LONGEST) & (start < middle + _LONGEST) & (length < _LONGEST)
        self.odd["more than 30 days from most others, or longer: left out"] += int((known & ~near).sum())
        return near

    def lane_list(self) -> tuple[Lane, ...]:
        """Lanes by their numbers."""
        return tuple(
            Lane(kind, _plain(place), _plain(number))
            for kind, lanes in (("thread", self._threads), ("stream", self._streams))
            for place, number in lanes
        )

    def name_list(self) -> tuple[str, ...]:
        """Names by their numbers."""
        return tuple(name if isinstance(name, str) else "" if name is None else str(name) for name in self.names)


def _count(counts: Counter[str], numbers: Numbers, column: NDArray[np.int32]) -> None:
    found = np.bincount(column, minlength=len(numbers))
    for key, number in zip(numbers, found.tolist(), strict=True):
        if number:
            counts[str(key)] += number


def _lanes(numbers: Numbers, places: list[Any], within: list[Any]) -> NDArray[np.int32]:
    try:
        return numbers.of(list(zip(places, within, strict=True)))
    except TypeError:
        return numbers.of([(_plain(place), _plain(number)) for place, number in zip(places, within, strict=True)])


def _none() -> Events:
    kind, name, start, end, lane, correlation = (np.empty(0, kind) for kind in ("u1", "i4", "i8", "i8", "i4", "i8"))
    return Events(kind, name, start, end, lane, correlation)


def _plain(value: object) -> int | str:
    return value if isinstance(value, int | str) else "" if value is None else str(value)


def _tidy(events: Sequence[Event]) -> None:
    """Values of types that cannot be keys, as text."""
    for event in events:
        event.ph, event.cat, event.name = (
            value if value is None or isinstance(value, str) else str(value)
            for value in (event.ph, event.cat, event.name)
        )
