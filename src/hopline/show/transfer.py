"""The cost of a transfer as text.

What belongs here: how a Cost reads on a terminal, for one question and for many.
"""

from __future__ import annotations

from collections.abc import Sequence

from hopline.quantity import show
from hopline.records.estimate import Estimate, Premise
from hopline.show.document import Block, Grid, Heading, Line

_MOST_TERMS = 8
_MOST_LEVERS = 5
_NEGLIGIBLE = 1e-6


def share(part: float, whole: float) -> str:
    """A percentage to what it is worth."""
    if whole == 0:
        return "—"
    percent = 100 * part / whole
    return (
        f"{percent:.0f} %" if abs(percent) >= 10 else f"{percent:.1f} %" if abs(percent) >= 0.1 else f"{percent:.2g} %"
    )


def ways(estimates: dict[str, Estimate], chosen: str, size: float) -> Grid:
    """All ways of moving side by side, the path's own marked."""
    rows = [
        (
            "* " + e.name if name == chosen else "  " + e.name,
            show(e.value, "time"),
            show(size / e.value if e.value else None, "bandwidth"),
            e.binds,
        )
        for name, e in estimates.items()
    ]
    return Grid(("  way", "time", "effective", "largest part"), rows)


def reasons(estimate: Estimate) -> list[Block]:
    """Where the time goes, what binds, and how far the next limit is."""
    told = [term for term in estimate.terms if abs(term.value) >= _NEGLIGIBLE * estimate.value]
    terms = sorted(told, key=lambda term: -abs(term.value))
    rows = [
        (
            t.name,
            show(t.value, "time") if t.value >= 0 else f"-{show(-t.value, 'time')}",
            share(t.value, estimate.value),
        )
        for t in terms
    ]
    if len(rows) > _MOST_TERMS:
        rest = sum(t.value for t in terms[_MOST_TERMS:])
        rows = [
            *rows[:_MOST_TERMS],
            (f"{len(terms) - _MOST_TERMS} more", show(rest, "time"), share(rest, estimate.value)),
        ]
    blocks: list[Block] = [Heading(f"Where the time goes ({estimate.name})"), Grid(("", "", ""), rows)]
    following = ""
    if estimate.next_limit and estimate.distance is not None:
        smaller = "as large" if estimate.distance < 1.005 else f"{show(estimate.distance, 'count', 3)} times smaller"
        following = f"; next is the {estimate.next_limit}, {smaller}"
    return [*blocks, Line(f"Binds: {estimate.binds}{following}.", "strong")]


def premises(found: Sequence[Premise]) -> list[Block]:
    """Premises that are broken or could change what binds."""
    marks = {"broken": "Not met", "unknown": "Not known", "holds": "Holds"}
    return [
        Line(
            f"{marks[p.status]}: {p.text}" + (f"; {p.effect}" if p.effect else ""),
            "bad" if p.status == "broken" else "faint",
        )
        for p in found
    ]


def levers(changes: Sequence[tuple[str, float, float]]) -> list[Block]:
    """(change, time, share saved), best first."""
    rows = [(change, show(time, "time"), f"-{share(saved, 1.0)}") for change, time, saved in changes[:_MOST_LEVERS]]
    if not rows:
        return []
    return [Heading("What would help"), Grid(("", "", ""), rows)]


def sweep(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Grid:
    """One row per question; numbers stand right."""
    return Grid(header, rows, left=0)
