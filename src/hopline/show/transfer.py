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
    """How sure the time is, where it goes, what binds, and how far the next limit is."""
    told = [term for term in estimate.terms if abs(term.value) >= _NEGLIGIBLE * estimate.value]
    terms = sorted(told, key=lambda term: -abs(term.value))
    rows = [(t.name, _signed(t.value), _part(t.value, estimate)) for t in terms[:_MOST_TERMS]]
    if len(terms) > _MOST_TERMS:
        rest = sum(t.value for t in terms[_MOST_TERMS:])
        rows.append((f"{len(terms) - _MOST_TERMS} more", _signed(rest), _part(rest, estimate)))
    title = "What goes on at the same time" if estimate.combine == "max" else "Where the time goes"
    blocks: list[Block] = [Heading(f"{title} ({estimate.name})"), Grid(("", "", ""), rows)]
    following = ""
    if estimate.next_limit and estimate.distance is not None:
        smaller = "as large" if estimate.distance < 1.005 else f"{show(estimate.distance, 'count', 3)} times smaller"
        following = f"; next is the {estimate.next_limit}, {smaller}"
    sure: list[Block] = []
    if estimate.low is not None and estimate.high is not None:
        spread = f"{show(estimate.low, 'time', 3)} .. {show(estimate.high, 'time', 3)}"
        sure = [
            Line(f"90 % interval: {spread}, from what is known of the fitted links and how their measurements scatter.")
        ]
    return [*sure, *blocks, Line(f"Binds: {estimate.binds}{following}.", "strong")]


def _signed(time: float) -> str:
    return show(time, "time") if time >= 0 else f"-{show(-time, 'time')}"


def _part(value: float, estimate: Estimate) -> str:
    """The share of a sum; what is hidden behind something longer has none."""
    if estimate.combine == "max":
        return "binds" if value == estimate.value else "hidden behind it"
    return share(value, estimate.value)


def premises(found: Sequence[Premise]) -> list[Block]:
    """Premises that are broken or could change what binds."""
    marks = {"broken": "Caution", "unknown": "Assumed", "holds": "Holds"}
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
