"""Simulation of a ring all-reduce, 192 MiB, 1 us and 50 GB/s, message by message: build, engines and whole process apart.

Beside SimGrid (simgrid_ring.cpp, built here where g++ and libsimgrid-dev are found): whole processes, in turn. Each
figure is the median of several runs. Run: python benchmarks/simulate.py [RANKS ...]
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIZE, LATENCY, BANDWIDTH = 192 << 20, 1e-6, 50e9
EXACT = {16: 7579.747, 64: 8053.235, 256: 8531.606, 1024: 10091.199}
"""Microseconds: 2(N - 1)(latency + piece / bandwidth), pieces of 192 MiB / N."""
ROUNDS = 5
ENGINES = ("in order", "events")


def inside(ranks: int) -> dict[str, float]:
    """Seconds of each part in this process, engines compiled before."""
    from hopline.curve import Curve
    from hopline.machine.fabric import Levels
    from hopline.schedule.collectives.table import COLLECTIVES
    from hopline.schedule.matching import match
    from hopline.schedule.shape import Shape
    from hopline.sim.arrays import tasks
    from hopline.sim.engine import ENGINES as RUN

    build, fabric = COLLECTIVES["all_reduce-ring"].build, Levels.uniform(ranks, Curve.line(LATENCY, BANDWIDTH))
    warm = build(Shape(4, SIZE))
    ready = tasks(warm, Levels.uniform(4, Curve.line(LATENCY, BANDWIDTH)), match(warm), 0, False)
    for name in ENGINES:
        RUN[name](ready)
    begin = time.perf_counter()
    schedule = build(Shape(ranks, SIZE))
    took = {"build": time.perf_counter() - begin, "messages": schedule.messages}
    begin = time.perf_counter()
    work = tasks(schedule, fabric, match(schedule), 0, False)
    took["arrays"] = time.perf_counter() - begin
    for name in ENGINES:
        times = []
        for _ in range(ROUNDS):
            begin = time.perf_counter()
            outcome = RUN[name](work)
            times.append(time.perf_counter() - begin)
            assert outcome is not None
            assert abs(outcome.end.max() * 1e-6 - EXACT[ranks]) < 1e-3, (name, outcome.end.max())
        took[name] = statistics.median(times)
    return took


def whole(command: list[str]) -> tuple[float, float, str]:
    """(seconds, peak MB, output) of a process."""
    before = "import resource,subprocess,sys;r=subprocess.run(sys.argv[1:],capture_output=True,text=True,check=True);"
    code = before + "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss);print(r.stdout)"
    begin = time.perf_counter()
    out = subprocess.run(
        [sys.executable, "-S", "-c", code, *command], capture_output=True, text=True, check=True
    ).stdout
    took = time.perf_counter() - begin
    peak, _, rest = out.partition("\n")
    return took, int(peak) / 1024, rest


def peer(folder: str) -> str | None:
    """The program of the peer, built; None, with the reason printed, where it cannot be."""
    source, program = Path(__file__).with_name("simgrid_ring.cpp"), f"{folder}/simgrid_ring"
    if shutil.which("g++") is None:
        print("SimGrid: not compared, g++ is missing")
        return None
    made = subprocess.run(
        ["g++", "-O2", str(source), "-o", program, "-lsimgrid"], capture_output=True, text=True, check=False
    )
    if made.returncode:
        print("SimGrid: not compared, libsimgrid-dev is missing")
        return None
    return program


def main() -> None:
    """Print the tables."""
    numbers = [int(text) for text in sys.argv[1:]] or list(EXACT)
    own = str(Path(sys.executable).with_name("hopline"))
    print("Inside a process: seconds, and million messages a second of the engines alone")
    print(f"{'ranks':>6}{'messages':>11}{'build':>8}{'arrays':>8}{'in order':>10}{'M/s':>7}{'events':>9}{'M/s':>7}")
    for ranks in numbers:
        said = subprocess.run(
            [sys.executable, __file__, "--inside", str(ranks)], capture_output=True, text=True, check=True
        )
        took = json.loads(said.stdout)
        rates = [took["messages"] / took[name] / 1e6 for name in ENGINES]
        print(
            f"{ranks:>6}{took['messages']:>11,.0f}{took['build']:>8.3f}{took['arrays']:>8.3f}"
            f"{took['in order']:>10.4f}{rates[0]:>7.1f}{took['events']:>9.4f}{rates[1]:>7.1f}"
        )
    print("\nWhole processes: seconds and peak memory; ratio is the median of pairs run in turn")
    print(f"{'ranks':>6}{'hopline':>9}{'MB':>6}{'SimGrid':>9}{'MB':>6}{'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        program = peer(folder)
        for ranks in numbers:
            _beside(own, program, ranks)


def _beside(own: str, program: str | None, ranks: int) -> None:
    ours = [
        own,
        "sim",
        "all_reduce-ring",
        "-n",
        str(ranks),
        "--size",
        "192MiB",
        "--latency",
        "1us",
        "--bandwidth",
        "50GB/s",
    ]
    theirs = [program or "", str(ranks), str(SIZE), str(LATENCY), str(BANDWIDTH)]
    whole(ours)
    pairs = []
    for _ in range(ROUNDS):
        mine = whole(ours)
        found = re.search(r"time +([0-9.]+) ms", mine[2])
        assert found is not None
        assert abs(float(found[1]) * 1e3 - EXACT[ranks]) < 0.01, mine[2]
        pairs.append((mine, whole(theirs) if program else None))
    took, peak = (statistics.median(mine[i] for mine, _ in pairs) for i in (0, 1))
    line = f"{ranks:>6}{took:>9.2f}{peak:>6.0f}"
    other = [their for _, their in pairs if their]
    if other:
        assert abs(float(other[0][2].split()[-1]) * 1e6 - EXACT[ranks]) < 0.01, other[0][2]
        ratio = statistics.median(their[0] / mine[0] for mine, their in pairs if their)
        seconds, memory = (statistics.median(their[i] for their in other) for i in (0, 1))
        line += f"{seconds:>9.2f}{memory:>6.0f}{ratio:>7.2f}"
    print(line)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        print(json.dumps(inside(int(sys.argv[2]))))
    else:
        main()
