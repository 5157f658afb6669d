"""Flows on random platforms: when each ends, beside SimGrid and beside exact fractions.

20 platforms without latency beside SimGrid's model CM02, 20 whose links have latencies beside the same with the rule
inverse-rtt (which is that model's), 20 beside a solver in exact fractions, and 200 schedules with waits by the compiled kernel
and by the plain loop, to the picosecond. SimGrid is compiled from benchmarks/simgrid_flows.cpp where g++ and libsimgrid are
installed. Run: python validation/flows.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np

from hopline.machine.graph import Index
from hopline.machine.resources import Floats, Resources, Routes
from hopline.records.timeline import TICK
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.operations import DTYPES, FREE, NONE, RECV, SEND, Columns, Schedule
from hopline.schedule.shape import Shape
from hopline.sim.flows import simulate_flows

PLATFORMS, SCHEDULES = 20, 200
MOST = 1e-4
"""Part of the time by which an end may differ."""
SOURCE = Path(__file__).parents[1] / "benchmarks" / "simgrid_flows.cpp"


@dataclass(frozen=True, slots=True)
class Flow:
    """Ranks, bytes, numbers of links."""

    sender: int
    receiver: int
    size: int
    links: tuple[int, ...]


class Platform(Resources):
    """Links with rates and latencies, and a way for each pair of hosts."""

    def __init__(self, random: Random, latencies: bool) -> None:
        self.name, self.reduce, self.copy, self.ranks = "platform", 1e-12, 0.0, random.randint(3, 12)
        count = random.randint(2, 25)
        self.rate = [random.choice([1e9, 2e9, 5e9, random.uniform(1e8, 1e10)]) for _ in range(count)]
        self.latency = [
            random.choice([1e-6, 2e-6, random.uniform(1e-7, 1e-5)]) if latencies else 0.0 for _ in range(count)
        ]
        self.ways = {
            (a, b): tuple(sorted(random.sample(range(count), random.randint(1, min(5, count)))))
            for a in range(self.ranks)
            for b in range(self.ranks)
        }

    @property
    def capacity(self) -> Floats:
        """Of each link."""
        return np.array(self.rate)

    def routes(self, sender: Index, receiver: Index, channel: Index) -> Routes:
        """As drawn."""
        del channel
        ways = [self.ways[pair] for pair in zip(sender.tolist(), receiver.tolist(), strict=True)]
        start = np.cumsum([0, *map(len, ways)]).astype(np.int64)
        links = np.array([link for way in ways for link in way], np.int32)
        latency = np.array([sum(self.latency[link] for link in way) for way in ways])
        return Routes(start, links, np.ones(len(links)), latency)

    def resource(self, number: int) -> str:
        """Its number."""
        return f"link {number}"


def drawn(random: Random, platform: Platform) -> list[Flow]:
    """At most one flow of each pair."""
    pairs = [pair for pair in platform.ways if pair[0] != pair[1] and random.random() < 0.8] or [(0, 1)]
    sizes = random.choice([(10**6,), (10**6, 3 * 10**6), tuple(random.randint(1, 10**7) for _ in range(50))])
    return [Flow(*pair, random.choice(sizes), platform.ways[pair]) for pair in pairs]


def schedule(ranks: int, flows: list[Flow]) -> Schedule:
    """All at once."""
    rows = [end for flow in flows for end in ((SEND, flow.sender, flow.receiver), (RECV, flow.receiver, flow.sender))]
    values = {name: np.zeros(len(rows), dtype) for name, dtype in DTYPES.items()}
    for i, (kind, rank, peer) in enumerate(rows):
        values["kind"][i], values["rank"][i], values["peer"][i] = kind, rank, peer
        values["size"][i], values["lane"][i], values["after"][i] = flows[i // 2].size, FREE, NONE
    return Schedule("drawn", ranks, Columns(**values))


def ours(platform: Platform, flows: list[Flow], rule: str) -> Floats:
    """When each flow ends, in s."""
    timeline = simulate_flows(schedule(platform.ranks, flows), platform, rule=rule, keep=True, way="events").timeline
    assert timeline.end is not None
    return np.asarray(timeline.end[::2] * TICK, np.float64)


def simgrid(program: Path, platform: Platform, flows: list[Flow]) -> Floats:
    """When each flow ends, in s."""
    links = [f"{rate!r} {latency!r}" for rate, latency in zip(platform.rate, platform.latency, strict=True)]
    lines = [f"{f.sender} {f.receiver} {f.size} {len(f.links)} " + " ".join(map(str, f.links)) for f in flows]
    text = "\n".join([f"{platform.ranks} {len(links)} {len(lines)}", *links, *lines, ""])
    done = subprocess.run(
        [program], check=True, input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    return np.array([float(line) for line in done.stdout.split()[:-1]])


def in_fractions(platform: Platform, flows: list[Flow]) -> Floats:
    """When each flow ends, in s: no ticks, no floats."""
    left = {i: Fraction(flow.size) for i, flow in enumerate(flows)}
    now, ends = Fraction(0), [0.0] * len(flows)
    while left:
        rate = _rates(platform, {i: flows[i].links for i in left})
        step = min(left[i] / rate[i] for i in left)
        now += step
        rest = {i: left[i] - rate[i] * step for i in left}
        for i in [i for i, some in rest.items() if not some]:
            ends[i] = float(now)
        left = {i: some for i, some in rest.items() if some}
    return np.array(ends)


def _rates(platform: Platform, links: dict[int, tuple[int, ...]]) -> dict[int, Fraction]:
    rate: dict[int, Fraction] = {}
    while free := {i: way for i, way in links.items() if i not in rate}:
        spare = {link: Fraction(platform.rate[link]) for way in free.values() for link in way}
        for i, fixed in rate.items():
            spare |= {link: spare[link] - fixed for link in links[i] if link in spare}
        many = {link: sum(link in way for way in free.values()) for link in spare}
        least = min(spare[link] / many[link] for link in spare)
        full = {link for link in spare if spare[link] == least * many[link]}
        rate |= {i: least for i, way in free.items() if full.intersection(way)}
    return rate


def told(name: str, latencies: bool, rule: str, other: Callable[[Platform, list[Flow]], Floats]) -> bool:
    """A row of the table: flows of all platforms, and the most by which an end differs."""
    worst, count = 0.0, 0
    for seed in range(PLATFORMS):
        random = Random(f"{name} {seed}")
        platform = Platform(random, latencies)
        flows = drawn(random, platform)
        mine, theirs = ours(platform, flows, rule), other(platform, flows)
        worst = max(worst, float(np.abs(mine / theirs - 1).max()))
        count += len(flows)
    print(
        f"{name:<44}{PLATFORMS:>6} platforms{count:>7} flows   ends differ by at most {100 * worst:.2g} %", flush=True
    )
    return worst <= MOST


def both_ways() -> bool:
    """Collectives on random platforms: the kernel against the plain loop."""
    apart = rows = 0
    for seed in range(SCHEDULES):
        random = Random(seed)
        platform = Platform(random, True)
        entry = random.choice(list(COLLECTIVES.values()))
        platform.ranks = 8
        platform.ways = {(a, b): random.choice(list(platform.ways.values())) for a in range(8) for b in range(8)}
        made = entry.build(Shape(8, random.randint(0, 10**6), levels=(4, 2), chunks=3, channels=2, targets=3))
        options = {"rule": random.choice(["max-min", "inverse-rtt"]), "eager": random.choice([0, 10**4])}
        one, two = (simulate_flows(made, platform, way=way, keep=True, **options) for way in ("reference", "events"))  # type: ignore[arg-type]
        apart += (
            one.timeline.path != two.timeline.path
            or not np.array_equal(one.lost, two.lost)
            or not np.array_equal(one.worst, two.worst)
        )
        rows += len(made)
    print(
        f"{'plain loop, collectives with waits':<44}{SCHEDULES:>6} schedules{rows:>7} rows    {apart} differ",
        flush=True,
    )
    return not apart


def main() -> int:
    """Print the table; 1 where something does not agree."""
    fine = [told("exact fractions, max-min", False, "max-min", in_fractions), both_ways()]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "flows"
        try:
            command = ["g++", "-O2", "-std=c++17", str(SOURCE), "-lsimgrid", "-o", str(program)]
            built = not subprocess.run(command, check=False, capture_output=True).returncode
        except FileNotFoundError:
            built = False
        if not built:
            print("without SimGrid: g++ or libsimgrid is not installed")
            return int(not all(fine))
        peers = (
            ("SimGrid CM02, no latency, max-min", False, "max-min"),
            ("SimGrid CM02, latencies, inverse-rtt", True, "inverse-rtt"),
        )
        fine += [told(*peer, lambda platform, flows: simgrid(program, platform, flows)) for peer in peers]
    return int(not all(fine))


if __name__ == "__main__":
    sys.exit(main())
