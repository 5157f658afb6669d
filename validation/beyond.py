"""Predictions beyond the measured sizes: python validation/beyond.py

Every measured table is cut at 1 MiB (and, to see where extrapolation begins to be worth something, at 256 KiB, 4 MiB and
16 MiB); all larger sizes, up to 512 MiB, are predicted. Beside it stands the naive way, one α-β line of least relative squares
through what is left. A table counts with at most MOST of its points. Leaves with code 1 where, cut at 1 MiB, the mean
error is not below the naive one's, or the 90 % intervals hold less than 85 % or more than 95 % of the points.
"""

from __future__ import annotations

import sys

import numpy as np
from held_out import one_line
from measured import SKIPPED, Measured, tables

from hopline.curve import Floats
from hopline.jobs.predictions import growth
from hopline.study.points import Points
from hopline.study.predict import predict

CUT = 1 << 20
CUTS = (1 << 18, CUT, 1 << 22, 1 << 24)
MOST = 12
FEWEST = 6
COVERED = (0.85, 0.95)


def errors(table: Measured, cut: int) -> tuple[Floats, Floats, Floats] | None:
    """(hopline's relative errors, the naive ones, whether each point lies in its interval) above ``cut``."""
    inside = table.points.size <= cut
    known, rest = table.points.take(inside), table.points.take(~inside)
    if len(known) < FEWEST or not len(rest):
        return None
    kept = np.unique(np.linspace(0, len(rest) - 1, min(MOST, len(rest))).astype(int))
    truth = Points(rest.size[kept], rest.time[kept])
    found = predict(known, truth.size, growth(table.benchmark.replace("send_recv", "sendrecv")))
    naive = one_line(known, truth.size)
    held = (truth.time >= found.low) & (truth.time <= found.high)
    return found.time / truth.time - 1, naive / truth.time - 1, held.astype(float)


def main() -> int:
    """Print the errors; the exit code."""
    measured = list(tables())
    if not measured:
        print(SKIPPED)
        return 0
    met = False
    titles = ("known up to", "tables", "mean error", "naive", "at the largest", "naive", "in interval")
    print(" ".join(f"{title:>{width}}" for title, width in zip(titles, (12, 7, 11, 8, 15, 8, 12), strict=True)))
    for cut in CUTS:
        found = [result for table in measured if (result := errors(table, cut)) is not None]
        ours, naive = (float(np.mean([np.abs(row[i]).mean() for row in found])) for i in (0, 1))
        far, far_naive = (float(np.mean([abs(row[i][-1]) for row in found])) for i in (0, 1))
        held = float(np.concatenate([row[2] for row in found]).mean())
        print(
            f"{cut >> 10:8} KiB {len(found):7} {100 * ours:9.0f} % {100 * naive:6.0f} % {100 * far:13.0f} % "
            f"{100 * far_naive:6.0f} % {100 * held:10.1f} %"
        )
        if cut == CUT:
            met = ours < naive and COVERED[0] <= held <= COVERED[1]
    if not met:
        print("a target is missed", file=sys.stderr)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
