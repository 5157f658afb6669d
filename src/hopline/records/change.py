"""What changed between two measurements of the same thing: size by size, and as a whole.

What belongs here: the record of a comparison. Judging it is ``study/changes``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["slower", "faster", "small", "noise", "cannot tell"]
"""``small``: real, but less than what matters. ``noise``: not beyond what the measurement scatters by."""
Basis = Literal["runs", "repeats", "scatter", "nothing"]
"""What noise was learnt from: the spread of whole runs, repeats within one run each, the scatter of the ratio over sizes."""


@dataclass(frozen=True, slots=True)
class SizeChange:
    """One size.

    Attributes
    ----------
    size
        Bytes.
    before, after
        Typical seconds.
    ratio, low, high
        Time after over time before, with its interval; intervals hold for all sizes of the table together. They are
        infinite (0 and inf) where the repeats are too few to bound them.
    verdict
        See Verdict.
    """

    size: float
    before: float
    after: float
    ratio: float
    low: float
    high: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Change:
    """One table.

    Attributes
    ----------
    sizes
        The sizes that both have, in growing order.
    ratio, low, high, whole
        Mean change over all sizes, with its own interval and verdict; nan where it cannot be told.
    basis, said
        What the noise was learnt from, and in words.
    threshold
        Changes below this share do not matter.
    false_alarms
        Bound on the chance that any verdict of the table is wrong where nothing changed.
    only_before, only_after
        Sizes of one side only.
    notes
        What a reader should know.
    """

    sizes: tuple[SizeChange, ...]
    ratio: float
    low: float
    high: float
    whole: Verdict
    basis: Basis
    said: str
    threshold: float
    false_alarms: float
    only_before: tuple[float, ...] = ()
    only_after: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def sure(self) -> float:
        """The least level of the sizes' intervals, all of them together."""
        return 1 - self.false_alarms

    @property
    def verdict(self) -> Verdict:
        """Of the table: slower where anything is, then faster; what is real outweighs what is not."""
        verdicts = {self.whole, *(s.verdict for s in self.sizes)}
        order: tuple[Verdict, ...] = ("slower", "faster", "small", "noise")
        return next((v for v in order if v in verdicts), "cannot tell")

    def of(self, verdict: Verdict) -> tuple[SizeChange, ...]:
        """The sizes of one verdict."""
        return tuple(s for s in self.sizes if s.verdict == verdict)
