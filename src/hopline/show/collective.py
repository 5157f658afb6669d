"""All algorithms of a collective side by side.

What belongs here: the page of ``hopline collective`` on one network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hopline.quantity import show
from hopline.records.busbw import FACTORS
from hopline.records.contest import Changed, Contest, Lever, Row, Span, Timed
from hopline.records.estimate import Premise
from hopline.show.document import Block, Grid, Heading, Line

MOST_WIDTH = 118
"""Letters of a line, beyond which columns go into a table of their own."""
_SAME = 0.005
"""Relative change of a time that is none."""


def page(title: str, found: Contest) -> list[Block]:
    """Times, the fastest, where it changes and what binds it, what would help, premises, what was left out."""
    blocks: list[Block] = [Heading(title), Line(found.network), Line(found.prices, "faint")]
    if found.ranks == 1:
        return [*blocks, Line("One rank: nothing is sent, and no algorithm takes any time.")]
    if found.simulated:
        blocks += [Heading("By closed form"), *_times(found.rows, _by_form, marked=False)]
        blocks += [Heading("Simulated"), *_times(found.rows, _by_simulation, marked=True)]
    else:
        blocks += _times(found.rows, _by_form, marked=True)
    blocks += [_legend(found), Heading("The fastest"), _fastest(found), *_ranges(found)]
    blocks += _differences(found) if found.simulated else []
    blocks += _levers(found.levers, found) if found.levers else []
    return [*blocks, *_stands_on(found)]


def _by_form(timed: Timed) -> str:
    low = timed.estimate.low
    return show(timed.estimate.value, "time") if low is None else between(low, timed.estimate.value)


def _by_simulation(timed: Timed) -> str:
    return "—" if timed.simulated is None else show(timed.simulated, "time")


def between(low: float, high: float) -> str:
    """Two times with one unit where it is the same: ``1.2-1.9 ms``."""
    first, second = show(low, "time", 3), show(high, "time", 3)
    if first == second:
        return show(high, "time")
    value, _, unit = first.partition(" ")
    return f"{value if second.endswith(' ' + unit) else first}-{second}"


def _times(rows: Sequence[Row], cell: Callable[[Timed], str], marked: bool) -> list[Block]:
    """A row for each size and a column for each algorithm."""
    names = [timed.algorithm + (" " if marked else "") for timed in rows[0].times]
    cells = [
        [cell(row.times[i]) + (_mark(row, row.times[i]) if marked else "") for row in rows] for i in range(len(names))
    ]
    return columns("size", [show(row.size, "size") for row in rows], names, cells)


def columns(corner: str, firsts: Sequence[str], names: Sequence[str], cells: Sequence[Sequence[str]]) -> list[Block]:
    """Columns (``cells``, by name) beside ``firsts``, in as many tables as the width asks for."""
    blocks: list[Block] = []
    for part in parts(widths(names, cells)):
        rows = [(first, *(cells[i][j] for i in part)) for j, first in enumerate(firsts)]
        blocks += [Line("")] if blocks else []
        blocks.append(Grid((corner, *(names[i] for i in part)), rows, left=0))
    return blocks


def widths(names: Sequence[str], cells: Sequence[Sequence[str]]) -> list[int]:
    """Letters of each column, with the space before it."""
    return [max(map(len, (name, *column))) + 2 for name, column in zip(names, cells, strict=True)]


def _mark(row: Row, timed: Timed) -> str:
    return "*" if timed in row.fastest else "~" if timed in row.perhaps else " "


def parts(each: Sequence[int]) -> list[list[int]]:
    """Numbers of columns, in as few lines as hold them."""
    found: list[list[int]] = [[]]
    used = 0
    for i, width in enumerate(each):
        if found[-1] and used + width > MOST_WIDTH - 12:
            found.append([])
            used = 0
        found[-1].append(i)
        used += width
    return found


def _legend(found: Contest) -> Line:
    perhaps = any(row.perhaps for row in found.rows)
    bounded = any(timed.estimate.low is not None for row in found.rows for timed in row.times)
    parts = ["* fastest"]
    parts += ["~ perhaps: it may be faster than its upper bound"] if perhaps else []
    parts += ["a-b: bounds of the closed form"] if bounded else []
    return Line("; ".join(parts) + ".", "faint")


def _fastest(found: Contest) -> Grid:
    """The fastest at each size, as the benchmark would print it, and what takes its time."""
    factor = FACTORS[found.benchmark](found.ranks) if found.benchmark in FACTORS else None
    cut = any(timed.beside for row in found.rows for timed in row.fastest)
    header = ["size", "algorithm", "time", *(["chunks"] if cut else [])]
    header += (["algbw"] if found.sized else []) + (["busbw"] if factor else []) + ["takes most of it", "next", ""]
    rows = []
    for row in found.rows:
        best = row.best
        cells = [show(row.size, "size"), _names(row.fastest), show(best.time, "time")]
        cells += [str(best.chunks) if best.beside else ""] if cut else []
        cells += [_rate(row.size, best.time)] if found.sized else []
        cells += [_rate(row.size * factor, best.time)] if factor else []
        rows.append((*cells, *_bound(best)))
    return Grid(tuple(header), rows, left=2)


def _names(fastest: Sequence[Timed]) -> str:
    return " = ".join(timed.algorithm for timed in fastest)


def _rate(size: float, time: float) -> str:
    return show(size / time, "bandwidth") if size > 0 and time > 0 else "—"


def _bound(timed: Timed) -> tuple[str, str, str]:
    """What takes most of the time with its share, the next, and how far away that is."""
    estimate = timed.estimate
    largest = max(term.value for term in estimate.terms)
    share = f" {100 * largest / estimate.value:.0f} %" if estimate.value > 0 else ""
    distance = "" if estimate.distance is None else f"{estimate.distance:.3g}x less"
    return estimate.binds + share, estimate.next_limit, distance


def _ranges(found: Contest) -> list[Block]:
    """From which size to which: the fastest, and what takes most of its time (or of the algorithm that was named)."""
    if not found.winners:
        return []
    whose = f"takes most of {found.lever_algorithm}" if found.lever_algorithm else "takes most of it"
    lows = sorted({span.low for span in (*found.winners, *found.limits)})
    rows = []
    for low, after in zip(lows, [*lows[1:], found.winners[-1].high + 1], strict=True):
        at = [
            next(span.name for span in spans if span.low <= low <= span.high) for spans in (found.winners, found.limits)
        ]
        rows.append((size(low), size(after - 1), *at))
    by = ", by closed form" if found.simulated else ""
    return [Heading(f"From which size on{by}"), Grid(("from", "to", "the fastest", whose), rows, left=4)]


def said(spans: Sequence[Span]) -> str:
    """``a up to 24 KiB (24576 B), then b up to 3 MiB (...), then c``."""
    if len(spans) == 1:
        return f"{spans[0].name} from {show(spans[0].low, 'size')} to {show(spans[0].high, 'size')}"
    parts = [f"{span.name} up to {size(span.high)}" for span in spans[:-1]]
    return ", then ".join([*parts, f"{spans[-1].name} to {show(spans[-1].high, 'size')}"])


def size(value: int) -> str:
    """Rounded and exact."""
    rounded, exact = show(value, "size"), f"{value} B"
    return f"{rounded} ({exact})" if "iB" in rounded else exact


def _differences(found: Contest) -> list[Block]:
    """One line for each algorithm whose simulation differs, with the size at which it does most."""
    lines: list[Block] = [Heading("Simulation against closed form")]
    for i, first in enumerate(found.rows[0].times):
        differ = [row.times[i] for row in found.rows if row.times[i].reasons]
        skipped = [row.times[i] for row in found.rows if row.times[i].skipped]
        if differ:
            most = max(differ, key=lambda timed: abs(timed.difference or 0.0))
            where = f"{len(differ)} of {len(found.rows)} sizes" if len(found.rows) > 1 else show(most.size, "size")
            lines.append(
                Line(
                    f"{first.algorithm}: {100 * (most.difference or 0.0):+.1f} % at {show(most.size, 'size')}, over 1 % at "
                    f"{where}: {'; '.join(most.reasons)}."
                )
            )
        if skipped:
            lines.append(Line(f"{first.algorithm} at {show(skipped[0].size, 'size')}: {skipped[0].skipped}.", "faint"))
    same = [t.algorithm for i, t in enumerate(found.rows[0].times) if not any(r.times[i].reasons for r in found.rows)]
    return [*lines, *([Line(f"Within 1 % at all sizes: {', '.join(same)}.", "good")] if same else [])]


def _levers(levers: Sequence[Lever], found: Contest) -> list[Block]:
    """What each change makes of the time at some sizes."""
    whose = found.lever_algorithm or "the fastest"
    rows_by_size = {row.size: row for row in found.rows}
    header = ("", *(f"at {show(changed.size, 'size')}" for changed in levers[0].changed))
    rows = [
        (
            lever.name,
            *(_change(changed, rows_by_size[changed.size], found.lever_algorithm) for changed in lever.changed),
        )
        for lever in levers
    ]
    return [Heading(f"What would help {whose}, by closed form"), Grid(header, rows, left=len(header))]


def _change(changed: Changed, row: Row, fixed: str) -> str:
    before = fixed or min(row.times, key=lambda timed: timed.estimate.value).algorithm
    other = f", {changed.algorithm}" if changed.algorithm != before else ""
    if not changed.algorithm:
        return "uncut"
    if abs(changed.gain - 1) <= _SAME:
        return "no gain"
    if changed.gain < 1:
        return f"{1 / changed.gain:.3g}x slower{other}"
    return f"{changed.gain:.3g}x faster: {show(changed.time, 'time', 3)}{other}"


def _stands_on(found: Contest) -> list[Block]:
    lines: list[Block] = [premise_line(premise) for premise in found.premises]
    lines += [Line(f"left out: {out.algorithm}: {out.reason}", "faint") for out in found.left_out]
    return [Heading("Premises"), *lines] if lines else []


def premise_line(premise: Premise) -> Line:
    """What it is, and what it does."""
    mark = "broken" if premise.status == "broken" else "unknown" if premise.status == "unknown" else "premise"
    effect = f": {premise.effect}" if premise.effect else ""
    return Line(f"{mark}: {premise.text}{effect}", "bad" if premise.status == "broken" else "faint")


def of_network(found: Contest) -> str:
    """Machine, layout and prices."""
    return "; ".join(filter(None, (found.network, found.prices)))
