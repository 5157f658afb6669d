"""Collectives of one group, as its members have them: the first on which they differ, or wait.

What belongs here: aligning by number and never by place, and what a call is where some came, some did not, and of some it
cannot be told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hopline.records.flight import COMPLETED, SCHEDULED, WAITING, Call, Dump, Group
from hopline.records.hang import Break, BreakKind, Short, View
from hopline.study.hang_sizes import Odds, differences


@dataclass(frozen=True, slots=True)
class Side:
    """A group as its members with a dump have it.

    Attributes
    ----------
    group, dumps
        The group, and its members' dumps by rank.
    calls
        Rank -> sequence -> the calls of that number (several where they were coalesced).
    shared
        Sequences that at least two ranks have.
    lost
        Ranks whose dumps do not tell what they did after their last call.
    """

    group: Group
    dumps: Mapping[int, Dump]
    calls: Mapping[int, Mapping[int, Sequence[Call]]]
    shared: frozenset[int]
    lost: frozenset[int]


def side(group: Group, dumps: Mapping[int, Dump], lost: frozenset[int]) -> Side:
    """The collectives of a group, by rank and number."""
    calls: dict[int, dict[int, list[Call]]] = {}
    present = {rank: dump for rank, dump in dumps.items() if rank in group.ranks}
    for rank, dump in present.items():
        mine = calls.setdefault(rank, {})
        for call in dump.calls:
            if call.group == group.name and not call.point:
                mine.setdefault(call.sequence, []).append(call)
    for rank, dump in present.items():
        sequence = _begins(dump, group)
        most = max((len(mine.get(sequence, ())) for mine in calls.values()), default=0)
        if len(calls[rank].get(sequence, ())) < most:
            calls[rank].pop(sequence, None)
    times = Counter(sequence for mine in calls.values() for sequence in mine)
    return Side(group, present, calls, frozenset(sequence for sequence, count in times.items() if count > 1), lost)


def held(side: Side) -> set[int]:
    """Ranks with a call that another rank has, too."""
    return {rank for rank, mine in side.calls.items() if not side.shared.isdisjoint(mine)}


def short(side: Side) -> Short | None:
    """Members with a dump that has calls, but not up to the last call of the group; None: no such."""
    name, last = side.group.name, max((max(mine) for mine in side.calls.values() if mine), default=-1)
    ranks = tuple(rank for rank, dump in side.dumps.items() if dump.calls and dump.reached.get(name, -1) < last)
    return Short(side.group, last, tuple(sorted(ranks))) if ranks else None


def _begins(dump: Dump, group: Group) -> int:
    """The sequence with which a dump begins that lost what was before: of calls that were coalesced it may lack some.

    -1: it lost nothing, or begins with another group.
    """
    first = dump.calls[0] if dump.calls and not dump.whole else None
    return first.sequence if first is not None and first.group == group.name and not first.point else -1


def first(side: Side) -> tuple[Break | None, Break | None]:
    """The first call on which members differ or wait, and the first before it whose sizes differ though all are done."""
    earlier: Break | None = None
    for sequence in sorted({sequence for mine in side.calls.values() for sequence in mine}):
        found = _at(side, sequence)
        if found is not None and (found.waiting or found.kind != "size"):
            return found, earlier
        earlier = earlier or found
    return None, earlier


def _at(side: Side, sequence: int) -> Break | None:
    here = {rank: tuple(mine[sequence]) for rank, mine in side.calls.items() if sequence in mine}
    odds = differences(side.group, here)
    waiting = tuple(sorted(rank for rank, calls in here.items() if any(call.state in WAITING for call in calls)))
    if odds is None and not waiting:
        return None
    absent, unknown = _not_here(side, here, sequence)
    kind, odd, detail = _kind(here, odds, absent, waiting, unknown)
    views = tuple(View(rank, here.get(rank, ())) for rank in sorted({*here, *absent}))
    timed = all(side.dumps[rank].timed for rank in waiting)
    op = Counter(calls[0].op for calls in here.values()).most_common(1)[0][0]
    return Break(kind, side.group, sequence, op, views, odd, waiting, unknown, detail, timed=timed)


def _kind(
    here: Mapping[int, tuple[Call, ...]], odds: Odds | None, absent: tuple[int, ...], waiting: tuple[int, ...],
    unknown: tuple[int, ...],
) -> Odds:  # fmt: skip
    """Kind, odd ranks and detail of a call that is not done, or on which ranks differ."""
    if odds is not None:
        return odds
    if absent:
        return "absent", absent, ""
    if any(all(call.state == COMPLETED for call in calls) for calls in here.values()):
        return "state", (), ""
    scheduled = tuple(rank for rank in waiting if any(call.state == SCHEDULED for call in here[rank]))
    if scheduled and len(scheduled) < len(waiting):
        return "scheduled", scheduled, ""
    kind: BreakKind = "unknown" if unknown else "stuck"
    return kind, (), ""


def _not_here(side: Side, here: Iterable[int], sequence: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Members that did not come to a call, and those of which it cannot be told.

    A rank whose dump goes on after the call has been there (the recorder lost it, or left it out).
    """
    absent: list[int] = []
    unknown: list[int] = []
    for rank in sorted({*side.group.ranks, *side.dumps} - set(here)):
        dump = side.dumps.get(rank)
        reached = -1 if dump is None else dump.reached.get(side.group.name, -1)
        if reached < sequence:
            # Without any call of the group in a dump that lost its beginning, the rank may have come and gone.
            told = dump is not None and rank not in side.lost and (reached >= 0 or dump.whole)
            (absent if told else unknown).append(rank)
    return tuple(absent), tuple(unknown)
