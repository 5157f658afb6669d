"""What a change would bring to a step of which there are traces.

What belongs here: traces, meetings, dependencies and the simulation handed to one another, and how a change is written. What
collectives take elsewhere is ``elsewhere``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hopline.errors import InputError, UnknownNameError
from hopline.quantity import show
from hopline.records.matched import Matched
from hopline.records.trace import Trace
from hopline.records.what_if import WhatIfs
from hopline.sim.activities import simulate_activities
from hopline.study.buckets import MOST as MOST_BUCKETS
from hopline.study.changing import Price
from hopline.study.dependencies import Dependencies, depend
from hopline.study.meetings import meet
from hopline.study.replay_path import TICK
from hopline.study.replay_trust import measured
from hopline.study.replaying import Inferred, activities
from hopline.study.what_if import ASKED, CHANGES, Question, what_if


@dataclass(frozen=True, slots=True)
class _Value:
    """How the value of a change is written, and what it can be."""

    pattern: re.Pattern[str]
    least: float
    most: float
    words: str


SLOWEST, FASTEST = 0.01, 1e6
"""Factors: the picoseconds of a span of 12 hours fit their columns when it takes 100 times as long."""
_MOST_TICKS = 2**62
_NUMBER = r"((?:[0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})(?:e[+-]?[0-9]{1,3})?)"
VALUES: Mapping[str, _Value] = {
    "factor": _Value(
        re.compile(f"{_NUMBER}x?", re.IGNORECASE), SLOWEST, FASTEST,
        f"a factor from {SLOWEST:g} (100 times as slow) to {FASTEST:g}, as in {{name}}=2",
    ),
    "number": _Value(
        re.compile("([0-9]{1,9})"), 1, MOST_BUCKETS, f"a whole number from 1 to {MOST_BUCKETS}, as in {{name}}=4"
    ),
    "[rank]": _Value(re.compile("(?:rank)?([0-9]{1,9})"), 0, 1 << 24, "the number of a rank, as in {name}=2"),
}  # fmt: skip
"""What a change takes (``study.what_if.Change``) -> what it can be."""


def what_ifs(
    traces: Sequence[Trace],
    questions: Sequence[Question],
    *,
    span: tuple[int, int] | None = None,
    matched: Matched | None = None,
    dependencies: Sequence[Dependencies] | None = None,
) -> WhatIfs:
    """Answers about the step of ``traces``; what is known of it already need not be worked out again.

    Raises InputError where the traces do not go together or a change cannot be made on them.
    """
    return answers(inferred(traces, span, matched, dependencies), questions)


def answers(made: Inferred, questions: Sequence[Question]) -> WhatIfs:
    """Answers about activities. Raises InputError where a change cannot be made, or makes the step too long to count."""
    for asked in questions:
        if CHANGES[asked.name].takes == "factor" and measured(made) / (asked.value or 1.0) >= _MOST_TICKS:
            raise InputError(
                f"--what-if {asked.name}={asked.value:g} on {show(measured(made) * TICK, 'time')}: expected a larger factor, "
                "or one step of it (--step median): so long a time cannot be counted in picoseconds"
            )
    return what_if(made, questions, simulate_activities)


def inferred(
    traces: Sequence[Trace],
    span: tuple[int, int] | None = None,
    matched: Matched | None = None,
    dependencies: Sequence[Dependencies] | None = None,
    step: int | None = None,
) -> Inferred:
    """The activities of ``traces``; ``step``: number of the step that ``span`` is."""
    together = meet(traces) if matched is None else matched
    depends = [depend(trace) for trace in traces] if dependencies is None else dependencies
    found = activities(traces, together.clocks, together.meetings, depends, span, step)
    return replace(found, premises=(*found.premises, *together.told))


def question(text: str, price: Price | None = None, words: str = "") -> Question:
    """``communication=2`` or ``free``, a name of CHANGES with its value. Raises InputError, UnknownNameError."""
    name, _, value = text.partition("=")
    if name not in CHANGES:
        raise UnknownNameError("change", name, ASKED)
    kind = VALUES.get(CHANGES[name].takes)
    if not value or kind is None:
        return Question(name, _plain(text, value), price, words)
    match = kind.pattern.fullmatch(value.strip())
    number = float(match[1]) if match else None
    if number is None or not kind.least <= number <= kind.most:
        raise InputError(f"--what-if {text}: expected {kind.words.format(name=name)}")
    return Question(name, number, price, words)


def _plain(text: str, value: str) -> float | None:
    """A value where none is expected, which Question refuses."""
    try:
        return float(value) if value else None
    except ValueError:
        raise InputError(f"--what-if {text}: expected no value") from None
