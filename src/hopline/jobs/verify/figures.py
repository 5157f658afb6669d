"""The form of the founding table: a statement, what the document prints, what is exactly true, and on which premise.

What belongs here: the rows' types and short makers of figures. The statements are in ``founding_*``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from numpy.typing import ArrayLike

from hopline.errors import InputError
from hopline.quantity import Dimension

Verdict = Literal["RIGHT", "COND", "APPROX", "WRONG", "UNVERIFIABLE", "QUALITATIVE"]
"""COND: right only on the row's premise. QUALITATIVE: no number to check."""

Needs = Literal["", "Schedules", "Flows", "Step"]
"""The part of hopline that brings what a row waits for: collectives; queues, slots and feedback; training steps."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A named exact number in SI."""

    name: str
    value: float
    dimension: Dimension


@dataclass(frozen=True, slots=True)
class Statement:
    """A row as it is written down: ``exact`` works its figures out, ``needs`` names what is missing for the rest."""

    id: str
    text: str
    document: str
    verdict: Verdict
    premise: str
    exact: Callable[[], tuple[Figure, ...]] | None = None
    needs: Needs = ""

    def __post_init__(self) -> None:
        if not (self.id and self.text and self.premise):
            raise InputError(f"statement {self.id!r} is not whole: expected an id, a text and a premise")


@dataclass(frozen=True, slots=True)
class FoundingRow:
    """A row with its figures worked out."""

    id: str
    statement: str
    document: str
    verdict: Verdict
    premise: str
    figures: tuple[Figure, ...]
    needs: Needs


def worked_out(statement: Statement) -> FoundingRow:
    """The statement with its figures as the model gives them now."""
    figures = statement.exact() if statement.exact else ()
    s = statement
    return FoundingRow(s.id, s.text, s.document, s.verdict, s.premise, figures, s.needs)


def seconds(name: str, value: ArrayLike) -> Figure:
    """A time."""
    return _figure(name, value, "time")


def rate(name: str, value: ArrayLike) -> Figure:
    """A bandwidth in byte/s."""
    return _figure(name, value, "bandwidth")


def volume(name: str, value: ArrayLike) -> Figure:
    """A size in bytes."""
    return _figure(name, value, "size")


def plain(name: str, value: ArrayLike | None) -> Figure:
    """A count or a ratio. Raises InputError for a number that is undefined."""
    if value is None:
        raise InputError(f"{name} is undefined: expected a number")
    return _figure(name, value, "count")


def _figure(name: str, value: ArrayLike, dimension: Dimension) -> Figure:
    return Figure(name, float(value), dimension)  # type: ignore[arg-type]
