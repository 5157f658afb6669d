"""Two nodes: a tree moves half of what a ring moves: python examples/case_11.py

2 DGX A100 of 8 (github.com/NVIDIA/nccl/issues/812): an all-reduce of 8 bytes takes 93 us by a ring, and the tree has more
bandwidth. The question: which algorithm should NCCL take on two nodes, and is that so on more?
"""

import numpy as np

from hopline.jobs.nccl import Question, answer
from hopline.model.nccl.forcing import Forced
from hopline.quantity import show
from hopline.records.busbw import FACTORS
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.operations import SEND
from hopline.schedule.shape import Shape

GPUS, SIZE = 8, 1 << 24


def sent(name: str, nodes: int) -> float:
    """Bytes over SIZE that the busiest node sends to others: the schedule's messages, counted.

    A ring goes through all GPUs, node by node; a tree has a rank a node and chains within (NCCL's double binary tree).
    """
    whole = name == "all_reduce-ring"
    ranks = nodes * GPUS if whole else nodes
    columns = COLLECTIVES[name].build(Shape(ranks, SIZE, chunks=1 if whole else 16)).columns
    node = np.arange(ranks) // (GPUS if whole else 1)
    out = (columns.kind == SEND) & (node[columns.rank] != node[columns.peer])
    return float(np.bincount(node[columns.rank[out]], columns.size[out]).max()) / SIZE


print("Question: ring or tree on two nodes of 8 A100?\n")
print("Bytes that the busiest node sends over the network for each byte of the all-reduce (schedules, counted)")
print(f"{'nodes':>6}{'ring':>9}{'trees':>9}{'ring / trees':>15}{'busbw by trees on a wire of 1':>33}")
for nodes in (2, 3, 4, 8, 16):
    ring, tree = sent("all_reduce-ring", nodes), sent("all_reduce-double_binary_tree", nodes)
    busbw = FACTORS["all_reduce"](nodes * GPUS) / tree
    print(f"{nodes:>6}{ring:>9.3f}{tree:>9.3f}{ring / tree:>15.2f}{busbw:>33.2f}")

print("\nBy NCCL's tuner (A100, a NIC of 200 Gb/s a GPU)")
print(f"{'nodes':>6}{'size':>10}{'ring':>11}{'tree':>11}   choice")
for nodes in (2, 4, 16):
    for size in (8.0, 2.0**20, 2.0**30):
        asked = {
            a: answer(Question("all_reduce", nodes * GPUS, nodes, "ampere", sizes=(size,), forced=Forced(a)))
            for a in ("ring", "tree")
        }
        free = answer(Question("all_reduce", nodes * GPUS, nodes, "ampere", sizes=(size,)))
        times = [show(float(asked[a].time[0]), "time", 3) for a in ("ring", "tree")]
        print(f"{nodes:>6}{show(size, 'size'):>10}{times[0]:>11}{times[1]:>11}   {' '.join(free.chosen[0])}")

print(
    """
Conclusion: the tree on exactly two nodes. There each node is the root of one tree and a leaf of the other, so it sends half
of the message up and half down: once the size, where a ring of 16 sends 1.875 times. So a tree is up to 1.9 times as fast on
the wire, and its busbw may exceed the NIC's line by as much (125 Gb/s were reported on 100: nccl-tests #22); it is no
measurement error. A ring also takes 30 steps one after the other, which is what small messages pay. On three nodes a quarter
of the gain in bytes is left, from four on none, since some node is inner in a tree and sends twice the size; the gain in
steps grows. NCCL's own tuner takes the ring for 1 GiB on two nodes all the same: it reckons that a tree reaches no more than
23.6 GB/s a channel there, half of it as algorithm bandwidth, which is not the wire's limit: NCCL_ALGO=tree is worth a trial
on two nodes. The 93 us of the ring are twice what NCCL 2.30's tuner reckons with; the issue is of an older version, whose
numbers are not known here."""
)
