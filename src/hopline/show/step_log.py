"""What a training log says about its steps, on a page and as JSON.

What belongs here: words for a StepReport.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from hopline.quantity import counted, show
from hopline.records.step_log import BASES, LIKE, Drift, Level, Periodic, Run, Slow, StepReport, TimerShare
from hopline.show.document import Block, Grid, Heading, Line, Style

MOST_SLOW, MOST_TIMERS, MOST_RUNS, MOST_RANKS = 10, 16, 12, 8
"""Rows of tables."""


def page(report: StepReport) -> list[Block]:
    """The usual step, what is above it, what comes back, drifts, restarts, timers."""
    return [
        Heading(f"Steps in {report.source} ({report.kind})"),
        *_usual(report), *_levels(report), *_ranks(report.ranks),
        *_periodic(report), *_slow(report), *_drifts(report.drifts), *_runs(report.runs),
        *_timers(report.timers), *(Line(remark, "faint") for remark in report.told),
    ]  # fmt: skip


def _usual(report: StepReport) -> list[Block]:
    warm = sum(run.warm for run in report.runs)
    lines = f"{counted(report.lines, 'line')}" + (f", {counted(warm, 'line')} of warm-up left out" if warm else "")
    each = f"; a line stands for {report.every} steps" if report.every > 1 else ""
    of = f" of {report.usual:,} of {counted(report.lines, 'line')}, others below" if report.usual < report.lines else ""
    blocks: list[Block] = [
        Line(
            f"A step takes {_time(report.median)} (median{of}; 5 % to 95 %: {_time(report.low)} to {_time(report.high)})",
            "strong",
        ),
        Line(f"{lines}{each}; times are {BASES[report.basis]}", "faint"),
    ]
    if report.lost >= 0.001:
        usual = "what is usual then" if report.usual < report.lines else "the median"
        saved = f"{report.lost:.1%} of {_time(report.total)} would be saved"
        blocks.append(Line(f"If all steps{' after the warm-up' if warm else ''} took {usual}, {saved}."))
    return blocks


def _levels(report: StepReport) -> list[Block]:
    """Where the time of a step changes and stays so, within a start or from one to the next."""
    lines: list[Block] = []
    levels = report.levels
    for place in range(1, len(levels)):
        before, now = levels[place - 1], levels[place]
        if abs(now.median / before.median - 1) < LIKE:
            continue
        back = place > 1 and before.run == now.run == levels[place - 2].run and _alike(levels[place - 2], now)
        lines.append(
            Line(_back(before, now) if back else _change(before, now, _end(levels, place)), _style(before, now))
        )
    return lines


def _alike(one: Level, other: Level) -> bool:
    return abs(one.median / other.median - 1) < LIKE


def _end(levels: Sequence[Level], place: int) -> str:
    now = levels[place]
    last = place + 1 == len(levels) or levels[place + 1].run != now.run
    return "to the end" if last else f"to step {now.last:,}"


def _style(before: Level, now: Level) -> Style:
    return "bad" if now.median > before.median else "plain"


def _change(before: Level, now: Level, end: str) -> str:
    start = f" of start {now.run + 1}" if before.run != now.run else ""
    return (
        f"From step {now.first:,}{start} on, {end}, a step takes {_time(now.median)} in place of {_time(before.median)} "
        f"({now.median / before.median - 1:+.0%}). Look for what changed then."
    )


def _back(before: Level, now: Level) -> str:
    return f"From step {now.first:,} on it takes {_time(now.median)} again, after {counted(before.lines, 'line')}."


def _ranks(ranks: Mapping[str, float]) -> list[Block]:
    """Ranks that print longer steps than most."""
    if len(ranks) < 2:
        return []
    usual = median(ranks.values())
    late = sorted(
        (label for label, time in ranks.items() if time > usual * (1 + LIKE)), key=lambda label: -ranks[label]
    )
    if not late:
        return [
            Line(f"The {len(ranks)} ranks that print steps have like times ({_time(usual)} in the middle).", "good")
        ]
    named = ", ".join(
        f"{label} ({_time(ranks[label])}, {ranks[label] / usual - 1:+.0%})" for label in late[:MOST_RANKS]
    )
    more = f" and {len(late) - MOST_RANKS} more" if len(late) > MOST_RANKS else ""
    return [Line(f"Slower than most of {len(ranks)} ranks ({_time(usual)}): rank {named}{more}.", "bad")]


def _periodic(report: StepReport) -> list[Block]:
    return [Line(_period(one), "bad") for one in report.periodic]


def _period(one: Periodic) -> str:
    where = f"every {one.every} steps" + (f" (at {one.phase} past each)" if one.phase else "")
    return (
        f"Slow {where}: {one.hits} of {one.chances} such steps, by {_time(one.extra)} a step, {one.share:.1%} of all time. "
        "Look for what is done then: checkpoint, evaluation, garbage collection, logging."
    )


def _slow(report: StepReport) -> list[Block]:
    single = [one for one in report.slow if one.every is None]
    if not report.slow:
        return [Line(f"No step is slow (above {_time(report.threshold)}).", "good")]
    if not single:
        return []
    lost = sum(one.excess for one in single) * report.every
    head = f"{counted(len(single), 'slow line')} without a period, {_time(lost)} above the usual together"
    rows = [_slow_row(one) for one in single[:MOST_SLOW]]
    more = [Line(f"  and {len(single) - MOST_SLOW} more", "faint")] if len(single) > MOST_SLOW else []
    return [Heading(head), Grid(("step", "time", "above usual", "line of file"), rows, left=0), *more]


def _slow_row(one: Slow) -> tuple[str, ...]:
    return (f"{one.step:,}", _time(one.time), _time(one.excess), f"{one.line:,}")


def _drifts(drifts: Sequence[Drift]) -> list[Block]:
    return [
        Line(
            f"Steps become {'slower' if one.change > 0 else 'faster'} over start {one.run + 1}: from {_time(one.before)} in "
            f"its first third to {_time(one.after)} in its last ({one.change:+.1%} ± {one.error / one.before:.1%}).",
            "bad" if one.change > 0 else "plain",
        )
        for one in drifts
    ]


def _runs(runs: Sequence[Run]) -> list[Block]:
    if len(runs) < 2:
        return []
    redone = sum(run.redone for run in runs)
    gaps = [run.gap for run in runs if run.gap is not None]
    lost = f"; {counted(redone, 'step')} done again" if redone else ""
    away = f"; {_time(sum(gaps))} between their lines" if gaps else ""
    rows = [
        (str(number), f"{run.first:,}", f"{run.last:,}", _time(run.median), str(run.warm), f"{run.redone:,}", _gap(run))
        for number, run in enumerate(runs[:MOST_RUNS], 1)
    ]
    more = [Line(f"  and {len(runs) - MOST_RUNS} more", "faint")] if len(runs) > MOST_RUNS else []
    header = ("start", "from step", "to", "median", "warm-up", "done again", "after a gap of")
    return [Heading(f"{len(runs)} starts{lost}{away}"), Grid(header, rows, left=0), *more]


def _gap(run: Run) -> str:
    return "" if run.gap is None else _time(run.gap)


def _timers(timers: Sequence[TimerShare]) -> list[Block]:
    if not timers:
        return []
    rows = [
        (
            one.name, _time(one.median), "" if one.share is None else f"{one.share:.1%}",
            "" if one.spread is None else _time(one.spread), f"{one.lines:,}",
        ) for one in timers[:MOST_TIMERS]
    ]  # fmt: skip
    more = [Line(f"  and {len(timers) - MOST_TIMERS} more", "faint")] if len(timers) > MOST_TIMERS else []
    header = ("timer", "slowest rank", "of a step", "slowest - fastest", "times")
    note = Line("Timers lie within one another, so their shares add up to more than the step.", "faint")
    return [Heading("The program's own timers (medians)"), Grid(header, rows), *more, note]


def _time(seconds: float) -> str:
    return show(seconds, "time")


# --- JSON ---------------------------------------------------------------------------------------------------------


def as_json(report: StepReport) -> dict[str, Any]:
    """All of it, in seconds."""
    return {
        "source": report.source, "kind": report.kind, "basis": report.basis, "lines": report.lines, "every": report.every,
        "median": report.median, "low": report.low, "high": report.high, "total": report.total, "lost": report.lost,
        "threshold": report.threshold, "usual": report.usual, "ranks": dict(report.ranks),
        "levels": [
            {
                "run": one.run, "first": one.first, "last": one.last, "lines": one.lines, "median": one.median,
            } for one in report.levels
        ],
        "runs": [
            {
                "first": run.first, "last": run.last, "lines": run.lines, "warm": run.warm, "median": run.median,
                "redone": run.redone, "gap": run.gap,
            } for run in report.runs
        ],
        "slow": [
            {
                "step": one.step, "line": one.line, "time": one.time, "excess": one.excess, "run": one.run, "every": one.every,
            } for one in report.slow
        ],
        "periodic": [
            {
                "every": one.every, "phase": one.phase, "hits": one.hits, "chances": one.chances, "extra": one.extra,
                "share": one.share,
            } for one in report.periodic
        ],
        "drifts": [
            {
                "run": one.run, "before": one.before, "after": one.after, "change": one.change, "error": one.error,
            } for one in report.drifts
        ],
        "timers": [
            {
                "name": one.name, "lines": one.lines, "median": one.median, "share": one.share, "spread": one.spread,
            } for one in report.timers
        ],
        "told": list(report.told),
    }  # fmt: skip
