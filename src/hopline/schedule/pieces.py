"""Pieces of a message.

What belongs here: how bytes that do not divide are cut.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def split(size: int, parts: int) -> Ints:
    """Bounds of ``parts`` pieces of ``size`` bytes, shape (parts + 1,): the first ``size % parts`` are one byte larger."""
    each, larger = divmod(size, parts)
    number = np.arange(parts + 1, dtype=np.int64)
    return number * each + np.minimum(number, larger)


def bound(size: int, parts: int, number: int) -> int:
    """The one bound of ``split`` at which piece ``number`` begins."""
    each, larger = divmod(size, parts)
    return number * each + min(number, larger)


def cuts(size: int, chunks: int) -> int:
    """Chunks that ``size`` bytes are cut into when ``chunks`` are asked for: at most one a byte, at least one."""
    return min(chunks, max(1, size))


def overlaps(first: Ints, second: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """First byte and size of what two splits of one range share, and the piece of each that it is of, in order of bytes."""
    marks = np.unique(np.concatenate([first, second]))
    start = marks[:-1]
    ones, others = (np.searchsorted(bounds, start, side="right") - 1 for bounds in (first, second))
    return start, np.diff(marks), ones, others
