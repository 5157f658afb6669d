"""Closed form, line, reading and NCCL's tuner beside the tables of collectives that a file holds.

What belongs here: one Comparison for each table, and why a model is left out of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from hopline.curve import Floats
from hopline.errors import HoplineError, InputError
from hopline.formats.source import kept, shown
from hopline.jobs import fitting
from hopline.jobs.benchmarks import by_parts, parts
from hopline.jobs.comparing.closed_form import CLOSED_FORM, COLLECTIVE, RING, Sends, closed_form, sends_of
from hopline.jobs.comparing.told import Stated, Told, check_stated, log_of, told_of
from hopline.jobs.comparing.tuner import TUNER, tuner
from hopline.quantity import counted
from hopline.records.comparison import Column, Comparison
from hopline.records.estimate import Premise
from hopline.records.nccl_log import NcclLog
from hopline.records.table import Table
from hopline.study import alternating
from hopline.study.points import Points, medians

LINE, FITTED = "line", "fitted"
MODELS = (CLOSED_FORM, LINE, FITTED, TUNER)
"""In the order of columns."""
_ENDS = " (— at the first and the last, which are never left out)"
_BASES = {
    LINE: f"α + m/β fitted to the table, each size without every second size of it{_ENDS}",
    FITTED: f"hopline's reading of the table, each size without every second size of it{_ENDS}",
}
_FITS = "hopline fit fits any table"
WHOLE = "sizes are those of the whole buffer"
"""How the premise begins on which sizes were multiplied by the number of ranks."""
_OF_A_JOB = (CLOSED_FORM, TUNER)
"""Models that must know the job behind a table; the others read the table alone."""
Said = tuple[Column, tuple[Premise, ...]]


def compare(
    file: str, *, table: int | None = None, sends: str | None = None, sends_table: int | None = None, algorithm: str = RING,
    ranks: int | None = None, nodes: int | None = None, architecture: str | None = None, version: str | None = None,
    cpu: str | None = None, channels: int | None = None, within: float | None = None, between: float | None = None,
    nic: float | None = None,
) -> list[Comparison]:  # fmt: skip
    """Each table of ``file``, in its order, beside MODELS; or the one of number ``table`` (from 1) alone.

    Parameters
    ----------
    file
        Any log that hopline reads.
    sends, sends_table
        A file of single sends, and the number (from 1) of the table to take where several would do.
    algorithm
        Whose closed form: RING where the collective has one, ``fastest``, or another by its name.
    ranks, nodes, architecture, version, cpu, channels, within, between, nic
        What counts where the file does not say it, as in ``jobs.nccl.Question``.

    A table that cannot be compared has no columns, and the reason for each model. Raises FormatError for files that cannot
    be read, InputError where ``sends`` has no table of single sends, ``file`` none of that number, or where what is stated
    is not what the file says.
    """
    stated = Stated(ranks, nodes, architecture, version, cpu, channels, within, between, nic)
    known = sends_of(sends, sends_table) if sends is not None else []
    with kept(file):
        read = fitting.read(file)
        log = log_of(file, read.tables[0])
    if table is not None and table > len(read.tables):
        raise InputError(f"--table {table}: {shown(file)} has {counted(len(read.tables), 'table')}")
    chosen = read.tables if table is None else read.tables[table - 1 : table]
    check_stated(stated, chosen, log)
    found = [compare_table(one, file, known, stated, algorithm, log) for one in chosen]
    notes = (*found[0].notes, *(f"{entry} (of no table)" for entry in read.dropped))
    return [replace(found[0], notes=notes), *found[1:]]


def compare_table(
    table: Table, source: str, sends: list[Sends], stated: Stated, algorithm: str = RING, log: NcclLog | None = None
) -> Comparison:  # fmt: skip
    """One table beside MODELS; ``log`` is what NCCL said in its file."""
    told = told_of(table, stated, log)
    whole = parts(table.tool, told.benchmark, told.ranks)
    points = Points(*medians(table.size * whole, table.time))
    reason = _not_compared(table, told)
    columns, left = [], [(model, reason) for model in MODELS if reason]
    premises: list[Premise] = []
    if by_parts(table.tool, told.benchmark):
        premises.append(_whole(table, told))
    for model, say in _ways(told, points, sends, algorithm, stated).items():
        if reason:
            break
        try:
            column, more = say()
        except HoplineError as error:
            left.append((model, str(error)))
            continue
        columns.append(column)
        premises += (*told.premises, *more) if model in _OF_A_JOB else more
    nothing = np.full(len(points), np.nan)
    where = f"{shown(source)}, line {table.line}" if table.line else shown(source)
    return Comparison(
        fitting.titled(table), where, points.size, points.time, nothing, nothing, tuple(columns),
        tuple(dict.fromkeys(premises)) if columns else (), tuple(left), tuple(map(str, table.dropped)),
    )  # fmt: skip


def _ways(
    told: Told, points: Points, sends: list[Sends], algorithm: str, stated: Stated
) -> dict[str, Callable[[], Said]]:
    """Model -> who says its times."""

    def held_out(model: str, way: Callable[[Points], Floats]) -> Said:
        return Column(model, _BASES[model], way(points)), ()

    return {
        CLOSED_FORM: lambda: closed_form(told, points.size, sends, algorithm),
        LINE: lambda: held_out(LINE, alternating.line),
        FITTED: lambda: held_out(FITTED, alternating.reading),
        TUNER: lambda: tuner(told, points.size, stated),
    }


def _not_compared(table: Table, told: Told) -> str:
    """Why no model is set beside a table; "": some are."""
    if table.measure != "time":
        return f"{told.benchmark} is a stream of messages, no time of a collective ({_FITS})"
    if not told.benchmark:
        return f"the file does not say what was measured ({_FITS})"
    if told.benchmark not in COLLECTIVE:
        return f"{told.benchmark} is no collective ({_FITS})"
    return "one rank ran: no network was used" if told.ranks == 1 else ""


def _whole(table: Table, told: Told) -> Premise:
    text = f"{WHOLE}; {table.tool} prints one rank's part"
    return Premise(text, "holds" if told.ranks else "broken", "" if told.ranks else told.no_ranks)
