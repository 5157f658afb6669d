"""How often `hopline diff` finds a change that is none, and misses one that is: python validation/diff.py

Two measurements are drawn 200 times: of the same thing, where a change may be told in at most 5 % (what may be chance of 200
draws is allowed for), and with one of them 10 % (or 20 %) slower, where 'slower' must come in at least 95 %.

Simulated repeats are log-normal, one in fifty of them three times as slow. Real ones are halves, drawn at random, of what
stands in ../shared beside the repository: 28 runs of one OSU benchmark; H100 sends and all-reduces whose sizes lie so close
together that neighbours are repeats once their trend is taken off; three runs of one nccl-tests table. Leaves with code 1
where a target is missed.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from hopline.jobs.fitting import read
from hopline.study.changes import Run, Side, compare

SHARED = Path(__file__).resolve().parents[2] / "shared"
DRAWS = 200
MOST_FALSE = 0.05 + 1.64 * math.sqrt(0.05 * 0.95 / DRAWS)
"""A true rate of 5 % stays below this in 95 of 100 such validations."""
LEAST_FOUND = 0.95
SIZES = [8.0 * 2**i for i in range(24)]
Draw = Callable[[np.random.Generator, float], tuple[Side, Side]]
"""(generator, factor of the second) -> both sides."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """Runs a side, repeats a run, spread of a repeat, of a run's level, and correlation of repeats that follow one another."""

    runs: tuple[int, int] = (1, 1)
    repeats: int = 20
    spread: float = 0.05
    level: float = 0.0
    together: float = 0.0
    outliers: float = 0.02

    def run(self, rng: np.random.Generator, factor: float) -> Run:
        """One run."""
        noise = rng.normal(0, 1, (len(SIZES), self.repeats))
        for i in range(1, self.repeats):
            noise[:, i] = self.together * noise[:, i - 1] + math.sqrt(1 - self.together**2) * noise[:, i]
        level = math.log(factor) + rng.normal(0, self.level)
        slow = np.where(rng.random(noise.shape) < self.outliers, math.log(3.0), 0.0)
        logs = np.log(5e-6 + np.array(SIZES) / 2e10)[:, None] + level + self.spread * noise + slow
        return {m: np.exp(row).tolist() for m, row in zip(SIZES, logs, strict=True)}

    def __call__(self, rng: np.random.Generator, factor: float) -> tuple[Side, Side]:
        """Both sides."""
        first, second = self.runs
        return Side([self.run(rng, 1.0) for _ in range(first)]), Side([self.run(rng, factor) for _ in range(second)])


@dataclass(frozen=True, slots=True)
class Halves:
    """Random groups of real runs."""

    runs: tuple[Run, ...]
    each: int

    def __call__(self, rng: np.random.Generator, factor: float) -> tuple[Side, Side]:
        """Both sides, of different runs."""
        order = [self.runs[int(i)] for i in rng.permutation(len(self.runs))[: 2 * self.each]]
        slower = [{m: [t * factor for t in times] for m, times in run.items()} for run in order[self.each :]]
        return Side(order[: self.each]), Side(slower)


@dataclass(frozen=True, slots=True)
class Split:
    """Random halves of the real repeats of each size."""

    repeats: Run

    def __call__(self, rng: np.random.Generator, factor: float) -> tuple[Side, Side]:
        """Both sides, one run each."""
        before, after = {}, {}
        for m, times in self.repeats.items():
            mixed = rng.permutation(np.asarray(times))
            half = len(mixed) // 2
            before[m], after[m] = mixed[:half].tolist(), (factor * mixed[half:]).tolist()
        return Side([before]), Side([after])


CASES: dict[str, tuple[Draw, tuple[float, ...]]] = {
    "1 run each of 5 repeats, 5 %": (Simulated(repeats=5), (1.1,)),
    "1 run each of 10 repeats, 8 %": (Simulated(repeats=10, spread=0.08), (1.1,)),
    "1 run each of 50 repeats, 9 %": (Simulated(repeats=50, spread=0.09), (1.1,)),
    "1 run each of 100, neighbours alike (0.5)": (Simulated(repeats=100, together=0.5), (1.1,)),
    "3 runs each of 10, levels 2 %": (Simulated((3, 3), 10, level=0.02), (1.15,)),
    "4 runs each of 10, levels 2 %": (Simulated((4, 4), 10, level=0.02), (1.1,)),
    "5 runs each of 10, levels 3 %": (Simulated((5, 5), 10, level=0.03), (1.1,)),
    "3 and 1 runs of 1, levels 1 %": (Simulated((3, 1), 1, 0.02, 0.01, outliers=0.0), (1.2,)),
    "3 runs each of 1, levels 2 %": (Simulated((3, 3), 1, 0.03, 0.02, outliers=0.005), (1.2,)),
    "1 number a size, 2 %": (Simulated(repeats=1, spread=0.02, outliers=0.005), (1.1,)),
    "1 number a size, 1 %": (Simulated(repeats=1, spread=0.01, outliers=0.0), (1.1,)),
}


def real() -> dict[str, tuple[Draw, tuple[float, ...]]]:
    """The cases that the shared data allow."""
    out: dict[str, tuple[Draw, tuple[float, ...]]] = {}
    osu = SHARED / "field/osu/omb5.8-combinations-many-tables.out"
    if osu.exists():
        for name in ("latency", "bw"):
            tables = [table for table in read(str(osu)).tables if table.benchmark == name]
            runs = tuple(
                {m: [t] for m, t in zip(table.size.tolist(), table.time.tolist(), strict=True)} for table in tables
            )
            out |= {f"OSU {name}: {n} runs each of {len(runs)}": (Halves(runs, n), ()) for n in (3, 14)}
    for name in ("all_reduce", "send_recv"):
        file = SHARED / f"measured/vidur-h100_dgx-{name}.csv"
        if file.exists():
            out[f"H100 {name}: neighbouring sizes as repeats"] = (Split(near_repeats(file, name)), (1.1,))
    return out


def near_repeats(file: Path, name: str, together: int = 40) -> Run:
    """Groups of neighbouring sizes of 2 ranks of a node, their straight trend in size taken off."""
    points = []
    with file.open(newline="") as text:
        for row in csv.DictReader(text):
            if row["num_workers"] == "2" and row["devices_per_node"] == "2":
                points.append((float(row["size"]), float(row[f"time_stats.{name}.median"]) * 1e-3))
    points.sort()
    out: dict[float, list[float]] = {}
    for start in range(0, len(points) - together + 1, together):
        size, time = np.array(points[start : start + together]).T
        slope, base = np.polyfit(size, time, 1)
        out[float(size[0])] = (time / (base + slope * size) * np.median(time)).tolist()
    return out


def rates(case: tuple[str, Draw, tuple[float, ...]]) -> tuple[str, str, list[str]]:
    """Name, the line of the table, and the targets missed."""
    name, draw, factors = case
    rng = np.random.default_rng([20240609, *name.encode()])
    found = [compare(*draw(rng, 1.0)) for _ in range(DRAWS)]
    false = sum(c.verdict not in ("noise", "cannot tell") for c in found) / DRAWS
    worse = sum(c.verdict == "slower" for c in found) / DRAWS
    missed = [f"{name}: {100 * false:.1f} % false"] if false > MOST_FALSE else []
    line = f"{name:48} {found[0].basis:8} {100 * false:6.1f} % {100 * worse:6.1f} %"
    for factor in factors:
        told = sum(compare(*draw(rng, factor)).verdict == "slower" for _ in range(DRAWS)) / DRAWS
        line += f"   +{100 * (factor - 1):.0f} %: {100 * told:5.1f} %"
        missed += [f"{name}: +{100 * (factor - 1):.0f} % found in {100 * told:.1f} %"] if told < LEAST_FOUND else []
    return name, line, missed


def three_runs() -> list[str]:
    """Three runs of one nccl-tests table, each held against the two others: none may differ for real."""
    file = SHARED / "field/nccl-tests/ebpf-allgather-3reps-default.txt"
    if not file.exists():
        return []
    runs = [
        {m: [t] for m, t in zip(table.size.tolist(), table.time.tolist(), strict=True)}
        for table in read(str(file)).tables
    ]
    missed = []
    for pair in combinations(range(3), 2):
        other = ({0, 1, 2} - set(pair)).pop()
        change = compare(Side([runs[i] for i in pair]), Side([runs[other]]))
        print(f"nccl-tests all_gather, runs {pair[0] + 1} and {pair[1] + 1} against {other + 1}: {change.verdict}")
        missed += [f"three runs: {change.verdict}"] if change.verdict not in ("noise", "cannot tell") else []
    return missed


def main() -> int:
    """Print the table; the exit code."""
    print(
        f"{DRAWS} draws each: any change told of the same thing (at most {100 * MOST_FALSE:.1f} %), of these 'slower';"
    )
    print(f"'slower' of a planted change (at least {100 * LEAST_FOUND:.0f} %)\n")
    print(f"{'':48} {'basis':8} {'false':>8} {'slower':>8}")
    cases = [(name, draw, factors) for name, (draw, factors) in {**CASES, **real()}.items()]
    missed: list[str] = []
    with ProcessPoolExecutor() as pool:
        for _, line, more in pool.map(rates, cases):
            print(line, flush=True)
            missed += more
    missed += three_runs()
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
