"""Which break comes first: a rank that did not come to one call may be waiting in another.

What belongs here: breaks follow from one another where the ranks that hold one up wait in another. Those that follow from none
are the cause; where all follow from one another, ranks wait in a circle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hopline.records.flight import STARTED, WAITING
from hopline.records.hang import ALIKE, MISMATCHES, Break

Circle = tuple[Break, ...]
Waits = Mapping[int, Sequence[tuple[int, int]]]
"""Rank -> record and place of each break in which it waits."""


def ordered(breaks: Sequence[Break]) -> tuple[tuple[Break, ...], int, tuple[Circle, ...]]:
    """Breaks, those that follow from no other first (in the order of their calls); how many those are; breaks in circles."""
    waits = _waits(breaks)
    after = [_causes(one, place, waits) for place, one in enumerate(breaks)]
    ends = [place for place in range(len(breaks)) if not after[place]]
    circles = list(_circles(after, _before(after, ends)))
    known = [place for place in ends if breaks[place].kind != "unknown"]
    roots = sorted(known or ([] if circles else ends), key=lambda place: _since(breaks[place]))
    leading = dict.fromkeys([*roots, *(place for circle in circles for place in circle)])
    rest = [place for place in range(len(breaks)) if place not in leading]
    told = tuple(tuple(breaks[place] for place in circle) for circle in circles)
    return tuple(breaks[place] for place in [*leading, *rest]), len(leading), told


_FIRST = {"absent": 1, "scheduled": 2} | dict.fromkeys(MISMATCHES, 0)
"""Kind -> its place among causes: a wrong program, then ranks that are named; all others behind."""


def _since(found: Break) -> tuple[int, int]:
    """What names a culprit first, then the earliest call."""
    times = [call.created for view in found.views for call in view.calls if call.created is not None]
    return _FIRST.get(found.kind, len(_FIRST)), min(times, default=1 << 63)


def _waits(breaks: Sequence[Break]) -> Waits:
    found: dict[int, list[tuple[int, int]]] = {}
    for place, one in enumerate(breaks):
        for view in one.views:
            records = [call.record for call in view.calls if call.state in WAITING]
            if records and view.rank in one.waiting:
                found.setdefault(view.rank, []).append((min(records), place))
    return found


def _causes(found: Break, place: int, waits: Waits) -> list[int]:
    """Other breaks in which a rank waits that holds this one up, and which it met before it would have come here.

    Where all made the call alike, those hold it up whose GPU may not have come to it yet: so ranks that call two groups in
    different orders show, though each has made both calls.
    """
    if found.kind in MISMATCHES:
        return []
    mine = {view.rank: [call for call in view.calls if call.state in WAITING] for view in found.views}
    if found.kind in ALIKE and not found.odd:
        ranks = [rank for rank in found.waiting if all(call.state != STARTED for call in mine[rank])]
    else:
        ranks = list(found.odd)
    return sorted({
        other
        for rank in ranks
        for record, other in waits.get(rank, ())
        if other != place and all(record < call.record for call in mine.get(rank, ()))
    })  # fmt: skip


def _before(after: Sequence[Sequence[int]], ends: Sequence[int]) -> set[int]:
    """The places ``ends``, and all that follow from them, be it through others."""
    followers: dict[int, list[int]] = {}
    for place, causes in enumerate(after):
        for cause in causes:
            followers.setdefault(cause, []).append(place)
    found, left = set(ends), list(ends)
    while left:
        new = [place for place in followers.get(left.pop(), ()) if place not in found]
        found.update(new)
        left += new
    return found


def _circles(after: Sequence[Sequence[int]], explained: set[int]) -> Iterator[tuple[int, ...]]:
    """Places each of which follows from the next, and the last from the first, for all that follow from nothing else."""
    told = set(explained)
    for start in range(len(after)):
        way: dict[int, int] = {}
        place = start
        while place not in told and place not in way:
            way[place] = len(way)
            place = next(cause for cause in after[place])
        if place in way:
            yield tuple(way)[way[place] :]
        told |= set(way)
