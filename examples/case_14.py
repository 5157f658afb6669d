"""Three nodes over two racks: an all-reduce is fine up to 32 MiB and collapses from 64 MiB: python examples/case_14.py

3 nodes of 8 H100, each with 8 NICs of 2 x 200 Gb/s, NCCL 2.22.3 (github.com/NVIDIA/nccl/issues/1453): 29.5 GB/s of busbw at
32 MiB, 5.27 at 64 MiB, 5.31 at 512 MiB. Two nodes are fine. The question: the algorithm, the spine, or loss?
"""

import math

import numpy as np

from hopline.jobs import deadlocks
from hopline.machine.parts import Link, Node, Startup
from hopline.machine.topology import Connection, Machine
from hopline.machine.wires import Wires
from hopline.quantity import show
from hopline.schedule.collectives.many_rings import order

NODES, GPUS, RACK = 3, 8, (0, 0, 1)
RANKS = NODES * GPUS
NIC, PORT = 50e9, 25e9
MEASURED = {1 << 25: 29.5e9, 1 << 26: 5.27e9, 1 << 29: 5.31e9}
FACTOR = 2 * (RANKS - 1) / RANKS


def machine(spines: int, uplink: float) -> Machine:
    """GPUs, each with its NIC, at the leaf of their rack; leaves at every spine. NVLink inside of nodes does not bind."""
    links = {
        name: Link(name, rate, Startup(), forwarding="cut-through") for name, rate in (("nic", NIC), ("uplink", uplink))
    }
    switches = ["leaf0", "leaf1"] + [f"spine{s}" for s in range(spines)]
    wires = [Connection((f"leaf{rack}", f"spine{s}"), "uplink") for rack in (0, 1) for s in range(spines)]
    gpus = [(node, gpu) for node in range(NODES) for gpu in range(GPUS)]
    wires += [Connection((f"n{node}.{gpu}", f"leaf{RACK[node]}"), "nic") for node, gpu in gpus]
    nodes = {f"n{node}.{gpu}": Node(f"n{node}.{gpu}") for node, gpu in gpus}
    nodes |= {name: Node(name, kind="switch", latency=0.0) for name in switches}
    return Machine(f"{spines} spines", "", links, nodes, tuple(wires))


def busbw(found: Machine, routing: str) -> tuple[float, str]:
    """byte/s of eight rings at once, each leaving and entering a node at a NIC of its own, and the resource that binds.

    All flows of a ring carry the same bytes at the same time, so the fullest resource sets the pace.
    """
    places = [f"n{node}.{gpu}" for node in range(NODES) for gpu in range(GPUS)]
    wires = Wires(found, places, routing)
    rings = np.array([order((GPUS, NODES), ring) for ring in range(GPUS)], np.int32)
    channel = np.repeat(np.arange(GPUS, dtype=np.int32), RANKS)
    sender, receiver = rings.ravel(), np.roll(rings, -1, axis=1).ravel()
    between = sender // GPUS != receiver // GPUS
    routes = wires.routes(sender[between], receiver[between], channel[between])
    share = 1.0 / GPUS
    load = np.bincount(routes.resource, routes.weight * share, minlength=len(wires.capacity)) / wires.capacity
    return 1 / float(load.max()), wires.resource(int(load.argmax()))


def took(size: int, rate: float) -> float:
    """Seconds of an all-reduce with this busbw."""
    return size * FACTOR / rate


print("Question: 3 nodes over 2 racks; what makes an all-reduce collapse between 32 and 64 MiB?\n")
print("Measured")
before = math.nan
for size, rate in MEASURED.items():
    time = took(size, rate)
    step = "" if math.isnan(before) else f"   {time / before:5.1f} x the time before"
    print(f"{show(size, 'size'):>10}{show(rate, 'bandwidth', 3):>12}{show(time, 'time', 3):>10}{step}")
    before = time

print("\nBy what the links carry (eight rings, one for each NIC)")
print(f"{'network between the racks':43}{'busbw':>12}   what binds")
NETWORKS = {
    "8 spines, ways dealt out evenly": (8, NIC, "shortest"),
    "8 spines, ways by a hash (ECMP)": (8, NIC, "ecmp"),
    "8 spines, the hash with most on one of ten": None,
    "2 spines, 4 : 1 oversubscribed": (2, NIC, "shortest"),
    "all on one NIC's 2 ports, 8 : 1": (1, NIC, "shortest"),
    "all on one port of 200 Gb/s, 16 : 1": (1, PORT, "shortest"),
}
for title, network in NETWORKS.items():
    if network is None:
        rate, binds = min(busbw(machine(8, NIC), f"ecmp:seed={seed}") for seed in range(10))
    else:
        rate, binds = busbw(machine(*network[:2]), network[2])
    print(f"{title:43}{show(rate, 'bandwidth', 3):>12}   {binds}")

worst, _ = busbw(machine(1, PORT), "shortest")
slow = MEASURED[1 << 26]
print(
    f"\nAt {show(slow, 'bandwidth', 3)} between the racks are {slow * 8e-9:.0f} Gb/s a way: {slow / worst:.0%} of a port."
)
print(f"The same paths carried {MEASURED[1 << 25] / slow:.1f} times as much at 32 MiB.")

asked = deadlocks.with_classes(deadlocks.of_machine(machine(8, NIC), "ecmp"), "one")
found = deadlocks.find(asked)
print(f"Cycles among the buffers of leaves and spines, all pairs by ECMP: {'yes' if found.cycle else 'none'}.")

print(
    """
Conclusion: not the spine's bandwidth, and no algorithm. Whatever links carry, twice the bytes take at most twice the time: 64
MiB should take 4.4 ms at most, and took 24. Oversubscription and unlucky hashes cost bandwidth at every size: even with all
eight NICs on one port of 200 Gb/s the rings would have 25 GB/s, five times what was measured, and then 32 MiB could not have
had 29.5. No circle of waits closes on such leaves and spines, so a lasting deadlock is not it either.
These models do not explain the rest, since they know neither loss nor pauses: a rate that falls to a fifth where messages
begin to fill buffers is what retransmission looks like (go-back-N after packets out of order, under adaptive routing or two
queue pairs), or pauses that spread. To tell them apart: out_of_sequence, retransmission, PFC and ECN counters on the paths
between the racks; then one queue pair, and adaptive routing off. The cause is not told in the issue."""
)
