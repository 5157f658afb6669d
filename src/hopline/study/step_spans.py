"""Steps of several ranks: how long each took, what it went to, and what the slowest has more of than others.

What belongs here: steps that the program marked. What the GPU did in a span is ``study/busy``.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import numpy as np

from hopline.quantity import show
from hopline.records.breakdown import Breakdown
from hopline.records.explained import StepSpan
from hopline.records.meeting import Clocks
from hopline.records.step_comparison import StepComparison
from hopline.records.trace import NANOSECOND, Trace
from hopline.study.busy import breakdown, breakdowns

PARTS = ("compute", "exposed", "idle")
"""What a step's span is made of: they add up to it."""
_OUTSIDE = 0.01
"""Share of a trace's work outside of the marked steps from which on it is told."""


def step_spans(traces: Sequence[Trace], clocks: Clocks) -> tuple[StepSpan, ...]:
    """Steps by their numbers, each over all ranks that have it, in order of their begin.

    The work of a step is what runs on a rank's GPU between the marks of that step on its host: work that was launched in one
    step and runs in the next is the next one's (``outside`` tells how much lies in none).
    """
    edges: dict[int, list[tuple[int, int, int]]] = {}
    parts: dict[int, dict[int, Breakdown]] = {}
    for number, trace in enumerate(traces):
        found = breakdowns(trace, [(step.start, step.end) for step in trace.steps])
        for step, one in zip(trace.steps, found, strict=True):
            start, end = clocks.common(number, np.array([step.start, step.end])).tolist()
            edges.setdefault(step.number, []).append((start, end, number))
            parts.setdefault(step.number, {})
            if one is not None:
                parts[step.number][number] = one
    spans = [_over_all(number, marks, parts[number]) for number, marks in edges.items()]
    return tuple(sorted(spans, key=lambda span: (span.start, span.number)))


def _over_all(number: int, marks: Sequence[tuple[int, int, int]], parts: dict[int, Breakdown]) -> StepSpan:
    """A step from its begin and end on each trace."""
    end, last = max((end, -trace) for _, end, trace in marks)
    return StepSpan(number, min(start for start, _, _ in marks), end, parts, -last)


def compare(steps: Sequence[StepSpan]) -> StepComparison | None:
    """How steps differ; None for fewer than two."""
    if len(steps) < 2:
        return None
    times = [step.time for step in steps]
    slowest = max(steps, key=lambda step: step.time)
    grown = {trace: _more(trace, slowest, steps) for trace in slowest.breakdowns}
    trace = max(grown, key=lambda t: (max(grown[t].values()), -t), default=None)
    return StepComparison(
        len(steps), round(median(times)), min(times), max(times), slowest.number, trace,
        grown[trace] if trace is not None else {},
    )  # fmt: skip


def _more(trace: int, slowest: StepSpan, steps: Sequence[StepSpan]) -> dict[str, int]:
    """By how much each part of a trace's time in the slowest step is above its median."""
    own = [step.breakdowns[trace] for step in steps if trace in step.breakdowns]
    here = slowest.breakdowns[trace]
    return {part: getattr(here, part) - round(median(getattr(one, part) for one in own)) for part in PARTS}


def outside(traces: Sequence[Trace]) -> tuple[str, ...]:
    """Sentences on work that lies outside of the marked steps."""
    told = []
    for trace in traces:
        whole = breakdown(trace)
        if whole is None or not trace.steps or not whole.busy:
            continue
        inside = sum(one.busy for one in breakdowns(trace, [(s.start, s.end) for s in trace.steps]) if one is not None)
        out = whole.busy - inside
        if out > _OUTSIDE * whole.busy:
            marked = "steps" if len(trace.steps) > 1 else "step"
            long = f"{show(out * NANOSECOND, 'time', 3)} ({out / whole.busy:.0%})"
            told.append(f"{trace.label}: {long} of its GPU's work lies outside of the marked {marked}")
    return tuple(told)
