"""Which break comes first: a rank that did not come to one call may be waiting in another.

What belongs here: breaks follow from one another where the odd ranks of one wait in another. Those that follow from none are
the cause; where all follow from one another, groups wait in a circle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hopline.records.hang import COMPLETED, MISMATCHES, Break, Dump, Group


def ordered(breaks: Sequence[Break], dumps: Mapping[int, Dump]) -> tuple[tuple[Break, ...], int, tuple[Group, ...]]:
    """Breaks, those that follow from no other first (in the order of their calls); how many those are; groups in a circle."""
    after = {place: _causes(one, place, breaks, dumps) for place, one in enumerate(breaks)}
    known = [place for place, one in enumerate(breaks) if one.kind != "unknown"]
    roots = [place for place in known or after if not after[place]]
    circle = () if roots or not breaks else _circle(after, known)
    first = roots or list(circle)
    rest = [place for place in after if place not in first]
    in_order = [*(first if circle else sorted(first, key=lambda place: _since(breaks[place]))), *sorted(rest)]
    return tuple(breaks[place] for place in in_order), len(first), tuple(breaks[place].group for place in circle)


_FIRST = {"absent": 1, "scheduled": 2} | dict.fromkeys(MISMATCHES, 0)
"""Kind -> its place among causes: a wrong program, then ranks that are named; all others behind."""


def _since(found: Break) -> tuple[int, int]:
    """What names a culprit first, then the earliest call."""
    times = [call.created for view in found.views for call in view.calls if call.created is not None]
    return _FIRST.get(found.kind, len(_FIRST)), min(times, default=1 << 63)


def _causes(found: Break, place: int, breaks: Sequence[Break], dumps: Mapping[int, Dump]) -> list[int]:
    """Other breaks in which an odd rank of this one waits, and which it met before it would have come here."""
    if found.kind in MISMATCHES:
        return []
    return [
        other
        for other, cause in enumerate(breaks)
        if other != place and any(rank in cause.waiting and _held(rank, cause, found, dumps) for rank in found.odd)
    ]


def _held(rank: int, cause: Break, found: Break, dumps: Mapping[int, Dump]) -> bool:
    """Whether a rank's call of ``cause`` stands before that of ``found`` (which it may not have made)."""
    mine = min((call.record for view in cause.views if view.rank == rank for call in view.calls), default=None)
    here = [call.record for view in found.views if view.rank == rank for call in view.calls if call.state != COMPLETED]
    return mine is not None and rank in dumps and (not here or mine < min(here))


def _circle(after: Mapping[int, Sequence[int]], known: Sequence[int]) -> tuple[int, ...]:
    """Breaks each of which follows from the next, and the last from the first; every break has a cause."""
    way: list[int] = []
    place = min(known)
    while place not in way:
        way.append(place)
        place = after[place][0]
    return tuple(way[way.index(place) :])
