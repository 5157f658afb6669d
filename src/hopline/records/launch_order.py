"""Whether a GPU began its work in the order in which it was launched, as one hardware queue makes it.

What belongs here: the evidence. How it is found is ``study``.
"""

from __future__ import annotations

from dataclasses import dataclass

ENOUGH = 10
"""Pairs below which nothing is said."""
ALL = 0.95
"""Share of pairs in launch order that counts as all: clocks of host and GPU differ by a little."""


@dataclass(frozen=True, slots=True)
class LaunchOrder:
    """Pairs of a collective and other work, launched one after the other on different streams, the later before the earlier
    had begun: it could have gone first.

    Attributes
    ----------
    pairs
        How many there are.
    kept
        How many of them began in the order of their launches all the same.
    hidden
        Share of communication that went on beside other work.
    """

    pairs: int
    kept: int
    hidden: float

    @property
    def is_one_queue(self) -> bool:
        """All began in launch order and nothing went on side by side."""
        return self.pairs >= ENOUGH and self.kept >= ALL * self.pairs and self.hidden < 1 - ALL
