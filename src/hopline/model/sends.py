"""Single sends and streams of them, from the α-β curve of a path.

What belongs here: what a benchmark of two ranks shows where only the curve of a send is known, and how unsure that is.

A message of a stream follows the one before while that is still on its way, so little of a start-up is left in the time
between two of them. (gap - size / β) / α, with α the latency of an empty message and β the best bandwidth of the same pair
of hosts, was at most 0.33 and mostly 0.05 to 0.2 over all sizes of four public logs: ib_write_bw over HDR InfiniBand
(0.00 to 0.21), osu_bw over InfiniBand at Azure (0.00 to 0.24, but for a collapse at 2 and 4 MiB) and EFA at AWS (0.00 to
0.10), osu_mbw_mr between A100 GPUs (0.00 to 0.33).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hopline.curve import Curve
from hopline.records.estimate import Premise
from hopline.records.fit import Prediction

ERROR = 0.2
"""Half-width (log) of a send that was not measured here: one α-β line through H100 and A100 sends is off by 3 to 10 % in the
mean (vidur's tables)."""
SHARE, MOST = 0.15, 0.35
"""Part of a start-up that is left in a gap: as expected, and at most."""


def single(curve: Curve, size: ArrayLike) -> Prediction:
    """Time of one send of each size in bytes (1-D), with its 90 % interval."""
    sizes = np.asarray(size, dtype=float)
    time = curve.time(sizes)
    return Prediction(sizes, time, time * np.exp(-ERROR), time * np.exp(ERROR))


def stream(curve: Curve, size: ArrayLike) -> Prediction:
    """Time per message of a stream for each size in bytes (1-D); the interval is what a start-up may leave in it."""
    sizes = np.asarray(size, dtype=float)
    latency, bandwidth = curve.at(sizes)
    moved = sizes / bandwidth
    return Prediction(sizes, moved + SHARE * latency, moved * np.exp(-ERROR), (moved + MOST * latency) * np.exp(ERROR))


SINGLE_PREMISE = Premise(
    f"a send is within {100 * ERROR:.0f} % of what its links' α and β say", "unknown", "measure it: hopline fit"
)
STREAM_PREMISE = Premise(
    f"of each start-up 0 to {MOST:g} is left between two messages of a stream", "unknown", "measure it: hopline fit"
)
