"""The same cycle count on every topology: python examples/same_time_on_every_topology.py

A data-parallel ResNet-50 took 1 082 450 000 cycles on ring, mesh and switch (github.com/astra-sim/astra-sim/issues/207).
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from hopline.jobs.networks import Network, by_machine
from hopline.jobs.schedules import Found
from hopline.jobs.simulating import simulate
from hopline.machine.parts import Link, Node, Startup
from hopline.machine.topology import Connection, Machine
from hopline.quantity import show
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.operations import COMPUTE, DTYPES, NONE, SEND, Buffer, Columns, Schedule
from hopline.schedule.shape import Shape

RANKS, LAYERS, SIZE = 8, 5, 25_000_000
SECONDS = 1.08245
WORK_LANE = 100
NPUS = [f"npu{rank}" for rank in range(RANKS)]


def topology(name: str, wires: Sequence[tuple[str, str]], bandwidth: float) -> Network:
    """NPUs, and a switch where a wire leads to one; all wires are alike."""
    link = Link("wire", bandwidth, Startup(1e-6), forwarding="cut-through")
    nodes = {npu: Node(npu) for npu in NPUS} | {"switch": Node("switch", kind="switch", latency=0.0)}
    return by_machine(
        Machine(name, name, {"wire": link}, nodes, tuple(Connection(pair, "wire") for pair in wires)), RANKS
    )


def training(seconds: float, size: int, waits: bool) -> Schedule:
    """Backward through the layers: each but the last hands its gradients to an all-reduce that goes on beside the next.

    ``waits``: the next layer begins when that all-reduce is done. The last one has no weights. ``size`` 0: no all-reduce.
    """
    reducing = COLLECTIVES["all_reduce-ring"].build(Shape(RANKS, size)).columns
    blocks, rows, last = [], 0, np.full(RANKS, NONE)
    for layer in range(LAYERS):
        work = {
            "kind": COMPUTE,
            "lane": WORK_LANE,
            "peer": NONE,
            "after": last if waits else NONE,
            "rank": np.arange(RANKS),
        }
        work["size"] = round(seconds / LAYERS * 1e12)
        blocks.append(
            {name: np.broadcast_to(np.asarray(work.get(name, 0), dtype), RANKS) for name, dtype in DTYPES.items()}
        )
        begun, rows = rows, rows + RANKS
        if size and layer + 1 < LAYERS:
            block = {name: getattr(reducing, name).copy() for name in DTYPES}
            first = (block["kind"] == SEND) & (block["after"] == NONE)
            block["after"] = np.where(block["after"] == NONE, NONE, block["after"] + rows)
            block["after"][first] = begun + block["rank"][first]
            last = rows + np.array([np.flatnonzero(block["rank"] == rank)[-1] for rank in range(RANKS)])
            blocks.append(block)
            rows += len(block["kind"])
    columns = {name: np.concatenate([block[name] for block in blocks]).astype(dtype) for name, dtype in DTYPES.items()}
    return Schedule("training", RANKS, Columns(**columns), (Buffer("data", size), Buffer("scratch", size)))


ring = [(NPUS[i], NPUS[(i + 1) % RANKS]) for i in range(RANKS)]
star = [(npu, "switch") for npu in NPUS]
TOPOLOGIES = {
    "switch, 50 GB/s": topology("switch", star, 50e9),
    "ring, 2 x 25 GB/s": topology("ring", ring, 25e9),
    "all to all, 7 x 7.14 GB/s": topology("all to all", list(combinations(NPUS, 2)), 50e9 / 7),
    "switch, 1 GB/s": topology("slow switch", star, 1e9),
}
WORKLOADS = {
    "no all-reduce": training(SECONDS, 0, waits=False),
    "beside compute": training(SECONDS, SIZE, waits=False),
    "waited for": training(SECONDS, SIZE, waits=True),
    "compute 1000x faster": training(SECONDS / 1000, SIZE, waits=False),
}

print("Question: the simulated time is the same on every topology. Is the network simulated at all?\n")
print(f"{LAYERS} layers of {show(SECONDS / LAYERS, 'time')}; all-reduces of {SIZE / 1e6:.0f} MB on {RANKS} NPUs.")
print("Time, and the part of the critical path that is messages:\n")
print(f"{'':26}" + "".join(f"{name:>22}" for name in WORKLOADS))
same = {name: set() for name in WORKLOADS}
for title, network in TOPOLOGIES.items():
    cells = []
    for name, schedule in WORKLOADS.items():
        found = simulate(Found(schedule), network)
        same[name].add(found.timeline.ticks)
        cells.append(f"{show(found.timeline.time, 'time', 5)} {100 * found.shares.get('messages', 0.0):4.1f} %")
    print(f"{title:26}" + "".join(f"{cell:>22}" for cell in cells))
told = ", ".join(name for name, ticks in same.items() if len(ticks) == 1)
print(f"\nThe same on every topology: {told}.")

print(
    """
Conclusion: it can be right. Where no message is on the critical path, exposed communication is 0 and no topology can change
the time: either nothing is sent, or all of it is over before the compute beside it is. Equal times say nothing of the
network then. Let something wait for the all-reduces, or compute a thousand times as fast, and the topologies part. So look at
what the critical path is made of before you trust a comparison of networks; 'hopline sim' prints it."""
)
