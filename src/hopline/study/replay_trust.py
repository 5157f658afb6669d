"""Whether a replay may be believed: by what it is off, why nothing is concluded from it, and what no change makes shorter.

What belongs here: a replay held against what was measured. What is uncertain before anything is played is ``replay_doubts``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from hopline.records.replay import Replay
from hopline.records.what_if import SILENT, STILL, UNEXPLAINED, UNSEEN, WRONG, Part, share
from hopline.schedule.activities import Activities
from hopline.study.replaying import TICKS, Inferred

Play = Callable[[Activities], Replay]
DIFFERS = 1e-3
"""Share of the step by which answers, or a replay and the span, may differ and are the same."""
TOLD = 0.01
"""Share of the path that stood still, or shows nothing of the host, from which on it is told."""


def standing(binds: Sequence[Part]) -> list[str]:
    """What of the path no change makes shorter."""
    still, silent = share(binds, UNEXPLAINED), share(binds, SILENT)
    told = (
        (still, "of the path stood still for no reason that the traces tell, and stays: a change may bring more"),
        (silent, "of the path shows nothing of the host, and stays: what it did or waited for is not in the traces"),
    )
    return [f"{part:.1%} {words}" for part, words in told if part > TOLD]


def replay_errors(inferred: Inferred, play: Play) -> tuple[float, ...]:
    """By what share each rank's time is off where nothing unexplained is kept: whether what is known makes the step.

    With all that was measured kept, a replay is right by construction and shows nothing.
    """
    replay = play(replace(inferred.activities, lag=inferred.usual))
    ends = np.zeros(len(inferred.traces), np.int64)
    np.maximum.at(ends, inferred.activities.rank, replay.end // TICKS)
    return tuple(((ends - inferred.finish) / np.maximum(inferred.finish, 1)).tolist())


def measured(inferred: Inferred) -> int:
    """Picoseconds of the span."""
    return (inferred.span[1] - inferred.span[0]) * TICKS


def refusal(inferred: Inferred, before: Replay, errors: Sequence[float], binds: Sequence[Part]) -> str:
    """Why nothing is concluded from a replay; "" where it may be believed. ``binds``: parts of its path."""
    if inferred.doubt:
        return inferred.doubt
    worst = int(np.argmax(np.abs(errors)))
    if abs(errors[worst]) > WRONG:
        label, more = inferred.traces[worst].label, "more" if errors[worst] > 0 else "less"
        return (
            f"played again from what the traces tell, {label} takes {_percent(errors[worst])} {more} than measured: "
            f"expected at most {_percent(WRONG)}, so nothing is concluded; waits are missing in the trace, or give a span of "
            "whole steps"
        )
    still, silent = share(binds, UNEXPLAINED), share(binds, SILENT)
    if still > STILL:
        return (
            f"{_percent(still)} of the critical path stood still for no reason that the traces tell: expected at most "
            f"{_percent(STILL)}, so nothing is concluded; trace with synchronisation events, or give a span of whole steps"
        )
    if still + silent > UNSEEN:
        return (
            f"in {_percent(silent)} of the critical path nothing is seen of the host: expected at most {_percent(UNSEEN)}, so "
            "nothing is concluded; trace the CPU's operators of all threads, or give a span of whole steps"
        )
    return _amiss(inferred, before, errors)


def _amiss(inferred: Inferred, before: Replay, errors: Sequence[float]) -> str:
    """What is said where the replay is not the span, by more than it is off by anyway."""
    off = before.ticks / max(measured(inferred), 1) - 1
    if abs(off) <= max(DIFFERS, *map(abs, errors)):
        return ""
    return (
        f"played again, the span takes {_percent(off)} {'more' if off > 0 else 'less'} than it did: expected at most "
        f"{_percent(max(DIFFERS, *map(abs, errors)))}, so nothing is concluded; give a span of whole steps"
    )


def _percent(part: float) -> str:
    """``7.1 %`` or ``5 %``, without a sign."""
    return f"{100 * abs(part):.1f}".removesuffix(".0") + " %"
