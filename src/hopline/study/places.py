"""Places: collectives of a group that stand at the same place of its order, put together.

What belongs here: matches of one group once places are known, and where ranks disagree there. How places are found is
``study/matching``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hopline.records.matched import Match
from hopline.records.trace import Collective, Index, Trace
from hopline.study.groups import Group, numbers_text
from hopline.study.lining_up import Ints

EQUAL = frozenset({"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce"})
"""Collectives whose size is the same on all ranks; of an all-to-all the largest counts."""

Here = list[tuple[int, Collective]]
"""What stands at one place: (number of the trace, its collective)."""


@dataclass(slots=True)
class _Oddities:
    """Numbers of collectives about which traces disagree: by what is odd."""

    other_op: dict[tuple[int, str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    """(Trace, its op, the op that most have) -> numbers."""
    lacking: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Trace -> numbers."""
    unequal: list[int] = field(default_factory=list)
    """Ranks tell different sizes."""

    def sentences(self, group: Group, count: int, traces: Sequence[Trace]) -> Iterator[str]:
        """What to say of them; ``count`` is how many collectives there are."""
        label = group.key.label
        for n, numbers in sorted(self.lacking.items()):
            yield f"{label}: {traces[n].label} lacks {len(numbers)} of {count} collectives ({numbers_text(numbers)})"
        for (n, op, most), numbers in self.other_op.items():
            yield f"{label}: {traces[n].label} has {op} where most have {most} ({numbers_text(numbers)})"
        if self.unequal:
            yield f"{label}: ranks tell different sizes of the same collectives ({numbers_text(self.unequal)})"


def together(group: Group, places: Mapping[int, Ints], traces: Sequence[Trace], told: list[str]) -> list[Match]:
    """Matches by place: of each place those whose op most traces have; others stand alone."""
    at: dict[int, Here] = defaultdict(list)
    for n in sorted(places):
        for place, collective in zip(places[n].tolist(), group.lists[n], strict=True):
            at[place].append((n, collective))
    odd, found, members = _Oddities(), [], _Members()
    for number, place in enumerate(sorted(at)):
        here = at[place]
        if len(here) < len(places):
            for n in places.keys() - {n for n, _ in here}:
                odd.lacking[n].append(number)
        if len({collective.op for _, collective in here}) > 1:
            here, others = _split(here, number, odd)
            found += [_single(group, number, n, collective) for n, collective in others]
        size, equal = _size([collective for _, collective in here])
        if not equal:
            odd.unequal.append(number)
        rows = np.array([collective.row for _, collective in here], np.int32)
        known = group.key.name, number, members[tuple(n for n, _ in here)], rows
        found.append(Match(here[0][1].op, *known, group.absent, size, group.count))
    told.extend(odd.sentences(group, len(at), traces))
    return found


class _Members(dict[tuple[int, ...], Index]):
    """Numbers of traces as an array, one for all collectives of the same traces."""

    def __missing__(self, numbers: tuple[int, ...]) -> Index:
        self[numbers] = found = np.array(numbers, np.int32)
        return found


def _split(here: Here, number: int, odd: _Oddities) -> tuple[Here, Here]:
    """Those whose op most traces have, and the others, which are written down."""
    op = Counter(collective.op for _, collective in here).most_common(1)[0][0]
    others = [(n, collective) for n, collective in here if collective.op != op]
    for n, collective in others:
        odd.other_op[(n, collective.op, op)].append(number)
    return [(n, collective) for n, collective in here if collective.op == op], others


def _size(here: Sequence[Collective]) -> tuple[int | None, bool]:
    """Bytes of a collective that several ranks tell of, and whether they agree where they should."""
    sizes = {collective.size for collective in here if collective.size is not None}
    if len(sizes) > 1 and here[0].op in EQUAL:
        return None, False
    return max(sizes, default=None), True


def alone(group: Group) -> list[Match]:
    """Each collective of each trace matched with nothing."""
    return [_single(group, k, n, c) for n, row in group.lists.items() for k, c in enumerate(row)]


def _single(group: Group, number: int, trace: int, collective: Collective) -> Match:
    """A collective that is matched with nothing."""
    return Match(
        collective.op, group.key.name, number, np.array([trace], np.int32), np.array([collective.row], np.int32),
        group.absent, collective.size, group.count,
    )  # fmt: skip
