"""Collectives on several networks, the list of what there is, and pictures.

What belongs here: what ``hopline collective`` shows beside the page of one network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hopline.quantity import show
from hopline.records.contest import Contest, Row
from hopline.show import contest_picture
from hopline.show.collective import columns, of_network, parts, premise_line, said, widths
from hopline.show.document import Block, Grid, Heading, Line
from hopline.show.figures import Spec


def listing(known: Mapping[str, Sequence[tuple[str, str]]]) -> list[Block]:
    """Every collective with its algorithms, a line each."""
    rows = [(f"{name}-{algorithm}", about) for name, algorithms in known.items() for algorithm, about in algorithms]
    return [Heading("Collectives and their algorithms:"), Grid(("", ""), rows, left=2)]


def side_by_side(
    benchmark: str, found: Sequence[tuple[str, Contest]], failed: Sequence[tuple[str, str]]
) -> list[Block]:
    """The fastest of each size on several networks, and from which size on it is."""
    sizes = [show(row.size, "size") for row in found[0][1].rows]
    names = [name for name, _ in found]
    cells = [[_cell(row, contest.ranks) for row in contest.rows] for _, contest in found]
    blocks: list[Block] = [Heading(f"{benchmark}: the fastest algorithm and its time")]
    if len(parts(widths(sizes, list(zip(*cells, strict=True))))) == 1:
        blocks.append(Grid(("", *sizes), [(name, *row) for name, row in zip(names, cells, strict=True)]))
    else:
        blocks += columns("size", sizes, names, cells)
    by = ", by closed form" if found[0][1].simulated else ""
    blocks.append(Heading(f"From which size on{by}"))
    for name, contest in found:
        if contest.winners:
            blocks.append(Line(f"{name}: {said(contest.winners)}"))
    blocks += [Heading("Networks"), *(Line(f"{name}: {of_network(c)}", "faint") for name, c in found)]
    told = dict.fromkeys(premise for _, contest in found for premise in contest.premises)
    blocks += [premise_line(premise) for premise in told]
    return [*blocks, *(Line(f"left out: {name}: {reason}", "bad") for name, reason in failed)]


def _cell(row: Row, ranks: int) -> str:
    return "—" if ranks == 1 else f"{row.best.algorithm} {show(row.best.time, 'time', 3)}"


def picture(title: str, drawn: Sequence[Row], found: Contest) -> Spec:
    """Time against size for each algorithm, which is fastest where, and how much slower the others are.

    ``drawn``: rows at many sizes; simulated times are those of ``found``.
    """
    rows = [row for row in drawn if all(timed.time > 0 for timed in row.times)]
    lines = {
        name: [(row.size, timed.estimate.value) for row in rows for timed in row.times if timed.algorithm == name]
        for name in found.algorithms
    }
    dots = [
        (row.size, timed.simulated, timed.algorithm)
        for row in found.rows
        for timed in row.times
        if timed.simulated and row.size
    ]
    bounded = any(timed.estimate.low is not None for row in rows for timed in row.times)
    notes = [*(["dots: simulated"] if dots else []), *(["lines: of bounds the upper one"] if bounded else [])]
    subtitle = [text for text in (found.network, found.prices, "; ".join(notes)) if text]
    spans = [(span.low, span.high, span.name) for span in found.winners]
    return contest_picture.contest(lines, spans, dots, title, subtitle)


def picture_of_several(title: str, drawn: Sequence[tuple[str, Sequence[Row], Contest]]) -> Spec:
    """The fastest time of each network against size."""
    lines = {name: [(row.size, row.best.time) for row in rows if row.best.time > 0] for name, rows, _ in drawn}
    return contest_picture.contest(lines, (), (), title)
