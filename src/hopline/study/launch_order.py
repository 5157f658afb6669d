"""Does a GPU run what was launched on several streams in launch order, so that nothing overlaps?

What belongs here: the pairs that tell. With CUDA_DEVICE_MAX_CONNECTIONS=1 all streams share one hardware queue, whose head
holds up everything behind it: a collective that waits for a gradient then also stops the compute that was launched after it
(github.com/NVIDIA/Megatron-LM/issues/1468).
"""

from __future__ import annotations

import numpy as np

from hopline.records.launch_order import LaunchOrder
from hopline.records.trace import NONE, Index, Trace


def launch_order(trace: Trace, launch: Index, hidden: float) -> LaunchOrder:
    """Pairs of neighbours in launch order of which one is a collective and the later was queued before the earlier had begun.

    Parameters
    ----------
    launch
        Row of the call that launched each row, shape (events,); NONE where unknown.
    hidden
        Share of the trace's communication that went on beside other work.
    """
    events = trace.events
    work = trace.work[launch[trace.work] != NONE]
    queued = events.start[launch[work]]
    order = work[np.lexsort((events.start[work], queued))]
    first, second = order[:-1], order[1:]
    communication = trace.is_communication()
    tells = (
        (events.lane[first] != events.lane[second])
        & (communication[first] != communication[second])
        & (events.end[launch[second]] < events.start[first])
    )
    kept = events.start[second[tells]] >= events.start[first[tells]]
    return LaunchOrder(int(tells.sum()), int(kept.sum()), hidden)
