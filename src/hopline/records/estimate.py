"""Estimates: the answer of a formula, with its terms, the limit that binds and the premises it stands on.

What belongs here: the form of the answer. The numbers come from ``model``; how it is printed is ``show``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from hopline.errors import InputError
from hopline.quantity import Dimension

Combine = Literal["sum", "max", "min"]
Status = Literal["holds", "broken", "unknown"]
COMBINE: dict[Combine, Callable[[list[float]], float]] = {"sum": math.fsum, "max": max, "min": min}


@dataclass(frozen=True, slots=True)
class Term:
    """A named part of an estimate, in the estimate's own dimension; ``lever`` says what would change it."""

    name: str
    value: float
    lever: str = ""


@dataclass(frozen=True, slots=True)
class Premise:
    """What must be true for the number to be right, checked against the inputs where they tell.

    ``matters`` marks an unknown premise that could change the binding limit; ``effect`` says by how much.
    """

    text: str
    status: Status
    effect: str = ""
    matters: bool = False


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its reasons.

    Attributes
    ----------
    value, dimension
        In SI.
    terms, combine
        The named parts and how they make the value (``sum``, ``max`` or ``min``).
    binds, next_limit, distance
        The limit that binds, the next one, and the factor by which the first must improve until the next one binds
        (None: there is no next limit, or it never binds).
    premises
        What the number stands on.
    low, high
        An interval, where the inputs carried one.
    """

    name: str
    value: float
    dimension: Dimension
    terms: tuple[Term, ...]
    combine: Combine
    binds: str
    next_limit: str = ""
    distance: float | None = None
    premises: tuple[Premise, ...] = ()
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        combined = COMBINE[self.combine]([t.value for t in self.terms] or [self.value])
        if abs(combined - self.value) > 1e-9 * max(abs(self.value), 1e-30):
            raise InputError(f"estimate {self.name!r}: its terms give {combined!r}, its value is {self.value!r}")

    @classmethod
    def of(cls, name: str, terms: Sequence[Term], combine: Combine, premises: tuple[Premise, ...] = ()) -> Estimate:
        """A time from its terms: the largest binds, the next is the next limit, unless it is nothing."""
        ordered = sorted(terms, key=lambda term: -term.value)
        first, following = ordered[0], ordered[1] if len(ordered) > 1 else Term("", 0.0)
        near = following.value > 0
        return cls(
            name=name,
            value=COMBINE[combine]([term.value for term in terms]),
            dimension="time",
            terms=tuple(terms),
            combine=combine,
            binds=first.name,
            next_limit=following.name if near else "",
            distance=first.value / following.value if near else None,
            premises=premises,
        )

    def shown_premises(self) -> tuple[Premise, ...]:
        """Those that are broken, and the unknown ones that could change the binding limit."""
        return tuple(p for p in self.premises if p.status == "broken" or (p.status == "unknown" and p.matters))
