"""What if: a measured step played again after a change.

What belongs here: the changes by name, and the order of things: the step as it was is played first, and where that is not what
was measured nothing is concluded from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hopline.errors import InputError, UnknownNameError
from hopline.quantity import show
from hopline.records.replay import Replay
from hopline.records.what_if import SILENT, STILL, UNEXPLAINED, UNSEEN, WRONG, Part, WhatIf, WhatIfs, share
from hopline.schedule.activities import COMPUTE, HOST, Activities
from hopline.study.buckets import buckets
from hopline.study.changing import MOVES, Changed, Price, Setting, earlier, faster, free, straggler
from hopline.study.contention import contention, relieved
from hopline.study.replay_path import TICK, parts
from hopline.study.replaying import TICKS, Inferred
from hopline.study.swapping import priced

Play = Callable[[Activities], Replay]
Apply = Callable[[Inferred, Setting], Changed]


@dataclass(frozen=True, slots=True)
class Change:
    """A change that can be asked about.

    Attributes
    ----------
    words
        With {value} in it where it takes a number.
    apply
        What it does.
    takes
        What the value is; "" for none, in brackets where it may be left out.
    limit
        What its ceiling is: this costs no time; None: it has none.
    """

    words: str
    apply: Apply
    takes: str = ""
    limit: Apply | None = None


_NO_COMMUNICATION = free(*MOVES)

CHANGES: dict[str, Change] = {
    "communication": Change("communication {value:g} times as fast", faster(*MOVES), "factor", _NO_COMMUNICATION),
    "free": Change("communication for nothing", _NO_COMMUNICATION, "", _NO_COMMUNICATION),
    "earlier": Change("collectives begin when their inputs are ready", earlier, "", _NO_COMMUNICATION),
    "buckets": Change("collectives cut into {value:g} buckets", buckets, "number", _NO_COMMUNICATION),
    "network": Change("collectives on the machine that was given", priced, "", _NO_COMMUNICATION),
    "straggler": Change("{who} as early and as fast as the others", straggler, "[rank]"),
    "compute": Change("kernels {value:g} times as fast", faster(COMPUTE), "factor", free(COMPUTE)),
    "host": Change("host {value:g} times as fast", faster(HOST), "factor", free(HOST)),
}
"""By name. A machine or an algorithm in place of the measured one comes in as a price."""
GIVEN = {"network": "--machine, or --latency and --bandwidth, put collectives on a network"}
"""Changes that come with a price, and what makes one."""
ASKED = tuple(name for name in CHANGES if name not in GIVEN)
"""Changes that can be asked for by name alone."""


@dataclass(frozen=True, slots=True)
class Question:
    """A change by name, how much of it, and what collectives take elsewhere (``words`` then says where)."""

    name: str
    value: float | None = None
    price: Price | None = None
    words: str = ""

    def __post_init__(self) -> None:
        change = CHANGES.get(self.name)
        if change is None:
            raise UnknownNameError("change", self.name, ASKED)
        if self.name in GIVEN and (self.value is not None or self.price is None):
            given = "" if self.value is None else f"={self.value:g}"
            raise InputError(
                f"{self.name}{given}: expected communication={self.value or 2:g}, for collectives so many times as fast; "
                f"{GIVEN[self.name]}"
            )
        if self.value is None and change.takes and not change.takes.startswith("["):
            raise InputError(f"{self.name} has no {change.takes}: expected {self.name}=2, say")
        if self.value is not None and not change.takes:
            raise InputError(f"{self.name}={self.value:g}: expected no value")
        if change.takes == "factor" and self.value is not None and not 0 < self.value < float("inf"):
            raise InputError(f"{self.name}={self.value:g}: expected a factor above 0")


def what_if(inferred: Inferred, questions: Sequence[Question], play: Play) -> WhatIfs:
    """Answers to all ``questions``.

    Parameters
    ----------
    play
        ``sim.activities.simulate_activities``.

    Raises
    ------
    InputError
        Where a change cannot be made on these traces.
    """
    slowdowns = contention(inferred)
    base = relieved(inferred, slowdowns)
    before = play(base.activities)
    errors = replay_errors(base, play)
    binds = parts(base.activities, before, base.quick)
    refused = _refusal(base, errors, binds)
    limits = _Limits(base, play)
    answers = () if refused else tuple(_answer(base, question, before, play, limits) for question in questions)
    off = max(map(abs, errors), default=0.0)
    return WhatIfs(
        float(inferred.finish.max()) * TICKS * TICK, before.ticks * TICK, errors, limits.of(_NO_COMMUNICATION), binds,
        slowdowns, tuple(replace(answer, within_error=abs(answer.gain) <= off) for answer in answers),
        (*inferred.premises, *PREMISES, *_standing(binds)), refused,
    )  # fmt: skip


TOLD = 0.01
"""Share of the path that stood still, or shows nothing of the host, from which on it is told."""
PREMISES = (
    "launches, waits between streams and the order of calls stay as they were",
    "calls of a rank's threads follow one another as measured",
)
"""Of every answer."""


def _standing(binds: Sequence[Part]) -> list[str]:
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
    measured = np.maximum(inferred.finish, 1)
    return tuple(((ends - measured) / measured).tolist())


def _refusal(inferred: Inferred, errors: Sequence[float], binds: Sequence[Part]) -> str:
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
    return ""


def _percent(part: float) -> str:
    """``7.1 %`` or ``5 %``, without a sign."""
    return f"{100 * abs(part):.1f}".removesuffix(".0") + " %"


class _Limits:
    """Seconds of the step where something costs no time, each played once."""

    def __init__(self, base: Inferred, play: Play) -> None:
        self._base, self._play = base, play
        self._found: dict[Apply, float] = {}

    def of(self, limit: Apply) -> float:
        """Seconds with ``limit`` applied."""
        if limit not in self._found:
            self._found[limit] = self._play(limit(self._base, Setting()).activities).ticks * TICK
        return self._found[limit]


def _answer(base: Inferred, question: Question, before: Replay, play: Play, limits: _Limits) -> WhatIf:
    change, setting = CHANGES[question.name], Setting(question.value, question.price)
    changed = change.apply(base, setting)
    after = play(changed.activities)
    limit = limits.of(change.limit) if change.limit else None
    words = question.words or change.words.format(value=question.value or 0, who=changed.who)
    return WhatIf(
        question.name, question.value, words, before.ticks * TICK, after.ticks * TICK, limit,
        parts(changed.activities, after, base.quick), changed.premises, changed.at_most, prices=changed.prices,
    )  # fmt: skip


def sentence(answer: WhatIf) -> str:
    """An answer in a line."""
    ends = f"{show(answer.before, 'time')} -> {show(answer.after, 'time')} ({-answer.gain:+.1%})"
    ceiling = "" if answer.ceiling is None else f", at best {show(answer.ceiling, 'time')}"
    most = " or less" if answer.at_most else ""
    sure = ", no more than the replay is off by" if answer.within_error else ""
    return f"{answer.words}: {ends}{most}{sure}{ceiling}; then {answer.next} is most of the path"
