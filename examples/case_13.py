"""An all-reduce of 228 bytes takes 4 ms in training, one of 16 MB takes 4 ms in nccl-tests: python examples/case_13.py

20 nodes of 8 A100 (github.com/NVIDIA/nccl/issues/701), timed on the host of one rank; it grows with the number of nodes. The
question: does a busy GPU slow NCCL that much? Here is what the GPUs of such a job do where one of 160 comes 4 ms late.
"""

from random import Random

from hopline.jobs.made.sketch import Mark, sketch
from hopline.quantity import show
from hopline.study.meetings import meet
from hopline.study.stragglers import sentences, stragglers

RANKS, LATE, SIZE = 160, 93, 228
TRANSFER, LATENESS = 60.0, 4000.0
"""Microseconds."""

draw = Random(13)
kernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
came = [LATENESS if rank == LATE else draw.uniform(0, 200) for rank in range(RANKS)]
ended = max(came) + TRANSFER
traces = [
    sketch([Mark("kernel", kernel, start, ended - start, lane=20, op="all_reduce", size=SIZE)], rank, RANKS)
    for rank, start in enumerate(came)
]

matched = meet(traces)
meeting = matched.meetings[0]
time = (meeting.end - meeting.start) / 1e9
print(f"The kernel of {SIZE} B on {RANKS} ranks: {show(float(time.max()), 'time')} on the first to come,")
print(f"{show(float(sorted(time)[RANKS // 2]), 'time')} on most, {show(float(time.min()), 'time')} on the last.")
print(f"Transfer, after the last had come: {show((meeting.transfer or 0) / 1e9, 'time')}; all else is waiting.")
for line in sentences(stragglers(traces, matched.meetings)):
    print(line)
print("A time taken on the host of one rank measures when the last rank comes. More nodes, more ranks to wait for.")
