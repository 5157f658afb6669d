"""Numbers that are in SI already: what they must satisfy.

What belongs here: the check of a plain number, with an error that names it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hopline.errors import InputError


@dataclass(frozen=True, slots=True)
class Bound:
    """What a plain number must satisfy: at least ``least`` (or above it when ``strict``) and finite."""

    least: float = 0.0
    strict: bool = False

    def check(self, name: str, value: float) -> float:
        """``value`` as a float. Raises InputError naming ``name`` when it breaks the bound."""
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{name} is {value!r}: expected a number") from None
        if not math.isfinite(number) or number < self.least or (self.strict and number == self.least):
            bound = "above" if self.strict else "at least"
            raise InputError(f"{name} is {value!r}: expected a finite number {bound} {self.least:g}")
        return number


NON_NEGATIVE = Bound()
POSITIVE = Bound(strict=True)
