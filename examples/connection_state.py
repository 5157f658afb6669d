"""Connection state of 128 nodes x 8 processes, and who stalls when one endpoint dies: python examples/connection_state.py

Sizes of contexts are those that drivers of public kernels give the hardware (hopline.model.state.Sizes names them); the cache
and its fetch time are approximate. An InfiniBand timeout of 20 with 7 retries: 8 x 4.096 µs x 2^20.
"""

from dataclasses import replace

from hopline.machine.slots import Slots
from hopline.model.slots import with_timeout
from hopline.model.state import ACCESS, CONNECTIONS, Cache, Cluster, Sizes, fits, message_rate, miss
from hopline.quantity import show, time
from hopline.sim.slots_faults import Faults, simulate_faults
from hopline.sim.slots_steady import steady

CLUSTER, SIZES, CACHE = Cluster(nodes=128, processes=8), Sizes(), Cache()

print(
    f"Question: {CLUSTER.nodes} nodes x {CLUSTER.processes} processes, all talking to all. What must each NIC remember?\n"
)
print("            contexts of a node   bytes of them   posted receives")
for name, count in CONNECTIONS.items():
    state = count(CLUSTER, SIZES)
    held, posted = show(state.context_bytes, "size", 3), show(state.receive_bytes, "size", 3)
    print(f"{name:10}  {state.contexts:18,}   {held:>13}   {posted:>15}")

print(
    f"\nOne NIC a node, a cache of {show(CACHE.size, 'size')}, a fetch of {show(CACHE.fetch, 'time', 2)} at a time:\n"
)
print("                              any context alike,       contexts in turn,")
print("            fits up to        misses, messages/s      misses, messages/s")
for name, count in CONNECTIONS.items():
    state, nodes = count(CLUSTER, SIZES), fits(name, CLUSTER, SIZES, CACHE)
    cells = []
    for access in ACCESS:
        missing = miss(state, CLUSTER, CACHE, access)
        cells.append(f"{100 * missing:.0f} %, {message_rate(CACHE, missing) / 1e6:.2f} million")
    most = "any number" if nodes >= 1 << 20 else f"{nodes:,} nodes"
    print(f"{name:10}  {most:13}  {cells[0]:>21}   {cells[1]:>21}")

slots = Slots(size=4096, turnaround=time("10us"), count=64)
healthy = steady(slots).rate or 0.0
timeout = 8 * 4.096e-6 * 2**20
alone, capped = simulate_faults(slots, Faults(8, 1), 20_000), simulate_faults(slots, Faults(8, 1, cap=8), 20_000)
lost = simulate_faults(slots, Faults(lost_every=10_000), 1_000_000)
print(f"\nOne of 8 endpoints dies; 64 slots, 10 µs each, {healthy / 1e6:.1f} million requests a second before:\n")
print(
    f"own share of slots for each     {capped.rate() / 1e6:.1f} million, {capped.rate() / healthy:.1%}: (64 - 8) / 64"
)
answers, stalled = len(alone.answered), f"{alone.stalled * 1e6:.0f} µs"
print(f"one pool, in turn               {answers} more are answered, after {stalled} all stands still")
print(f"  with a timeout of {timeout:.1f} s       {with_timeout(64, 10e-6, timeout, 1 / 8):.1f} a second (by formula)")
slow = simulate_faults(replace(slots, issue=time("1us")), Faults(8, 1, cap=8), 20_000)
print(
    f"own share, 1 µs between two     {slow.rate() / 1e6:.1f} million: as before, the issue interval binds and not the slots"
)
print(
    f"one completion in 10,000 lost   all 64 slots are gone after {lost.stalled:.2f} s and {len(lost.answered):,} answers"
)

print(
    """
Conclusion: queue pairs between processes grow with nodes x processes, and at 128 nodes half of them are not in
the cache: with one fetch at a time most of the message rate goes to fetching. Jetties over transport channels grow with
nodes only, DC with neither. A shared receive queue saves receives, no contexts. A dead endpoint stops the others only where
it may hold all slots: give each a share, and let no completion be lost for good."""
)
