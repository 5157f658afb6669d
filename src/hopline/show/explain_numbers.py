"""The numbers of an explained step, worked out once: text, JSON, figures and report all show these.

What belongs here: from records to rows in SI (seconds, bytes, byte/s), sorted and cut to what fits, saying what was cut.
Those of collectives are ``explain_meetings``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePath

from hopline.quantity import show
from hopline.records.blame import Blame, Met
from hopline.records.critical import CriticalPath
from hopline.records.explained import Explained, StepSpan
from hopline.records.rate import Rate
from hopline.records.trace import Trace
from hopline.records.what_if import WhatIfs
from hopline.show.explain_meetings import group_rows, known_sum, last_rows, meeting_row
from hopline.show.explain_rows import GIGA, CauseRow, Numbers, RankRow, SlowRow, StepRow, WhatIfRow

MOST_MEETINGS, MOST_CAUSES, MOST_STEPS = 200, 50, 400


def numbers(explained: Explained, most: int | None = None) -> Numbers:
    """The rows.

    Parameters
    ----------
    most
        Collectives, causes and steps at most, of the first two the longest; None: so many as a page takes.
    """
    called = labels(explained.traces)
    rates: dict[int, Rate] = {rate.meeting: rate for rate in explained.rates}
    met = [meeting_row(explained, i, called, rates.get(i)) for i in range(len(explained.meetings))]
    worst = sorted(met, key=lambda row: -(row.waiting or 0.0))[: MOST_MEETINGS if most is None else most]
    causes = _causes(explained.blame)
    kept = causes[: MOST_CAUSES if most is None else most]
    steps = explained.steps[: MOST_STEPS if most is None else most]
    blame, path, played = explained.blame, explained.path, explained.what_ifs
    return Numbers(
        what=explained.what,
        step=explained.step,
        time=explained.time / GIGA,
        findings=_short(explained.findings, explained.traces),
        ranks=tuple(_rank(explained, i, label) for i, label in enumerate(called)),
        collectives=len(met),
        transfer=known_sum(row.transfer for row in met),
        waited=known_sum(row.waited for row in met),
        unknown=sum(row.transfer is None for row in met),
        groups=group_rows(met),
        meetings=tuple(worst),
        meetings_left_out=len(met) - len(worst),
        last=last_rows(explained, called),
        undecided=explained.stragglers.undecided if explained.stragglers else 0,
        clock_error=_clock_error(explained),
        path=blame.time / GIGA if blame else None,
        least=blame.least / GIGA if blame else None,
        parts={item.name: item.time / GIGA for item in (blame.parts if blame else ())},
        path_ranks={item.name: item.time / GIGA for item in (blame.ranks if blame else ())},
        path_changes=_changes(path),
        path_skew=path.skew if path else 0,
        path_inferred=path.inferred if path else 0,
        causes=tuple(kept),
        causes_left_out=len(causes) - len(kept),
        steps=tuple(_step(step) for step in steps),
        steps_left_out=len(explained.steps) - len(steps),
        played=explained.played,
        asked=explained.asked,
        measured=played.measured if played else None,
        replayed=played.replayed if played else None,
        replay_error=played.error if played else None,
        free=played.ceiling if played else None,
        what_ifs=_what_ifs(played),
        premises=played.premises if played and played.answers else (),
        swaps=tuple(swap for one in (played.answers if played else ()) for swap in one.prices),
        contention=_contention(played, called),
        unmatched=_short(explained.unmatched, explained.traces),
        told=_short(_told(explained), explained.traces),
    )


def labels(traces: Sequence[Trace]) -> list[str]:
    """How each trace is called, all different: by its rank, or by the name of its file where that is not known."""
    called = [trace.label if trace.rank is not None or trace.name else PurePath(trace.source).name for trace in traces]
    seen = Counter(called)
    return [name if seen[name] == 1 else f"{name}, file {i + 1}" for i, name in enumerate(called)]


def _short(texts: Sequence[str], traces: Sequence[Trace]) -> tuple[str, ...]:
    """Sentences without the folders that the files are in."""
    folders = sorted({str(PurePath(trace.source).parent) for trace in traces} - {".", "/"}, key=len, reverse=True)
    for folder in folders:
        whole = re.compile(rf"(?<![\w/.-]){re.escape(folder)}/")
        texts = [whole.sub("", text) for text in texts]
    return tuple(texts)


def _clock_error(explained: Explained) -> float | None:
    """The largest error of the clocks of those collectives that leave it open who was last."""
    open_ = [int(explained.clocks.error[meeting.traces].max()) for meeting in explained.meetings if meeting.rivals]
    return max(open_) / GIGA if open_ else None


def _rank(explained: Explained, i: int, label: str) -> RankRow:
    trace, part = explained.traces[i], explained.breakdowns[i]
    exposed = part.exposed if part else 0
    untold = explained.untold[i] if part and explained.untold else None
    return RankRow(
        label=label,
        rank=trace.rank,
        source=trace.source,
        offset=int(explained.clocks.offset[i]) / GIGA,
        clock_error=int(explained.clocks.error[i]) / GIGA,
        span=(part.span if part else explained.time) / GIGA,
        busy=part.busy / GIGA if part else None,
        compute=part.compute / GIGA if part else None,
        communication=part.communication / GIGA if part else None,
        exposed=part.exposed / GIGA if part else None,
        hidden=part.hidden / GIGA if part else None,
        waiting=None if untold is None or (exposed and untold == exposed) else explained.waited[i] / GIGA,
        untold=None if untold is None else untold / GIGA,
        idle=part.idle / GIGA if part else None,
    )


def _changes(path: CriticalPath | None) -> int:
    """How often the path goes over to another rank."""
    return sum(before.trace != after.trace for before, after in pairwise(path.stretches if path else ()))


def _causes(blame: Blame | None) -> list[CauseRow]:
    """Kernels, collectives of one kind together, and what the host ran: the longest first."""
    if blame is None:
        return []
    met: dict[tuple[str, str], list[Met]] = defaultdict(list)
    for one in blame.collectives:
        met[one.part, _called(one)].append(one)
    rows = [CauseRow("compute", item.name, item.time / GIGA, item.count) for item in blame.kernels]
    rows += [
        CauseRow(part, name, sum(one.time for one in all_) / GIGA, len(all_)) for (part, name), all_ in met.items()
    ]
    rows += [CauseRow("host", item.name, item.time / GIGA, item.count) for item in blame.operators]
    return sorted(rows, key=lambda row: -row.time)


def _called(met: Met) -> str:
    op = met.op or "a collective without counterpart"
    return f"{op} in group {met.group}" if met.group else op


def _step(step: StepSpan) -> StepRow:
    parts = list(step.breakdowns.values())
    if not parts:
        return StepRow(step.number, step.time / GIGA, None, None, None)
    sums = (sum(getattr(part, name) for part in parts) for name in ("compute", "exposed", "idle"))
    compute, exposed, idle = (total / len(parts) / GIGA for total in sums)
    return StepRow(step.number, step.time / GIGA, compute, exposed, idle)


def _what_ifs(played: WhatIfs | None) -> tuple[WhatIfRow, ...]:
    """What saves most first."""
    rows = [
        WhatIfRow(
            one.words, one.after, one.before - one.after, one.speedup, one.ceiling, one.next,
            one.within_error and one.before != one.after, one.at_most, one.premises,
        )
        for one in played.answers
    ] if played else []  # fmt: skip
    return tuple(sorted(rows, key=lambda row: row.time))


def _contention(played: WhatIfs | None, called: Sequence[str]) -> tuple[SlowRow, ...]:
    return tuple(
        SlowRow(one.what, "all" if one.rank is None else called[one.rank], one.factor, one.low, one.high, one.pairs)
        for one in (played.contention if played else ())
        if one.pairs
    )


def _told(explained: Explained) -> tuple[str, ...]:
    """What is odd, what limits the path, and why changes were not played."""
    path, played = explained.path, explained.what_ifs
    said = [f"what a change would bring is not said: {played.refused}"] if played and played.refused else []
    talks = any(trace.collectives for trace in explained.traces)
    if talks and played and played.contention and not any(one.pairs for one in played.contention):
        why = played.contention[0].unpaired
        said.append(f"whether compute and communication slow one another down is unknown: {why}")
    if (error := _clock_error(explained)) is not None and explained.stragglers:
        open_, of = explained.stragglers.undecided, explained.stragglers.collectives
        said.append(
            f"who came last is open in {open_:,} of {of:,} collectives: there, clocks are known to ± {show(error, 'time', 2)} "
            "at worst (--json has each)"
        )
    return tuple(dict.fromkeys((*explained.told, *(path.told if path else ()), *said)))
