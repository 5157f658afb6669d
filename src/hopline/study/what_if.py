"""What if: a measured step played again after a change.

What belongs here: the changes by name, and the order of things: the step as it was is played first, and where that is not what
was measured nothing is concluded from it (``replay_trust``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hopline.errors import InputError, UnknownNameError
from hopline.quantity import show
from hopline.records.replay import Replay
from hopline.records.what_if import WhatIf, WhatIfs
from hopline.schedule.activities import COMPUTE, HOST
from hopline.study.buckets import buckets
from hopline.study.catching_up import straggler
from hopline.study.changing import MOVES, Changed, Price, Setting, earlier, faster, free
from hopline.study.contention import contention, relieved
from hopline.study.replay_path import TICK, parts
from hopline.study.replay_trust import DIFFERS, Play, measured, refusal, replay_errors, standing
from hopline.study.replaying import Inferred
from hopline.study.swapping import priced

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


def _earlier_for_nothing(inferred: Inferred, setting: Setting) -> Changed:
    """What bounds an earlier begin: late launches hold up what comes after a collective even where it takes no time."""
    return _NO_COMMUNICATION(replace(inferred, activities=earlier(inferred, setting).activities), setting)


CHANGES: dict[str, Change] = {
    "communication": Change("communication {value:g} times as fast", faster(*MOVES), "factor", _NO_COMMUNICATION),
    "free": Change("communication for nothing", _NO_COMMUNICATION, "", _NO_COMMUNICATION),
    "earlier": Change("collectives begin when their inputs are ready", earlier, "", _earlier_for_nothing),
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
    refused = refusal(base, before, errors, binds)
    limits = _Limits(base, play)
    ceiling, surely = limits.bounds(_NO_COMMUNICATION, before)
    answers = () if refused else tuple(_answer(base, question, before, play, limits) for question in questions)
    off = max(map(abs, errors), default=0.0)
    return WhatIfs(
        measured(inferred) * TICK, before.ticks * TICK, errors, ceiling, binds,
        slowdowns, tuple(replace(answer, within_error=abs(answer.gain) <= off) for answer in answers),
        (*inferred.premises, *PREMISES, *standing(binds)), refused, surely,
    )  # fmt: skip


PREMISES = (
    "launches, waits between streams and the order of calls stay as they were",
    "calls of a rank's threads follow one another as measured",
)
"""Of every answer."""


class _Limits:
    """Seconds of the step where something costs no time, each played once."""

    def __init__(self, base: Inferred, play: Play) -> None:
        self._base, self._play = base, play
        self._found: dict[Apply, Changed] = {}
        self._times: dict[Apply, float] = {}

    def of(self, limit: Apply) -> float:
        """Seconds with ``limit`` applied."""
        if limit not in self._times:
            self._times[limit] = self._play(self._changed(limit).activities).ticks * TICK
        return self._times[limit]

    def bounds(self, limit: Apply, before: Replay) -> tuple[float, float | None]:
        """The same, and with all that may be waiting kept where that makes a difference."""
        time = self.of(limit)
        return time, _surely(self._changed(limit), time, before, self._play)

    def _changed(self, limit: Apply) -> Changed:
        if limit not in self._found:
            self._found[limit] = limit(self._base, Setting())
        return self._found[limit]


def _surely(changed: Changed, after: float, before: Replay, play: Play) -> float | None:
    """Seconds if all that may be waiting stays; None where there is no such thing, or where that makes no difference."""
    if changed.surely is None:
        return None
    seconds = play(changed.surely).ticks * TICK
    return seconds if abs(seconds - after) > DIFFERS * before.ticks * TICK else None


def _answer(base: Inferred, question: Question, before: Replay, play: Play, limits: _Limits) -> WhatIf:
    change, setting = CHANGES[question.name], Setting(question.value, question.price)
    changed = change.apply(base, setting)
    after = play(changed.activities)
    limit = limits.of(change.limit) if change.limit else None
    words = question.words or change.words.format(value=question.value or 0, who=changed.who)
    surely = _surely(changed, after.ticks * TICK, before, play)
    return WhatIf(
        question.name, question.value, words, before.ticks * TICK, after.ticks * TICK, limit,
        parts(changed.activities, after, base.quick), changed.premises, surely is not None, prices=changed.prices,
        surely=surely,
    )  # fmt: skip


def sentence(answer: WhatIf) -> str:
    """An answer in a line."""
    ends = f"{show(answer.before, 'time')} -> {show(answer.after, 'time')} ({-answer.gain:+.1%})"
    ceiling = "" if answer.ceiling is None else f", at best {show(answer.ceiling, 'time')}"
    most = " or less" if answer.at_most else ""
    sure = ", no more than the replay is off by" if answer.within_error else ""
    return f"{answer.words}: {ends}{most}{sure}{ceiling}; then {answer.next} is most of the path"
