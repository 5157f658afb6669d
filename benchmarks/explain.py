"""hopline explain beside Holistic Trace Analysis (HTA) on the same traces: wall time and peak memory of process trees.

HTA does its temporal breakdown and its overlap of communication and computation; hopline all of `hopline explain`: clocks,
meetings, waiting and transfer, critical path, stragglers, what-ifs. Two sets: traces of 8 ranks as they are, and the same
repeated to about 500 MB of plain JSON with time stamps, correlation and flow ids shifted, so that each repetition is one more
step. The traces are those of the folder FOLDER, else of ../shared/field/traces/dlrm-8rank, else made by hopline. Both take
turns, and medians count. Memory is the sum of the proportional set sizes of all processes of a tree, looked at every 20 ms.
HTA is installed from PyPI into a virtual environment of its own beside ours. Run: python benchmarks/explain.py [FOLDER]
"""

from __future__ import annotations

import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PEER = "HolisticTraceAnalysis==0.5.0"
LARGE = 500_000_000
"""Bytes of the large set."""
TURNS = {"as they are": 7, "repeated": 3}
TARGETS = "targets: at most half of HTA's time on both, at most half of its memory on the large one"
SCRIPT = """
import sys
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_dir=sys.argv[1])
print(analysis.get_temporal_breakdown(visualize=False))
print(analysis.get_comm_comp_overlap(visualize=False))
"""
SHARED = Path(__file__).resolve().parents[2] / "shared" / "field" / "traces" / "dlrm-8rank"


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process tree took: seconds, and bytes of memory at its peak."""

    time: float
    memory: int


def main() -> None:
    """Print a table of both sets."""
    with tempfile.TemporaryDirectory() as folder:
        small = plain_copies(sources(Path(folder)), Path(folder, "small"))
        print(f"{len(small)} traces, {total(small) / 1e6:.1f} MB of JSON; {TARGETS}")
        compare("as they are", small)
        written = sum(len(json.dumps(json.loads(file.read_text()))) for file in small)
        times, period = max(2, round(LARGE / written)), span(small)
        large = [repeat(file, Path(folder, "large", file.name), times, period) for file in small]
        print(f"the same repeated {times} times: {total(large) / 1e6:.0f} MB")
        compare("repeated", large)


def sources(folder: Path) -> list[Path]:
    """The traces to take."""
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED
    found = sorted([*given.glob("*.json"), *given.glob("*.json.gz")])
    if found:
        return found
    made = folder / "made"
    subprocess.run([sys.executable, "-m", "hopline", "explain", "--example", str(made)], check=True)
    return sorted(made.glob("*.json.gz"))


def total(files: list[Path]) -> int:
    """Bytes of all."""
    return sum(file.stat().st_size for file in files)


def plain_copies(files: list[Path], folder: Path) -> list[Path]:
    """The files without compression: HTA and hopline then read the same bytes."""
    folder.mkdir()
    copies = [folder / file.name.removesuffix(".gz") for file in files]
    for file, copy in zip(files, copies, strict=True):
        content = file.read_bytes()
        copy.write_bytes(gzip.decompress(content) if file.suffix == ".gz" else content)
    return copies


def timed(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that happened at some time."""
    return [event for event in events if "ts" in event and event.get("ph") != "M"]


def span(files: list[Path]) -> float:
    """Microseconds from the first event of all files to the last end: the repetitions of all ranks are that far apart."""
    events = [event for file in files for event in timed(json.loads(file.read_text())["traceEvents"])]
    return max(event["ts"] + event.get("dur", 0) for event in events) - min(event["ts"] for event in events) + 1000


def repeat(source: Path, target: Path, times: int, period: float) -> Path:
    """A trace whose events stand there ``times`` times, one after another."""
    target.parent.mkdir(exist_ok=True)
    content = json.loads(source.read_text())
    events = content.pop("traceEvents")
    again = timed(events)
    ids = 1 + max(event.get("args", {}).get("correlation", 0) for event in events)
    with target.open("w") as out:
        out.write(json.dumps(content)[:-1] + ',\n"traceEvents": [\n')
        out.write(",\n".join(json.dumps(event) for event in events))
        for k in range(1, times):
            out.write(",\n" + ",\n".join(json.dumps(moved(event, k, period, ids)) for event in again))
        out.write("\n]}\n")
    return target


def moved(event: dict[str, Any], k: int, period: float, ids: int) -> dict[str, Any]:
    """The k-th repetition of an event."""
    out = {**event, "ts": event["ts"] + k * period}
    if "id" in event:
        out["id"] = event["id"] + k * ids
    if "args" in event:
        shifted = {key: event["args"][key] + k * ids for key in ("correlation", "External id") if key in event["args"]}
        out["args"] = {**event["args"], **shifted}
    name = str(event.get("name", ""))
    if name.startswith("ProfilerStep#"):
        out["name"] = f"ProfilerStep#{int(name.removeprefix('ProfilerStep#')) + k}"
    return out


def compare(name: str, files: list[Path]) -> None:
    """Let both take turns on a set and print what they took."""
    commands = {
        "HTA": [str(peer()), "-c", SCRIPT, str(files[0].parent)],
        "hopline": [sys.executable, "-m", "hopline", "explain", *map(str, files)],
    }
    costs: dict[str, list[Cost]] = {who: [] for who in commands}
    for _ in range(TURNS[name]):
        for who, command in commands.items():
            costs[who].append(cost(command))
    time_of = {who: statistics.median(c.time for c in found) for who, found in costs.items()}
    memory_of = {who: statistics.median(c.memory for c in found) for who, found in costs.items()}
    for who in commands:
        print(f"  {name:<12} {who:<8} {time_of[who]:8.2f} s {memory_of[who] / 1e6:8.0f} MB")
    print(
        f"  {name:<12} hopline / HTA: time {time_of['hopline'] / time_of['HTA']:.2f}, "
        f"memory {memory_of['hopline'] / memory_of['HTA']:.2f}"
    )


def peer() -> Path:
    """The Python that has HTA; installed when it is asked for first."""
    home = Path(sys.prefix) / "peers" / "hta"
    python = home / "bin" / "python"
    if not (home / "done").exists():
        print(f"installing {PEER} ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", PEER], check=True)
        (home / "done").touch()
    return python


def cost(command: list[str]) -> Cost:
    """Run a command to its end and look at it meanwhile."""
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        peak = 0
        while process.poll() is None:
            peak = max(peak, sum(map(memory, tree(process.pid))))
            time.sleep(0.02)
        took = time.perf_counter() - begin
        if process.returncode:
            errors.seek(0)
            raise SystemExit(f"{' '.join(command[:4])} ...: {errors.read().decode(errors='replace')[-500:]}")
    return Cost(took, peak)


def tree(root: int) -> Iterator[int]:
    """A process and all that came of it."""
    parents: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parent = int(Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            parents.setdefault(parent, []).append(int(entry))
    pending = [root]
    while pending:
        process = pending.pop()
        yield process
        pending += parents.get(process, [])


def memory(process: int) -> int:
    """The proportional set size of a process; 0 of one that is gone."""
    try:
        lines = Path("/proc", str(process), "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


if __name__ == "__main__":
    main()
