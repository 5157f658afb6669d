"""All algorithms of a collective side by side.

What belongs here: the page of ``hopline collective`` on one network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter

from hopline.quantity import counted, show
from hopline.records.busbw import FACTORS
from hopline.records.contest import NO_GAIN, RING, TIE, Changed, Contest, Lever, Row, Span, Timed
from hopline.show.contest_tables import between, columns, premise_line, size, where
from hopline.show.document import Block, Grid, Heading, Line


def page(title: str, found: Contest) -> list[Block]:
    """Times, the fastest, where it changes and what binds it, what would help, premises, what was left out."""
    network = [] if title.endswith(found.network) else [Line(found.network)]
    blocks: list[Block] = [Heading(title), *network, Line(found.prices, "faint")]
    if found.ranks == 1:
        return [*blocks, Line("One rank: nothing is sent, and no algorithm takes any time.")]
    if found.simulated:
        blocks += [Heading("By closed form"), *_times(found.rows, _by_form, marked=False)]
        blocks += [Heading("Simulated"), *_times(found.rows, _by_simulation, marked=True)]
    else:
        blocks += _times(found.rows, _by_form, marked=True)
    blocks += [_legend(found), *_rings(found.rows), Heading("The fastest"), _fastest(found), *_named(found)]
    blocks += _ranges(found)
    blocks += _differences(found) if found.simulated else []
    blocks += _levers(found.levers, found) if found.levers else []
    return [*blocks, *_stands_on(found)]


def _by_form(timed: Timed) -> str:
    low = timed.estimate.low
    return show(timed.estimate.value, "time") if low is None else between(low, timed.estimate.value)


def _by_simulation(timed: Timed) -> str:
    return "—" if timed.simulated is None else show(timed.simulated, "time")


def _times(rows: Sequence[Row], cell: Callable[[Timed], str], marked: bool) -> list[Block]:
    """A row for each size and a column for each algorithm."""
    names = [timed.algorithm + (" " if marked else "") for timed in rows[0].times]
    cells = [
        [cell(row.times[i]) + (_mark(row, row.times[i]) if marked else "") for row in rows] for i in range(len(names))
    ]
    return columns("size", [show(row.size, "size") for row in rows], names, cells)


def _mark(row: Row, timed: Timed) -> str:
    return "*" if timed in row.fastest else "~" if timed in row.perhaps else " "


def _legend(found: Contest) -> Line:
    perhaps = any(row.perhaps for row in found.rows)
    bounded = any(timed.estimate.low is not None for row in found.rows for timed in row.times)
    parts = ["* fastest"]
    parts += ["~ perhaps: it may be faster than its upper bound"] if perhaps else []
    parts += ["a-b: bounds of the closed form"] if bounded else []
    return Line("; ".join(parts) + ".", "faint")


def _rings(rows: Sequence[Row]) -> list[Block]:
    """Over how many rings an algorithm of several goes at each size."""
    lines: list[Block] = []
    for i, first in enumerate(rows[0].times):
        if first.parts == RING:
            numbered = zip((row.times[i].number for row in rows), rows, strict=True)
            runs = ((number, [row for _, row in own]) for number, own in groupby(numbered, key=itemgetter(0)))
            told = ", ".join(f"{counted(number, RING)} {_at(own)}" for number, own in runs)
            why = ": as many as are fastest by closed form" if any(row.times[i].beside for row in rows) else ""
            lines.append(Line(f"{first.algorithm} has {told}{why}.", "faint"))
    return lines


def _at(rows: Sequence[Row]) -> str:
    low, high = show(rows[0].size, "size"), show(rows[-1].size, "size")
    return f"at {low}" if len(rows) == 1 else f"from {low} to {high}"


def _fastest(found: Contest) -> Grid:
    """The fastest at each size, as the benchmark would print it, and what takes its time."""
    return _each(found, [row.best for row in found.rows], "algorithm", [_names(row.fastest) for row in found.rows])


def _named(found: Contest) -> list[Block]:
    """The same of the algorithm that was named, with how far it is from the fastest."""
    name = found.lever_algorithm
    if not name:
        return []
    own = [next(timed for timed in row.times if timed.algorithm == name) for row in found.rows]
    ratios = [_against(timed, row.best) for timed, row in zip(own, found.rows, strict=True)]
    return [Heading(f"{name}, the algorithm asked about"), _each(found, own, "against the fastest", ratios)]


def _against(timed: Timed, best: Timed) -> str:
    return f"{timed.time / best.time:.3g}x its time" if timed.time > best.time * (1 + TIE) > 0 else "as fast"


def _each(found: Contest, shown: Sequence[Timed], header: str, firsts: Sequence[str]) -> Grid:
    """A row for each size: a first cell, the time, rates, and what takes most of the time."""
    factor = FACTORS[found.benchmark](found.ranks) if found.benchmark in FACTORS else None
    cut = any(timed.parts for timed in shown)
    head = ["size", header, "time", *(["in"] if cut else [])]
    head += (["algbw"] if found.sized else []) + (["busbw"] if factor else []) + ["takes most of it", "next", ""]
    rows = []
    for timed, first in zip(shown, firsts, strict=True):
        cells = [show(timed.size, "size"), first, show(timed.time, "time")]
        cells += [counted(timed.number, timed.parts) if timed.parts else ""] if cut else []
        cells += [_rate(timed.size, timed.time)] if found.sized else []
        cells += [_rate(timed.size * factor, timed.time)] if factor else []
        rows.append((*cells, *_bound(timed)))
    return Grid(tuple(head), rows, left=2)


def _names(fastest: Sequence[Timed]) -> str:
    return " = ".join(timed.algorithm for timed in fastest)


def _rate(size: float, time: float) -> str:
    return show(size / time, "bandwidth") if size > 0 and time > 0 else "—"


def _bound(timed: Timed) -> tuple[str, str, str]:
    """What takes most of the time with its share, the next, and how far away that is."""
    estimate = timed.estimate
    largest = max(term.value for term in estimate.terms)
    share = f" {100 * largest / estimate.value:.0f} %" if estimate.value > 0 else ""
    distance = "" if estimate.distance is None else f"{show(estimate.distance, 'count', 3)}x less"
    return estimate.binds + share, estimate.next_limit, distance


def _ranges(found: Contest) -> list[Block]:
    """From which size to which: the fastest, and what takes most of its time; apart where an algorithm was named."""
    if not found.winners:
        return []
    by = f"{where(found)}{', by closed form' if found.simulated else ''}"
    heading = Heading(f"From which size on{by}")
    if not found.lever_algorithm:
        return [heading, _spans((found.winners, found.limits), ("the fastest", "takes most of it"))]
    return [
        heading,
        _spans((found.winners,), ("the fastest",)),
        Heading(f"What takes most of {found.lever_algorithm}, from which size on{by}"),
        _spans((found.limits,), (f"takes most of {found.lever_algorithm}",)),
    ]


def _spans(answers: Sequence[Sequence[Span]], header: Sequence[str]) -> Grid:
    """A row from each size on at which any of the ``answers`` changes."""
    lows = sorted({span.low for spans in answers for span in spans})
    rows = []
    for low, after in zip(lows, [*lows[1:], answers[0][-1].high + 1], strict=True):
        at = [next(span.name for span in spans if span.low <= low <= span.high) for spans in answers]
        rows.append((size(low), size(after - 1), *at))
    return Grid(("from", "to", *header), rows, left=len(header) + 2)


def _differences(found: Contest) -> list[Block]:
    """One line for each algorithm whose simulation differs, with the size at which it does most."""
    lines: list[Block] = [Heading("Simulation against closed form")]
    for i, first in enumerate(found.rows[0].times):
        differ = [row.times[i] for row in found.rows if row.times[i].reasons]
        skipped = [row.times[i] for row in found.rows if row.times[i].skipped]
        if differ:
            most = max(differ, key=lambda timed: abs(timed.difference or 0.0))
            of = f", over 1 % at {len(differ)} of {len(found.rows)} sizes" if len(found.rows) > 1 else ""
            at = f"{100 * (most.difference or 0.0):+.1f} % at {show(most.size, 'size')}"
            lines.append(Line(f"{first.algorithm}: {at}{of}: {'; '.join(most.reasons)}."))
        if skipped:
            lines.append(Line(f"{first.algorithm} at {show(skipped[0].size, 'size')}: {skipped[0].skipped}.", "faint"))
    same = [t.algorithm for i, t in enumerate(found.rows[0].times) if not any(r.times[i].reasons for r in found.rows)]
    return [*lines, *([Line(f"Within 1 % at all sizes: {', '.join(same)}.", "good")] if same else [])]


def _levers(levers: Sequence[Lever], found: Contest) -> list[Block]:
    """What each change makes of the time at some sizes, and why some help less than one thinks."""
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
    whys = [Line(f"{lever.name}: {lever.why}.", "faint") for lever in levers if lever.why]
    return [Heading(f"What would help {whose}, by closed form"), Grid(header, rows, left=len(header)), *whys]


def _change(changed: Changed, row: Row, fixed: str) -> str:
    before = fixed or min(row.times, key=lambda timed: timed.estimate.value).algorithm
    other = f", {changed.algorithm}" if changed.algorithm != before else ""
    if not changed.algorithm:
        return "—"
    if 1 / NO_GAIN <= changed.gain <= NO_GAIN:
        return "no gain"
    if changed.gain < 1:
        return f"{1 / changed.gain:.3g}x slower{other}"
    return f"{changed.gain:.3g}x faster: {show(changed.time, 'time', 3)}{other}"


def _stands_on(found: Contest) -> list[Block]:
    lines: list[Block] = [premise_line(premise) for premise in found.premises]
    lines += [Line(f"left out: {out.algorithm}: {out.reason}", "faint") for out in found.left_out]
    return [Heading("Premises"), *lines] if lines else []
