"""Groups: which collectives of several traces can belong together at all.

What belongs here: names and members of groups, who of them has no trace, traces that cannot be of one job. What is matched
within a group is ``study/matching``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from hopline.errors import InputError
from hopline.records.trace import Collective, Trace

PAIRED = frozenset({"send", "recv"})


@dataclass(frozen=True, slots=True)
class Key:
    """What tells a group from others: its name, and its members or at least their number."""

    name: str
    ranks: tuple[int, ...] = ()
    count: int | None = None

    @property
    def label(self) -> str:
        """As people say it."""
        if self.name:
            return (
                f"group {self.name}"
                if len(self.ranks) > 8 or not self.ranks
                else f"group {self.name} {_list(self.ranks)}"
            )
        if self.ranks:
            return f"the group of ranks {_list(self.ranks)}"
        return f"the unnamed groups of {self.count} ranks" if self.count else "the group that the files do not name"


@dataclass(slots=True)
class Group:
    """A group with the collectives of each trace that has some: number of the trace -> these, in order."""

    key: Key
    lists: dict[int, list[Collective]] = field(default_factory=dict)
    absent: tuple[int, ...] = ()
    """Ranks without a trace."""
    count: int | None = None
    """Members; None where the files do not say."""


def check(traces: Sequence[Trace]) -> None:
    """Raise InputError where traces cannot be of one run: two of one rank, or jobs of different size."""
    seen: dict[int, Trace] = {}
    worlds: dict[int, Trace] = {}
    for trace in traces:
        if trace.rank is not None and seen.setdefault(trace.rank, trace) is not trace:
            raise InputError(
                f"{seen[trace.rank].source} and {trace.source} are both of rank {trace.rank}: give one trace of each rank"
            )
        if trace.world is not None:
            worlds.setdefault(trace.world, trace)
    if len(worlds) > 1:
        (a, first), (b, second) = list(worlds.items())[:2]
        raise InputError(
            f"{first.source} is of a job of {a} ranks, {second.source} of one of {b}: give the traces of one run at a time"
        )


def world_of(traces: Sequence[Trace]) -> int | None:
    """Number of ranks of the job; None where no file says."""
    return next((trace.world for trace in traces if trace.world is not None), None)


def groups(traces: Sequence[Trace]) -> tuple[list[Group], list[str]]:
    """Groups of all collectives that are no messages, in the order in which they turn up, and what is odd about them."""
    found: dict[Key, Group] = {}
    members = _members(traces)
    for number, trace in enumerate(traces):
        for collective in trace.collectives:
            if collective.op not in PAIRED:
                key = _key(collective, trace, members)
                found.setdefault(key, Group(key)).lists.setdefault(number, []).append(collective)
    told: list[str] = []
    present = {trace.rank for trace in traces if trace.rank is not None}
    for group in found.values():
        _settle(group, traces, present, told)
    return list(found.values()), [*told, *_of_absent(found.values())]


def _of_absent(found: Iterable[Group]) -> Iterator[str]:
    """Sentences on ranks without a trace, one for all groups that lack the same."""
    lacking: dict[tuple[int, ...], list[Key]] = defaultdict(list)
    for group in found:
        if group.absent:
            lacking[group.absent].append(group.key)
    for ranks, keys in lacking.items():
        where = keys[0].label if len(keys) == 1 else f"{len(keys)} groups"
        yield f"no trace of {ranks_text(ranks)}: in {where} transfer cannot be told from waiting"


def _members(traces: Sequence[Trace]) -> dict[str, set[tuple[int, ...]]]:
    """Members that some file gives, by the group's name."""
    members: dict[str, set[tuple[int, ...]]] = defaultdict(set)
    for trace in traces:
        for collective in trace.collectives:
            if collective.ranks:
                members[collective.group].add(tuple(sorted(collective.ranks)))
    return members


def _key(collective: Collective, trace: Trace, members: dict[str, set[tuple[int, ...]]]) -> Key:
    """The group of a collective; one that is named only takes its members from other files where that leaves no doubt."""
    if collective.ranks:
        return Key(collective.group, tuple(sorted(collective.ranks)))
    known = members.get(collective.group, set()) if collective.group else set()
    fitting = [ranks for ranks in known if trace.rank is None or trace.rank in ranks]
    if len(fitting) == 1 and collective.count in (None, len(fitting[0])):
        return Key(collective.group, fitting[0])
    return Key(collective.group, (), collective.count)


def _settle(group: Group, traces: Sequence[Trace], present: set[int], told: list[str]) -> None:
    """Fill in how many members there are and who of them is absent."""
    key = group.key
    if key.ranks:
        strange = [n for n in group.lists if traces[n].rank is not None and traces[n].rank not in key.ranks]
        told.extend(f"{traces[n].label} has collectives of {key.label}, which it is no member of" for n in strange)
        group.count = len(key.ranks)
        group.absent = tuple(rank for rank in key.ranks if rank not in present)
    else:
        world = world_of(traces)
        group.count = key.count
        if group.count is None and (not key.name or len(group.lists) == world):
            group.count = world
        if world is not None and group.count == world:
            group.absent = tuple(rank for rank in range(world) if rank not in present)
        if group.count is None:
            told.append(f"{key.label}: no file says how many ranks it has: transfer cannot be told from waiting there")


def ranks_text(ranks: Sequence[int]) -> str:
    """``rank 3`` or ``ranks 0-2, 5``."""
    return f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {_list(ranks)}"


def _list(numbers: Sequence[int]) -> str:
    """Numbers with runs of three and more drawn together.

    >>> _list([0, 1, 2, 5, 7, 8])
    '0-2, 5, 7, 8'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = [f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return ", ".join(texts[:12]) + (" and more" if len(texts) > 12 else "")


def numbers_text(numbers: Sequence[int]) -> str:
    """``number 3`` or ``numbers 0-2, 5``."""
    return f"number {numbers[0]}" if len(numbers) == 1 else f"numbers {_list(numbers)}"
