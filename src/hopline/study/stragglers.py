"""Stragglers: who the others wait for, how often, and what it costs them.

What belongs here: counting over meetings, and the sentences that follow. Meetings themselves are ``study/meetings``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from hopline.quantity import show
from hopline.records.meeting import Meeting
from hopline.records.straggler import Straggler, Stragglers
from hopline.records.trace import NANOSECOND, Trace

_LITTLE = 0.05
"""Share of the time in collectives below which waiting is hardly worth a name."""
_MOST = 0.5
"""Share of all waiting from which on one rank is what ranks wait for."""
_NAMED = 4
"""Ranks that are named where it is not one."""


def stragglers(traces: Sequence[Trace], meetings: Sequence[Meeting]) -> Stragglers:
    """Count over those ``meetings`` whose last arrival is known."""
    counted: dict[int, list[tuple[int, int]]] = defaultdict(list)
    known = [meeting for meeting in meetings if meeting.last is not None]
    undecided = undecided_wait = waited = time = 0
    for meeting in known:
        waits = meeting.waits
        total = int(waits.sum())
        waited += total
        time += int((meeting.end - meeting.start).sum())
        if meeting.rivals:
            undecided += 1
            undecided_wait += total
        elif meeting.last is not None:
            counted[meeting.last].append((total, int(waits.max())))
    ranks = [
        Straggler(trace, traces[trace].label, len(costs), sum(sums), sum(longest))
        for trace, costs in counted.items()
        for sums, longest in [zip(*costs, strict=True)]
    ]
    ranks.sort(key=lambda one: (-one.waited, one.trace))
    return Stragglers(tuple(ranks), len(known), undecided, undecided_wait, waited, time)


def sentences(found: Stragglers) -> tuple[str, ...]:
    """What is to be said of them, the most important first; () where no collective tells who came last."""
    if not found.collectives:
        return ()
    share = found.waited / found.time if found.time else 0.0
    said = []
    if share < _LITTLE:
        said = [f"ranks hardly wait for one another: {share:.1%} of their time in collectives"]
    elif found.ranks and found.ranks[0].waited >= _MOST * found.waited:
        said = [_of_one(found)]
    elif found.ranks:
        parts = ", ".join(f"{one.label} ({one.waited / found.waited:.0%})" for one in found.ranks[:_NAMED])
        rest = (
            f"; for whom {found.undecided_wait / found.waited:.0%} is the clocks leave open"
            if found.undecided_wait
            else ""
        )
        said = [f"ranks wait for one another, not for one of them: waiting is for {parts}{rest}"]
    if share >= _LITTLE and len(found.ranks) > 1 and found.ranks[0].waited >= _MOST * found.waited and not found.always:
        rest = ", ".join(f"{one.label} ({_times(one.times)})" for one in found.ranks[1:_NAMED])
        said.append(f"it is not always {found.ranks[0].label}: also last came {rest}")
    if found.undecided:
        said.append(
            f"in {found.undecided} of {found.collectives} collectives the clocks leave open who came last "
            f"({_time(found.undecided_wait)} of waiting)"
        )
    return tuple(said)


def _of_one(found: Stragglers) -> str:
    """The sentence on a rank that most waiting is for."""
    one = found.ranks[0]
    always = "always" if found.always is one else f"in {one.times} of {found.collectives} collectives"
    return (
        f"ranks wait for {one.label}: it comes last {always}, to which {one.waited / found.waited:.0%} of all waiting is due "
        f"({_time(one.waited)} over all ranks, {_time(one.longest)} for whoever waited longest)"
    )


def _times(count: int) -> str:
    """``once``, ``3 times``."""
    return "once" if count == 1 else f"{count} times"


def _time(nanoseconds: int) -> str:
    """As people write it."""
    return show(nanoseconds * NANOSECOND, "time", 3)
