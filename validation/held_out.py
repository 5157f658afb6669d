"""Predictions of sizes that were left out of a table: python validation/held_out.py

Of every measured table 30 % of the inner sizes are left out, five times (numpy.random.default_rng(0..4)), and predicted
from the others: by hopline, by linear and by log-log interpolation between neighbours, and by α-β in one line and in
pieces. A table is well predicted where the mean error is within 5 % and the 95th percentile within 15 %. Leaves with
code 1 where that is so on fewer than 70 % of the tables, where hopline is above 1.2 times the better interpolation on
any, or where its 90 % intervals hold less than 85 % or more than 95 % of the points left out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from measured import SKIPPED, Measured, tables

from hopline.curve import Floats
from hopline.study.calibrate import calibrate
from hopline.study.points import Points
from hopline.study.predict import predict

SEEDS = range(5)
LEFT_OUT = 0.3
MEAN, WORST, ENOUGH = 0.05, 0.15, 0.70
BEHIND = 1.2
COVERED = (0.85, 0.95)


def linear(points: Points, size: Floats) -> Floats:
    """Straight lines between neighbours."""
    return np.interp(size, points.size, points.time)


def loglog(points: Points, size: Floats) -> Floats:
    """Straight lines between neighbours on logarithmic axes."""
    return np.asarray(np.exp(np.interp(np.log(size), np.log(points.size), np.log(points.time))))


def one_line(points: Points, size: Floats) -> Floats:
    """The α-β line of least relative squares."""
    return calibrate(points.size, points.time, most_pieces=1).curve.time(size)


def pieces(points: Points, size: Floats) -> Floats:
    """The α-β curve in pieces that `fit` shows."""
    return calibrate(points.size, points.time).curve.time(size)


PEERS: dict[str, Callable[[Points, Floats], Floats]] = {
    "linear": linear,
    "log-log": loglog,
    "one line": one_line,
    "pieces": pieces,
}


@dataclass(slots=True)
class Row:
    """One table: the errors of each way on all points left out, and which of them lie in hopline's interval."""

    title: str
    errors: dict[str, list[Floats]] = field(default_factory=dict)
    inside: list[Floats] = field(default_factory=list)

    def add(self, name: str, predicted: Floats, truth: Floats) -> None:
        """Take in the predictions of one split."""
        self.errors.setdefault(name, []).append(np.abs(predicted / truth - 1))

    def mean(self, name: str) -> float:
        """Mean relative error over all splits."""
        return float(np.concatenate(self.errors[name]).mean())

    def late(self, name: str) -> float:
        """Its 95th percentile."""
        return float(np.quantile(np.concatenate(self.errors[name]), 0.95))

    def good(self, name: str) -> bool:
        """Whether a table counts as well predicted."""
        return self.mean(name) <= MEAN and self.late(name) <= WORST

    @property
    def behind(self) -> float:
        """Mean error of hopline against that of the better interpolation."""
        return self.mean("hopline") / min(self.mean("linear"), self.mean("log-log"))

    @property
    def covered(self) -> float:
        """Fraction of points left out that lie in their interval."""
        return float(np.concatenate(self.inside).mean())


def splits(points: Points) -> Iterator[tuple[Points, Points]]:
    """(kept, left out) for each seed; the first and the last size are always kept."""
    inner = np.arange(1, len(points) - 1)
    for seed in SEEDS:
        out = np.zeros(len(points), dtype=bool)
        out[np.random.default_rng(seed).choice(inner, size=round(LEFT_OUT * len(inner)), replace=False)] = True
        yield points.take(~out), points.take(out)


def row_of(table: Measured) -> Row:
    """All splits of one table."""
    row = Row(table.title)
    for kept, out in splits(table.points):
        found = predict(kept, out.size)
        row.add("hopline", found.time, out.time)
        row.inside.append((out.time >= found.low) & (out.time <= found.high))
        for name, way in PEERS.items():
            row.add(name, way(kept, out.size), out.time)
    return row


def main() -> int:
    """Print the tables; the exit code."""
    rows = [row_of(table) for table in tables()]
    if not rows:
        print(SKIPPED)
        return 0
    ways = ["hopline", *PEERS]
    print(
        f"{'table: mean and 95th percentile of the error, %':52}"
        + "".join(f"{way:>14}" for way in ways)
        + "   in interval"
    )
    for row in rows:
        cells = "".join(f"{100 * row.mean(way):8.1f}{100 * row.late(way):6.0f}" for way in ways)
        print(f"{row.title:52}{cells}{100 * row.covered:11.0f} %" + ("  BEHIND" if row.behind > BEHIND else ""))
    for way in ways:
        good, mean = np.mean([row.good(way) for row in rows]), np.mean([row.mean(way) for row in rows])
        print(
            f"{way:10} within 5 % and 15 % on {100 * good:.0f} % of {len(rows)} tables; mean error {100 * mean:.2f} %"
        )
    pooled = float(np.concatenate([inside for row in rows for inside in row.inside]).mean())
    each = float(np.mean([row.covered for row in rows]))
    print(f"90 % intervals hold {100 * pooled:.1f} % of all points left out, {100 * each:.1f} % as a mean over tables")
    worst = max(rows, key=lambda row: row.behind)
    print(f"most behind the better interpolation: {worst.behind:.2f} times, {worst.title}")
    met = (
        np.mean([row.good("hopline") for row in rows]) >= ENOUGH,
        worst.behind <= BEHIND,
        COVERED[0] <= pooled <= COVERED[1],
    )
    if not all(met):
        print("a target is missed", file=sys.stderr)
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
