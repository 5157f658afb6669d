"""Two measurements compared, as text and as a picture.

What belongs here: how changes, their intervals and their verdicts read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hopline.quantity import show
from hopline.records.change import Change, SizeChange, Verdict
from hopline.show import figures
from hopline.show.document import Block, Grid, Heading, Line, Style

_STYLES: dict[Verdict, Style] = {
    "slower": "bad",
    "faster": "good",
    "small": "plain",
    "noise": "plain",
    "cannot tell": "strong",
}
_MOST_SIZES = 12
Titled = tuple[str, Change]


def verdict(changes: Sequence[Change]) -> Line:
    """One line over all tables: the worst of them."""
    if len(changes) == 1:
        return Line(sentence(changes[0]), _STYLES[changes[0].verdict])
    order: tuple[Verdict, ...] = ("slower", "faster", "small", "noise", "cannot tell")
    worst = next(v for v in order if any(c.verdict == v for c in changes))
    counts = ", ".join(f"{n} {_WORDS[v]}" for v in order if (n := sum(c.verdict == v for c in changes)))
    return Line(f"{len(changes)} tables compared: {counts}.", _STYLES[worst])


_WORDS: dict[Verdict, str] = {
    "slower": "slower for real", "faster": "faster for real", "small": "changed by less than matters",
    "noise": "not changed beyond noise", "cannot tell": "cannot be told",
}  # fmt: skip


def sentence(change: Change) -> str:
    """One table's verdict with what it rests on."""
    found = change.verdict
    if found == "cannot tell":
        more = "" if "repeat" in change.said else "; repeat the measurement"
        return f"Cannot tell: {change.said}{more}."
    if found == "noise":
        return f"No change beyond noise{_whole(change)}."
    if found == "small":
        return f"A real change, but below {100 * change.threshold:g} %{_whole(change)}."
    other: Verdict = "faster" if found == "slower" else "slower"
    also = "; faster at some sizes" if found == "slower" and other in {s.verdict for s in change.sizes} else ""
    sizes = change.of(found)
    where = ""
    if sizes:
        most = max(sizes, key=lambda s: abs(math.log(s.ratio)))
        where = f", at {len(sizes)} of {len(change.sizes)} sizes, most at {show(most.size, 'size')}: ×{most.ratio:.3g}"
    return f"{found.capitalize()} for real{_whole(change) if change.whole == found or not sizes else ''}{where}{also}."


def _whole(change: Change) -> str:
    if not math.isfinite(change.ratio):
        return ""
    return f": ×{change.ratio:.3f} on the whole ({change.low:.3f} to {change.high:.3f})"


def table(title: str, change: Change, several: bool) -> list[Block]:
    """One table: its verdict where there are several, the sizes, what the noise was learnt from."""
    blocks: list[Block] = [Heading(title)]
    if several:
        blocks.append(Line(f"  {sentence(change)}", _STYLES[change.verdict]))
    blocks.append(Line(f"  {change.said}", "faint"))
    rows = [_row(s) for s in change.sizes]
    blocks.append(Grid(("size", "before", "after", "ratio", "interval", "verdict"), rows, left=0))
    blocks.append(
        Line(f"  ratio: time after / before; intervals hold for all sizes together ({100 * change.sure:g} %)", "faint")
    )
    for where, sizes in (("before", change.only_before), ("after", change.only_after)):
        if sizes:
            some = ", ".join(show(m, "size") for m in sizes[:_MOST_SIZES]) + (
                ", ..." if len(sizes) > _MOST_SIZES else ""
            )
            blocks.append(Line(f"  sizes only {where}: {some}", "strong"))
    return blocks + [Line(f"  note: {note}", "faint") for note in change.notes]


def _row(s: SizeChange) -> tuple[str, ...]:
    bounded = s.low > _LEAST and s.high < 1 / _LEAST
    interval = f"{s.low:.3f} to {s.high:.3f}" if bounded else "—"
    return (show(s.size, "size"), show(s.before, "time"), show(s.after, "time"), f"{s.ratio:.3f}", interval, s.verdict)


_LEAST = 1e-3
"""Intervals that reach further are not shown."""


def picture(changes: Sequence[Titled]) -> figures.Spec:
    """Ratio against size with intervals, one above the other where there are several tables."""
    specs = [
        figures.ratios([(s.size, s.ratio, s.low, s.high, s.verdict) for s in change.sizes], change.threshold, title)
        for title, change in changes
    ]
    return specs[0] if len(specs) == 1 else figures.stacked(specs)
