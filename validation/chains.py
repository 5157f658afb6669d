"""Messages through relays over TCP, measured in network namespaces, beside the formulas: every way of relaying.

Chains of 2, 3 and 4 links that ``tc tbf`` shapes, equal and unequal, 1 to 64 chunks; the median of five passages after one
that does not count. Beside the formula with framing and buckets stand the plain one that knows no bucket, and the one that
knows no framing. Needs root, iproute2 and util-linux. Run: python validation/chains.py
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "real"))

from chain_cells import BURST, MBIT, RATES, SIZE, WITHIN, Seen, cells, seen
from namespaces import Namespaces, missing

HOPS = (2, 3, 4)
REPEATS = 5


def told(one: Seen) -> str:
    """A row: links, way, chunks, measured and predicted times, and how far the three formulas are off."""
    cell, latency = one.cell, one.latency
    others = (cell.without_bursts(latency), cell.without_framing(latency))
    off = [one.error, *(one.time / other - 1 for other in others)]
    rates = "-".join(str(shape.rate // MBIT) for shape in cell.shapes)
    return (
        f"{len(cell.shapes)}  {rates:<17}{cell.way:<19}{cell.chunks:>3}{1e3 * one.time:>10.2f}"
        f"{1e3 * cell.predicted(latency):>11.2f}{one.looks:>7}"
        + "".join(f"{100 * error:>+9.2f} %" for error in off)
    )  # fmt: skip


def summed(name: str, rows: Sequence[Seen]) -> str:
    """Mean, least and most error of some cells, and how many had to be looked at again."""
    errors = [100 * one.error for one in rows]
    size = sum(map(abs, errors)) / len(errors)
    again = sum(one.looks > 1 for one in rows)
    return (
        f"{name:<28}{len(rows):>4} cells   mean size of error {size:.2f} %, from {min(errors):+.2f} to {max(errors):+.2f} %, "
        f"looked at again {again}"
    )


def main() -> int:
    """Print the table; 1 where a cell is off."""
    if missing():
        print(f"skipped: {missing()}")
        return 0
    print(f"{SIZE} bytes, buckets of {BURST} bytes, rates in Mbit/s of Ethernet frames, times in ms")
    print(
        f"{'':<41}{'k':>3}{'measured':>10}{'predicted':>11}{'looks':>7}{'error':>11}{'no bucket':>11}{'no frames':>11}"
    )
    rows: list[Seen] = []
    with Namespaces(max(HOPS) + 1) as row:
        for hops in HOPS:
            for name in RATES:
                for one in seen(row, cells(name, hops), REPEATS):
                    print(told(one), flush=True)
                    rows.append(one)
        latencies = sorted({one.latency for one in rows})
        dropped = row.dropped()
    print()
    for hops in HOPS:
        print(summed(f"{hops} hops", [one for one in rows if len(one.cell.shapes) == hops]))
    for way in dict.fromkeys(one.cell.way for one in rows):
        print(summed(way, [one for one in rows if one.cell.way == way]))
    print(summed("all", rows))
    print(f"a hop for one byte: {1e6 * latencies[0]:.0f} to {1e6 * latencies[-1]:.0f} us; frames dropped: {dropped}")
    return int(dropped > 0 or any(abs(one.error) > WITHIN for one in rows))


if __name__ == "__main__":
    sys.exit(main())
