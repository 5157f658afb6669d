"""Ranks in nested groups: the place of each in its group, level by level.

What belongs here: arithmetic of ranks as numbers whose digits are places, the innermost level first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hopline.schedule.pieces import Ints


def spans(levels: Sequence[int]) -> Ints:
    """How many ranks a member of each level stands for, shape (levels,): (8, 2, 4) -> 1, 8, 16."""
    return np.cumprod(np.array([1, *levels], np.int64))[:-1]


def places(levels: Sequence[int]) -> Ints:
    """Place of each rank in its group, shape (levels, ranks)."""
    sizes = np.array(levels, np.int64)[:, None]
    number: Ints = np.arange(int(np.prod(sizes)), dtype=np.int64)
    return number // spans(levels)[:, None] % sizes


def neighbours(levels: Sequence[int], level: int, step: int = 1) -> Ints:
    """The rank that is ``step`` places further in the group of ``level``, round and round, shape (ranks,)."""
    place: Ints = places(levels)[level]
    further: Ints = (place + step) % levels[level] - place
    return np.arange(len(place), dtype=np.int64) + further * int(spans(levels)[level])
