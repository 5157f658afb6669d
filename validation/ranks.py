"""How far predictions of another number of ranks are off: python validation/ranks.py

The published NCCL tables of ../shared/measured, where they stand beside the repository: the tables of some rank counts are
given, those of another count are predicted. Beside it stand three naive ways by α-β lines:

- steps: one line through all given counts, t = α p(n) + f(n) m/β, with p the steps of a ring and f the busbw factor;
- line: the line t = α + m/β of the nearest count, its α times p(n)/p(k) and its 1/β times f(n)/f(k);
- lines: a line for each given count, α straight in p(n), 1/β straight in f(n) (one count: as "line").

All lines are relative least squares. Leaves with code 1 where the best naive way is not worse in mean error over all tables
of two given counts, or where less than 85 % or more than 95 % of the points lie in their 90 % interval. A table counts with
one in LARGEST of its points where it has many sizes, so that the densest does not count for all.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from measured import SKIPPED, tables

from hopline.curve import Floats
from hopline.study.calibrate import calibrate
from hopline.study.ranks import BENCHMARKS, predict

TASKS = (((2, 4), 8), ((2, 8), 4), ((4, 8), 2), ((2,), 4), ((2,), 8), ((4,), 8), ((4,), 2))
LARGEST = 50
COVERED = (0.85, 0.95)

Points = tuple[Floats, Floats]
Known = Mapping[int, Points]
Line = tuple[float, float]
"""α in s and 1/β in s/byte."""


@dataclass(frozen=True, slots=True)
class Group:
    """One collective of one machine: number of ranks -> its points."""

    machine: str
    benchmark: str
    title: str
    counts: Known


def groups() -> list[Group]:
    """The tables whose counts are one machine's. Pairwise NVLink is left out: from 2 to 4 ranks its wires change."""
    found: dict[tuple[str, str, str], dict[int, Points]] = defaultdict(dict)
    for table in tables():
        if table.benchmark in BENCHMARKS and "pairwise" not in table.machine:
            variant = table.variant if "a node" not in table.variant else ""
            found[table.machine, table.benchmark, variant][table.ranks] = table.points.size, table.points.time
    return [Group(machine, name, f"{machine} {name} {kind}", counts) for (machine, name, kind), counts in found.items()]


# --- the naive ways -------------------------------------------------------------------------------------------------


def by_steps(known: Known, ranks: int, benchmark: str, size: Floats) -> Floats:
    """One line through all counts: in units of a count's steps, t/p = α + (f/p) m/β is a line in (f/p) m."""
    p, f = ring(benchmark), BENCHMARKS[benchmark][1]
    per_step = [(f(n) / p(n) * m, t / p(n)) for n, (m, t) in known.items()]
    alpha, slope = line((np.concatenate([m for m, _ in per_step]), np.concatenate([t for _, t in per_step])))
    return alpha * p(ranks) + slope * f(ranks) * size


def by_line(known: Known, ranks: int, benchmark: str, size: Floats) -> Floats:
    """The nearest count's line, scaled."""
    p, f = ring(benchmark), BENCHMARKS[benchmark][1]
    near = min(known, key=lambda n: (abs(np.log(n / ranks)), n))
    alpha, slope = line(known[near])
    return alpha * p(ranks) / p(near) + slope * f(ranks) / f(near) * size


def by_lines(known: Known, ranks: int, benchmark: str, size: Floats) -> Floats:
    """A line for each count, both of its numbers straight in theirs; no less than nothing."""
    if len(known) < 2:
        return by_line(known, ranks, benchmark, size)
    p, f = ring(benchmark), BENCHMARKS[benchmark][1]
    alphas, slopes = zip(*(line(points) for points in known.values()), strict=True)
    alpha = float(np.polyval(np.polyfit([p(n) for n in known], alphas, 1), p(ranks)))
    slope = float(np.polyval(np.polyfit([f(n) for n in known], slopes, 1), f(ranks)))
    return max(alpha, 0.0) + max(slope, 0.0) * size


NAIVE: dict[str, Callable[[Known, int, str, Floats], Floats]] = {"steps": by_steps, "line": by_line, "lines": by_lines}


def ring(benchmark: str) -> Callable[[int], float]:
    """Steps of a ring, and of an all-to-all in rounds."""
    rounds = 2 if benchmark == "all_reduce" else 1
    return lambda n: rounds * (n - 1.0)


def line(points: Points) -> Line:
    """The α-β line by relative least squares."""
    piece = calibrate(*points, most_pieces=1).curve.pieces[0]
    return piece.latency, 1 / piece.bandwidth


# --- the comparison -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """One table that was predicted: mean errors (ours and the naive ones), points inside of the interval, points."""

    machine: str
    given: tuple[int, ...]
    error: float
    naive: dict[str, float]
    inside: int
    points: int
    width: float


def compare(group: Group, given: tuple[int, ...], ranks: int) -> Row:
    """Predict one table."""
    known = {n: group.counts[n] for n in given}
    size, time = group.counts[ranks]
    low, high = max(m[0] for m, _ in known.values()), min(m[-1] for m, _ in known.values())
    reached = np.flatnonzero((size >= low) & (size <= high))
    size, time = (column[reached[:: -(-len(reached) // LARGEST)]] for column in (size, time))
    found = predict(known, ranks, group.benchmark, size)
    naive = {name: mean_error(way(known, ranks, group.benchmark, size), time) for name, way in NAIVE.items()}
    inside = int(np.sum((time >= found.low) & (time <= found.high)))
    width = float(np.median(found.high / found.time))
    return Row(group.machine, given, mean_error(found.time, time), naive, inside, len(size), width)


def mean_error(predicted: Floats, time: Floats) -> float:
    """Mean of |predicted / measured - 1|."""
    return float(np.mean(np.abs(predicted / time - 1)))


def show(name: str, found: list[Row]) -> None:
    """One printed line: means over tables, the interval's share over points."""
    ways = "  ".join(f"{100 * np.mean([row.naive[way] for row in found]):6.1f} %" for way in NAIVE)
    inside = sum(row.inside for row in found) / sum(row.points for row in found)
    error, width = np.mean([row.error for row in found]), np.median([row.width for row in found])
    print(f"{name:34} {len(found):6}  {100 * error:6.1f} %  {ways}  {100 * inside:8.1f} %  x/ {width:.2f}")


def main() -> int:
    """Print the table; the exit code."""
    every = groups()
    if not every:
        print(SKIPPED)
        return 0
    print(
        f"{'given ranks -> predicted':34} {'tables':>6}  {'ours':>8}  {'  '.join(f'{n:>8}' for n in NAIVE)}  in 90 %  interval"
    )
    found: list[Row] = []
    for given, ranks in TASKS:
        some = [compare(g, given, ranks) for g in every if {*given, ranks} <= g.counts.keys()]
        show(f"{' and '.join(map(str, given))} -> {ranks}", some)
        found += some
    for machine in dict.fromkeys(group.machine for group in every):
        for many, told in ((True, "two counts given"), (False, "one count given")):
            some = [row for row in found if row.machine == machine and (len(row.given) > 1) == many]
            if some:
                show(f"{machine}, {told}", some)
    show("all", found)
    return verdict(found)


def verdict(found: list[Row]) -> int:
    """1 and why, where the promise of this module's opening is broken."""
    two = [row for row in found if len(row.given) > 1]
    ours, naive = np.mean([row.error for row in two]), min(np.mean([row.naive[way] for row in two]) for way in NAIVE)
    inside = sum(row.inside for row in found) / sum(row.points for row in found)
    wrong = []
    if not ours < naive:
        wrong.append(f"mean error {100 * ours:.1f} %, the best naive way has {100 * naive:.1f} %")
    if not COVERED[0] <= inside <= COVERED[1]:
        wrong.append(f"{100 * inside:.1f} % of the points lie in their 90 % interval")
    print(f"two counts given: {100 * ours:.1f} % against {100 * naive:.1f} % of the best naive way")
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
