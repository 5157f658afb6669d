"""Whose dumps there are, which groups made calls, and which dumps cannot be held against the others.

What belongs here: dumps by rank; groups and their members as dumps tell them; dumps that are older than the others or cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from hopline.errors import InputError
from hopline.records.flight import COMPLETED, Dump, Group
from hopline.records.hang import Behind
from hopline.study.hang_sizes import ranks_text

NANOSECOND = 1e-9
PATIENCE = 1800.0
"""Seconds that a watchdog may wait where no dump says how long: PyTorch's timeout of all backends but NCCL."""
ALL_NEEDED = frozenset({"all_reduce", "all_gather", "reduce_scatter", "alltoall", "barrier"})
"""Ops that end on no rank before all ranks came."""


def by_rank(dumps: Sequence[Dump]) -> dict[int, Dump]:
    """Dumps by their rank. Raises InputError where two are of one rank, or one of none."""
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


def groups_of(dumps: Mapping[int, Dump]) -> tuple[tuple[Group, ...], tuple[str, ...]]:
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
        for name in dict.fromkeys(call.group for call in dump.calls):
            callers.setdefault(name, set()).add(rank)
    found, told = [], []
    for name, called in callers.items():
        sets = [ranks for ranks, _ in members[name].most_common()] or [tuple(sorted(called))]
        apart = sum(map(len, sets)) == len({rank for ranks in sets for rank in ranks})
        if not apart:
            told.append(f"dumps disagree about the members of group {name}: taken are those that most have")
        found += [Group(name, about[name], ranks) for ranks in (sets if apart else sets[:1]) if called & set(ranks)]
    return tuple(found), tuple(told)


def lost(dumps: Mapping[int, Dump]) -> tuple[str, ...]:
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
    versions = {dump.version for dump in dumps.values()}
    if len(versions) > 1:
        told.append(f"dumps are of versions {', '.join(sorted(versions))}: ranks run different software")
    return tuple(told)


# --- dumps of other times -----------------------------------------------------------------------------------------


def behind(groups: Sequence[Group], dumps: Mapping[int, Dump]) -> tuple[Behind, ...]:
    """Dumps that end before calls which others are done with and cannot be without the rank, or before others begin."""
    last = max(map(last_sign, dumps.values()), default=0)
    found: dict[int, Behind] = {}
    for group in groups:
        done = _done(group, dumps)
        for rank in group.ranks:
            dump = dumps.get(rank)
            if dump is None or dump.gaps or rank in found:
                continue
            reached = dump.reached.get(group.name, -1)
            if reached < done and (reached >= 0 or dump.whole):
                found[rank] = Behind(rank, group, reached, done, _apart(last_sign(dump), last))
    for rank, dump in dumps.items():
        if rank not in found and _of_old(rank, dumps):
            found[rank] = Behind(rank, None, -1, -1, _apart(last_sign(dump), last))
    return tuple(found[rank] for rank in sorted(found))


def _done(group: Group, dumps: Mapping[int, Dump]) -> int:
    """Number of the last call of a group that needs all members and that one of them is done with; -1: none."""
    return max(
        (
            call.sequence
            for rank in group.ranks if len(group.ranks) > 1 and rank in dumps
            for call in dumps[rank].calls
            if call.state == COMPLETED and call.op in ALL_NEEDED and not call.batch and call.group == group.name
        ),
        default=-1,
    )  # fmt: skip


def _of_old(rank: int, dumps: Mapping[int, Dump]) -> bool:
    """Whether a dump ended longer before all others begin than a watchdog waits; the others have all their calls."""
    others = [dump for other, dump in dumps.items() if other != rank and dump.calls]
    ended = last_sign(dumps[rank])
    if not ended or not others or not all(dump.whole for dump in others):
        return False
    starts = [dump.calls[0].created for dump in others]
    patience = max((call.timeout or 0.0 for dump in others for call in dump.calls[-1:]), default=0.0) or PATIENCE
    return all(start is not None and (start - ended) * NANOSECOND > patience for start in starts)


def _apart(sign: int, last: int) -> float | None:
    return (last - sign) * NANOSECOND if sign and last else None


def last_sign(dump: Dump) -> int:
    """The last time in a dump, nanoseconds since 1970; 0: none."""
    return max((time or 0 for call in dump.calls for time in (call.created, call.started, call.completed)), default=0)
