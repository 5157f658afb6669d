"""An explained step on the terminal: the answer first, then where the time goes, who waits for whom, and what would help.

What belongs here: the page of ``hopline explain``, narrower than 110 columns. Its numbers are ``explain_numbers``, its tables
``explain_tables``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from hopline.quantity import counted, show
from hopline.records.explained import Explained
from hopline.show.document import Block, Grid, Heading, Line
from hopline.show.explain_cells import Cell, Table
from hopline.show.explain_drawing import abridged
from hopline.show.explain_numbers import numbers
from hopline.show.explain_rows import Numbers, spoken
from hopline.show.explain_tables import tables

WIDTH = 109
_MOST_ODD, _MOST_OTHER, _LEAST_FIRST = 12, 16, 8


def page(explained: Explained) -> list[Block]:
    """The blocks."""
    found = numbers(explained)
    blocks: list[Block] = [Heading(_title(found))]
    blocks += [
        Line(line, "strong" if i == 0 else "plain") for i, line in _sentences([spoken(text) for text in found.findings])
    ]
    for table in tables(found):
        if table.kept:
            blocks += _blocks(table)
    return [*blocks, *_unknown(found)]


def explained_json(explained: Explained, most: int | None = None) -> dict[str, Any]:
    """The same numbers as plain values, seconds, bytes and byte/s; of collectives, causes and steps ``most`` at most."""
    return asdict(numbers(explained, most))


def _title(found: Numbers) -> str:
    return f"{found.what}: {show(found.time, 'time')} on {counted(len(found.ranks), 'rank')}"


def _sentences(texts: Sequence[str], most: int = WIDTH) -> Iterator[tuple[int, str]]:
    """Lines of sentences with the number of the sentence, folded to the width."""
    for i, text in enumerate(texts):
        line = ""
        for word in _printable(text).split():
            if line and len(line) + len(word) >= most:
                yield i, line
                line = "  " + word
            else:
                line = f"{line} {word}" if line else word
        yield i, line


def _printable(text: str) -> str:
    """Text that cannot steer a terminal."""
    return "".join(c if c.isprintable() else "�" for c in text)


def _blocks(table: Table) -> list[Block]:
    columns = [i for i, title in enumerate(table.header) if title not in table.wide]
    header = tuple(table.header[i] for i in columns)
    rows = _fitted(header, [[_cell(table.rows[row][i]) for i in columns] for row in _kept(table)])
    left = len(table.rows) - len(rows) + table.left_out
    blocks: list[Block] = [Heading(table.title), Grid(header, rows, table.left)]
    if left > 0:
        between = " between the most and the least exposed" if table.weights else ""
        blocks.append(Line(f"  and {left:,} more{between}", "faint"))
    if table.note:
        blocks += [Line(f"  {line}", "faint") for _, line in _sentences([table.note], WIDTH - 2)]
    told = [f"premise: {text}" for text in table.premises]
    return [*blocks, *(Line(f"  {line}", "faint") for _, line in _sentences(told, WIDTH - 2))]


def _cell(cell: Cell) -> str:
    return _printable(cell.text) + (f" {cell.share:>5}" if cell.share else "")


def _fitted(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Cells cut so that the table is no wider than a page: names in other columns, and the first to what they leave."""
    cut = [[row[0], *(abridged(text, _MOST_OTHER) for text in row[1:])] for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *cut, strict=True)]
    first = max(_LEAST_FIRST, WIDTH - sum(2 + width for width in widths[1:]) - 2)
    return [(abridged(row[0], first), *row[1:]) for row in cut]


def _kept(table: Table) -> list[int]:
    """Rows that a terminal shows."""
    rows = range(len(table.rows))
    if not table.weights or len(rows) <= table.kept:
        return list(rows[: table.kept])
    order = sorted(rows, key=lambda row: table.weights[row])
    return sorted([*order[: table.kept // 2], *order[-(table.kept - table.kept // 2) :]])


def _unknown(found: Numbers) -> list[Block]:
    """What is odd, and what cannot be told."""
    odd = [*found.told, *found.unmatched]
    if found.unknown:
        odd.append(
            f"Of {found.unknown:,} of {counted(found.collectives, 'collective')} transfer cannot be told from waiting "
            "(not all wait for all there, or ranks are missing)."
        )
    if not odd:
        return []
    lines = [Line(line) for _, line in _sentences([spoken(text) for text in odd[:_MOST_ODD]])]
    left = [Line(f"and {len(odd) - _MOST_ODD:,} more: see --json", "faint")] if len(odd) > _MOST_ODD else []
    return [Heading("What is odd or unknown"), *lines, *left]
