"""Check a log: is each table what the machine should show.

What belongs here: from a log's tables to questions, and the faults that a table shows by itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from hopline.curve import Floats
from hopline.errors import HoplineError, InputError
from hopline.jobs import fitting, layout
from hopline.jobs.benchmarks import by_parts, parts
from hopline.jobs.expecting import Expected, expect, least, reach
from hopline.jobs.questions import Question, points_of
from hopline.jobs.stated import refuse_other
from hopline.machine.topology import Machine
from hopline.quantity import show
from hopline.records.fit import Prediction
from hopline.records.table import Log, Table
from hopline.records.verdict import Checked, Verdict
from hopline.study.points import medians
from hopline.study.verdicts import hint, judge

TOLERANCE = 0.1
ERRORS = re.compile(r"\berrors?\b")
"""A reader's note that something failed beside the rows; it counts against the last table."""
_WARNING = "NCCL WARN"
"""Also said where a finished run's connections are closed."""
WRONG = ("wrong", "validation failed")
"""What the reason of a dropped row says where the run got wrong results."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How to check: against which machine, with which ranks and benchmark where the log does not say, what still passes."""

    machine: Machine
    ranks: int | None = None
    places: tuple[str, ...] = ()
    tolerance: float = TOLERANCE
    extrapolate: bool = False
    in_place: bool = False
    benchmark: str = ""


def check(file: str, terms: Terms) -> tuple[Log, list[Checked]]:
    """Check every table of ``file``.

    Raises FormatError where it holds none, InputError where ``terms`` give ranks or a benchmark other than the log's, and
    what is raised for places that the machine has not got.
    """
    if terms.places:
        layout.devices(terms.machine, None, terms.places)
    log = fitting.read(file)
    refuse_other("-n", terms.ranks, [table.ranks for table in log.tables])
    refuse_other("--benchmark", terms.benchmark, [table.benchmark for table in log.tables])
    checked = [check_table(number + 1, table, terms) for number, table in enumerate(log.tables)]
    died = tuple(note for note in log.notes if ERRORS.search(note) and _WARNING not in note)
    checked[-1] = replace(checked[-1], faults=(*checked[-1].faults, *died))
    return log, checked


def check_table(number: int, table: Table, terms: Terms) -> Checked:
    """Check one table. Where nothing can be told of it, its verdicts are ``unknown`` and say why."""
    benchmark = table.benchmark or terms.benchmark
    title = f"Table {number}: {fitting.titled(replace(table, benchmark=benchmark))}"
    answer = Checked(title, table.line, "", (), _faults(table), notes=table.notes)
    column = table.columns.get("time_in_place" if terms.in_place else "time", np.array([]))
    known = np.isfinite(column)
    if table.ranks == 1 or not known.any():
        why = "one rank ran: no network was used" if table.ranks == 1 else "it has no in-place half"
        return replace(answer, verdicts=_all_unknown(table.size, table.time, why))
    size, time = medians(table.size[known], column[known])
    ranks = table.ranks or terms.ranks
    counted = size * parts(table.tool, benchmark, ranks)
    question = Question(terms.machine, benchmark, ranks, tuple(counted.tolist()), terms.places, terms.extrapolate)
    try:
        question = question.with_ranks()
        expected = _expected(question, counted, table.tool)
    except HoplineError as error:
        expected = Expected(_filled(counted, None), "", least=least(question, counted) if question.placed else None)
        outside = str(error)
    else:
        outside = _outside(question)
    verdicts = judge(counted, time, expected.found, terms.tolerance, expected.least, _seen(question, counted), outside)
    verdicts = tuple(replace(v, size=float(m)) for v, m in zip(verdicts, size, strict=True))
    return replace(answer, basis=expected.basis, verdicts=verdicts, hint=hint(verdicts))


def _expected(question: Question, sizes: Floats, tool: str) -> Expected:
    """What is expected at ``sizes``; NaN where a measured range does not reach and extrapolation is not asked for."""
    operation = question.measured
    if not question.placed:
        raise InputError("where the two ranks ran is not known: give their devices, like --on h0.gpu0,h1.gpu0")
    if operation and operation.ranks is None and question.ranks is None:
        other = operation.tool
        if by_parts(other, question.benchmark) != by_parts(tool, question.benchmark):
            raise InputError(f"{other} and {tool} count sizes of {question.benchmark} otherwise, by ranks: give -n")
    low, high = (0.0, np.inf) if operation and question.extrapolate else reach(question)
    asked = tuple(m for m in sizes.tolist() if low <= m <= high)
    if not asked:
        return Expected(_filled(sizes, None), "", least=least(question, sizes))
    answer = expect(replace(question, sizes=asked))
    return replace(answer, found=_filled(sizes, answer.found), least=least(question, sizes))


def _outside(question: Question) -> str:
    """Why sizes beyond the measured ones are not judged."""
    low, high = reach(question)
    further = " (--extrapolate goes beyond)" if question.measured else ""
    return f"outside of the measured {show(low, 'size')} to {show(high, 'size')}{further}"


def _seen(question: Question, sizes: Floats) -> Floats:
    """Times measured there at the very same sizes, NaN where there are none."""
    known = None if question.measured is None else points_of(question.measured)
    times = {} if known is None else dict(zip(known.size.tolist(), known.time.tolist(), strict=True))
    return np.array([times.get(m, np.nan) for m in sizes.tolist()])


def _filled(sizes: Floats, found: Prediction | None) -> Prediction:
    """A prediction of all ``sizes`` from one of some of them, NaN for the others."""
    columns = [np.full(len(sizes), np.nan) for _ in range(3)]
    if found is not None:
        at = np.searchsorted(sizes, found.size)
        for column, values in zip(columns, (found.time, found.low, found.high), strict=True):
            column[at] = values
    return Prediction(sizes, *columns)


def _all_unknown(size: Floats, time: Floats, why: str) -> tuple[Verdict, ...]:
    return tuple(Verdict(float(m), float(t), "unknown", why) for m, t in zip(size, time, strict=True))


def _faults(table: Table) -> tuple[str, ...]:
    """What is wrong whatever the machine: results that were checked and are wrong, figures that contradict one another."""
    wrong = [str(d) for d in table.dropped if any(word in d.reason for word in WRONG)]
    outside = table.facts.get("out_of_bounds")
    failed = (
        [f"the tool itself says: out of bounds values {outside:g}, FAILED"]
        if isinstance(outside, float) and outside > 0
        else []
    )
    return (*wrong, *failed, *table.contradictions)
