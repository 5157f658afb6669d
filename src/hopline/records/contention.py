"""Contention: how much longer work takes while something else is on, as traces show it.

What belongs here: the finding. How it is found is ``study/contention``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Slowdown:
    """Of kernels beside a transfer, or of transfers beside kernels.

    Attributes
    ----------
    what
        ``compute`` or ``communication``: what is slowed down.
    rank
        Number of the trace; None: all that no other entry names.
    factor
        By which it takes longer; 1 where there is no evidence of more.
    low, high
        Quartiles of the single pairs.
    pairs
        Pieces of work beside something of which the same was also seen alone.
    said
        What the factor stands on, in words.
    unpaired
        Why there are too few pairs to tell, in words; "" where there are enough.
    """

    what: str
    rank: int | None
    factor: float
    low: float
    high: float
    pairs: int
    said: str
    unpaired: str = ""
