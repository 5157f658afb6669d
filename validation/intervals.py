"""How often intervals hold what they claim: python validation/intervals.py

On made-up tables with a known truth: the intervals of start-up and bandwidth, those of measured sizes against a second run,
and how many healthy tables `check` would fail. On published tables, where they lie beside the project: sizes below the
measured range; the same operation of another data type; and the runs of one long OSU log against one another. Printed only:
what is asserted about intervals stands in held_out.py and beyond.py.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import numpy as np
from measured import SKIPPED, tables

from hopline.curve import Floats
from hopline.errors import HoplineError
from hopline.jobs.checking import TOLERANCE
from hopline.jobs.fitting import read
from hopline.study.beyond import COLLECTIVE
from hopline.study.calibrate import line_and_best
from hopline.study.points import Points
from hopline.study.predict import predict
from hopline.study.verdicts import judge

DRAWS = 200
SIZES = 2.0 ** np.arange(3, 28)
RUNS = Path(__file__).resolve().parents[2] / "shared/field/osu/omb5.8-combinations-many-tables.out"


def one_line(size: Floats) -> Floats:
    """5 us and 20 GB/s."""
    return 5e-6 + size / 20e9


def two_pieces(size: Floats) -> Floats:
    """3 us and 5 GB/s below 16 KiB, 9 us and 20 GB/s from there."""
    return np.where(size < 16384, 3e-6 + size / 5e9, 9e-6 + size / 20e9)


def held(truth: float, interval: tuple[float, float]) -> bool:
    """Whether an interval holds the truth."""
    return interval[0] <= truth <= interval[1]


def parameters() -> None:
    """Intervals of start-up and bandwidth."""
    rng = np.random.default_rng(1)
    for noise in (0.01, 0.03):
        lines, pieces = [], []
        for _ in range(DRAWS):
            fit, _ = line_and_best(SIZES, one_line(SIZES) * np.exp(noise * rng.standard_normal(len(SIZES))))
            latency, bandwidth = fit.intervals(0)
            lines.append((held(5e-6, latency), held(20e9, bandwidth)))
            _, best = line_and_best(SIZES, two_pieces(SIZES) * np.exp(noise * rng.standard_normal(len(SIZES))))
            for at, start, rate in ((0, 3e-6, 5e9), (-1, 9e-6, 20e9)):
                latency, bandwidth = best.intervals(at % len(best.curve.pieces))
                pieces.append((held(start, latency), held(rate, bandwidth)))
        for name, found in (("one line", lines), ("two pieces", pieces)):
            start, rate = 100 * np.mean(found, axis=0)
            print(f"parameters, {name}, noise {noise:.0%}: start-up held in {start:.0f} %, bandwidth in {rate:.0f} %")


def again() -> None:
    """A second run at the measured sizes, and what `check` says of it."""
    rng = np.random.default_rng(2)
    for noise, spikes in ((0.005, 0.0), (0.02, 0.0), (0.05, 0.0), (0.02, 0.03)):
        inside, failed = [], 0
        for _ in range(DRAWS):
            first, second = (one_line(SIZES) * drawn(noise, spikes, rng) for _ in range(2))
            found = predict(Points(SIZES, first), SIZES)
            inside.append(np.mean((second >= found.low) & (second <= found.high)))
            failed += any(v.outcome == "fail" for v in judge(SIZES, second, found, TOLERANCE))
        told = f"noise {noise:.1%}" + (f", {spikes:.0%} of the points up to twice too slow" if spikes else "")
        share = 100 * failed / DRAWS
        print(
            f"second run, {told}: {100 * np.mean(inside):.1f} % of the points held, check fails {share:.0f} % of the tables"
        )


def drawn(noise: float, spikes: float, rng: np.random.Generator) -> Floats:
    """Factors of one run."""
    slow = np.where(rng.random(len(SIZES)) < spikes, 1 + rng.random(len(SIZES)), 1.0)
    return np.asarray(slow * np.exp(noise * rng.standard_normal(len(SIZES))))


def below() -> None:
    """Sizes below the measured range."""
    for power in (10, 12, 14, 16, 18, 20, 22):
        inside = []
        for table in tables():
            kept = table.points.size >= 2**power
            known, rest = table.points.take(kept), table.points.take(~kept)
            if len(known) > 3 and len(rest):
                found = predict(known, rest.size, COLLECTIVE)
                inside.append(np.mean((rest.time >= found.low) & (rest.time <= found.high)))
        print(f"below {2**power >> 10} KiB: {100 * np.mean(inside):.0f} % held, a mean over {len(inside)} tables")


def other_types() -> None:
    """The same movement of bytes, measured apart with another data type."""
    found = {table.title: table for table in tables()}
    for title, table in found.items():
        other = found.get(title.replace("half", "int8"))
        if table.variant == "half" and other is not None and table.benchmark in ("all_gather", "alltoall"):
            both = other.points.take(np.isin(other.points.size, table.points.size))
            told = predict(table.points, both.size)
            inside = np.mean((both.time >= told.low) & (both.time <= told.high))
            print(f"{title} against int8: {100 * inside:.0f} % held")


def pairs(runs: list[tuple[Floats, Floats]]) -> Iterator[tuple[float, bool]]:
    """(share held, whether check fails) of each run against each other one."""
    for (size, time), (again_size, again_time) in permutations(runs, 2):
        if np.array_equal(size, again_size) and size.min() >= 0:
            told = predict(Points.of(size, time), again_size)
            inside = float(np.mean((again_time >= told.low) & (again_time <= told.high)))
            yield inside, any(v.outcome == "fail" for v in judge(again_size, again_time, told, TOLERANCE))


def real_runs() -> None:
    """The tables of one log (28 node pairs each way of measuring) against one another."""
    try:
        log = read(str(RUNS))
    except HoplineError:
        print(SKIPPED)
        return
    groups: dict[str, list[tuple[Floats, Floats]]] = defaultdict(list)
    for table in log.tables:
        groups[table.benchmark].append((table.size, table.time))
    for name, runs in groups.items():
        found = list(pairs(runs))
        inside, failed = (100 * float(np.mean(column)) for column in zip(*found, strict=True))
        print(f"osu {name}, {len(runs)} tables of other node pairs: {inside:.0f} % held, check fails {failed:.0f} %")


def main() -> int:
    """Print everything; the exit code."""
    parameters()
    again()
    if not any(True for _ in tables()):
        print(SKIPPED)
        return 0
    below()
    other_types()
    real_runs()
    return 0


if __name__ == "__main__":
    sys.exit(main())
