"""Start of small commands as whole processes, as a ratio to ``python -c "import numpy"`` in the same run.

The two are started in turn; the median ratio of the pairs is what counts. Run: python benchmarks/start.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 15
LOGS = Path(__file__).resolve().parents[1] / "examples/logs"
COMMANDS = {
    "hopline p2p": ["p2p", "--size", "64MiB", "--latency", "0.55us", "--bandwidth", "64GB/s"],
    "hopline p2p, 3 hops of a preset": ["p2p", "--size", "64MiB", "--machine", "sg2260", "--path", "a1,b2"],
    "hopline presets": ["presets"],
    "hopline fit, one table": ["fit", str(LOGS / "monday.log")],
    "hopline expect, by formula": ["expect", "all_reduce", "--machine", "dgx-h100", "-n", "8"],
    "hopline collective, 3 sizes": [
        "collective",
        "all_reduce",
        "--latency",
        "1us",
        "--bandwidth",
        "50GB/s",
        "-n",
        "16",
        "--sizes",
        "1KiB,1MiB,1GiB",
    ],
    "hopline sim, 16 ranks": [
        "sim",
        "all_reduce-ring",
        "--latency",
        "1us",
        "--bandwidth",
        "50GB/s",
        "-n",
        "16",
        "--size",
        "192MiB",
    ],
    "hopline schedule check, 16 ranks": ["schedule", "check", "all_reduce-ring", "-n", "16", "--size", "192MiB"],
    "hopline check": ["check", str(LOGS / "tuesday.log"), "--machine", str(LOGS / "monday.toml")],
    "hopline diff": ["diff", str(LOGS / "monday.log"), str(LOGS / "tuesday.log")],
    "hopline --help": ["--help"],
}
LIMIT = 2.5


def seconds(command: list[str]) -> float:
    """Wall time of a whole process."""
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main() -> None:
    """Print one row per command."""
    hopline = str(Path(sys.executable).with_name("hopline"))
    numpy = [sys.executable, "-c", "import numpy"]
    print(f'Whole processes beside python -c "import numpy" ({ROUNDS} pairs in turn); p2p limit {LIMIT}')
    print(f"{'command':<34}{'import numpy':>14}{'command':>10}{'ratio':>8}")
    for name, arguments in COMMANDS.items():
        seconds([hopline, *arguments])
        pairs = [(seconds(numpy), seconds([hopline, *arguments])) for _ in range(ROUNDS)]
        base, ours = (statistics.median(side) for side in zip(*pairs, strict=True))
        ratio = statistics.median(b / a for a, b in pairs)
        print(f"{name:<34}{base * 1e3:>12.0f}ms{ours * 1e3:>8.0f}ms{ratio:>8.2f}")


if __name__ == "__main__":
    main()
