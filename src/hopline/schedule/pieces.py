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
