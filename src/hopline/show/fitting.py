"""Fits as text and as pictures.

What belongs here: how fitted tables, their errors and their predictions read on a terminal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hopline.curve import Floats
from hopline.quantity import Dimension, counted, show
from hopline.records.busbw import FACTORS
from hopline.records.fit import Finding, Fit, Prediction
from hopline.records.table import Log, Table
from hopline.show import figures
from hopline.show.document import Block, Grid, Heading, Line, Style

_MOST_NOTES = 6


def log_lines(log: Log) -> list[Block]:
    """What was read from one file, and what was left out."""
    blocks: list[Block] = [Heading(f"{log.source}: {log.kind}, {counted(len(log.tables), 'table')}")]
    blocks += [Line(f"  {d}", "bad") for d in log.dropped] + [
        Line(f"  note: {n}", "faint") for n in log.notes[:_MOST_NOTES]
    ]
    return blocks


def table_lines(number: int, title: str, table: Table) -> list[Block]:
    """One table's heading with its dropped rows and notes."""
    kind = "time per message in a stream" if table.measure == "gap" else "time"
    low, high = show(table.size.min(), "size"), show(table.size.max(), "size")
    sizes = f"{len(table)} sizes, {low} to {high}" if low != high else f"{counted(len(table), 'row')} of {low}"
    where = f" (line {table.line})" if table.line else ""
    blocks: list[Block] = [Heading(f"Table {number}: {title}; {kind}; {sizes}{where}"), *_peak(table)]
    blocks += [Line(f"  {d}", "bad") for d in table.dropped]
    blocks += [Line(f"  {against}", "bad") for against in table.contradictions if against not in table.notes]
    if table.facts.get("wrong") == "N/A":
        blocks.append(Line("  note: the run did not check its results (#wrong is N/A)", "faint"))
    return blocks + [Line(f"  note: {note}", "faint") for note in table.notes[:_MOST_NOTES]]


def _peak(table: Table) -> list[Block]:
    """The best rate of the table, as people quote it; none for tables that hold latencies only."""
    rate = table.size / table.time
    best = int(np.argmax(rate))
    if not rate[best] > 0 or len(table) < 2:
        return []
    factor = FACTORS[table.benchmark](table.ranks) if table.ranks and table.benchmark in FACTORS else None
    bus = f"{show(rate[best] * factor, 'bandwidth')} busbw, " if factor else ""
    algbw = " algbw" if table.benchmark in FACTORS else ""
    return [Line(f"  peak {bus}{show(rate[best], 'bandwidth')}{algbw} at {show(table.size[best], 'size')}")]


def rows(table: Table) -> Grid:
    """The first rows of a table as they were read, in SI."""
    header = ("size", "time a message" if table.measure == "gap" else "time", "size / time")
    shown = zip(table.size[:_MOST_ROWS], table.time[:_MOST_ROWS], strict=True)
    return Grid(header, [(show(m, "size"), show(t, "time"), show(m / t, "bandwidth")) for m, t in shown], left=0)


_MOST_ROWS = 12


def fit_lines(line: Fit, pieces: Fit) -> list[Block]:
    """The plain line and the pieces, each with its error on held-out points and on those it was fitted to."""
    first = "least gap" if line.measure == "gap" else "start-up α"
    a = line.curve.pieces[0]
    rows = [("one line", f"{show(a.latency, 'time')} + m / {show_bandwidth(a.bandwidth)}", *_errors(line))]
    if len(pieces.curve.pieces) > 1:
        rows.append((f"{len(pieces.curve.pieces)} pieces", "", *_errors(pieces)))
    header = ("model", f"{first} + size / bandwidth β", "held out: mean", "worst", "fitted: mean", "worst")
    blocks: list[Block] = [Grid(header, rows, left=2)]
    if len(pieces.curve.pieces) == 1:
        return [*blocks, *_parameters(pieces, first), Line("Pieces do no better on held-out sizes.", "faint")]
    blocks += _parameters(pieces, first)
    if pieces.held_out.mean > line.held_out.mean:
        blocks.append(Line("Pieces are preferred: single misses beside a break raise their held-out mean.", "faint"))
    return blocks


def _parameters(fit: Fit, first: str) -> list[Block]:
    """Each piece with the 90 % intervals of its parameters."""
    starts, ends = [fit.smallest, *fit.curve.breaks], [*fit.curve.breaks, math.inf]
    rows = []
    for i, (low, end, piece) in enumerate(zip(starts, ends, fit.curve.pieces, strict=True)):
        latency, bandwidth = fit.intervals(i)
        rows.append(
            (
                _span(low, end),
                show(piece.latency, "time"),
                _range(*latency, "time"),
                _known(piece.bandwidth, bandwidth[0], bandwidth[1]),
                _range(*bandwidth, "bandwidth"),
            )
        )
    return [Grid(("piece", first, "90 % interval", "bandwidth β", "90 % interval"), rows)]


def _known(bandwidth: float, low: float, high: float) -> str:
    """A bandwidth, or only its least value where the points do not bound it."""
    if math.isfinite(high) or not math.isfinite(low):
        return show_bandwidth(bandwidth)
    return f"at least {show(low, 'bandwidth', 3)}"


def _range(low: float, high: float, dimension: Dimension) -> str:
    return f"{show(low, dimension, 3)} .. {show(high, dimension, 3)}"


def _span(low: float, end: float) -> str:
    return f"{show(low, 'size', 3)} to {show(end, 'size', 3) if math.isfinite(end) else 'the end'}"


_GRAVE = ("noise", "doubt", "lost plateau", "hump", "short range")


def finding_lines(findings: Sequence[Finding]) -> list[Block]:
    """What is odd about a table, a line each; many of one kind are counted."""
    blocks: list[Block] = []
    seen: dict[str, int] = {}
    for finding in findings:
        seen[finding.kind] = seen.get(finding.kind, 0) + 1
        if seen[finding.kind] <= _MOST_OF_A_KIND:
            style: Style = "bad" if finding.kind in _GRAVE else "faint"
            blocks.append(Line(f"  {finding.text[0].upper()}{finding.text[1:]}", style))
    more = [f"{count - _MOST_OF_A_KIND} more of kind {kind}" for kind, count in seen.items() if count > _MOST_OF_A_KIND]
    return [*blocks, *([Line(f"  ... and {', '.join(more)} (all in --json).", "faint")] if more else [])]


_MOST_OF_A_KIND = 3


def _medians(size: Floats, time: Floats) -> dict[float, float]:
    """Size -> median time, as a fit takes repeats of one size."""
    return {float(m): float(np.median(time[size == m])) for m in np.unique(size)}


def overview(rows: Sequence[tuple[int, str, Table, Fit | None, Fit | None, str]]) -> Grid:
    """Many tables, one row each: (number, title, table, line, pieces, reason)."""
    header = ("table", "benchmark", "sizes", "α", "β", "line: held out", "worst", "pieces", "held out", "worst")
    out = []
    for number, title, table, line, pieces, reason in rows:
        name = f"{title} (gap)" if table.measure == "gap" else title
        if line is None or pieces is None:
            out.append((str(number), f"{name}: no fit, {reason}", str(len(table)), *[""] * 7))
            continue
        a = line.curve.pieces[0]
        fitted = (show(a.latency, "time"), show_bandwidth(a.bandwidth), *_errors(line)[:2])
        out.append((str(number), name, str(len(table)), *fitted, str(len(pieces.curve.pieces)), *_errors(pieces)[:2]))
    return Grid(header, out, left=2)


def predictions(found: Prediction, smallest: float, largest: float, size: Floats, time: Floats) -> Grid:
    """Predicted times with their interval, beside what was measured of the same size; extrapolations are marked."""
    known = _medians(size, time)
    rows = []
    for m, t, low, high in zip(found.size, found.time, found.low, found.high, strict=True):
        measured = show(known[m], "time") if m in known else ""
        effective = show(m / t, "bandwidth")
        outside = "" if smallest <= m <= largest else "extrapolation"
        rows.append((show(m, "size"), show(t, "time"), _range(low, high, "time"), effective, measured, outside))
    return Grid(("size", "predicted", "90 % interval", "effective", "measured", ""), rows, left=0)


def show_bandwidth(value: float) -> str:
    """A bandwidth; a time that does not grow with size has none."""
    return show(value, "bandwidth") if math.isfinite(value) else "no growth"


def _errors(fit: Fit) -> tuple[str, ...]:
    both = (fit.held_out, fit.inside)
    return tuple(text for error in both for text in (f"{100 * error.mean:.1f} %", f"{100 * error.worst:.0f} %"))


def drawn_sizes(fit: Fit) -> list[float]:
    """Sizes at which a curve and a band are drawn."""
    return _drawn(fit)[0]


def picture(
    size: Floats,
    time: Floats,
    curves: dict[str, Fit],
    title: str,
    held_out: Floats | None = None,
    found: Prediction | None = None,
) -> figures.Spec:
    """Points, curves and the residuals of the last curve; ``held_out`` marks sizes that the fit had not seen.

    ``found`` is drawn as the band of its interval.
    """
    unseen = np.zeros(len(size), dtype=bool) if held_out is None else np.isin(size, held_out)
    roles = ["predicted" if u else "fitted" if held_out is not None else "measured" for u in unseen]
    points = [(float(m), float(t), role) for m, t, role in zip(size, time, roles, strict=True)]
    lines = {f"{name} (held-out error {100 * fit.held_out.mean:.1f} %)": _drawn(fit) for name, fit in curves.items()}
    last = list(curves.values())[-1]
    rest = last.curve.time(size) / time - 1
    residuals = [(float(m), float(r), role) for m, r, role in zip(size, rest, roles, strict=True)]
    band = [] if found is None else list(zip(found.size.tolist(), found.low.tolist(), found.high.tolist(), strict=True))
    shaded = title if found is None else f"{title}; shaded: 90 % interval of a new measurement"
    return figures.fit(points, lines, residuals, shaded, band)


def _drawn(fit: Fit) -> tuple[list[float], list[float]]:
    low = max(fit.smallest, 1.0)
    xs = np.unique(np.concatenate([np.geomspace(low, fit.largest, 160), [fit.smallest], *_edges(fit)]))
    xs = xs[(xs >= fit.smallest) & (xs <= fit.largest)]
    return xs.tolist(), fit.curve.time(xs).tolist()


def _edges(fit: Fit) -> list[list[float]]:
    return [[b * (1 - 1e-9), b] for b in fit.curve.breaks]
