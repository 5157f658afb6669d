"""Drawn times of all pairs of ranks, with causes planted."""

from __future__ import annotations

import numpy as np

from hopline.records.pairs import Kind

Plant = tuple[Kind, tuple[int, ...], float]
CELLS = {
    "rank": lambda i, j: [(i, slice(None)), (slice(None), i)],
    "sender": lambda i, j: [(i, slice(None))],
    "receiver": lambda i, j: [(slice(None), i)],
    "pair": lambda i, j: [(i, j), (j, i)],
    "direction": lambda i, j: [(i, j)],
}


def pairs_drawn(
    seed: int,
    *plants: Plant,
    n: int = 8,
    repeats: int = 10,
    sigma: float = 0.05,
    outliers: float = 0.02,
    hosts: int = 0,
) -> dict[tuple[int, int], list[float]]:
    """Log-normal repeats with outliers of 3 times; pairs differ by 1.5 %, ranks by 1 %; across ``hosts`` 3 times slower."""
    rng = np.random.default_rng(seed)
    level = np.log(2e-6) + rng.normal(0, 0.01, n)[:, None] + rng.normal(0, 0.01, n) + rng.normal(0, 0.015, (n, n))
    if hosts:
        home = np.arange(n) // hosts
        level = level + np.log(3) * (home[:, None] != home)
    for kind, ranks, factor in plants:
        for cell in CELLS[kind](ranks[0], ranks[-1]):
            level[cell] += np.log(factor)
    shape = (n, n, repeats)
    slow = np.where(rng.random(shape) < outliers, np.log(3.0), 0.0)
    times = np.exp(level[..., None] + rng.normal(0, sigma, shape) + slow)
    return {(i, j): times[i, j].tolist() for i in range(n) for j in range(n) if i != j}
