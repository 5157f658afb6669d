"""An all-reduce of 250 GB/s on NVLink of 450: python examples/all_reduce_nvlink.py

8 x H100, 256 MiB, algbw about 250 GB/s; NCCL's maintainers: about 20 % protocol overhead on a ring, about 480 GB/s of bus
bandwidth at most with the switches' help (github.com/NVIDIA/nccl-tests/issues/212).
"""

from hopline import find_machine
from hopline.model.cuts import least_bytes
from hopline.quantity import bandwidth, show, size

RANKS, SIZE = 8, size("256MiB")
ALGBW = bandwidth("250GB/s")
OVERHEAD, WITH_SWITCHES = 0.2, bandwidth("480GB/s")
NVLINK = find_machine("dgx-h100").links["nvlink"]


def rate(value: float) -> str:
    """In GB/s, for the table."""
    return f"{value / 1e9:6.1f} GB/s"


ring = max(least_bytes("all_reduce", SIZE, RANKS, 1, in_network=False)) / SIZE
adding = max(least_bytes("all_reduce", SIZE, RANKS, 1)) / SIZE
busbw = ALGBW * ring
one_ring = NVLINK.peak * (1 - OVERHEAD)

print("Question: 8 x H100 all-reduce 256 MiB at 250 GB/s, and the data sheet says 450. Is it broken?\n")
print(f"bytes over a GPU's link for each byte of the buffer, ring of {RANKS}      {ring:.2f} = 2(n-1)/n")
print(f"the same if the switches add up (NVLink SHARP, NVLS), at least     {adding:.2f}")
print(f"time of {show(SIZE, 'size', 3)} at 250 GB/s                                  {show(SIZE / ALGBW, 'time', 3)}\n")
print("                                                    algbw         busbw")
for name, algbw in (
    ("measured", ALGBW),
    ("line rate of NVLink 4 one way, over a ring", NVLINK.peak / ring),
    (f"the same less {100 * OVERHEAD:.0f} % protocol overhead", one_ring / ring),
    ("what send and receive reach (preset dgx-h100)", NVLINK.bandwidth / ring),
    ("best with NVLS, says NCCL's maintainer", WITH_SWITCHES / ring),
    ("line rate if the switches add up: no more", NVLINK.peak / adding),
):
    print(f"{name:46}{rate(algbw):>12}{rate(algbw * ring):>14}")

print(
    f"\nmeasured against the line rate                {100 * busbw / NVLINK.peak:.0f} %"
    f"\nmeasured against what a ring reaches           {100 * busbw / one_ring:.0f} %"
    f"\nmeasured against the best with NVLS            {100 * busbw / WITH_SWITCHES:.0f} %"
)
helped = "more than rings reach, so NVLS is at work" if busbw > one_ring else "no more than a ring reaches"
line, algorithm, best = (value / 1e9 for value in (NVLINK.peak, ALGBW, WITH_SWITCHES))
print(
    f"""
Conclusion: it is not broken. {line:.0f} GB/s is the line rate of the wire one way, {algorithm:.0f} GB/s is buffer over time.
A ring moves {ring:.2f} bytes over each link for a byte of the buffer, so compare {busbw / 1e9:.1f} GB/s of bus bandwidth
with the wire. That is {helped}. With NVLS less crosses each link,
while the bus bandwidth still counts a ring's bytes, so it can exceed the wire's: {best:.0f} GB/s at best, {best / ring:.0f}
of algorithm bandwidth. NCCL's maintainer sees that above {show(SIZE, "size", 3)}, so try larger buffers."""
)
