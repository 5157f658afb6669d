"""The bytes that real runs send, and the check of what arrived.

What belongs here: a pseudo-random pattern that both ranks know, and the first difference between two byte rows. One
random block is made once; the message of a burst is a window into it that starts at another page for every burst, rank
and size. So nothing is filled between bursts, and bytes left over from an earlier burst are not mistaken for new ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

PAGE = 4096
WINDOWS = 251
"""Windows before the pattern repeats: a prime, so that power-of-two sizes do not fall on the same ones."""
STRETCH = 2**20
"""Bytes compared at a time, so that a check needs no memory of the message's size."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first byte that is not as sent."""

    rank: int
    offset: int
    expected: int
    got: int


class Pattern:
    """A random block with windows of up to ``largest`` bytes; a larger one of the same seed begins with the same bytes."""

    def __init__(self, largest: int, seed: int) -> None:
        length = largest + WINDOWS * PAGE
        self.largest = largest
        self.block: Bytes = np.empty(length, dtype=np.uint8)
        for start in range(0, length, STRETCH):
            stretch = np.frombuffer(np.random.default_rng((seed, start)).bytes(STRETCH), dtype=np.uint8)
            self.block[start : start + STRETCH] = stretch[: length - start]

    def window(self, rank: int, size: int, iteration: int) -> Bytes:
        """The ``size`` bytes that ``rank`` sends in burst ``iteration``."""
        start = (2 * iteration + rank + size) % WINDOWS * PAGE
        return self.block[start : start + size]


def first_difference(rank: int, expected: Bytes, got: Bytes) -> Difference | None:
    """Where ``got``, which arrived at ``rank``, first differs from ``expected``; None where all bytes are the same."""
    for start in range(0, len(expected), STRETCH):
        sent, arrived = expected[start : start + STRETCH], got[start : start + STRETCH]
        if not np.array_equal(sent, arrived):
            at = int(np.flatnonzero(sent != arrived)[0])
            return Difference(rank, start + at, int(sent[at]), int(arrived[at]))
    return None
