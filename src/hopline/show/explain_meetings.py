"""Numbers of collectives: each, those of one kind together, and who came last.

What belongs here: from meetings, rates and stragglers to rows. All other numbers of an explained step are ``explain_numbers``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from hopline.records.explained import Explained
from hopline.records.rate import BASES, Rate
from hopline.show.explain_rows import GIGA, GroupRow, LastRow, MeetingRow


def meeting_row(explained: Explained, number: int, called: Sequence[str], rate: Rate | None) -> MeetingRow:
    """Of one collective, by its place among the meetings; ``called``: labels of the traces."""
    meeting = explained.meetings[number]
    known, waits = meeting.transfer is not None, meeting.waits
    return MeetingRow(
        number=number,
        op=meeting.op,
        group=meeting.group,
        size=meeting.size,
        ranks=meeting.ranks,
        start=(int(meeting.start.min()) - explained.start) / GIGA,
        transfer=None if meeting.transfer is None else meeting.transfer / GIGA,
        waiting=int(waits.max()) / GIGA if known else None,
        waited=int(waits.sum()) / GIGA if known else None,
        last=None if meeting.last is None else called[meeting.last],
        margin=None if meeting.last is None else meeting.margin / GIGA,
        sure=meeting.last is not None and not meeting.rivals,
        algbw=rate.algbw if rate else None,
        busbw=rate.busbw if rate else None,
        basis=rate.basis if rate else "",
        missing=meeting.missing,
    )


def group_rows(met: Iterable[MeetingRow]) -> tuple[GroupRow, ...]:
    """Together by op, group and size, those with the most waiting and transfer first."""
    found: dict[tuple[str, str, int | None, int | None], list[MeetingRow]] = defaultdict(list)
    for row in met:
        found[row.op, row.group, row.size, row.ranks].append(row)
    return tuple(sorted(map(_group, found.values()), key=lambda row: -((row.waiting or 0.0) + (row.transfer or 0.0))))


def _group(rows: Sequence[MeetingRow]) -> GroupRow:
    sure = [row.last for row in rows if row.last is not None and row.sure]
    last = Counter(sure).most_common(1)
    algbw, busbw, basis = _rates(rows)
    first = rows[0]
    return GroupRow(
        op=first.op,
        group=first.group,
        size=first.size,
        ranks=first.ranks,
        count=len(rows),
        known=sum(row.transfer is not None for row in rows),
        transfer=known_sum(row.transfer for row in rows),
        waiting=known_sum(row.waiting for row in rows),
        last=last[0][0] if last else None,
        last_times=last[0][1] if last else 0,
        told=len(sure),
        algbw=algbw,
        busbw=busbw,
        basis=basis,
    )


def known_sum(values: Iterable[float | None]) -> float | None:
    """Of those that are known; None where there are some and none is.

    >>> known_sum([1.0, None]), known_sum([None]), known_sum([])
    (1.0, None, 0)
    """
    every = list(values)
    known = [value for value in every if value is not None]
    return sum(known) if known or not every else None


def _rates(rows: Sequence[MeetingRow]) -> tuple[float | None, float | None, str]:
    """Bytes over time of those with the best basis: of one size, the harmonic mean of their rates."""
    for basis in BASES:
        algbw = [row.algbw for row in rows if row.basis == basis and row.algbw]
        busbw = [row.busbw for row in rows if row.basis == basis and row.busbw]
        if algbw:
            return _harmonic(algbw), _harmonic(busbw) if len(busbw) == len(algbw) else None, basis
    return None, None, ""


def _harmonic(values: Sequence[float]) -> float:
    return len(values) / sum(1 / value for value in values)


def last_rows(explained: Explained, called: Sequence[str]) -> tuple[LastRow, ...]:
    """Whom the others waited for, the most first."""
    found = explained.stragglers
    if found is None:
        return ()
    return tuple(
        LastRow(called[one.trace], one.times, found.collectives, one.waited / GIGA, one.longest / GIGA)
        for one in found.ranks
    )
