"""Overlap of compute and communication is reported too high: python examples/case_24.py

Stream, event and context synchronisations stand on the GPU's streams in a trace (category cuda_sync), as if they were kernels
(github.com/facebookresearch/HolisticTraceAnalysis/pull/162). They are waits. The question: what does it change?
"""

from dataclasses import replace

from hopline.jobs.made.sketch import Mark, sketch
from hopline.study.busy import breakdown

MARKS = [
    Mark("kernel", "gemm", 0, 400),
    Mark("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_SIMPLE", 300, 700, lane=20, op="all_reduce"),
    Mark("sync", "Stream Wait Event", 400, 600),
    Mark("kernel", "adam", 1000, 200),
]


def told(title: str, marks: list[Mark]) -> None:
    """Print how much of communication is hidden."""
    part = breakdown(sketch(marks))
    assert part is not None
    print(f"{title}: {part.hidden / part.communication:.0%} hidden, {part.exposed / 1e3:.0f} µs exposed,", end=" ")
    print(f"compute {part.compute / 1e3:.0f} of {part.span / 1e3:.0f} µs")


told("The wait taken for a kernel", [replace(mark, kind="kernel") if mark.kind == "sync" else mark for mark in MARKS])
told("The wait left out          ", MARKS)
print("What waits does not compute: nothing hides the last 600 µs of the all-reduce.")
