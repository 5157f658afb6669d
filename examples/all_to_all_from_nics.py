"""Bus bandwidth of an all-to-all from the bandwidth of the NICs: python examples/all_to_all_from_nics.py

How much to expect on N nodes with one NIC a GPU (github.com/NVIDIA/nccl-tests/issues/130).
"""

from hopline import find_machine
from hopline.machine.cuts import cuts
from hopline.model.cuts import least_bytes, least_time
from hopline.quantity import show, size

MACHINE = find_machine("dgx-h100")
NIC = MACHINE.links["ndr"].peak
NVLINK = MACHINE.links["nvlink"].peak
GPUS = 8
SIZE = size("1GiB")


def bus_bandwidth(ranks: int, time: float) -> float:
    """As nccl-tests counts it: (n-1)/n of the buffer leaves each rank, over the time."""
    return SIZE / time * (ranks - 1) / ranks


def over_nics(nodes: int, gpus: int) -> float:
    """The time of what must leave a node, with one NIC a GPU."""
    out, _ = least_bytes("alltoall", SIZE, nodes * gpus, gpus)
    return out / (gpus * NIC)


print("Question: NICs of 50 GB/s each, one a GPU. What bus bandwidth should alltoall_perf show on N nodes?\n")
print(f"Nodes of {GPUS} GPUs, {show(SIZE, 'size', 3)} a GPU, NICs of {show(NIC, 'bandwidth', 3)} (data sheet):")
print("   N    n  leaves a node  through its NICs   bus bandwidth  B x N/(N-1)")
for nodes in (2, 3, 4, 8, 16, 64):
    ranks = nodes * GPUS
    out, _ = least_bytes("alltoall", SIZE, ranks, GPUS)
    time = over_nics(nodes, GPUS)
    rule = NIC * nodes / (nodes - 1)
    print(
        f"{nodes:4}{ranks:5}{show(out, 'size', 3):>15}{show(time, 'time', 3):>18}"
        f"{show(bus_bandwidth(ranks, time), 'bandwidth', 3):>16}{show(rule, 'bandwidth', 3):>13}"
    )

print("\nGPUs a node, on 2 nodes:")
for gpus in (1, 2, 4, 8):
    found = bus_bandwidth(2 * gpus, over_nics(2, gpus))
    print(f"{gpus:4}  {show(found, 'bandwidth', 3)}, {found / NIC:.3f} x B")

ranks = [name for name, node in MACHINE.nodes.items() if node.kind == "device"]
border = least_time("alltoall", SIZE, cuts(MACHINE, ranks))
whole = bus_bandwidth(len(ranks), border.time)
print(
    f"\nThe preset {MACHINE.name}, two nodes, all of its cuts: {show(border.bytes, 'size', 3)} must cross the border of\n"
    f"{border.where} at {show(border.rate, 'bandwidth', 3)}, so the bus bandwidth is at most {show(whole, 'bandwidth', 3)}."
)
inside = whole / NVLINK
two, many = (bus_bandwidth(nodes * GPUS, over_nics(nodes, GPUS)) / NIC for nodes in (2, 64))
print(
    f"""
Conclusion: with n ranks, G a node, and a NIC of B a GPU, (n-G)/n of each buffer leaves the node, while the bus bandwidth
counts (n-1)/n. So expect at most B x (n-1)/(n-G): {two:.2f} B on two nodes, {many:.2f} B on 64, and exactly B with one
GPU a node. B x N/(N-1) is this for many GPUs a node. A figure above B is no mistake: the part that stays in
the node goes over NVLink, which here is {100 * inside:.0f} % busy at that rate."""
)
