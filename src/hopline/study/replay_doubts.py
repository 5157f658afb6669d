"""What is uncertain about a replay before it is played: clocks, work beyond its end, launches that are not known.

What belongs here: sentences about the activities of traces. Whether what is then played is right is ``replay_trust``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hopline.quantity import show
from hopline.records.meeting import Clocks
from hopline.records.trace import Trace
from hopline.study.dependencies import Dependencies
from hopline.study.replay_rank import RankPart

VAGUE = 0.005
"""Share of the span by which clocks may be off, or work run on after it, without a word."""
FEW = 0.01
"""Share of a rank's work up to which its launches may be unknown because their correlation ids are repeated."""


def vague(clocks: Clocks, length: int) -> tuple[str, ...]:
    """What is said where clocks are off by more than a little of the span."""
    worst = int(clocks.error.max(initial=0))
    if worst <= VAGUE * length:
        return ()
    return (f"clocks of ranks may be off by {show(worst * 1e-9, 'time')}: what waited for other ranks is as uncertain",)


def left_out(parts: Sequence[RankPart], traces: Sequence[Trace], length: int) -> tuple[str, ...]:
    """What is said where a host ran ahead of its GPU at the end of the span."""
    most = max(range(len(parts)), key=lambda number: parts[number].beyond)
    beyond = parts[most].beyond
    if beyond <= VAGUE * length:
        return ()
    return (
        f"the host ran ahead of its GPU: what {traces[most].label} launched runs until {show(beyond * 1e-9, 'time')} after "
        "the end, and is no part of this",
    )


def doubt(traces: Sequence[Trace], dependencies: Sequence[Dependencies]) -> str:
    """Why it is not known what launched the work of a trace."""
    for trace, depend in zip(traces, dependencies, strict=True):
        if depend.repeated > FEW * len(trace.work):
            return (
                f"in the trace of {trace.label} the correlation ids of {depend.repeated} of {len(trace.work)} works on its "
                "GPU stand for several calls each, so that it is not known which call launched them: expected an id for each "
                "call; trace again, or do not join traces of several sessions in one file"
            )
    return ""
