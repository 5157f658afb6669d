"""What a table of an explained step is made of: cells with the place of their number in the JSON.

What belongs here: cells and tables, and one function for each kind of quantity. Which tables there are is ``explain_tables``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hopline.quantity import binary, show
from hopline.records.rate import BASES


@dataclass(frozen=True, slots=True)
class Cell:
    """Text, where its number stands in the JSON (``ranks.0.exposed``), "" for none, and what share of the whole it is."""

    text: str
    key: str = ""
    share: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a title; ``left``: so many of the first columns stand left. ``kept``: so many rows a terminal
    shows, without the columns ``wide``. ``premises``: what the rows take to be so, a line each.
    """

    name: str
    title: str
    note: str
    header: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    left: int = 1
    kept: int = 12
    wide: tuple[str, ...] = ()
    left_out: int = 0
    weights: tuple[float, ...] = ()
    premises: tuple[str, ...] = ()


def time_cell(value: float | None, key: str, whole: float | None = None, bound: str = "") -> Cell:
    """``bound``: ``≥ `` or ``≤ `` where the true one is no less, or no more."""
    if value is None:
        return Cell("unknown", key)
    return Cell(bound + show(value, "time"), key, share(value, whole) if whole else "")


def share(value: float, whole: float) -> str:
    """A part of a whole in per cent, with one decimal where it is small.

    >>> share(1.0, 3.0), share(1.0, 30.0), share(0.0, 1.0)
    ('33 %', '3.3 %', '0 %')
    """
    percent = 100 * value / whole
    return f"{percent:.1f} %" if 0 < abs(percent) < 9.95 else f"{percent:.0f} %"


def rate_cell(value: float | None, key: str, basis: str) -> Cell:
    """A rate over more than the transfer is marked: the true one is no less."""
    return Cell(("" if value is None or basis == BASES[0] else "≥ ") + show(value, "bandwidth", 3), key)


def size_cell(value: int | None, key: str) -> Cell:
    """Bytes."""
    return Cell("unknown" if value is None else binary(value), key)


def count_cell(value: int | None, key: str) -> Cell:
    """A number of something."""
    return Cell("?" if value is None else f"{value:,}", key)
