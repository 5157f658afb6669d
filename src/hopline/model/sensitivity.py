"""What a change of each input, alone, does to a time, ranked.

What belongs here: the ranking. What the inputs mean is said by the function that is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from hopline.quantity import Dimension
from hopline.records.step import Effect

SHARE = 0.1
"""Of its value, by which an input is changed."""


@dataclass(frozen=True, slots=True)
class Input:
    """A number that can be changed; ``more``: whether more of it is better. What is of no unit changes above ``floor``."""

    value: float
    dimension: Dimension
    more: bool = False
    floor: float = 0.0

    def changed(self, share: float) -> float:
        """Better by ``share`` of it (worse where that is negative)."""
        sign = share if self.more else -share
        return float(self.floor + (Fraction(self.value) - Fraction(self.floor)) * (1 + Fraction(sign)))


def ranked(
    inputs: Mapping[str, Input], time: Callable[[str, float], float], share: float = SHARE
) -> tuple[Effect, ...]:
    """The inputs by what ``share`` of each brings, the most first.

    ``time``: seconds with one input, by its name, at another value.
    """
    found = []
    for name, told in inputs.items():
        better, worse = told.changed(share), told.changed(-share)
        now, then, late = (time(name, value) for value in (told.value, better, worse))
        gains = [(now - other) / now if now else 0.0 for other in (then, late)]
        found.append(Effect(name, told.dimension, told.value, better, then, worse, late, gains[0], -gains[1]))
    return tuple(sorted(found, key=lambda effect: (-effect.gain, -effect.loss)))
