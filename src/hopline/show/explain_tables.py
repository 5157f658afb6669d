"""The tables of an explained step, the same on the terminal and in the report.

What belongs here: those of ranks, steps and files, and the order in which all are read. Those of collectives are
``explain_met_tables``, those of path and changes ``explain_path_tables``. How a table is drawn is ``explain`` (terminal) and
``report`` (HTML).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath

from hopline.quantity import show
from hopline.show.explain_cells import Cell, Table, time_cell
from hopline.show.explain_met_tables import groups, last, meetings
from hopline.show.explain_path_tables import causes, contention, parts, swaps, what_ifs
from hopline.show.explain_rows import Numbers

_MORE = 1.05
"""How much longer than its events a step is that is said to be."""


def tables(found: Numbers) -> list[Table]:
    """Those with rows, in the order in which they are read: changes that somebody asked for first."""
    order = sorted(_TABLES, key=lambda make: make is not what_ifs) if found.asked else _TABLES
    return [table for make in order if (table := make(found)).rows]


def _ranks(found: Numbers) -> Table:
    talks = any(row.communication for row in found.ranks)
    partly = any(row.untold for row in found.ranks)
    rows = []
    for i, row in enumerate(found.ranks):
        at = f"ranks.{i}."
        waiting = [time_cell(row.waiting, at + "waiting", row.span, "≥ " if row.untold else "")] if talks else []
        waiting += [time_cell(row.untold, at + "untold", row.span)] if partly else []
        parts = (
            (row.busy, "busy"),
            (row.compute, "compute"),
            (row.exposed, "exposed"),
            (row.hidden, "hidden"),
            (row.idle, "idle"),
        )
        cells = [time_cell(value, at + name, row.span) for value, name in parts]
        rows.append((Cell(row.label, at + "label"), *cells[:3], *waiting, *cells[3:]))
    either = "waiting or transfer"
    parted = (*(("of it waiting",) if talks else ()), *((either,) if partly else ()))
    header = ("", "busy", "compute", "exposed", *parted, "hidden", "idle")
    weights = tuple(row.exposed or 0.0 for row in found.ranks)
    note = "Exposed: communication with no compute beside it; hidden: with. Busy is compute and exposed together. "
    note += _of(found)
    if any(row.untold and row.waiting is not None for row in found.ranks):
        note += " ≥: where transfer cannot be told from waiting there may be more."
    return Table("ranks", "Each rank", note, header, rows, kept=16, wide=(either,), weights=weights)


def _of(found: Numbers) -> str:
    """The time that shares of a rank are of."""
    if found.step is not None:
        return f"Shares are of the time between the rank's own marks of step {found.step}."
    return "Shares are of the time from the first event of the rank's trace to the last."


def _steps(found: Numbers) -> Table:
    rows = []
    for i, row in enumerate(found.steps):
        at, whole = f"steps.{i}.", sum(part or 0.0 for part in (row.compute, row.exposed, row.idle))
        parts = (row.compute, "compute"), (row.exposed, "exposed"), (row.idle, "idle")
        cells = [time_cell(value, at + name, whole) for value, name in parts]
        rows.append((Cell(f"step {row.number}", at + "number"), time_cell(row.time, at + "time"), *cells))
    note = "From the first rank's mark to begin to the last one's to end, on the host. The rest is the mean over ranks, each "
    note += "between its own marks."
    if found.step is None and any(row.time > _MORE * found.time for row in found.steps):
        note += f" The traces have events in {show(found.time, 'time')} only."
    header = ("", "time", "compute", "exposed", "idle")
    return Table("steps", "Steps", note, header, rows, kept=8, left_out=found.steps_left_out)


def _files(found: Numbers) -> Table:
    rows = [
        (
            Cell(row.label, f"ranks.{i}.label"), Cell(PurePath(row.source).name, f"ranks.{i}.source"),
            time_cell(row.offset, f"ranks.{i}.offset"),
            Cell(f"± {show(row.clock_error, 'time', 2)}", f"ranks.{i}.clock_error"),
        )
        for i, row in enumerate(found.ranks)
    ]  # fmt: skip
    note = "What was added to each file's clock to have all on one, and how far it may be off."
    return Table("files", "Files and clocks", note, ("", "file", "clock", "error"), rows, left=2, kept=0)


_TABLES: tuple[Callable[[Numbers], Table], ...] = (
    _ranks, groups, meetings, last, parts, causes, what_ifs, swaps, contention, _steps, _files,
)  # fmt: skip
