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
from hopline.formats.source import shown as shown
from hopline.jobs import machines, predictions
from hopline.jobs.benchmarks import is_single
from hopline.jobs.loading import resolve
from hopline.machine.parts import Fitted, Link, Node, Operation, Startup
from hopline.machine.topology import Connection, Machine
from hopline.quantity import counted
from hopline.records.fit import Finding, Fit, Prediction
from hopline.records.table import Floats, Log, Table
from hopline.study.calibrate import MOST_PIECES as MOST_PIECES
from hopline.study.calibrate import line_and_best
from hopline.study.local import Local
from hopline.study.points import Points
from hopline.study.regimes import findings

ENDS = ("rank0", "rank1")
"""Nodes of a machine made from a fit."""
_DIGITS = 6
"""Of a saved time: more than any log prints."""


@dataclass(frozen=True, slots=True)
class TableFit:
    """One table with its fits, or the reason why there is none. ``number`` counts the tables of all files from 1.

    ``findings`` are what is odd about it.
    """

    number: int
    source: str
    table: Table
    time: Floats
    line: Fit | None = None
    pieces: Fit | None = None
    findings: tuple[Finding, ...] = ()
    reason: str = ""

    @property
    def title(self) -> str:
        """What the table holds, in a few words."""
        return titled(self.table)

    @property
    def points(self) -> Points:
        """Distinct sizes with their median times. Raises FitError where they are too few."""
        return Points.of(self.table.size, self.time)


def titled(table: Table) -> str:
    """What a table holds, in a few words, with what tells it from others of its file."""
    ranks = f", {counted(table.ranks, 'rank')}" if table.ranks else ""
    short = f"{table.benchmark or 'unnamed benchmark'}{ranks}"
    if not table.title or table.title in short:
        return short
    return table.title if table.title.startswith(table.benchmark) else f"{short}, {table.title}"


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
        points = Points.of(table.size, time)
        line, pieces = line_and_best(table.size, time, table.measure, most_pieces)
    except FitError as error:
        return TableFit(number, source, table, time, reason=str(error))
    return TableFit(number, source, table, time, line, pieces, findings(points, line, pieces, Local.of(points).errors))


def predict(chosen: TableFit, sizes: Sequence[float], extrapolate: bool) -> Prediction:
    """Times of ``sizes`` with their 90 % interval. Raises FitError outside of the measured range without ``extrapolate``."""
    return predictions.predict_within(chosen.title, chosen.points, sizes, chosen.table.benchmark, extrapolate)


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


def to_save(fits: Sequence[TableFit], number: int | None) -> list[TableFit]:
    """The tables that a machine is made of: the chosen one, or all that have a fit.

    Raises FitError where there is none, or where two tables are of the same operation.
    """
    if number is not None or not any(f.pieces for f in fits):
        return [choose(fits, number)]
    usable = [f for f in fits if f.pieces is not None]
    keys: dict[str, TableFit] = {}
    for f in usable:
        key = _operation(f).name
        if key in keys:
            raise FitError(
                f"tables {keys[key].number} and {f.number} are both {f.title}: choose one to save with --table"
            )
        keys[key] = f
    return usable


def machine_of(chosen: Sequence[TableFit] | TableFit, name: str) -> Machine:
    """A machine with one operation for each table; a table of single sends also makes a link between two ranks.

    Raises FitError where two tables are of single sends, since a link has one curve.
    """
    fits = [chosen] if isinstance(chosen, TableFit) else list(chosen)
    operations = {operation.name: operation for operation in map(_operation, fits)}
    sends = [f for f in fits if is_single(f.table.benchmark) and f.table.measure == "time"]
    if len(sends) > 1:
        raise FitError(f"tables {sends[0].number} and {sends[1].number} both price a send: choose one with --table")
    title = "fitted to " + "; ".join(dict.fromkeys(operation.fitted.origin for operation in operations.values()))
    if not sends:
        return Machine(name, title, {}, {}, (), {}, operations)
    operation = _operation(sends[0])
    link = _send(operation)
    sources = {
        f"links.{link.name}.{part}": f"fitted to {operation.fitted.origin}" for part in ("bandwidth", "startup.whole")
    }
    nodes = {end: Node(end) for end in ENDS}
    return Machine(name, title, {link.name: link}, nodes, (Connection(ENDS, link.name),), sources, operations)


def _operation(fitted: TableFit) -> Operation:
    fit, table, points = fitted.pieces, fitted.table, fitted.points
    if fit is None:
        raise FitError(f"table {fitted.number} has no fit: {fitted.reason}")
    origin = f"{table.tool} {fitted.title}, {shown(File(fitted.source).name)} line {table.line}"
    evidence = Fitted(origin, fit.smallest, fit.largest, fit.held_out.mean, fit.held_out.worst)
    pairs = tuple(
        (m, float(f"{t:.{_DIGITS}g}")) for m, t in zip(points.size.tolist(), points.time.tolist(), strict=True)
    )
    return Operation(
        table.benchmark or "unnamed", table.ranks, fit.measure, fit.curve, evidence, pairs, fit.draws, table.tool
    )


def _send(operation: Operation) -> Link:
    curve = operation.curve
    finite = [piece.bandwidth for piece in curve.pieces if math.isfinite(piece.bandwidth)]
    if not finite:
        raise FitError(
            f"{operation.name}: time does not grow with size in the measured range, so there is no bandwidth to save"
        )
    startup = Startup(unsplit=curve.pieces[0].latency)
    return Link("send", finite[-1], startup, curve=curve, fitted=operation.fitted, operation=operation.name)


def save(chosen: Sequence[TableFit], name: str) -> File:
    """Save the machine of ``chosen`` under a name or to a file, a new one. Raises OutputError where it exists."""
    file = machines.target(name)
    machines.save(machine_of(chosen, file.stem), file)
    return file
