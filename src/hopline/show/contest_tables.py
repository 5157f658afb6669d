"""What pages of contests have in common: columns in as many tables as the width asks for, sizes, names.

What belongs here: tables and words of a contest, whether of one network or of several.
"""

from __future__ import annotations

from collections.abc import Sequence

from hopline.quantity import binary, show
from hopline.records.contest import Contest, Span
from hopline.records.estimate import Premise
from hopline.show.document import Block, Grid, Line

MOST_WIDTH = 118
"""Letters of a line, beyond which columns go into a table of their own."""
_TOGETHER = 6
"""Names that are told one by one."""


def columns(
    corner: str, firsts: Sequence[str], names: Sequence[str], cells: Sequence[Sequence[str]], left: int = 0
) -> list[Block]:
    """Columns (``cells``, by name) beside ``firsts``, in as many tables as the width asks for."""
    blocks: list[Block] = []
    first = max(map(len, (corner, *firsts))) + 2
    for part in packed(widths(names, cells), MOST_WIDTH - first):
        rows = [(beside, *(cells[i][j] for i in part)) for j, beside in enumerate(firsts)]
        blocks += [Line("")] if blocks else []
        blocks.append(Grid((corner, *(names[i] for i in part)), rows, left=left))
    return blocks


def widths(names: Sequence[str], cells: Sequence[Sequence[str]]) -> list[int]:
    """Letters of each column, with the space before it."""
    return [max(map(len, (name, *column))) + 2 for name, column in zip(names, cells, strict=True)]


def packed(each: Sequence[int], most: int) -> list[list[int]]:
    """Numbers of columns, in as few lines of ``most`` letters as hold them."""
    found: list[list[int]] = [[]]
    used = 0
    for i, width in enumerate(each):
        if found[-1] and used + width > most:
            found.append([])
            used = 0
        found[-1].append(i)
        used += width
    return found


def between(low: float, high: float) -> str:
    """Two times with one unit where it is the same: ``1.2-1.9 ms``."""
    first, second = show(low, "time", 3), show(high, "time", 3)
    if first == second:
        return show(high, "time")
    value, _, unit = first.partition(" ")
    return f"{value if second.endswith(' ' + unit) else first}-{second}"


def size(value: int) -> str:
    """Rounded in binary units, and the bytes."""
    return f"{binary(value)} ({value} B)" if value >= 1024 else binary(value)


def said(spans: Sequence[Span]) -> str:
    """``a up to 24 KiB (24576 B), then b up to 3 MiB (...), then c``."""
    if len(spans) == 1:
        return f"{spans[0].name} from {binary(spans[0].low)} to {binary(spans[0].high)}"
    parts = [f"{span.name} up to {size(span.high)}" for span in spans[:-1]]
    return ", then ".join([*parts, f"{spans[-1].name} to {binary(spans[-1].high)}"])


def where(found: Contest) -> str:
    """Between which sizes winners are told, where only one size was asked for; else "": between those that were."""
    if len(found.rows) > 1 or not found.winners:
        return ""
    low, high = found.winners[0].low, found.winners[-1].high
    return f" around {show(found.rows[0].size, 'size')}, looked at from {binary(low)} to {binary(high)}"


def together(names: Sequence[str], of: int) -> str:
    """Several names as one; ``of``: how many there are in all."""
    if len(names) == of > 1:
        return "all"
    if len(names) <= _TOGETHER:
        return ", ".join(names)
    return f"{', '.join(names[:3])}, ..., {names[-1]} ({len(names)} networks)"


def premise_line(premise: Premise) -> Line:
    """What it is, and what it does."""
    mark = "broken" if premise.status == "broken" else "unknown" if premise.status == "unknown" else "premise"
    effect = f": {premise.effect}" if premise.effect else ""
    return Line(f"{mark}: {premise.text}{effect}", "bad" if premise.status == "broken" else "faint")
