"""Speed of a million pipelined estimates, as a ratio to one numpy pass of ``a + m/b`` over the same array.

Kernel with kernel, in one process, the two timed in turn; the median ratio of the rounds is what counts. Beside it stands
the ratio of the two best times, which favours the shorter one.
Run: python benchmarks/estimates.py
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from hopline.model import pipeline

COUNT = 1_000_000
ROUNDS = 21
HOPS = [(0.25e-6, 64e9), (2e-6, 25e9)]
LIMITS = {"equal": 10.0, "balanced": 25.0}


def seconds(work: Callable[[], object]) -> float:
    """Wall time of one call."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def main() -> None:
    """Print one row per kernel and kind of k."""
    random = np.random.default_rng(0)
    size = random.integers(1, 2**26, COUNT).astype(float)
    counts = {"k = 16": np.int64(16), "k per element": random.integers(1, 64, COUNT)}
    kernels = {"equal": pipeline.equal, "balanced": pipeline.balanced}
    print(f"{COUNT} two-hop estimates beside one numpy pass of a + m/b ({ROUNDS} rounds in turn)")
    print(f"{'split':<10}{'k':<16}{'pass':>10}{'hopline':>10}{'ratio':>8}{'of best':>9}{'limit':>8}")
    for name, kernel in kernels.items():
        for label, k in counts.items():
            pairs = []
            for _ in range(ROUNDS):
                base = seconds(lambda: 1e-6 + size / 64e9)
                pairs.append((base, seconds(lambda kernel=kernel, k=k: kernel(size, HOPS, k))))
            base, ours = (statistics.median(side) for side in zip(*pairs, strict=True))
            ratio = statistics.median(b / a for a, b in pairs)
            limit = LIMITS[name]
            best = min(b for _, b in pairs) / min(a for a, _ in pairs)
            print(
                f"{name:<10}{label:<16}{base * 1e3:>8.2f}ms{ours * 1e3:>8.2f}ms{ratio:>8.1f}{best:>9.1f}{limit:>8.0f}"
            )


if __name__ == "__main__":
    main()
