"""Fit logs: from files to fitted curves, predictions and a saved machine.

What belongs here: reading every table of every file, fitting each on its own, and saying why one could not be fitted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as File

from hopline.errors import FitError
from hopline.formats.kinds import recognise
from hopline.jobs import machines
from hopline.jobs.loading import resolve
from hopline.jobs.routes import SENDS
from hopline.machine.parts import Fitted, Link, Node, Startup
from hopline.machine.topology import Connection, Machine
from hopline.records.fit import Fit
from hopline.records.table import Floats, Log, Table
from hopline.study.calibrate import MOST_PIECES as MOST_PIECES
from hopline.study.calibrate import line_and_best

ENDS = ("rank0", "rank1")
"""Nodes of a machine made from one fit."""


@dataclass(frozen=True, slots=True)
class TableFit:
    """One table with its fits, or the reason why there is none. ``number`` counts the tables of all files from 1."""

    number: int
    source: str
    table: Table
    time: Floats
    line: Fit | None = None
    pieces: Fit | None = None
    reason: str = ""

    @property
    def title(self) -> str:
        """What the table holds, in a few words."""
        ranks = f", {self.table.ranks} rank{'s' if self.table.ranks > 1 else ''}" if self.table.ranks else ""
        return f"{self.table.benchmark or 'unnamed benchmark'}{ranks}"


def read(file: str) -> Log:
    """Any log that hopline reads, recognised from its content. Raises FormatError."""
    kind = recognise(file)
    log: Log = resolve(kind.reader or "")(file)
    return log


def fit_files(
    files: Sequence[str], in_place: bool = False, most_pieces: int = MOST_PIECES
) -> tuple[list[Log], list[TableFit]]:
    """Fit every table of ``files``. Raises FormatError for files without a usable table."""
    logs = [read(file) for file in files]
    tables = [(log.source, table) for log in logs for table in log.tables]
    return logs, [fit_table(i + 1, source, table, in_place, most_pieces) for i, (source, table) in enumerate(tables)]


def fit_table(number: int, source: str, table: Table, in_place: bool, most_pieces: int) -> TableFit:
    """Both fits of one table: the plain line and the pieces."""
    column = "time_in_place" if in_place else "time"
    if column not in table.columns:
        return TableFit(number, source, table, table.time, reason="it has no in-place half")
    time = table.columns[column]
    if table.ranks == 1:
        return TableFit(number, source, table, time, reason="one rank ran: no network was used")
    try:
        line, pieces = line_and_best(table.size, time, table.measure, most_pieces)
    except FitError as error:
        return TableFit(number, source, table, time, reason=str(error))
    return TableFit(number, source, table, time, line, pieces)


def choose(fits: Sequence[TableFit], number: int | None) -> TableFit:
    """The one table to save or draw. Raises FitError where it is not clear which, or where it has no fit."""
    usable = [f for f in fits if f.pieces is not None]
    if not usable:
        reasons = "; ".join(dict.fromkeys(f"{f.title}: {f.reason}" for f in fits))
        raise FitError(f"no table can be fitted: {reasons}")
    if number is not None:
        found = next((f for f in fits if f.number == number), None)
        if found is None:
            raise FitError(f"there is no table {number}: the files hold {len(fits)}")
        if found.pieces is None:
            raise FitError(f"table {number} has no fit: {found.reason}")
        return found
    if len(usable) > 1:
        known = ", ".join(str(f.number) for f in usable[:12]) + (", ..." if len(usable) > 12 else "")
        raise FitError(f"{len(usable)} tables have a fit: choose one with --table ({known})")
    return usable[0]


def machine_of(chosen: TableFit, name: str) -> Machine:
    """A machine of two ranks and one link with the fitted curve.

    Raises FitError for a bandwidth table, which holds the gap between messages and no latency.
    """
    fit, table = chosen.pieces, chosen.table
    if fit is None:
        raise FitError(f"table {chosen.number} has no fit: {chosen.reason}")
    if table.measure == "gap":
        raise FitError(
            f"{chosen.title} is a bandwidth table: it holds the gap between messages, not a latency; fit a latency table"
        )
    finite = [p.bandwidth for p in fit.curve.pieces if math.isfinite(p.bandwidth)]
    if not finite:
        raise FitError(
            f"{chosen.title}: time does not grow with size in the measured range, so there is no bandwidth to save"
        )
    origin = f"{table.tool} {chosen.title}, {File(chosen.source).name} line {table.line}"
    evidence = Fitted(origin, fit.smallest, fit.largest, fit.held_out.mean, fit.held_out.worst)
    key = "send" if table.benchmark in SENDS else table.benchmark or "link"
    startup = Startup(unsplit=fit.curve.pieces[0].latency)
    link = Link(key, finite[-1], startup, curve=fit.curve, fitted=evidence)
    nodes = {end: Node(end) for end in ENDS}
    sources = {f"links.{key}.{part}": f"fitted to {origin}" for part in ("bandwidth", "startup.whole")}
    return Machine(name, f"fitted to {origin}", {key: link}, nodes, (Connection(ENDS, key),), sources)


def save(chosen: TableFit, name: str) -> File:
    """Save the machine of ``chosen`` under a name or to a file, a new one. Raises OutputError where it exists."""
    file = machines.target(name)
    machines.save(machine_of(chosen, file.stem), file)
    return file
