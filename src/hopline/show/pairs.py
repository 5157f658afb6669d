"""A study of all pairs as text and as a picture.

What belongs here: how sick ranks and pairs, their matrix and their effects read.
"""

from __future__ import annotations

import math

import numpy as np

from hopline.curve import Floats
from hopline.quantity import show
from hopline.records.pairs import PairReport, Suspect
from hopline.show import figures
from hopline.show.document import Block, Grid, Heading, Line

MOST_RANKS = 16
"""With more, the matrix and the table of ranks are left to the picture."""
MOST_DRAWN = 64
"""With more, a picture's cell is the slowest pair of a block of ranks."""


def document(report: PairReport) -> list[Block]:
    """The verdict first, then what was named, the ranks, the matrix, and what to know."""
    blocks: list[Block] = [_verdict(report)]
    if report.suspects:
        blocks.append(_suspects(report.suspects))
    for fast in report.fast:
        blocks.append(Line(f"{fast.name} is faster than the rest: ×{fast.factor:.2f}", "faint"))
    for kind in report.classes:
        own = f", a repeat {100 * kind.repeat:.1f} %" if math.isfinite(kind.repeat) else ""
        name = "" if len(report.classes) == 1 else f" of kind {kind.label}"
        head = f"{kind.pairs} pairs{name}: {show(kind.time, 'time')} where healthy"
        blocks.append(Line(f"{head}; one pair scatters by {100 * kind.noise:.1f} %{own}", "faint"))
    blocks.append(Line(f"Slow-downs that would have been named: {_least(report)}", "faint"))
    if len(report.ranks) <= MOST_RANKS:
        blocks += [Heading("Time over that of a healthy pair, senders in rows"), _matrix(report)]
        blocks += [Heading("Ranks, over a typical one"), _ranks(report)]
    return blocks + [Line(f"note: {note}", "faint") for note in report.notes]


def _verdict(report: PairReport) -> Line:
    if report.healthy:
        return Line(f"Nothing is slow among {len(report.ranks)} ranks beyond noise.", "good")
    names = ", ".join(s.name for s in report.suspects[:4]) + (", ..." if len(report.suspects) > 4 else "")
    return Line(f"Slow for real: {names}.", "bad")


_MEANING = {
    "rank": "all that it sends and receives",
    "sender": "all that it sends",
    "receiver": "all that it receives",
    "pair": "both ways between the two",
    "direction": "one way only",
}


def _suspects(suspects: tuple[Suspect, ...]) -> Grid:
    rows = [
        (s.name, _MEANING[s.kind], f"×{s.factor:.2f}", f"×{s.low:.2f} to ×{s.high:.2f}", _sides(s), _chance(s.chance))
        for s in suspects
    ]
    return Grid(("slow", "what of it", "time", "95 % interval", "of each side", "by chance"), rows, left=2)


def _sides(suspect: Suspect) -> str:
    return "" if suspect.sides is None else ", ".join(f"×{side:.2f}" for side in suspect.sides)


def _chance(chance: float) -> str:
    return f"{100 * chance:.1g} %" if chance >= 1e-4 else "< 0.01 %"


def _least(report: PairReport) -> str:
    return ", ".join(f"{kind} +{100 * (factor - 1):.0f} %" for kind, factor in report.least.items())


def _matrix(report: PairReport) -> Grid:
    ratio = report.time / report.expected
    rows = [
        (str(rank), *(f"{v:.2f}" if math.isfinite(v) else "·" if i == j else "—" for j, v in enumerate(row)))
        for i, (rank, row) in enumerate(zip(report.ranks, ratio.tolist(), strict=True))
    ]
    return Grid(("from / to", *map(str, report.ranks)), rows)


def _ranks(report: PairReport) -> Grid:
    rows = [
        (str(rank), *(f"{100 * (v - 1):+.1f} %" if math.isfinite(v) else "—" for v in sides))
        for rank, *sides in zip(report.ranks, report.sender.tolist(), report.receiver.tolist(), strict=True)
    ]
    return Grid(("rank", "sends", "receives"), rows)


def picture(report: PairReport, title: str) -> figures.Spec:
    """A heat map of time over that of a healthy pair; blocks of ranks where there are too many, as the title says."""
    step = -(-len(report.ranks) // MOST_DRAWN)
    starts = range(0, len(report.ranks), step)
    names = [_block_name(report.ranks[a : a + step]) for a in starts]
    ratio = report.time / report.expected
    cells = []
    for row, a in zip(names, starts, strict=True):
        for column, b in zip(names, starts, strict=True):
            worst = _largest(ratio[a : a + step, b : b + step])
            if math.isfinite(worst):
                cells.append((row, column, worst))
    said = f"{title}: the slowest pair of each {step} by {step} ranks" if step > 1 else title
    return figures.heat_map(cells, ("sender", "receiver"), "time / healthy", said)


def _block_name(ranks: tuple[int, ...]) -> str:
    return str(ranks[0]) if len(ranks) == 1 else f"{ranks[0]}-{ranks[-1]}"


def _largest(block: Floats) -> float:
    finite = block[np.isfinite(block)]
    return float(finite.max()) if finite.size else math.nan
