"""Steps compared with one another.

What belongs here: the record. How steps are compared is ``study/step_spans``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StepComparison:
    """How steps differ, in nanoseconds.

    Attributes
    ----------
    steps
        How many there are.
    median, shortest, longest
        Times of steps.
    slowest
        Number of the longest step.
    trace
        Number of the trace whose part grew most in the slowest step; None where no GPU was seen.
    more
        By how much each part of that trace's time in the slowest step is above its median over the steps: ``compute``,
        ``exposed``, ``idle``; they add up to the difference from the step that has all medians, not from the median step.
    """

    steps: int
    median: int
    shortest: int
    longest: int
    slowest: int
    trace: int | None
    more: dict[str, int]

    @property
    def variation(self) -> float:
        """(longest - shortest) / median."""
        return (self.longest - self.shortest) / self.median if self.median else 0.0

    @property
    def due(self) -> str | None:
        """The part that grew most in the slowest step; None where none grew."""
        part = max(self.more, key=lambda name: self.more[name], default=None)
        return part if part is not None and self.more[part] > 0 else None
