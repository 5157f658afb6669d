"""Shapes to try an entry of COLLECTIVES on: every field that it reads takes several values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from hopline.schedule.collectives.table import COLLECTIVES, Collective
from hopline.schedule.shape import Shape

ENTRIES = tuple(COLLECTIVES.values())
MANY = 17
RANKS = (*range(1, MANY + 1), 32, 64)


def _nested(ranks: int) -> list[tuple[int, ...]]:
    """One level, two levels in both ways, and three where there are enough factors."""
    factors = [factor for factor in range(2, ranks) if ranks % factor == 0]
    two = [(factor, ranks // factor) for factor in (factors[:1] + factors[-1:])]
    three = [(2, 2, ranks // 4)] if ranks % 4 == 0 and ranks > 4 else []
    return [(), *dict.fromkeys(two), *three]


VALUES: dict[str, Callable[[int], Sequence[object]]] = {
    "chunks": lambda ranks: (1, 3, 8),
    "levels": _nested,
    "channels": lambda ranks: (1, 2, 3),
    "targets": lambda ranks: sorted({1, max(1, ranks // 2), max(1, ranks - 1)}),
}
"""Field of Shape -> what to try with so many ranks."""


def shapes(entry: Collective, ranks: int, size: int) -> Iterator[Shape]:
    """Every combination; with many ranks, only the last value of each."""
    tried = [VALUES[field](ranks)[-1 if ranks > MANY else 0 :] for field in entry.uses]
    for values in product(*tried):
        yield Shape(ranks, size, **dict(zip(entry.uses, values, strict=True)))
