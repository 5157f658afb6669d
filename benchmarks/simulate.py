"""A ring all-reduce of 192 MiB, message by message: time to build and to simulate it, whole processes, SimGrid beside them.

Every run is a process of its own, so that peak memory is that of the run. The processes take turns, and medians count. A whole
process starts Python, imports hopline, builds the schedule and simulates it; SimGrid's reads four numbers and does the same.
SimGrid is compiled from simgrid_ring.cpp where g++ and libsimgrid are installed. Run: python benchmarks/simulate.py
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RANKS = {16: 7579.7472, 64: 8053.23456, 256: 8531.6064, 1024: 10091.19936}
"""Ranks, and the exact answer in µs: 2 (N - 1) rounds of α + piece / β, with the pieces as whole bytes."""
SIZE, LATENCY, BANDWIDTH = 192 * 2**20, 1e-6, 50e9
ROUNDS = 5
WAYS = ("reference", "in order", "events")
MOST_FOR_REFERENCE = 64
TARGET = {"messages/s in order": 10e6, "messages/s events": 3e6, "SimGrid / hopline, whole": 4.0, "MB": 600.0}
SETUP = f"""
import json, resource, sys, time
from hopline.curve import Curve
from hopline.machine.fabric import Levels
from hopline.schedule.collectives.table import find
from hopline.schedule.shape import Shape
from hopline.sim.engine import simulate
ranks, way = int(sys.argv[1]), sys.argv[2] or None
begin = time.perf_counter()
schedule = find("all_reduce-ring").build(Shape(ranks, {SIZE}))
built = time.perf_counter()
fabric = Levels.uniform(ranks, Curve.line({LATENCY}, {BANDWIDTH}))
"""
WHOLE = (
    SETUP
    + """
timeline = simulate(schedule, fabric, way=way)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"us": timeline.ticks / 1e6, "way": timeline.engine, "build": built - begin, "MB": peak}))
"""
)
KERNEL = (
    SETUP
    + """
from hopline.schedule.matching import match
from hopline.sim.arrays import tasks
from hopline.sim.engine import ENGINES
work = tasks(schedule, fabric, match(schedule), 0, False)
times = []
for _ in range(4):
    begin = time.perf_counter()
    ENGINES[way](work)
    times.append(time.perf_counter() - begin)
begin = time.perf_counter()
timeline = simulate(schedule, fabric, way=way)
whole = time.perf_counter() - begin
print(json.dumps({"kernel": min(times[1:]), "simulate": whole, "messages": timeline.messages, "us": timeline.ticks / 1e6}))
"""
)


def run(command: list[str]) -> tuple[str, float]:
    """What a process prints last, and its wall time."""
    begin = time.perf_counter()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip().splitlines()[-1], time.perf_counter() - begin


def python(script: str, ranks: int, way: str) -> tuple[dict[str, float], float]:
    """The figures that a script prints; its answer must be exact."""
    out, seconds = run([sys.executable, "-c", script, str(ranks), way])
    figures = json.loads(out)
    assert figures["us"] == RANKS[ranks], (ranks, way, figures["us"])
    return figures, seconds


def simgrid(folder: Path) -> Path | str:
    """The peer, compiled; or why there is none."""
    source = Path(__file__).with_name("simgrid_ring.cpp")
    command = ["g++", "-O3", "-std=c++17", str(source), "-lsimgrid", "-o", str(folder / "ring")]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    except FileNotFoundError:
        return "there is no g++"
    if done.returncode:
        return f"g++ cannot compile simgrid_ring.cpp: {done.stderr.strip().splitlines()[0]}"
    return folder / "ring"


def peer(program: Path, ranks: int) -> float:
    """Wall time of SimGrid; its answer must be the same to a part in 10^9."""
    out, seconds = run([str(program), str(ranks), str(SIZE), str(LATENCY), str(BANDWIDTH)])
    assert abs(float(out) * 1e6 / RANKS[ranks] - 1) < 1e-9, out
    return seconds


def kernels() -> None:
    """Speed of each way, the process warm."""
    print(f"{'ranks':>6}{'way':>12}{'kernel':>10}{'messages/s':>12}{'simulate':>10}")
    for ranks in RANKS:
        for way in WAYS if ranks <= MOST_FOR_REFERENCE else WAYS[1:]:
            python(KERNEL, ranks, way)
            runs = [python(KERNEL, ranks, way)[0] for _ in range(3)]
            kernel, whole = (statistics.median(figures[name] for figures in runs) for name in ("kernel", "simulate"))
            rate = runs[0]["messages"] / kernel / 1e6
            print(f"{ranks:>6}{way:>12}{kernel * 1e3:>8.1f}ms{rate:>10.1f} M{whole * 1e3:>8.1f}ms", flush=True)


def whole(program: Path | str) -> None:
    """Whole processes, in turn with SimGrid's."""
    print(f"{'ranks':>6}{'way':>12}{'build':>10}{'process':>10}{'peak':>9}{'SimGrid':>10}{'ratio':>8}")
    for ranks in RANKS:
        runs, peers = [], []
        for _ in range(ROUNDS):
            runs.append(python(WHOLE, ranks, ""))
            peers += [peer(program, ranks)] if isinstance(program, Path) else []
        build, peak = (statistics.median(figures[name] for figures, _ in runs) for name in ("build", "MB"))
        process = statistics.median(seconds for _, seconds in runs)
        theirs = f"{statistics.median(peers):>9.2f}s" if peers else f"{'-':>10}"
        ratio = f"{statistics.median(b / a for (_, a), b in zip(runs, peers, strict=True)):>8.1f}" if peers else ""
        way = runs[0][0]["way"]
        print(f"{ranks:>6}{way:>12}{build * 1e3:>8.1f}ms{process:>9.2f}s{peak:>6.0f} MB{theirs}{ratio}", flush=True)


def main() -> None:
    """Print both tables."""
    print(f"Ring all-reduce of {SIZE >> 20} MiB, α = 1 µs, 50 GB/s; {os.cpu_count()} processors; medians of {ROUNDS}")
    print("Targets: " + ", ".join(f"{name} {value:g}" for name, value in TARGET.items()))
    kernels()
    with tempfile.TemporaryDirectory() as folder:
        program = simgrid(Path(folder))
        if isinstance(program, str):
            print(f"without SimGrid: {program}")
        whole(program)


if __name__ == "__main__":
    main()
