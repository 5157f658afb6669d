"""Why ranks hang: the first call of each group on which their flight recorders do not agree, and which comes first.

What belongs here: comparing dumps. Calls of a group are aligned by their sequence, never by their place in a dump, since the
recorder keeps the last ones only and ranks lose different numbers. What cannot be told is said and not guessed: a rank
without a dump is unknown, not late.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hopline.errors import InputError
from hopline.records.hang import COMPLETED, SCHEDULED, Break, BreakKind, Call, Dump, Group, Hang, View
from hopline.study.hang_order import ordered
from hopline.study.hang_points import unmet
from hopline.study.hang_sizes import differences, ranks_text

NANOSECOND = 1e-9


def explain(dumps: Sequence[Dump]) -> Hang:
    """What the dumps say together. Raises InputError where two are of one rank, or one of none."""
    by_rank = _by_rank(dumps)
    groups, odd = _groups(by_rank)
    breaks, compared = [], 0
    for group in groups:
        side = _side(group, by_rank)
        compared += len(side.shared)
        breaks += [found for found in (_first(side), unmet(group, by_rank)) if found is not None]
    seen = max((_last_sign(dump) for dump in dumps), default=0)
    breaks = [_waited(one, seen) for one in breaks]
    in_order, roots, circle = ordered(breaks, by_rank)
    members = {rank for dump in dumps for group in dump.groups.values() for rank in group.ranks}
    missing = members - set(by_rank)
    last = {rank: dump.calls[-1] if dump.calls else None for rank, dump in sorted(by_rank.items())}
    told = tuple(remark for dump in dumps for remark in dump.told) + odd + _lost(by_rank) + _versions(dumps)
    return Hang(
        tuple(sorted(by_rank)), tuple(sorted(missing)), groups, compared, in_order, roots, circle, last, told,
    )  # fmt: skip


def _by_rank(dumps: Sequence[Dump]) -> dict[int, Dump]:
    found: dict[int, Dump] = {}
    for dump in dumps:
        if dump.rank is None:
            raise InputError(
                f"{dump.source} does not say which rank it is of: let its name end in the rank, like trace_3"
            )
        if dump.rank in found:
            raise InputError(
                f"{found[dump.rank].source} and {dump.source} are both of rank {dump.rank}: give one of them"
            )
        found[dump.rank] = dump
    return found


def _lost(dumps: Mapping[int, Dump]) -> tuple[str, ...]:
    """What recorders did not keep, once for all ranks."""
    begins = {rank: dump.calls[0].record for rank, dump in dumps.items() if dump.calls and not dump.whole}
    gaps = [rank for rank, dump in dumps.items() if dump.gaps]
    told = []
    if begins:
        first, last = min(begins.values()), max(begins.values())
        told.append(
            f"the dumps of {ranks_text([*begins])} begin with call {first if first == last else f'{first} to {last}'}: the "
            "recorder keeps the last ones only, older ones are lost"
        )
    if gaps:
        told.append(f"the dumps of {ranks_text(gaps)} leave out calls in between: they have active ones only")
    return tuple(told)


def _versions(dumps: Sequence[Dump]) -> tuple[str, ...]:
    found = Counter(dump.version for dump in dumps)
    if len(found) < 2:
        return ()
    return (f"dumps are of versions {', '.join(sorted(found))}: ranks run different software",)


def _groups(dumps: Mapping[int, Dump]) -> tuple[tuple[Group, ...], tuple[str, ...]]:
    """Groups with calls, and what is odd about them: members as the dumps tell them, or callers where none tells.

    Several groups may have one name (each process counts its own): they stand apart where their members do.
    """
    members: dict[str, Counter[tuple[int, ...]]] = {}
    about: dict[str, str] = {}
    callers: dict[str, set[int]] = {}
    for rank, dump in dumps.items():
        for name, group in dump.groups.items():
            members.setdefault(name, Counter()).update([group.ranks] if group.ranks else [])
            about.setdefault(name, group.about)
        for call in dump.calls:
            callers.setdefault(call.group, set()).add(rank)
    found, told = [], []
    for name, called in callers.items():
        sets = [ranks for ranks, _ in members[name].most_common()] or [tuple(sorted(called))]
        apart = sum(map(len, sets)) == len({rank for ranks in sets for rank in ranks})
        if not apart:
            told.append(f"dumps disagree about the members of group {name}: taken are those that most have")
        found += [Group(name, about[name], ranks) for ranks in (sets if apart else sets[:1]) if called & set(ranks)]
    return tuple(found), tuple(told)


# --- collectives of one group -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Side:
    """A group as its members with a dump have it.

    Attributes
    ----------
    group, dumps
        The group, and its members' dumps by rank.
    calls
        Rank -> sequence -> the calls of that number (several where they were coalesced).
    shared
        Sequences that at least two ranks have, in order.
    """

    group: Group
    dumps: Mapping[int, Dump]
    calls: Mapping[int, Mapping[int, tuple[Call, ...]]]
    shared: tuple[int, ...]


def _side(group: Group, dumps: Mapping[int, Dump]) -> _Side:
    calls: dict[int, dict[int, tuple[Call, ...]]] = {}
    present = {rank: dump for rank, dump in dumps.items() if rank in group.ranks}
    for rank, dump in present.items():
        mine = calls.setdefault(rank, {})
        for call in dump.calls:
            if call.group == group.name and not call.point:
                mine[call.sequence] = (*mine.get(call.sequence, ()), call)
    for rank, dump in present.items():
        sequence = _begins(dump, group)
        most = max((len(mine.get(sequence, ())) for mine in calls.values()), default=0)
        if len(calls[rank].get(sequence, ())) < most:
            calls[rank].pop(sequence, None)
    times = Counter(sequence for mine in calls.values() for sequence in mine)
    return _Side(group, present, calls, tuple(sorted(one for one, count in times.items() if count > 1)))


def _begins(dump: Dump, group: Group) -> int:
    """The sequence with which a dump begins that lost what was before: of calls that were coalesced it may lack some.

    -1: it lost nothing, or begins with another group.
    """
    first = dump.calls[0] if dump.calls and not dump.whole else None
    return first.sequence if first is not None and first.group == group.name and not first.point else -1


def _first(side: _Side) -> Break | None:
    """The first call on which members differ, or on which they wait."""
    every = sorted({sequence for mine in side.calls.values() for sequence in mine})
    for sequence in every:
        found = _at(side, sequence)
        if found is not None:
            return found
    return None


def _at(side: _Side, sequence: int) -> Break | None:
    here = {rank: mine[sequence] for rank, mine in side.calls.items() if sequence in mine}
    odds = differences(side.group, here)
    absent, unknown = _not_here(side, here, sequence)
    done = {rank for rank, calls in here.items() if all(call.state == COMPLETED for call in calls)}
    waiting = tuple(sorted(set(here) - done))
    kind, odd, detail = _kind(here, odds, absent, waiting, unknown)
    if kind is None:
        return None
    views = tuple(View(rank, here.get(rank, ())) for rank in sorted({*here, *absent}))
    return Break(kind, side.group, sequence, _usual(here), views, odd, waiting, unknown, detail)


def _kind(
    here: Mapping[int, tuple[Call, ...]],
    odds: tuple[BreakKind, tuple[int, ...], str] | None,
    absent: tuple[int, ...],
    waiting: tuple[int, ...],
    unknown: tuple[int, ...],
) -> tuple[BreakKind | None, tuple[int, ...], str]:
    """Kind, odd ranks and detail of a break; None: there is none."""
    if odds is not None and (waiting or odds[0] != "size"):
        return odds
    if absent and waiting:
        return "absent", absent, ""
    if not waiting:
        return None, (), ""
    scheduled = tuple(rank for rank in waiting if any(call.state == SCHEDULED for call in here[rank]))
    if len(waiting) < len(here):
        return "state", (), ""
    if scheduled and len(scheduled) < len(waiting):
        return "scheduled", scheduled, ""
    return ("unknown" if unknown else "stuck"), (), ""


def _not_here(side: _Side, here: Iterable[int], sequence: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Members that did not come to a call, and those of which it cannot be told.

    A rank whose dump goes on after the call has been there (the recorder lost it, or left it out).
    """
    absent: list[int] = []
    unknown: list[int] = []
    for rank in sorted({*side.group.ranks, *side.dumps} - set(here)):
        dump = side.dumps.get(rank)
        if dump is None:
            unknown.append(rank)
            continue
        reached = dump.reached.get(side.group.name, -1)
        if reached < sequence:
            # Without any call of the group in a dump that lost its beginning, the rank may have come and gone.
            (absent if reached >= 0 or dump.whole else unknown).append(rank)
    return tuple(absent), tuple(unknown)


def _usual(here: Mapping[int, tuple[Call, ...]]) -> str:
    """The op that most ranks called."""
    return Counter(calls[0].op for calls in here.values()).most_common(1)[0][0]


# --- time ---------------------------------------------------------------------------------------------------------


def _last_sign(dump: Dump) -> int:
    """The last time in a dump, nanoseconds since 1970; 0: none."""
    return max((time or 0 for call in dump.calls for time in (call.created, call.started, call.completed)), default=0)


def _waited(found: Break, seen: int) -> Break:
    calls = [call for view in found.views for call in view.calls if call.state != COMPLETED]
    created = min((call.created for call in calls if call.created is not None), default=None)
    timeout = min((call.timeout for call in calls if call.timeout is not None), default=None)
    waited = None if created is None or not seen else max(0, seen - created) * NANOSECOND
    return replace(found, waited=waited, timeout=timeout)
