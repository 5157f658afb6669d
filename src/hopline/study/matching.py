"""Matching: which collectives of several traces are one and the same.

What belongs here: matching by group and order. Where one trace lacks some, ``study/lining_up``; messages, ``study/messages``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from hopline.records.matched import Match
from hopline.records.trace import NONE, WAITS_FOR_ALL, Trace
from hopline.study.groups import Group, check, groups, ranks_text
from hopline.study.lining_up import Ints, Row, line_up
from hopline.study.messages import messages
from hopline.study.places import EQUAL, alone, together

_SURE = 0.75
"""Share of collectives whose ends must agree before ranks of a group without a name count as one."""


def match(traces: Sequence[Trace]) -> tuple[tuple[Match, ...], tuple[str, ...]]:
    """Collectives and messages of all traces, each once, and sentences on what did not match.

    Raises
    ------
    InputError
        Two traces are of one rank, or of jobs of different size.
    """
    check(traces)
    found: list[Match] = []
    every, told = groups(traces)
    for group in every:
        found += _of_group(group, traces, told)
    pairs, more = messages(traces)
    return (*found, *pairs), (*told, *more)


def _of_group(group: Group, traces: Sequence[Trace], told: list[str]) -> list[Match]:
    """All collectives of one group."""
    numbers = list(group.lists)
    if group.count is not None and len(numbers) > group.count:
        told.append(
            f"{group.key.label}: {len(numbers)} traces have collectives of it, but it has {group.count} ranks: which of them "
            "belong together the files do not say"
        )
        return alone(group)
    if len(numbers) > 1:
        _tell_absent(group, traces, told)
    sequenced = all(c.sequence is not None for row in group.lists.values() for c in row)
    places = _by_sequence(group) if sequenced else _by_order(group, traces, told)
    return together(group, places, traces, told) if places is not None else alone(group)


def _tell_absent(group: Group, traces: Sequence[Trace], told: list[str]) -> None:
    """Members that have a trace, but no collective of this group in it."""
    ranks = set(group.key.ranks)
    idle = [t.rank for n, t in enumerate(traces) if t.rank is not None and t.rank in ranks and n not in group.lists]
    if idle:
        told.append(f"{group.key.label}: {ranks_text(sorted(idle))} has a trace with none of its collectives")


def _by_sequence(group: Group) -> dict[int, Ints]:
    """Of each trace: places of its collectives, by their sequence numbers; those of one number are told apart by order."""
    keys = {n: _repeats([c.sequence for c in row]) for n, row in group.lists.items()}
    order = {key: place for place, key in enumerate(sorted({key for row in keys.values() for key in row}))}
    return {n: np.array([order[key] for key in row], np.int64) for n, row in keys.items()}


def _repeats(sequence: Sequence[int | None]) -> list[tuple[int, int]]:
    """(number, how many of this number came before)."""
    seen: Counter[int] = Counter()
    found = []
    for number in sequence:
        assert number is not None
        found.append((number, seen[number]))
        seen[number] += 1
    return found


def _by_order(group: Group, traces: Sequence[Trace], told: list[str]) -> dict[int, Ints] | None:
    """Of each trace: places of its collectives among all that any trace has, by order, kinds and ends.

    None: the files do not name the group, and ends say that it is not one.
    """
    rows = _rows(group, traces)
    first = max(rows, key=lambda n: (len(rows[n]), -n))
    whole = rows[first]
    places = {first: np.arange(len(whole))}
    for n in sorted(rows, key=lambda n: (-len(rows[n]), n)):
        if n == first:
            continue
        place, share = line_up(whole, rows[n], _ahead(traces[first], traces[n]))
        if share < _SURE and not (group.key.name or group.key.ranks):
            told.append(
                f"{group.key.label}: collectives of {traces[n].label} and {traces[first].label} do not end together: there "
                "are several groups, and which ranks form them the files do not say, so nothing of them is matched"
            )
            return None
        if not share:
            told.append(f"{group.key.label}: {traces[n].label} is matched with {traces[first].label} by order alone")
        whole = _insert(whole, rows[n], place, places, n)
    return places


def _rows(group: Group, traces: Sequence[Trace]) -> dict[int, Row]:
    """Of each trace: its collectives in columns."""
    codes: dict[tuple[str, int | None], int] = defaultdict(lambda: len(codes))
    rows = {}
    for n, row in group.lists.items():
        kind = np.array([codes[(c.op, c.size if c.op in EQUAL else None)] for c in row], np.int64)
        same = np.array([c.op in WAITS_FOR_ALL for c in row], np.bool_)
        rows[n] = Row(kind, traces[n].events.end[[c.row for c in row]], same)
    return rows


def _ahead(one: Trace, other: Trace) -> int | None:
    """By how much times of ``one`` are larger than those of ``other`` for the same instant, as the files' clocks have it."""
    return other.base - one.base if one.absolute and other.absolute else None


def _insert(whole: Row, row: Row, place: Ints, places: dict[int, Ints], number: int) -> Row:
    """Take in what of ``row`` has no place yet, and write down the places of all."""
    new = np.flatnonzero(place == NONE)
    if not len(new):
        places[number] = place
        return whole
    known = np.flatnonzero(place != NONE)
    before = np.searchsorted(known, new) - 1
    after = np.where(before >= 0, place[known[before]] + 1, 0) if len(known) else np.full(len(new), len(whole))
    ahead = int(np.median(whole.end[place[known]] - row.end[known])) if len(known) else 0
    shift = np.bincount(after, minlength=len(whole) + 1).cumsum()[: len(whole)]
    moved = np.arange(len(whole)) + shift
    for n, old in places.items():
        places[n] = moved[old]
    mine = np.empty(len(row), np.int64)
    mine[known] = moved[place[known]]
    mine[new] = after + np.arange(len(new))
    places[number] = mine
    kind, end = (np.empty(len(whole) + len(new), np.int64) for _ in range(2))
    same = np.empty(len(kind), np.bool_)
    kind[moved], end[moved], same[moved] = whole.kind, whole.end, whole.same
    kind[mine[new]], end[mine[new]], same[mine[new]] = row.kind[new], row.end[new] + ahead, row.same[new]
    return Row(kind, end, same)
