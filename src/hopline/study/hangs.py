"""Why ranks hang: the first call of each group on which their flight recorders do not agree, and which comes first.

What belongs here: comparing dumps. Calls of a group are aligned by their sequence, never by their place in a dump, since the
recorder keeps the last ones only and ranks lose different numbers. What cannot be told is said and not guessed: a rank
without a dump is unknown, not late, and so is one whose dump is older than those of others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hopline.records.flight import UNKNOWN, WAITING, Dump
from hopline.records.hang import Break, Hang, Short
from hopline.study.hang_calls import first, held, short, side
from hopline.study.hang_groups import NANOSECOND, behind, by_rank, groups_of, last_sign, lost
from hopline.study.hang_order import ordered
from hopline.study.hang_points import unmet
from hopline.study.hang_sizes import ranks_text


def explain(dumps: Sequence[Dump]) -> Hang:
    """What the dumps say together. Raises InputError where two are of one rank, or one of none."""
    ranks = by_rank(dumps)
    groups, odd = groups_of(ranks)
    old = behind(groups, ranks)
    untold = frozenset(one.rank for one in old)
    breaks: list[Break] = []
    earlier: list[Break] = []
    alike: set[int] = set()
    lacking: list[Short] = []
    compared = messages = 0
    for group in groups:
        mine = side(group, ranks, untold)
        compared += len(mine.shared)
        found, before = first(mine)
        points, met = unmet(group, ranks, untold)
        breaks += [*([found] if found else []), *points]
        messages += sum(met.values())
        earlier += [before] if before else []
        alike |= held(mine) | {rank for pair in met for rank in pair}
        lacking += [less] if (less := short(mine)) else []
    seen = max(map(last_sign, dumps), default=0)
    in_order, roots, circles = ordered([_waited(one, seen) for one in breaks])
    members = {rank for dump in dumps for group in dump.groups.values() for rank in group.ranks}
    told = tuple(remark for dump in dumps for remark in dump.told) + odd + lost(ranks) + _open(ranks)
    return Hang(
        tuple(sorted(ranks)), tuple(sorted(members - set(ranks))), groups, compared, in_order, roots, circles,
        {rank: dump.calls[-1] if dump.calls else None for rank, dump in sorted(ranks.items())}, told, tuple(earlier), old,
        messages, tuple(sorted(alike)), tuple(lacking),
    )  # fmt: skip


def _open(dumps: Mapping[int, Dump]) -> tuple[str, ...]:
    """Batches of which it is not known whether they are done."""
    ranks = [rank for rank, dump in dumps.items() if any(call.state == UNKNOWN for call in dump.calls)]
    if not ranks:
        return ()
    return (
        f"the dumps of {ranks_text(ranks)} have calls that were put in together without what closes them: whether they are "
        "done is not known, and they are held against the others by what they are only",
    )


def _waited(found: Break, seen: int) -> Break:
    calls = [call for view in found.views for call in view.calls if call.state in WAITING]
    created = min((call.created for call in calls if call.created is not None), default=None)
    timeout = min((call.timeout for call in calls if call.timeout is not None), default=None)
    waited = None if created is None or not seen else max(0, seen - created) * NANOSECOND
    return replace(found, waited=waited, timeout=timeout)
