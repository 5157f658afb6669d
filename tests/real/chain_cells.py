"""Passages through chains of shaped links, beside what the formula says: shared by the test and by ``validation/chains.py``.

The formula knows the rates and buckets that tc was told, the framing of TCP, and a latency: that of a hop for one byte, which
is measured by itself. Nothing is learnt from the passages that are predicted.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from namespaces import FRAMING, Namespaces, Shape

from hopline.model import pipeline
from hopline.model.forwarding import store_and_forward
from hopline.model.shaping import arrivals, cut_through
from hopline.run.relaying.chain import Chain
from hopline.run.relaying.ways import ends_of

SIZE = 1_500_000
"""Bytes: 40 ms on a link of 300 Mbit/s."""
BURST = 32768
CHUNKS = (1, 2, 4, 8, 16, 32, 64)
MBIT = 10**6
RATES = {
    "equal": (300, 300, 300, 300),
    "slowest inside": (400, 200, 800, 300),
    "slowest last": (800, 400, 300, 200),
}
"""Mbit/s of four links; a shorter chain has the first of them."""
WITHIN = 0.05
CONGESTION = "reno"
"""What every Linux has. BBR (some systems' own) sends no faster than it believes the link to be, so bursts go unused."""
ONE_BYTE_PASSAGES = 15


@dataclass(frozen=True, slots=True)
class Cell:
    """One kind of passage: links, how they were named, the size in bytes, the way of relaying and the chunks."""

    name: str
    shapes: tuple[Shape, ...]
    way: str
    chunks: int
    size: int = SIZE

    def predicted(self, latency: float) -> float:
        """Seconds, where each hop has this latency."""
        hops = [replace(shape.bucket, latency=latency) for shape in self.shapes]
        if self.way == "cut-through":
            return cut_through(self.size, hops)
        chunks = self.chunks if self.way == "pipelined" else 1
        return float(arrivals(np.diff([0, *ends_of(self.size, chunks)]), hops)[-1, -1])

    def without_bursts(self, latency: float) -> float:
        """The same by the formulas of ``pipeline`` and ``forwarding``, which know rates and latencies only."""
        hops = [(latency, shape.bucket.rate) for shape in self.shapes]
        if self.way == "pipelined":
            return float(pipeline.balanced(self.size, hops, self.chunks, occupies=False))
        if self.way == "store-and-forward":
            return float(store_and_forward(self.size, hops))
        return len(hops) * latency + self.size / min(rate for _, rate in hops)

    def without_framing(self, latency: float) -> float:
        """As predicted, but for a link whose bytes are all the message's."""
        part = FRAMING.payload / FRAMING.frame
        bare = [replace(shape, rate=round(shape.rate / part), burst=round(shape.burst / part)) for shape in self.shapes]
        return replace(self, shapes=tuple(bare)).predicted(latency)


@dataclass(frozen=True, slots=True)
class Seen:
    """A cell, the median of its passages and the latency of a hop in s, and how often it was looked at."""

    cell: Cell
    time: float
    latency: float
    looks: int

    @property
    def error(self) -> float:
        """Measured over predicted, less 1."""
        return self.time / self.cell.predicted(self.latency) - 1

    def __str__(self) -> str:
        cell, times = self.cell, (1e3 * self.time, 1e3 * self.cell.predicted(self.latency))
        rates = "-".join(str(shape.rate // MBIT) for shape in cell.shapes)
        return (
            f"{len(cell.shapes)} hops {rates:<16}{cell.way:<18}k = {cell.chunks:<3}"
            f"measured {times[0]:7.2f} ms, predicted {times[1]:7.2f} ms, {100 * self.error:+5.2f} %, looks {self.looks}"
        )


def cells(name: str, hops: int, chunks: Sequence[int] = CHUNKS, burst: int = BURST) -> list[Cell]:
    """All passages over the first ``hops`` links of that name: pipelines, and both other ways."""
    shapes = tuple(Shape(rate * MBIT, burst) for rate in RATES[name][:hops])
    ways = [("pipelined", k) for k in chunks] + [("store-and-forward", 8), ("cut-through", 8)]
    return [Cell(name, shapes, way, k) for way, k in ways]


def seen(row: Namespaces, wanted: Sequence[Cell], repeats: int = 3, looks: int = 5) -> list[Seen]:
    """What each cell took; all of ``wanted`` have the same links.

    A look is ``repeats`` passages after one that does not count. Cells that are off are looked at again after all others,
    ``looks`` times at most, since others may use the machine.
    """
    shapes = wanted[0].shapes
    row.shape(shapes)
    rest = 1e-3 + max(shape.rest for shape in shapes)
    with Chain(row.posts(len(shapes)), max(cell.size for cell in wanted), congestion=CONGESTION) as chain:
        latency = statistics.median(chain.send(1).time for _ in range(ONE_BYTE_PASSAGES)) / len(shapes)
        found = [Seen(cell, math.inf, latency, 0) for cell in wanted]
        for look in range(1, looks + 1):
            for number, one in enumerate(found):
                if abs(one.error) > WITHIN:
                    found[number] = Seen(one.cell, _median(chain, one.cell, repeats, rest), latency, look)
    return found


def _median(chain: Chain, cell: Cell, repeats: int, rest: float) -> float:
    times = []
    for _ in range(1 + repeats):
        time.sleep(rest)
        times.append(chain.send(cell.size, cell.chunks, cell.way).time)
    return statistics.median(times[1:])
