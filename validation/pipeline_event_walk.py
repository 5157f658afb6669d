"""The point-to-point formulas against a brute-force event walk: python validation/pipeline_event_walk.py

Thousands of random cases with a fixed seed. The walk knows no formula: it keeps a heap of arrivals, lets each hop serve
what has arrived in order, and tries every number of chunks. Leaves with code 1 where a time differs by more than one part
in 10^9, or any best number of chunks differs.
"""

from __future__ import annotations

import heapq
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hopline.curve import Curve, Hop, Piece
from hopline.model import chunks, forwarding, pipeline
from hopline.model.forwarding import Forward
from hopline.quantity import exact

SEED = 20_260_101
TOLERANCE = 1e-9
LARGEST_SIZE = 48


@dataclass(slots=True)
class Row:
    """One line of the table: what was compared, how often, how far apart, and how many best k differ."""

    what: str
    cases: int = 0
    largest: float = 0.0
    wrong_k: int = 0

    def add(self, got: float, want: Fraction) -> None:
        """Count a case by its relative difference."""
        self.cases += 1
        self.largest = max(self.largest, float(abs(exact(got) - want) / want) if want else abs(got))

    @property
    def passed(self) -> bool:
        """Whether the formula is right."""
        return self.largest <= TOLERANCE and self.wrong_k == 0


# --- the walk -----------------------------------------------------------------------------------------------------


def price(hop: Hop, size: Fraction) -> tuple[Fraction, Fraction]:
    """(latency, seconds to put ``size`` bytes on the hop), exactly."""
    if isinstance(hop, Curve):
        piece = [p for p in hop.pieces if exact(p.low) <= size][-1]
        return exact(piece.latency), size / exact(piece.bandwidth)
    latency, bandwidth = hop
    return exact(float(latency)), size / exact(float(bandwidth))  # type: ignore[arg-type]


def walk(hops: Sequence[Hop], parts: Sequence[Fraction], occupies: bool = True, start: Fraction | int = 0) -> Fraction:
    """Seconds until all ``parts`` have crossed the path: events in order of time, a queue in order at each hop."""
    events = [(Fraction(start), j, 0) for j in range(len(parts))]
    free, last = [Fraction(0)] * len(hops), Fraction(0)
    served = [0] * len(hops)
    waiting: list[dict[int, Fraction]] = [{} for _ in hops]
    heapq.heapify(events)
    while events:
        time, j, i = heapq.heappop(events)
        if i == len(hops):
            last = max(last, time)
            continue
        waiting[i][j] = time
        while served[i] in waiting[i]:
            turn = served[i]
            latency, busy = price(hops[i], parts[turn])
            free[i] = max(free[i], waiting[i].pop(turn)) + busy + (latency if occupies else 0)
            served[i] += 1
            heapq.heappush(events, (free[i] + (0 if occupies else latency), turn, i + 1))
    return last


def bytes_walk(size: int, hops: Sequence[Hop], header: int) -> Fraction:
    """Cut-through byte by byte: none leaves a node before the header, nor itself, is there."""
    there = [Fraction(0)] * (size + 1)
    for hop in hops:
        latency, _ = price(hop, Fraction(size))
        each = price(hop, Fraction(size))[1] / size if size else Fraction(0)
        clock = there[min(header, size)]
        after = [clock + latency]
        for byte in there[1:]:
            clock = max(clock + each, byte)
            after.append(clock + latency)
        there = after
    return there[-1]


def balanced_parts(size: int, k: int) -> list[Fraction]:
    """Whole bytes, dealt one by one to at most ``size`` chunks."""
    parts = [0] * min(k, max(size, 1))
    for byte in range(size):
        parts[byte % len(parts)] += 1
    return [Fraction(part) for part in parts]


def fixed_parts(size: int, chunk: int) -> list[Fraction]:
    """Full chunks taken off until less is left."""
    parts = []
    while size > chunk:
        parts.append(Fraction(chunk))
        size -= chunk
    return [*parts, Fraction(size)]


# --- random cases -------------------------------------------------------------------------------------------------


def draw_line(rng: random.Random) -> tuple[float, float]:
    """Latency and bandwidth, often equal or zero, so that ties and changes of the bottleneck are met."""
    if rng.random() < 0.5:
        return rng.choice([0.0, 0.25, 1.0, 3.0, 20.0]), rng.choice([0.1, 0.5, 1.0, 1.5, 3.0, 8.0])
    return rng.uniform(0, 5), rng.uniform(0.05, 8)


def draw_hop(rng: random.Random) -> Hop:
    """A line, or one time in three a curve of several pieces."""
    if rng.random() < 2 / 3:
        return draw_line(rng)
    lows = [0.0, *sorted(rng.sample([1, 2, 3, 4.5, 6, 10, 13, 20], rng.randint(1, 3)))]
    return Curve(tuple(Piece(low, *draw_line(rng)) for low in lows))


def draw_lines(rng: random.Random) -> list[Hop]:
    """A path of plain lines."""
    return [draw_line(rng) for _ in range(rng.randint(1, 5))]


def draw_hops(rng: random.Random) -> list[Hop]:
    """A path of lines and curves."""
    return [draw_hop(rng) for _ in range(rng.randint(1, 5))]


# --- comparisons --------------------------------------------------------------------------------------------------


def compare_equal(rng: random.Random, row: Row) -> None:
    """Equal chunks of real size; latency occupies the hop or not."""
    hops, size, k, occupies = draw_hops(rng), rng.randint(0, LARGEST_SIZE), rng.randint(1, 40), rng.random() < 0.5
    row.add(float(pipeline.equal(size, hops, k, occupies)), walk(hops, [Fraction(size, k)] * k, occupies))


def compare_balanced(rng: random.Random, row: Row) -> None:
    """Whole bytes; latency occupies the hop or not."""
    size, k, occupies = rng.randint(0, LARGEST_SIZE), rng.randint(1, 60), rng.random() < 0.7
    hops = draw_hops(rng)
    row.add(float(pipeline.balanced(size, hops, k, occupies)), walk(hops, balanced_parts(size, k), occupies))


def compare_fixed(rng: random.Random, row: Row) -> None:
    """Chunks of one size and the rest; latency occupies the hop or not."""
    size, chunk, occupies = rng.randint(0, LARGEST_SIZE), rng.randint(1, 60), rng.random() < 0.7
    hops = draw_hops(rng)
    row.add(float(pipeline.fixed(size, hops, chunk, occupies)), walk(hops, fixed_parts(size, chunk), occupies))


def compare_explicit(rng: random.Random, row: Row) -> None:
    """Chunks of any sizes; latency occupies the hop or not."""
    sizes, occupies = [rng.randint(0, 15) for _ in range(rng.randint(1, 12))], rng.random() < 0.7
    hops = draw_hops(rng)
    row.add(pipeline.explicit(hops, sizes, occupies), walk(hops, [Fraction(s) for s in sizes], occupies))


def compare_best(split: chunks.Split) -> Callable[[random.Random, Row], None]:
    """The exact search for the best number of chunks against trying them all."""

    def compare(rng: random.Random, row: Row) -> None:
        hops, size = draw_hops(rng), rng.randint(0, 28)
        cut = balanced_parts if split == "balanced" else lambda m, k: [Fraction(m, k)] * k
        time, k = min((walk(hops, cut(size, k)), k) for k in range(1, max(1, size) + 1))
        found = chunks.best(size, hops, split=split)
        row.add(found.time, time)
        row.wrong_k += found.k != k

    return compare


def compare_store_and_forward(rng: random.Random, row: Row) -> None:
    """The whole message as one chunk."""
    hops, size = draw_hops(rng), rng.randint(0, LARGEST_SIZE)
    row.add(float(forwarding.store_and_forward(size, hops)), walk(hops, [Fraction(size)]))


def compare_cut_through(rng: random.Random, row: Row) -> None:
    """Header of any length, even longer than the message."""
    hops, size, header = draw_hops(rng), rng.randint(0, LARGEST_SIZE), rng.randint(0, LARGEST_SIZE + 5)
    got = forwarding.cut_through(size, hops, Forward(header=header))
    row.add(float(got), bytes_walk(size, hops, header))


def compare_wormhole(rng: random.Random, row: Row) -> None:
    """Padded flits as chunks whose latency does not occupy the hop."""
    hops, size, flit = draw_lines(rng), rng.randint(0, 200), rng.randint(1, 70)
    source = rng.choice([0.0, 2.5])
    got = forwarding.wormhole(size, hops, Forward(flit=flit, source=source))
    parts = [Fraction(flit)] * max(-(-size // flit), 1)
    row.add(float(got), walk(hops, parts, occupies=False, start=exact(source)))


COMPARISONS: dict[str, tuple[int, Callable[[random.Random, Row], None]]] = {
    "store-and-forward": (1000, compare_store_and_forward),
    "cut-through": (1000, compare_cut_through),
    "wormhole": (500, compare_wormhole),
    "pipelined, equal chunks": (500, compare_equal),
    "pipelined, whole bytes": (500, compare_balanced),
    "pipelined, fixed chunks": (500, compare_fixed),
    "pipelined, any chunks": (1000, compare_explicit),
    "best k, whole bytes": (150, compare_best("balanced")),
    "best k, equal chunks": (150, compare_best("fractional")),
}
"""What -> (cases, comparison)."""


def main() -> int:
    """Print the table; 1 where a formula is wrong."""
    rows = []
    for what, (cases, compare) in COMPARISONS.items():
        rng, row = random.Random(f"{SEED} {what}"), Row(what)
        for _ in range(cases):
            compare(rng, row)
        rows.append(row)
    print(f"{'formula against event walk':<28}{'cases':>7}{'largest difference':>20}{'wrong k':>9}")
    for row in rows:
        wrong = row.wrong_k if row.what.startswith("best") else "-"
        print(f"{row.what:<28}{row.cases:>7}{row.largest:>20.1e}{wrong:>9}{'' if row.passed else '  FAILED'}")
    return 0 if all(row.passed for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
