"""How far collectives predicted from sends are off: python validation/collectives.py

One α-β line is fitted to vidur's send_recv on H100 (same node; relative least squares), and predicts all-reduces. Beside it
stand two naive ways by the same line:

- ring: 2(n-1) (α + m/(n β)), the plain α-β form of a ring, which pays the whole α of a send in each step;
- once: α + 2(n-1)/n m/β, which pays it once.

Calibration and check are apart. The model's relative ERROR is told from the all-reduces of NCCL 2.29.2 on 2, 4 and 8 H100
(aiconfigurator, launched so that no host is waited for). The host's time for a call is the median of the small
all-reduces on vidur's pairwise machine. The check is vidur's DGX (all-reduces of 2, 4 and 8 ranks), and the other
collectives of the NCCL tables. Sends between nodes have no collective here to be checked with.

Leaves with code 1 where the better naive way is not worse in mean error over the checked all-reduces, or where less than
85 % or more than 95 % of all checked points lie in their 90 % interval; for that a table of many sizes counts with LARGEST
of them, evenly spread over the logarithm of the size, so that the densest does not count for all.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from measured import SKIPPED, tables
from numpy.typing import NDArray

from hopline.curve import Curve, Floats
from hopline.model.library import ERROR, Sends, estimate, times
from hopline.study.calibrate import calibrate

SMALL = 1e5
COVERED = (0.85, 0.95)
EDGES = (0.0, 1e5, 1e6, 4e6, 16e6, np.inf)
LARGEST = 50

Points = tuple[Floats, Floats]
Way = Callable[[Floats, int, float, float], Floats]
NAIVE: dict[str, Way] = {
    "ring": lambda m, n, alpha, beta: 2 * (n - 1) * (alpha + m / n / beta),
    "once": lambda m, n, alpha, beta: alpha + 2 * (n - 1) / n * m / beta,
}
WAYS = ("ours", "no host", *NAIVE)
"""Ours with the host's time where one is known, and without."""


def published(machine: str, benchmark: str = "") -> dict[tuple[str, int, str], Points]:
    """(benchmark, ranks, variant) -> sizes and times of one machine's tables."""
    return {
        (t.benchmark, t.ranks, t.variant): (t.points.size, t.points.time)
        for t in tables()
        if t.machine == machine and benchmark in ("", t.benchmark)
    }


def line(points: Points) -> tuple[float, float]:
    """α and β by relative least squares."""
    piece = calibrate(*points, most_pieces=1).curve.pieces[0]
    return piece.latency, piece.bandwidth


def spread(size: Floats) -> NDArray[np.intp]:
    """Where at most LARGEST sizes stand that are nearest to evenly spread logarithms."""
    wanted = np.geomspace(size[0], size[-1], LARGEST)
    nearest = np.abs(np.log(size[None] / wanted[:, None])).argmin(axis=1)
    return np.unique(nearest) if len(size) > LARGEST else np.arange(len(size))


class Score:
    """What one table came to: mean errors by way, and the part of its points in the interval."""

    def __init__(self, title: str, benchmark: str, points: Points, ranks: int, sends: Sends) -> None:
        size, time = points
        assert sends.near is not None
        piece = sends.near.pieces[0]
        found = times(benchmark, size, ranks, sends)
        naive = NAIVE if benchmark == "all_reduce" else {}
        alone = times(benchmark, size, ranks, Sends(sends.near))
        ways = {"ours": found.time, "no host": alone.time} | {
            k: w(size, ranks, piece.latency, piece.bandwidth) for k, w in naive.items()
        }
        self.title = title
        self.error = {name: float(np.mean(np.abs(predicted / time - 1))) for name, predicted in ways.items()}
        some = spread(size)
        self.points = len(some)
        self.inside = int(np.sum((time[some] >= found.low[some]) & (time[some] <= found.high[some])))
        self.deviation = float(np.sqrt(np.mean(np.log(time / found.time) ** 2)))
        bins = [(size >= low) & (size < high) for low, high in pairwise(EDGES)]
        self.bias = [float(np.mean(found.time[b] / time[b] - 1)) if b.any() else float("nan") for b in bins]

    def show(self) -> None:
        """One printed line."""
        errors = " ".join(f"{100 * self.error[way]:6.1f} %" if way in self.error else " " * 8 for way in WAYS)
        biases = " ".join(f"{100 * bias:+6.0f} %" for bias in self.bias)
        print(f"{self.title:38} {errors}   {100 * self.inside / self.points:5.1f} %  {biases}")


def main() -> int:
    """Print the tables; the exit code."""
    sent = published("vidur-h100_dgx", "send_recv")
    if not sent:
        print(SKIPPED)
        return 0
    (near, beta), (far, rate) = (line(sent["send_recv", 2, f"{own} a node"]) for own in (2, 1))
    print(
        f"sends: {near * 1e6:.1f} us, {beta / 1e9:.1f} GB/s in a node; {far * 1e6:.1f} us, {rate / 1e9:.1f} GB/s between nodes"
    )
    device = Sends(Curve.line(near, beta))
    print(
        f"\n{'mean errors':38} {' '.join(f'{way:>8}' for way in WAYS)}   in 90 %  bias below 100 kB, 1 MB, 4 MB, 16 MB, above"
    )
    told = {
        key: Score(f"  {key[0]} {key[1]}", key[0], points, key[1], device)
        for key, points in sorted(published("h100_sxm").items())
        if key[2] == "half"
    }
    reduced = [score for (name, *_), score in told.items() if name == "all_reduce"]
    others = [score for (name, *_), score in told.items() if name != "all_reduce"]
    print("calibration: NCCL 2.29.2 on H100, no host")
    for score in reduced:
        score.show()
    deviation = float(np.sqrt(np.mean([score.deviation**2 for score in reduced])))
    print(f"  relative deviation {deviation:.3f}; the model's ERROR is {ERROR}")
    paired = published("vidur-h100_pairwise_nvlink")
    host = float(np.median(np.concatenate([time[size < SMALL] for size, time in paired.values()])))
    print(f"  host: {host * 1e6:.0f} us a call, the median of the small all-reduces on the pairwise machine")
    hosted = Sends(Curve.line(near, beta), host=host)
    print("shown only: other wires, whose sends were not measured")
    for (_, ranks, _), points in sorted(paired.items()):
        Score(f"  pairwise NVLink, all_reduce {ranks}", "all_reduce", points, ranks, hosted).show()
    print("check: NCCL 2.29.2 on H100, vidur's DGX")
    scores = [
        Score(f"  all_reduce {ranks}", "all_reduce", points, ranks, hosted)
        for (_, ranks, _), points in sorted(published("vidur-h100_dgx", "all_reduce").items())
    ]
    for score in [*others, *scores]:
        score.show()
    single_figures(near, beta, far, rate)
    return verdict(scores, others)


def single_figures(near: float, beta: float, far: float, rate: float) -> None:
    """The model against single published figures."""
    both = Sends(Curve.line(near, beta), Curve.line(far, rate), rails=8)
    print("\npublished                                   figure    ours")
    for title, size, ranks, per_node, figure in (
        ("H200, 8 ranks, all-reduce of 512 B", 512, 8, 8, 16.01e-6),
        ("H100, 8 ranks, all-reduce of 512 B", 512, 8, 8, 15.59e-6),
        ("H200, 8 ranks, all-reduce of 2 MiB", 2 << 20, 8, 8, 37.46e-6),
        ("H200, 8 ranks, all-reduce of 512 MiB", 512 << 20, 8, 8, 2040.31e-6),
        ("tuning.cc, 16 x 8 ranks, latency", 0, 128, 8, 55.2e-6),
    ):
        found = estimate("all_reduce", size, ranks, both, per_node)
        print(f"{title:40} {figure * 1e6:8.1f} {found.value * 1e6:8.1f} us  {found.name}")


def verdict(scores: list[Score], others: list[Score]) -> int:
    """1 and why, where the promise of this module's opening is broken."""
    mean = {way: float(np.mean([score.error[way] for score in scores])) for way in WAYS}
    inside = sum(s.inside for s in [*scores, *others]) / sum(s.points for s in [*scores, *others])
    means = ", ".join(f"{way} {100 * value:.1f} %" for way, value in mean.items())
    print(f"\ncheck: mean error {means}; {100 * inside:.1f} % of the points lie in the 90 % interval")
    wrong = []
    if not mean["ours"] < min(mean[way] for way in NAIVE):
        wrong.append("the best naive way is no worse")
    if not COVERED[0] <= inside <= COVERED[1]:
        wrong.append("the interval does not hold 85 to 95 % of the points")
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
