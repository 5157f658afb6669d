"""Simulated tables: what times look like in truth, and what a benchmark would have measured of them."""

import numpy as np

from hopline.study.points import Points

DOUBLING = 2.0 ** np.arange(3, 27)
DENSE = np.unique(np.round(np.geomspace(8, 1 << 26, 90)))
TRUTHS = {
    "a line": lambda m: 5e-6 + m / 2e10,
    "two rates": lambda m: np.where(m < 16384, 2e-6 + m / 3e9, 6e-6 + m / 2e10),
    "a step": lambda m: np.where(m < 16384, 2e-6 + m / 2e10, 8e-6 + m / 2e10),
    "three pieces": lambda m: np.where(m < 4096, 1.5e-6 + m / 1e9, np.where(m < 1 << 18, 6e-6 + m / 8e9, 22e-6 + m / 2.5e10)),
    "no corners": lambda m: 3e-6 + 2e-2 * (m / 1e9) ** 0.8,
    "no growth": lambda m: 2e-5 + 0 * m,
}  # fmt: skip
"""Seconds against bytes, by name."""


def measured(truth, sizes, noise, rng):
    """Points of ``truth`` at ``sizes`` with log-normal noise."""
    return Points.of(sizes, truth(sizes) * rng.lognormal(0, noise, len(sizes)))


def between(sizes, count, rng):
    """So many sizes inside of the range of ``sizes``, spread evenly in log."""
    return np.exp(rng.uniform(np.log(sizes[0]), np.log(sizes[-1]), count))
