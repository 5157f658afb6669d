"""A page of text as data: headings, tables, lines. One truth for the plain and the coloured terminal.

What belongs here: the blocks and how they are printed. What stands in them is written by the other files of this room.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Style = Literal["plain", "good", "bad", "faint", "strong"]
_RICH_STYLES: dict[Style, str] = {"plain": "", "good": "green", "bad": "red", "faint": "dim", "strong": "bold"}


@dataclass(frozen=True, slots=True)
class Heading:
    """A title line."""

    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text."""

    text: str
    style: Style = "plain"


@dataclass(frozen=True, slots=True)
class Grid:
    """Columns of text; ``left`` says how many of the first columns stand left, the others stand right."""

    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    left: int = 1


Block = Heading | Line | Grid


def print_document(blocks: Sequence[Block]) -> None:
    """Print to standard output: coloured by rich on a terminal, plain text elsewhere."""
    if sys.stdout.isatty():
        _print_rich(blocks)
    else:
        sys.stdout.write(plain(blocks))


def plain(blocks: Sequence[Block]) -> str:
    """The document as plain text, headings set off by an empty line."""
    out: list[str] = []
    for block in blocks:
        if isinstance(block, Heading):
            out += ([""] if out else []) + [block.text]
        elif isinstance(block, Line):
            out.append(block.text)
        else:
            out += _grid_lines(block)
    return "\n".join(out) + "\n"


def _grid_lines(grid: Grid) -> list[str]:
    rows = [grid.header, *grid.rows] if any(grid.header) else list(grid.rows)
    widths = [max(len(row[i]) for row in rows) for i in range(len(grid.header))] if rows else []
    last = len(widths) - 1

    def cell(text: str, i: int) -> str:
        if i < grid.left:
            return text if i == last else text.ljust(widths[i])
        return text.rjust(widths[i])

    return ["  " + "  ".join(cell(text, i) for i, text in enumerate(row)).rstrip() for row in rows]


def _print_rich(blocks: Sequence[Block]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    for i, block in enumerate(blocks):
        if isinstance(block, Heading):
            console.print(Text(("\n" if i else "") + block.text, style="bold"))
        elif isinstance(block, Line):
            console.print(Text(block.text, style=_RICH_STYLES[block.style]))
        else:
            table = Table(box=None, pad_edge=True, show_header=any(block.header), header_style="dim")
            for j, title in enumerate(block.header):
                table.add_column(title, justify="left" if j < block.left else "right", overflow="fold")
            for row in block.rows:
                table.add_row(*(Text(text) for text in row))
            console.print(table)
