"""Check a log: is each table what the machine should show.

What belongs here: from a log's tables to questions, and the faults that a table shows by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hopline.curve import Floats
from hopline.errors import HoplineError
from hopline.jobs import fitting
from hopline.jobs.expecting import Expected, Question, expect, least
from hopline.machine.topology import Machine
from hopline.records.fit import Prediction
from hopline.records.table import Log, Table
from hopline.records.verdict import Checked, Verdict
from hopline.study.points import medians
from hopline.study.verdicts import hint, judge

TOLERANCE = 0.1
PARTS = ("all_gather", "alltoall", "gather", "scatter")
"""Collectives of which OSU's size is one rank's part, and nccl-tests' the buffer of all."""
WRONG = ("wrong", "validation failed")
"""What the reason of a dropped row says where the run got wrong results."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How to check: against which machine, with which ranks where the log does not say, and what still passes."""

    machine: Machine
    ranks: int | None = None
    places: tuple[str, ...] = ()
    tolerance: float = TOLERANCE
    extrapolate: bool = False
    in_place: bool = False


def check(file: str, terms: Terms) -> tuple[Log, list[Checked]]:
    """Check every table of ``file``. Raises FormatError where it holds none."""
    log = fitting.read(file)
    return log, [check_table(number + 1, table, terms) for number, table in enumerate(log.tables)]


def check_table(number: int, table: Table, terms: Terms) -> Checked:
    """Check one table. Where nothing can be told of it, its verdicts are ``unknown`` and say why."""
    title = f"Table {number}: {fitting.titled(table)}"
    faults = _faults(table)
    column = "time_in_place" if terms.in_place else "time"
    if column not in table.columns or table.ranks == 1:
        why = "one rank ran: no network was used" if table.ranks == 1 else "it has no in-place half"
        return Checked(title, table.line, "", _all_unknown(table.size, table.time, why), faults, notes=table.notes)
    size, time = medians(table.size, table.columns[column])
    ranks = table.ranks or terms.ranks
    if table.ranks and terms.ranks and table.ranks != terms.ranks:
        faults += (f"the log is of {table.ranks} ranks, and -n says {terms.ranks}",)
    counted = size * _parts(table, ranks)
    question = Question(terms.machine, table.benchmark, ranks, tuple(counted.tolist()), terms.places, terms.extrapolate)
    try:
        answer = _expected(question, counted)
    except HoplineError as error:
        return Checked(
            title, table.line, "", _bounded(question, size, counted, time, str(error)), faults, notes=table.notes
        )
    verdicts = judge(counted, time, answer.found, terms.tolerance, answer.least)
    verdicts = tuple(replace(v, size=float(m)) for v, m in zip(verdicts, size, strict=True))
    return Checked(title, table.line, answer.basis, verdicts, faults, hint(verdicts), table.notes)


def _expected(question: Question, sizes: Floats) -> Expected:
    """What is expected at ``sizes``; NaN where a measured operation does not reach and extrapolation is not asked for."""
    operation = question.measured
    if operation is None or question.extrapolate:
        asked = tuple(m for m in sizes.tolist() if m > 0) if operation is None else question.sizes
    else:
        low, high = operation.points[0][0], operation.points[-1][0]
        asked = tuple(m for m in sizes.tolist() if low <= m <= high)
    if not asked:
        return Expected(_spread(sizes, None), "", least=least(question, sizes))
    answer = expect(replace(question, sizes=asked))
    return replace(answer, found=_spread(sizes, answer.found), least=least(question, sizes))


def _spread(sizes: Floats, found: Prediction | None) -> Prediction:
    """A prediction of all ``sizes`` from one of some of them, NaN for the others."""
    columns = [np.full(len(sizes), np.nan) for _ in range(3)]
    if found is not None:
        at = np.searchsorted(sizes, found.size)
        for column, values in zip(columns, (found.time, found.low, found.high), strict=True):
            column[at] = values
    return Prediction(sizes, *columns)


def _bounded(question: Question, size: Floats, counted: Floats, time: Floats, why: str) -> tuple[Verdict, ...]:
    """Where nothing is expected only the machine's least time can be held against."""
    verdicts = judge(counted, time, _spread(counted, None), 0.0, least(question, counted))
    return tuple(
        replace(v, size=float(m), reason=why if v.outcome == "unknown" else v.reason)
        for v, m in zip(verdicts, size, strict=True)
    )


def _all_unknown(size: Floats, time: Floats, why: str) -> tuple[Verdict, ...]:
    return tuple(Verdict(float(m), float(t), "unknown", why) for m, t in zip(size, time, strict=True))


def _parts(table: Table, ranks: int | None) -> int:
    return ranks if table.tool == "osu" and table.benchmark in PARTS and ranks else 1


def _faults(table: Table) -> tuple[str, ...]:
    """What is wrong whatever the machine: results that were checked and are wrong, figures that contradict one another."""
    wrong = [str(d) for d in table.dropped if any(word in d.reason for word in WRONG)]
    return (*wrong, *table.contradictions)
