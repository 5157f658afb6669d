"""Where the time of a training step goes, from the traces of its ranks.

What belongs here: reading, clocks, meetings, dependencies, path, blame, what-ifs put together into one record. What each of
them is stands in ``study``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hopline.errors import FormatError, InputError
from hopline.jobs.what_ifs import answers, inferred
from hopline.quantity import counted
from hopline.records.critical import CriticalPath
from hopline.records.explained import Explained, StepSpan
from hopline.records.launch_order import LaunchOrder
from hopline.records.matched import Matched
from hopline.records.trace import Trace
from hopline.study.blame import blame
from hopline.study.busy import breakdown, extent
from hopline.study.critical_path import critical_path
from hopline.study.dependencies import Dependencies, depend
from hopline.study.findings import findings
from hopline.study.launch_order import launch_order
from hopline.study.meetings import meet
from hopline.study.rates import rates
from hopline.study.step_spans import compare, outside, step_spans
from hopline.study.stragglers import stragglers
from hopline.study.trace_names import named
from hopline.study.waiting import untold, waited
from hopline.study.what_if import Question

ALONE = (Question("host", 2.0), Question("compute", 2.0))
MEETING = (Question("communication", 2.0), Question("free"), Question("earlier"))
TOGETHER = (Question("straggler"),)
"""What is asked where the user asks nothing: of any trace, of those with collectives, and of several ranks."""
MOST_REPLAYED = 400_000
"""Events up to which a span is played again; of a longer one the median step is."""
WHICH: dict[str, Callable[[Sequence[StepSpan]], StepSpan]] = {
    "median": lambda steps: sorted(steps, key=lambda step: step.time)[(len(steps) - 1) // 2],
    "slowest": lambda steps: max(steps, key=lambda step: step.time),
    "fastest": lambda steps: min(steps, key=lambda step: step.time),
}
"""Steps that can be asked for by a word."""

Watch = Callable[[float, str], None]
"""Called with a fraction and what is going on."""


@dataclass(frozen=True, slots=True)
class _Span:
    """What is explained; ``step`` is None where it is all of the traces."""

    what: str
    start: int
    end: int
    step: StepSpan | None = None


def explain(
    traces: Sequence[Trace],
    step: str = "all",
    questions: Sequence[Question] | None = None,
    watch: Watch | None = None,
) -> Explained:
    """Explain ``traces``, one a rank.

    Parameters
    ----------
    step
        ``all``, a key of WHICH, or the number of a step that the traces mark.
    questions
        What-ifs; () for none, None for the usual ones.

    Raises
    ------
    InputError
        Two traces of one rank, a step that is not marked, a change that cannot be made on these traces.
    FormatError
        No trace has an event to go by.
    """
    say = watch or (lambda fraction, text: None)
    traces = named(traces)
    say(0.0, "matching collectives")
    matched = meet(traces)
    steps = step_spans(traces, matched.clocks)
    span = _span(traces, matched, steps, step)
    say(0.2, "what waited for what")
    dependencies = [depend(trace) for trace in traces]
    say(0.5, "the critical path")
    explained = _measured(traces, matched, steps, span, dependencies)
    say(0.7, "what changes would bring")
    asked = usual(traces) if questions is None else questions
    if asked and any(len(trace.work) for trace in traces):
        again = _again(traces, steps, span)
        number = again.step.number if again.step else None
        made = inferred(traces, (again.start, again.end), matched, dependencies, number)
        played = answers(made, asked)
        where = "" if again is span else f"{again.what}, the median one"
        given = questions is not None and tuple(questions) != usual(traces)
        explained = replace(explained, what_ifs=played, played=where, asked=given)
    orders = _orders(explained, dependencies)
    return replace(explained, findings=findings(explained, orders))


def usual(traces: Sequence[Trace]) -> tuple[Question, ...]:
    """What-ifs that go with any such traces."""
    meeting = MEETING if any(trace.collectives for trace in traces) else ()
    return (*meeting, *(TOGETHER if len(traces) > 1 else ()), *ALONE)


def _span(traces: Sequence[Trace], matched: Matched, steps: Sequence[StepSpan], which: str) -> _Span:
    if which == "all":
        what = (
            f"step {steps[0].number}"
            if len(steps) == 1
            else counted(len(steps), "step")
            if steps
            else "all of the traces"
        )
        return _Span(what, *_extent(traces, matched))
    found = _step(steps, which)
    return _Span(f"step {found.number}", found.start, found.end, found)


def _extent(traces: Sequence[Trace], matched: Matched) -> tuple[int, int]:
    """From the first event of all traces to the last end, on the common clock."""
    ends = [
        matched.clocks.common(number, np.array(reach)).tolist()
        for number, trace in enumerate(traces)
        if (reach := extent(trace)) is not None
    ]
    if not ends:
        raise FormatError(
            "the traces show no work of a GPU, no operators and no calls: expected traces of a training step"
        )
    return min(start for start, _ in ends), max(end for _, end in ends)


def _step(steps: Sequence[StepSpan], which: str) -> StepSpan:
    if not steps:
        raise InputError(f"step {which}: the traces mark no steps (ProfilerStep#N); expected all")
    if which in WHICH:
        return WHICH[which](steps)
    for step in steps:
        if str(step.number) == which:
            return step
    numbers = f"{steps[0].number} to {steps[-1].number}" if len(steps) > 1 else str(steps[0].number)
    raise InputError(f"step {which!r} is not in the traces: expected all, {', '.join(WHICH)} or a number ({numbers})")


def _measured(
    traces: Sequence[Trace],
    matched: Matched,
    steps: tuple[StepSpan, ...],
    span: _Span,
    dependencies: Sequence[Dependencies],
) -> Explained:
    """All but what has to be played again."""
    clocks = matched.clocks
    met = tuple(meeting for meeting in matched.meetings if span.start < int(meeting.end.max()) <= span.end)
    path, lost = _path(traces, matched, span, dependencies)
    parts = [
        span.step.breakdowns.get(i) if span.step else breakdown(t, *(extent(t) or (None, None)))
        for i, t in enumerate(traces)
    ]
    return Explained(
        tuple(traces), clocks, span.what, span.start, span.end, met,
        breakdowns=tuple(parts), findings=(),
        rates=rates(met), unmatched=matched.told, waited=waited(traces, matched.meetings, parts),
        untold=untold(traces, matched.meetings, parts), step=span.step.number if span.step else None, steps=steps,
        comparison=compare(steps), path=path, blame=blame(path, traces, clocks, met) if path else None,
        stragglers=stragglers(traces, met) if len(traces) > 1 else None, told=(*_of_files(traces), *outside(traces), *lost),
    )  # fmt: skip


def _of_files(traces: Sequence[Trace]) -> list[str]:
    """What the files say of themselves, each once with the ranks that say it."""
    saying: dict[str, list[str]] = {}
    for trace in traces:
        for text in trace.told:
            saying.setdefault(text, []).append(trace.label)
    return [
        f"{labels[0]}{f' and {len(labels) - 1} more' if labels[1:] else ''}: {text}" for text, labels in saying.items()
    ]


def _path(
    traces: Sequence[Trace], matched: Matched, span: _Span, dependencies: Sequence[Dependencies]
) -> tuple[CriticalPath | None, tuple[str, ...]]:
    last = span.step.last if span.step else None
    whole = (span.start, span.end)
    try:
        path = critical_path(traces, matched.clocks, matched.meetings, whole, dependencies, last)
    except (FormatError, InputError) as error:
        return None, (f"no critical path: {error}",)
    return path, ()


def _again(traces: Sequence[Trace], steps: Sequence[StepSpan], span: _Span) -> _Span:
    """What is played again: the span, or where that is much its median step."""
    events = sum(len(trace.events) for trace in traces)
    if events <= MOST_REPLAYED or len(steps) < 2 or span.step is not None:
        return span
    median = WHICH["median"](steps)
    return _Span(f"step {median.number}", median.start, median.end, median)


def _orders(explained: Explained, dependencies: Sequence[Dependencies]) -> list[LaunchOrder | None]:
    out: list[LaunchOrder | None] = []
    for trace, part, depends in zip(explained.traces, explained.breakdowns, dependencies, strict=True):
        told = part is not None and part.communication
        out.append(launch_order(trace, depends.launch, part.hidden / part.communication) if told and part else None)
    return out
