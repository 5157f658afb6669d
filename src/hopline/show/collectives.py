"""Collectives on several networks, the list of what there is, and pictures.

What belongs here: what ``hopline collective`` shows beside the page of one network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hopline.quantity import show
from hopline.records.contest import Contest, Row
from hopline.show import contest_picture
from hopline.show.contest_tables import MOST_WIDTH, columns, packed, premise_line, said, together, where, widths
from hopline.show.document import Block, Grid, Heading, Line, Style
from hopline.show.figures import Spec


def listing(known: Mapping[str, Sequence[tuple[str, str]]]) -> list[Block]:
    """Every collective with its algorithms, a line each."""
    rows = [(f"{name}-{algorithm}", about) for name, algorithms in known.items() for algorithm, about in algorithms]
    return [Heading("Collectives and their algorithms:"), Grid(("", ""), rows, left=2)]


def side_by_side(
    benchmark: str, found: Sequence[tuple[str, Contest]], failed: Sequence[tuple[str, str]]
) -> list[Block]:
    """The fastest of each size on several networks, and from which size on it is; lines that say the same are one."""
    sizes = [show(row.size, "size") for row in found[0][1].rows]
    names = [name for name, _ in found]
    cells = [[_cell(row, contest.ranks) for row in contest.rows] for _, contest in found]
    across = list(zip(*cells, strict=True))
    blocks: list[Block] = [Heading(f"{benchmark}: the fastest algorithm and its time")]
    if len(packed(widths(sizes, across), MOST_WIDTH)) == 1 or len(names) > len(sizes):
        blocks += columns("", names, sizes, across, left=1)
    else:
        blocks += columns("size", sizes, names, cells)
    told = [(name, contest) for name, contest in found if contest.winners]
    if told:
        by = f"{where(told[0][1])}{', by closed form' if told[0][1].simulated else ''}"
        blocks += [Heading(f"From which size on{by}"), *_folded([(name, said(c.winners)) for name, c in told], "plain")]
    blocks += [Heading("Networks"), *_folded([(name, _network(name, contest)) for name, contest in found], "faint")]
    blocks += [premise_line(one) for one in dict.fromkeys(one for _, contest in found for one in contest.premises)]
    return [*blocks, *(Line(f"left out: {name}: {reason}", "bad") for name, reason in failed)]


def _folded(told: Sequence[tuple[str, str]], style: Style) -> list[Block]:
    """A line for each text, with the names of all that it is told of."""
    names: dict[str, list[str]] = {}
    for name, text in told:
        names.setdefault(text, []).append(name)
    return [Line(f"{together(own, len(told))}: {text}", style) for text, own in names.items()]


def _network(name: str, found: Contest) -> str:
    """Machine, layout and prices, unless the name says them."""
    return "; ".join(part for part in (found.network, found.prices) if part and part != name) or "nothing is sent"


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
    network = "" if title.endswith(found.network) else found.network
    subtitle = [text for text in (network, found.prices, "; ".join(notes)) if text]
    spans = [(span.low, span.high, span.name) for span in found.winners]
    return contest_picture.contest(lines, spans, dots, title, subtitle)


def picture_of_several(title: str, drawn: Sequence[tuple[str, Sequence[Row], Contest]]) -> Spec:
    """The fastest time of each network against size."""
    lines = {name: [(row.size, row.best.time) for row in rows if row.best.time > 0] for name, rows, _ in drawn}
    return contest_picture.contest(lines, (), (), title)
