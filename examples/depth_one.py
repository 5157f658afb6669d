"""A benchmark at depth 1 measures latency: python examples/depth_one.py

nixlbench, batch 1, one thread: 0.324 GB/s, taken as 4 KiB requests; ucx_perftest: 284.98 GB/s
(github.com/ai-dynamo/nixl/issues/1021).
"""

from hopline.model.limits import concurrency, target_rate_needs
from hopline.quantity import bandwidth, show, size

PAYLOAD = size("4KiB")
SLOW, FAST, LINE = bandwidth("0.324GB/s"), bandwidth("284.98GB/s"), bandwidth("50GB/s")

turnaround = PAYLOAD / SLOW
each = show(turnaround, "time", 3)
alone = concurrency(in_flight=1, payload=PAYLOAD, turnaround=turnaround, cap=LINE)
needs = target_rate_needs(LINE, PAYLOAD, turnaround)

print("Question: one program reports 0.324 GB/s, another 284.98 GB/s. Is the first 880 times slower?\n")
print(f"ratio of the two figures                    {FAST / SLOW:.0f}")
print(f"one 4 KiB request at 0.324 GB/s takes       {each}")
print(
    f"one request in flight on a 50 GB/s link     {show(alone.throughput, 'bandwidth', 3)}, {100 * alone.fraction:.2f} % of it"
)
print(f"bytes in flight that fill 50 GB/s           {show(LINE * turnaround, 'size', 3)} (rate x turnaround)")
print(f"the same in 4 KiB requests                  {needs.concurrency:.1f}, so {alone.needed} at once")
print(
    f"requests per second at 50 GB/s              {needs.rate / 1e6:.1f} million, one every {show(needs.interval, 'time', 3)}"
)

print("\n  in flight   throughput")
for depth in (1, 4, 16, 64, 154, 256):
    print(f"{depth:11}   {show(concurrency(depth, PAYLOAD, turnaround, LINE).throughput, 'bandwidth', 3)}")

print(
    f"""
Conclusion: the two figures cannot be compared. With one request in flight the slow one is a latency, {each}
a request, written as a bandwidth; the fast one exceeds what the network cards of a node carry, so it is a copy that
stayed inside. Compare at one size and one depth: {alone.needed} requests of 4 KiB in flight fill 50 GB/s, if the
turnaround does not grow with the load."""
)
