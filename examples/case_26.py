"""A NCCL kernel starts before its launch in the trace: python examples/case_26.py

8 H100, 64 tiny all-to-alls back to back (github.com/pytorch/kineto/issues/1380): launches less than 1 µs apart, clocks of host
and GPU that are not quite one. The question: is the trace broken, and what does a critical path do with negative edges?
"""

from random import Random

import numpy as np

from hopline.jobs.explaining import explain
from hopline.jobs.made.sketch import Mark, sketch
from hopline.quantity import show
from hopline.records.trace import Nanoseconds, Trace
from hopline.study.dependencies import depend

RANKS, CALLS, EVERY, TRANSFER, AHEAD = 8, 64, 20.0, 15.0, 1.5
"""Microseconds between launches, of a transfer, and by which the GPU's clock is behind."""
SIZE = 256 * 1024 * 4


def trace(rank: int, draw: Random) -> Trace:
    """Launches on thread 1 and kernels on stream 20; each kernel waits for its launch."""
    marks = []
    for call in range(CALLS):
        launched = call * EVERY + draw.uniform(0, 0.3)
        marks.append(Mark("call", "cudaLaunchKernelExC", launched, 1.0, lane=1, correlation=call + 1))
        name = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
        begun = call * EVERY + 1.0 - AHEAD
        marks.append(Mark("kernel", name, begun, TRANSFER, 20, call + 1, op="alltoall", size=SIZE))
    return sketch(marks, rank, RANKS)


def _early(trace: Trace) -> Nanoseconds:
    """By how much kernels begin before their launch, where they do."""
    launch, start = depend(trace).launch, trace.events.start
    rows = np.flatnonzero(launch >= 0)
    ahead: Nanoseconds = start[launch[rows]] - start[rows]
    return ahead[ahead > 0]


draw = Random(26)
explained = explain([trace(rank, draw) for rank in range(RANKS)], questions=())
path, blame = explained.path, explained.blame
assert path is not None
assert blame is not None
early = np.concatenate([_early(trace) for trace in explained.traces])
print(f"{len(early)} of {RANKS * CALLS} kernels begin before their launch, by up to {show(early.max() / 1e9, 'time')}.")
print(f"The critical path of {show(path.time / 1e9, 'time')} takes {path.skew} such edge as 0 and goes on.")
print("Its parts: " + ", ".join(f"{item.name} {show(item.time / 1e9, 'time')}" for item in blame.parts if item.time))
assert sum(stretch.time for stretch in path.stretches) == path.time
print("They add up to the whole span. The trace is not broken: the clocks of host and GPU are not one.")
