"""What flows share: the rule, what binds, for how long, and who pays for it.

What belongs here: the page and the picture of flows in ``hopline sim``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hopline.quantity import counted, show
from hopline.show import figures
from hopline.show.document import Block, Grid, Heading, Line

RULES = {
    "max-min": "max-min fair: every flow gets the same share of what binds it",
    "inverse-rtt": "shares in inverse proportion to round-trip time, as TCP and SimGrid have it",
}
"""What a rule of sharing says."""
MOST = 6
Bound = tuple[str, float, float, float]
"""(resource, seconds that it bound, seconds that flows lost to it, part of its capacity that was used)"""
Late = tuple[int, int, int, float, float, str]
"""(sender, receiver, bytes, seconds alone, seconds that it took, resource)"""


def rule(name: str, routing: str) -> str:
    """How flows share and which ways they take, in words."""
    return RULES.get(name, name) + (f"; ways by {routing}" if routing else "")


def order(time: float, at_once: float | None) -> list[Block]:
    """What the order of messages costs beside beginning all at once."""
    if at_once is None:
        return []
    told = f"All messages at once would take {show(at_once, 'time', 7)}: their order "
    apart = time / at_once - 1 if at_once else 0.0
    if abs(apart) < 1e-9:
        return [Line(told + "costs nothing.", "faint")]
    if apart >= 1:
        return [Line(f"{told}makes it {time / at_once:.3g} times as long.")]
    return [Line(f"{told}{'costs' if apart > 0 else 'saves'} {100 * abs(apart):.2g} % of that.")]


def page(bounds: Sequence[Bound], late: Sequence[Late], lost: float, flows: int) -> list[Block]:
    """What binds and who lost most; ``lost``: seconds of all ``flows`` together."""
    if not bounds:
        return [Heading("What binds"), Line("Nothing is shared: each flow takes as long as it would alone.")]
    rows = [
        (
            name,
            show(bound, "time"),
            show(cost, "time"),
            f"{100 * cost / lost:.1f} %" if lost else "",
            f"{100 * used:.1f} %",
        )
        for name, bound, cost, used in bounds[:MOST]
    ]
    header = ("", "held flows back for", "flows lost", "of all lost", "used")
    blocks: list[Block] = [Heading("What binds"), Grid(header, rows)]
    blocks += _more(len(bounds), "resource", "with less")
    told = f"{len(late):,} of {counted(flows, 'flow')} took longer than alone, together {show(lost, 'time')}."
    blocks.append(Line(told))
    paid = [
        (
            f"rank {a} -> rank {b}",
            show(size, "size"),
            show(alone, "time"),
            show(took, "time"),
            f"x {took / alone:.2f}",
            by,
        )
        for a, b, size, alone, took, by in late[:MOST]
        if alone
    ]
    blocks += [Heading("Who lost most"), Grid(("", "size", "alone", "took", "", "most of it to"), _named(paid))]
    return blocks + _more(len(late), "flow", "that lost as much or less")


def _named(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The last column stands left: padded to one width."""
    width = max((len(row[-1]) for row in rows), default=0)
    return [(*row[:-1], row[-1].ljust(width)) for row in rows]


def _more(count: int, thing: str, what: str) -> list[Block]:
    return [Line(f"  and {counted(count - MOST, f'more {thing}')} {what}", "faint")] if count > MOST else []


def picture(spans: Sequence[tuple[str, float, float]], shown: int, every: int, below: figures.Spec) -> figures.Spec:
    """Which resource holds flows back when, above another picture over the same time; ``shown`` of ``every`` are drawn."""
    bars = [(name, "holds flows back", begin, end) for name, begin, end in spans]
    left_out = f"the {shown} of {every} resources that cost most" if shown < every else ""
    both = figures.stacked([figures.gantt(bars, "What binds when", left_out), below])
    both["resolve"]["scale"]["x"] = "shared"
    return both
