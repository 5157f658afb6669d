"""What a set of traces says of a step, put together: where the time goes, who waits for whom, and what would help.

What belongs here: the answer of ``hopline explain`` as one record, which text, pictures, report and JSON all read. Its parts
are records of their own. Times are nanoseconds on the common clock (``Clocks.common``) unless said otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

from hopline.records.blame import Blame
from hopline.records.breakdown import Breakdown
from hopline.records.critical import CriticalPath
from hopline.records.meeting import Clocks, Meeting
from hopline.records.rate import Rate
from hopline.records.step_comparison import StepComparison
from hopline.records.straggler import Stragglers
from hopline.records.trace import Trace
from hopline.records.what_if import WhatIfs


@dataclass(frozen=True, slots=True)
class StepSpan:
    """One training step on all ranks.

    Attributes
    ----------
    number
        As the program marked it.
    start, end
        Of the first rank to begin it and the last to end it, on the common clock.
    breakdowns
        Of each trace that has the step: number of the trace -> its breakdown.
    last
        Number of the trace that ends it.
    """

    number: int
    start: int
    end: int
    breakdowns: dict[int, Breakdown]
    last: int = 0

    @property
    def time(self) -> int:
        """Nanoseconds."""
        return self.end - self.start


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """Everything that is known of a span of time on several ranks.

    Attributes
    ----------
    traces
        In the order of their files; all numbers of traces below count these.
    clocks
        By which they were brought together.
    what
        What the span is, as people say it: ``step 10``, ``3 steps``, ``all of the traces``.
    start, end
        The span that is explained.
    meetings
        Collectives, in the order of their ends.
    breakdowns
        Of each trace over the span, in the order of traces; None where the file shows no work of a GPU.
    findings
        Sentences in order of importance: the first answers the question.
    rates
        Bandwidths of those meetings that have one, by their place among ``meetings``.
    unmatched
        What did not match, a sentence each.
    waited
        Of each trace: nanoseconds of its exposed communication in which it waited for the last to come; () where not told.
    untold
        Of each trace: nanoseconds of its exposed communication that waiting or transfer may be; () where not told.
    step
        Number of the step that is explained; None where it is all that the traces have.
    steps, comparison
        In order; empty where no step is marked. How they differ; None for fewer than two.
    path, blame
        The critical path through all ranks, and what it is due to; None where there is nothing to follow.
    stragglers
        Who comes last and how often; None where nobody meets.
    what_ifs
        What changes would bring, and contention; None where nothing was asked or can be answered.
    played
        The step that changes were played on, where it is not the whole span; "" where it is.
    asked
        Whether somebody asked for these changes, or they are the usual ones.
    told
        What is odd about the files and what cannot be known, a sentence each.
    """

    traces: tuple[Trace, ...]
    clocks: Clocks
    what: str
    start: int
    end: int
    meetings: tuple[Meeting, ...]
    breakdowns: tuple[Breakdown | None, ...]
    findings: tuple[str, ...]
    rates: tuple[Rate, ...] = ()
    unmatched: tuple[str, ...] = ()
    waited: tuple[int, ...] = ()
    untold: tuple[int, ...] = ()
    step: int | None = None
    steps: tuple[StepSpan, ...] = ()
    comparison: StepComparison | None = None
    path: CriticalPath | None = None
    blame: Blame | None = None
    stragglers: Stragglers | None = None
    what_ifs: WhatIfs | None = None
    played: str = ""
    asked: bool = False
    told: tuple[str, ...] = ()

    @property
    def time(self) -> int:
        """Nanoseconds of the span."""
        return self.end - self.start
