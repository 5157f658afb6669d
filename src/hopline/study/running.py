"""Running medians along a table, and how far its rows lie off their neighbours.

What belongs here: what is learnt of a row from the rows beside it. Rows are in order of size.
"""

from __future__ import annotations

import numpy as np

from hopline.curve import Floats

THREE = 3
"""Rows of a running median that one spike does not move."""
_NEARBY = 5
"""Rows of which the median variance stands for one of them."""
_NEIGHBOURS = 4
"""Rows on each side whose roughness is a row's own."""


def nearby(variance: Floats) -> Floats:
    """The running median of _NEARBY; of fewer at the ends."""
    half = _NEARBY // 2
    return np.array([float(np.median(variance[max(0, i - half) : i + half + 1])) for i in range(len(variance))])


def without_spikes(values: Floats) -> Floats:
    """The running median of THREE; the ends stay."""
    return np.concatenate([values[:1], _of_three(values), values[-1:]])


def steady(values: Floats) -> Floats:
    """The running median of THREE; at the ends that of the last three. Fewer values stay as they are."""
    if len(values) < THREE:
        return values
    inner = _of_three(values)
    return np.concatenate([inner[:1], inner, inner[-1:]])


def _of_three(values: Floats) -> Floats:
    return np.asarray(np.median(np.stack([values[:-2], values[1:-1], values[2:]]), axis=0))


def roughness(where: Floats, values: Floats) -> Floats:
    """Root mean square over _NEIGHBOURS of how far a row lies off the line between the two beside it, for its own noise."""
    weight = (where[1:-1] - where[:-2]) / (where[2:] - where[:-2])
    off = (values[1:-1] - (1 - weight) * values[:-2] - weight * values[2:]) ** 2 / 1.5
    padded = np.concatenate([off[:1], off, off[-1:]])
    sums = np.concatenate([[0.0], np.cumsum(padded)])
    index = np.arange(len(padded))
    first, after = np.maximum(index - _NEIGHBOURS, 0), np.minimum(index + _NEIGHBOURS + 1, len(padded))
    return np.asarray(np.sqrt(np.maximum(sums[after] - sums[first], 0.0) / (after - first)))
