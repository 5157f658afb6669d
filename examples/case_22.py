"""How much would perfect overlap save? Sums of kernel times said 18 %: python examples/case_22.py

A step of 18.0 s (github.com/marin-community/marin/issues/8053). Self times added up claimed 3.17 s of exposed communication.
Unions of intervals: compute busy 16.28 s, collectives alone 1.02 s, nothing at all 0.49 s; 77 % of the time in collectives
is beside compute. Exposed communication is |union of all| - |union of compute|, and never a sum.
"""

from hopline.jobs.made.sketch import Mark, sketch
from hopline.records.breakdown import Breakdown
from hopline.study.busy import breakdown

STEP, COMPUTE, ALONE, NOTHING, OVERLAPPED = 18.0, 16.28, 1.02, 0.49, 0.77
SECOND = 1e6
"""In microseconds."""
collective = ALONE / (1 - OVERLAPPED)
hidden = collective - ALONE
second_stream = 2.0
"""Seconds in which kernels of two streams go on at once: a sum counts them twice."""


def kernel(name: str, start: float, time: float, lane: int, op: str = "") -> Mark:
    """A kernel from ``start`` on, in seconds."""
    return Mark("kernel", name, start * SECOND, time * SECOND, lane, op=op)


marks = [
    kernel("gemm", 0.0, COMPUTE, 7),
    kernel("elementwise", 1.0, second_stream, 9),
    kernel("ncclDevKernel_ReduceScatter_Sum_bf16_RING_SIMPLE", COMPUTE - hidden, collective, 20, "reduce_scatter"),
    kernel("adam", COMPUTE + ALONE + NOTHING, 1e-6, 7),
]
part = breakdown(sketch(marks))
assert isinstance(part, Breakdown)
added = (COMPUTE + second_stream + collective) * SECOND * 1e3
print(f"Kernel times added up:          {added / 1e9:6.2f} s, more than the {STEP} s of the step.")
print(f"Union of all kernels:           {part.busy / 1e9:6.2f} s")
print(f"Union of compute:               {part.compute / 1e9:6.2f} s")
print(f"Exposed communication:          {part.exposed / 1e9:6.2f} s, the difference of the two")
print(f"Hidden: {part.hidden / part.communication:.0%} of {part.communication / 1e9:.2f} s in collectives.")
low, high = part.exposed / 1e9 / STEP, (part.exposed + part.idle) / 1e9 / STEP
print(f"Perfect overlap saves at most {low:.2%} of the step, and {high:.2%} if all idle time went too; not 18 %.")
print("Overlap is not free: collectives take multiprocessors and memory from the kernels beside them.")
