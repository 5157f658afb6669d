"""All-to-all on a fat tree, all flows at once: our kernel beside SimGrid, answers, peak memory; whole processes beside.

Like against like: our compiled code warm, against SimGrid's process less an empty run of it (the same network, no flows).
Every run is a process of its own, so that peak memory is that of the run; they take turns, and medians count. SimGrid is
compiled from simgrid_flows.cpp where g++ and libsimgrid are installed. Sizes are 1 MiB, or unequal: drawn evenly from 0.5 to
1.5 MiB by a seeded generator, or read from alltoall-HOSTS-unequal.csv (src,dst,bytes of every pair) of the folder FOLDER.
Run: python benchmarks/flows.py [FOLDER]
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
from random import Random
from typing import Any

import numpy as np

from hopline.machine.families.table import generate
from hopline.machine.wires import Wires

MIB = 1 << 20
TREES = {64: "leaves=8,hosts=8,spines=4", 256: "leaves=16,hosts=16,spines=8"}
HOP = ",latency=0.5us"
CASES = (
    (64, "equal", HOP, 5),
    (64, "unequal", "", 5),
    (64, "unequal", HOP, 5),
    (256, "equal", HOP, 5),
    (256, "unequal", "", 1),
)
"""Hosts, sizes, latency of a hop, and how often the processes take turns."""
TOO_LONG = ((256, "unequal", ""),)
"""What SimGrid was not through with in 400 s: it is not asked."""
TARGETS = "SimGrid / kernel 10 on unequal 64, 1 on equal; unequal 256 within 60 s (aim 20 s) and 1024 MB"
SCRIPT = """
import json, resource, sys, time
from hopline.jobs.schedules import read
from hopline.machine.families.table import generate
from hopline.machine.wires import Wires
from hopline.sim.flows import ENGINES, simulate_flows
file, spec, warm = sys.argv[1], sys.argv[2], sys.argv[3] == "warm"
schedule, machine = read(file, None).schedule, generate(spec)
wires = Wires(machine, [f"host{i}" for i in range(schedule.ranks)], "d-mod-k")
begin = time.perf_counter()
if warm:
    from hopline.schedule.collectives.table import find
    from hopline.schedule.matching import match
    from hopline.schedule.shape import Shape
    from hopline.sim.flows_arrays import load
    simulate_flows(find("alltoall-pairwise").build(Shape(schedule.ranks, 1 << 20)), wires, way="events")
    work = load(schedule, wires, match(schedule), 0, "max-min")
    begin = time.perf_counter()
    outcome = ENGINES["events"](work, False, None)
    ticks, solves = int(outcome.end.max()), outcome.solves
else:
    found = simulate_flows(schedule, wires)
    ticks, solves = found.timeline.ticks, found.solves
seconds = time.perf_counter() - begin
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"us": ticks / 1e6, "kernel": seconds, "MB": peak, "solves": solves}))
"""
Flow = tuple[int, int, int]


def flows(hosts: int, sizes: str, folder: Path | None) -> list[Flow]:
    """(sender, receiver, bytes) of every pair."""
    if folder is not None and sizes == "unequal":
        lines = (folder / f"alltoall-{hosts}-unequal.csv").read_text().splitlines()[1:]
        return [(int(a), int(b), int(size)) for a, b, size in (line.split(",") for line in lines)]
    random = Random(hosts)
    least, most = (MIB, MIB) if sizes == "equal" else (MIB // 2, 3 * MIB // 2)
    return [(a, b, random.randint(least, most)) for a in range(hosts) for b in range(hosts) if a != b]


def network(spec: str, hosts: int, moved: list[Flow]) -> tuple[str, str]:
    """What simgrid_flows reads: with these flows, and with none."""
    wires = Wires(generate(spec), [f"host{i}" for i in range(hosts)], "d-mod-k")
    sender, receiver = (np.array([flow[i] for flow in moved], np.int32) for i in (0, 1))
    routes = wires.routes(sender, receiver, np.zeros(len(moved), np.int32))
    latency = float(routes.latency.max() / np.diff(routes.start).max())
    links = [f"{capacity!r} {latency!r}" for capacity in wires.capacity.tolist()]
    lines = [
        f"{a} {b} {size} {high - low} " + " ".join(map(str, routes.resource[low:high].tolist()))
        for (a, b, size), low, high in zip(moved, routes.start[:-1].tolist(), routes.start[1:].tolist(), strict=True)
    ]
    head = f"{hosts} {len(links)}"
    return "\n".join([f"{head} {len(lines)}", *links, *lines, ""]), "\n".join([f"{head} 0", *links, ""])


def run(command: list[str], text: str = "") -> tuple[str, float]:
    """What a process prints last, and its wall time."""
    begin = time.perf_counter()
    done = subprocess.run(command, check=True, input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip().splitlines()[-1], time.perf_counter() - begin


def python(file: Path, spec: str, way: str) -> dict[str, Any]:
    """What SCRIPT prints, and the wall time of its process."""
    out, seconds = run([sys.executable, "-c", SCRIPT, str(file), spec, way])
    figures: dict[str, Any] = json.loads(out)
    return {**figures, "process": seconds}


def compiled(folder: Path) -> Path | str:
    """SimGrid's program; or why there is none."""
    source = Path(__file__).with_name("simgrid_flows.cpp")
    command = ["g++", "-O3", "-std=c++17", str(source), "-lsimgrid", "-o", str(folder / "flows")]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    except FileNotFoundError:
        return "there is no g++"
    if done.returncode:
        return f"g++ cannot compile simgrid_flows.cpp: {done.stderr.strip().splitlines()[0]}"
    return folder / "flows"


def case(hosts: int, sizes: str, hop: str, turns: int, program: Path | str, folder: Path, given: Path | None) -> str:
    """One row of the table."""
    moved, spec = flows(hosts, sizes, given), f"fat-tree:{TREES[hosts]},rate=50GB/s{hop}"
    file = folder / "flows.csv"
    file.write_text("\n".join(["src,dst,bytes", *(",".join(map(str, flow)) for flow in moved), ""]))
    asked = isinstance(program, Path) and (hosts, sizes, hop) not in TOO_LONG
    full, empty = network(spec, hosts, moved) if asked else ("", "")
    warm, cold, theirs, answers = [], [], [], []
    for _ in range(turns):
        warm.append(python(file, spec, "warm"))
        cold.append(python(file, spec, "cold"))
        if asked:
            (answer, seconds), (_, nothing) = run([str(program)], full), run([str(program)], empty)
            theirs.append((seconds, seconds - nothing))
            answers.append(float(answer) * 1e6)
    return _row(f"{sizes} {hosts}{', 0.5 us a hop' if hop else ''}", warm, cold, theirs, answers)


def updates(program: Path, given: Path | None) -> str:
    """What SimGrid's two ways of updating make of one question, and the least that the fullest link needs.

    Links of a route stand in the order host out, host in, leaf up, spine down; in another order Lazy may answer otherwise.
    """
    moved = flows(64, "unequal", given)
    ways = [
        [a, 64 + b, *((128 + a // 8 * 4 + b % 4, 160 + b // 8 * 4 + b % 4) if a // 8 != b // 8 else ())]
        for a, b, _ in moved
    ]
    carried = np.zeros(192)
    for (_, _, size), way in zip(moved, ways, strict=True):
        carried[way] += size
    lines = [
        f"{a} {b} {size} {len(way)} {' '.join(map(str, way))}" for (a, b, size), way in zip(moved, ways, strict=True)
    ]
    text = "\n".join([f"64 192 {len(lines)}", *["5e10 5e-7"] * 192, *lines, ""])
    lazy, full = (float(run([str(program), way], text)[0]) * 1e6 for way in ("Lazy", "Full"))
    least = carried.max() / 5e10 * 1e6
    return (
        f"unequal 64, 0.5 us a hop: a link must carry {least:.3f} us; SimGrid's Lazy {lazy:.3f} us, Full {full:.3f} us"
    )


def _row(
    name: str,
    warm: list[dict[str, Any]],
    cold: list[dict[str, Any]],
    theirs: list[tuple[float, float]],
    answers: list[float],
) -> str:
    kernel, process = (
        statistics.median(run[key] for run in runs) for key, runs in (("kernel", warm), ("process", cold))
    )
    peak, us = max(run["MB"] for run in cold), cold[0]["us"]
    row = f"{name:<26}{us:>12.3f}{cold[0]['solves']:>8}{kernel:>10.3f}s{process:>9.2f}s{peak:>6.0f} MB"
    if not theirs:
        return row
    whole, net = (statistics.median(pair[i] for pair in theirs) for i in (0, 1))
    return row + f"{answers[0]:>12.3f}{net:>9.3f}s{whole:>8.2f}s{net / kernel:>8.1f}{whole / process:>8.2f}"


def main() -> None:
    """Print the table."""
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    print(f"All-to-all, all flows at once, links of 50 GB/s; {os.cpu_count()} processors; targets: {TARGETS}")
    head = f"{'':<26}{'us':>12}{'solves':>8}{'kernel':>11}{'process':>10}{'peak':>9}"
    print(head + f"{'SimGrid us':>12}{'less empty':>10}{'process':>9}{'ratio':>8}{'whole':>8}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = compiled(folder)
        if isinstance(program, str):
            print(f"without SimGrid: {program}")
        for hosts, sizes, hop, turns in CASES:
            print(case(hosts, sizes, hop, turns, program, folder, given), flush=True)
        if isinstance(program, Path):
            print(updates(program, given))


if __name__ == "__main__":
    main()
