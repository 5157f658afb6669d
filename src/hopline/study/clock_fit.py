"""Fits of clocks: what ends of collectives say about the clocks of the traces that have them.

What belongs here: blocks of collectives, medians within a block, least squares over blocks. What is made of them is
``study/clocks``.

In a block (all collectives that the same traces have) the ends are end[m, i] = c[m] + late[i] + noise; medians of rows and
columns in turn give ``late``, and what is left says how far one end is off. Blocks are brought together by least squares over
the graph that they make of the traces: the Laplacian of that graph, weighted, whose inverse holds the variances.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hopline.curve import Floats
from hopline.records.matched import Match
from hopline.records.trace import WAITS_FOR_ALL, Index, Nanoseconds
from hopline.study import chance

_USUAL = 5_000.0
"""Nanoseconds by which an end is off (standard deviation), before any was seen: ends of dlrm-8rank of PARAM agree within 7 us.
Counts as one meeting."""
_TURNS = 3
_ROBUST = 5
"""Meetings from which on the scale is that of the median."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Collectives that the same traces have.

    Attributes
    ----------
    traces
        Shape (k,).
    row
        Of the kernels in these traces, shape (n, k).
    """

    traces: Index
    row: Index


def blocks(matches: Sequence[Match]) -> list[Block]:
    """Collectives in which all wait for all and that at least two traces have, by these traces."""
    found: dict[bytes, list[Match]] = defaultdict(list)
    for match in matches:
        if match.op in WAITS_FOR_ALL and len(match.traces) > 1:
            found[match.traces.tobytes()].append(match)
    return [Block(group[0].traces, np.array([match.row for match in group], np.int32)) for group in found.values()]


def parts(found: Sequence[Block], count: int) -> Index:
    """Number of the part of each trace: traces that a chain of blocks joins have the same, counted by their first traces."""
    part = np.arange(count)
    for block in found:
        for other in np.unique(part[block.traces]):
            part[part == other] = part[block.traces].min()
    return np.unique(part, return_inverse=True)[1].astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Least squares over blocks: corrections of the offsets and what they are off by (standard deviation), nanoseconds."""

    correction: Floats
    deviation: Floats

    @classmethod
    def of(cls, found: Sequence[Block], ends: Sequence[Nanoseconds], offset: Nanoseconds, part: Index) -> Fit:
        """Fit all parts at once."""
        middles, noises = [], []
        for block in found:
            middle, rest = polish(ends_of(block, ends, offset))
            middles.append(middle)
            noises.append(_noise(rest))
        weights = [len(b.row) / (np.pi / 2 * float(np.mean(s**2))) for b, s in zip(found, noises, strict=True)]
        correction, variance = least_squares(found, middles, weights, part)
        return cls(correction, _deviation(found, middles, noises, correction, variance))


def ends_of(block: Block, ends: Sequence[Nanoseconds], offset: Nanoseconds) -> Floats:
    """Ends of a block on the common clock, beside those of its first trace, shape (n, k)."""
    last = np.stack([ends[t][block.row[:, k]] + offset[t] for k, t in enumerate(block.traces)], axis=1)
    return np.asarray(last - last[:, :1], np.float64)


def polish(ends: Floats) -> tuple[Floats, Floats]:
    """What each trace's ends are late by, (k,), by medians of rows and columns in turn, and what is left, (n, k)."""
    late = np.median(ends, axis=0)
    for _ in range(_TURNS):
        rows = np.median(ends - late, axis=1, keepdims=True)
        late = np.median(ends - rows, axis=0)
    return late, ends - rows - late


def _noise(rest: Floats) -> Floats:
    """Standard deviation of one end of each trace, with what is usual as one more meeting, shape (k,)."""
    n, k = rest.shape
    square = np.mean(rest**2, axis=0) if n < _ROBUST else (chance.MAD * np.median(np.abs(rest), axis=0)) ** 2
    return np.asarray(np.sqrt(_USUAL**2 / n + square * k / (k - 1)))


def least_squares(
    found: Sequence[Block], late: Sequence[Floats], weights: Sequence[float], part: Index
) -> tuple[Floats, Floats]:
    """Corrections that bring ``late`` to nothing, with the first of each part 0, and their variances about the part's mean."""
    size = len(part)
    laplacian, right = np.zeros((size, size)), np.zeros(size)
    for block, mean, weight in zip(found, late, weights, strict=True):
        at = np.ix_(block.traces, block.traces)
        laplacian[at] += weight * (np.eye(len(block.traces)) - 1 / len(block.traces))
        right[block.traces] -= weight * (mean - mean.mean())
    scale = max((float(w) for w in weights), default=1.0)
    same = (part[:, None] == part) / np.bincount(part)[part]
    inverse = np.linalg.inv(laplacian / scale + same)
    correction = inverse @ right / scale
    first = np.unique(part, return_index=True)[1]
    return correction - correction[first][part], (np.diag(inverse) - np.diag(same)).clip(min=0) / scale


def _deviation(
    found: Sequence[Block], late: Sequence[Floats], noises: Sequence[Floats], correction: Floats, variance: Floats
) -> Floats:
    """Standard deviation of each clock: of one end, of the fit, and what blocks disagree by."""
    total, count, closure = (np.zeros(len(correction)) for _ in range(3))
    for block, mean, noise in zip(found, late, noises, strict=True):
        total[block.traces] += len(block.row) * noise**2
        count[block.traces] += len(block.row)
        open_by = correction[block.traces] + mean
        closure[block.traces] = np.maximum(closure[block.traces], np.abs(open_by - open_by.mean()))
    return np.asarray(np.sqrt(total / np.maximum(count, 1) + variance + closure**2))
