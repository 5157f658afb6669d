"""Ranks beyond a power of two, folded into their neighbours.

What belongs here: who takes part in algorithms that double distances, and how the others hand in and get back. Of N ranks
p = 2^floor(log2 N) are cores; the N - p others each stand behind one core, so that what a core stands for is contiguous
(as in R. Thakur, R. Rabenseifner and W. Gropp, IJHPCA 19, 2005).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hopline.schedule.drafting import Draft
from hopline.schedule.pieces import Ints


@dataclass(frozen=True, slots=True)
class Fold:
    """``cores``: ranks that take part, shape (p,). ``extras``: ranks that do not; the i-th stands behind the i-th core."""

    cores: Ints
    extras: Ints

    @property
    def hosts(self) -> Ints:
        """The cores of the extras, in their order."""
        return self.cores[: len(self.extras)]


def fold(ranks: int) -> Fold:
    """Core c is rank 2c and has rank 2c + 1 behind it, until the extras are used up."""
    cores = 1 << (ranks.bit_length() - 1)
    extras = ranks - cores
    number = np.arange(cores)
    return Fold(number + np.minimum(number, extras), 2 * np.arange(extras) + 1)


def hand_in(draft: Draft, folded: Fold, size: int) -> None:
    """One round, if there are extras: their cores add up what they have."""
    if len(folded.extras):
        draft.begin_round()
        draft.messages(folded.extras, folded.hosts, 0, size, into=1, reduce=True)


def hand_out(draft: Draft, folded: Fold, start: Ints | int, size: Ints | int) -> None:
    """One round, if there are extras: their cores send them ``size`` bytes from ``start`` on."""
    if len(folded.extras):
        draft.begin_round()
        draft.messages(folded.hosts, folded.extras, start, size)
