"""Where a naive implementation goes wrong: the number it gets, beside the right one.

What belongs here: one row for each mistake. The wrong number is worked out as the mistake would.
"""

from __future__ import annotations

import math

from hopline.curve import Hop
from hopline.jobs.verify import founding_overlap as overlap
from hopline.jobs.verify.figures import Figure, Statement, plain, rate, seconds, volume
from hopline.jobs.verify.founding_examples import (
    B2B,
    BETA,
    C2C,
    CHIP_TO_BOARD,
    LINK,
    MEMORY,
    MLA,
    SHIFTING,
    MiB16,
    MiB64,
    document_optimum,
)
from hopline.model import chunks, limits, pipeline
from hopline.quantity import bandwidth, size, time


def _chunks() -> tuple[Figure, ...]:
    best = chunks.best(MiB16, [LINK] * 2, split="fractional")
    return (
        plain("wrong: 16 MiB, h = 2, with h", document_optimum(MiB16, 2).k),
        plain("right: with h-1", chunks.closed_form(MiB16, [LINK] * 2).k),
        plain("right: as a whole number", best.k),
        plain("right: 64 B, h = 2, clamped", chunks.closed_form(64, [LINK] * 2).k),
        seconds("wrong: 5 B in 100 chunks", pipeline.equal(5, CHIP_TO_BOARD, 100)),
        seconds("right: in 5", pipeline.balanced(5, CHIP_TO_BOARD, 100)),
    )


def _harmonic() -> tuple[Figure, ...]:
    found = limits.effective_bandwidth([C2C, B2B])
    return (
        rate("wrong: harmonic sum, cut-through", found.store_and_forward),
        rate("wrong: library's harmonic mean", found.harmonic_mean),
        rate("right: min β", found.cut_through),
    )


def _bottleneck() -> tuple[Figure, ...]:
    message, k = size("4MiB"), 100
    return (
        seconds("wrong: 4 MiB, k = 100, by min β", _paced_by(message, k, min(SHIFTING, key=_bandwidth_of))),
        seconds("right: by max(α + c/β)", pipeline.equal(message, SHIFTING, k)),
    )


def _paced_by(message: float, k: int, hop: Hop) -> float:
    """Pipelined time as if ``hop`` set the pace."""
    first, pace = (float(pipeline.first_chunk(message / k, hops)) for hops in (SHIFTING, [hop]))
    return first + (k - 1) * pace


def _bandwidth_of(hop: Hop) -> float:
    return float(pipeline.first_chunk(size("1GiB"), [hop])) ** -1


def _last_chunk() -> tuple[Figure, ...]:
    chunk, number = size("64KiB"), 16
    return (
        seconds("wrong: 1000001 B as 16 full chunks", pipeline.equal(number * chunk, CHIP_TO_BOARD, number)),
        seconds("right: the last holds the rest", pipeline.fixed(1_000_001, CHIP_TO_BOARD, chunk)),
        seconds("α as latency instead", pipeline.fixed(1_000_001, CHIP_TO_BOARD, chunk, occupies=False)),
    )


def _ceiling() -> tuple[Figure, ...]:
    return (
        *_needed(bandwidth("45GB/s"), 129, time("4.3us")),
        *_needed(bandwidth("10GB/s"), 500, time("2.5us")),
    )


def _needed(cap: float, payload: float, turnaround: float) -> tuple[Figure, Figure]:
    return (
        plain("wrong: ceiling of floats", math.ceil(cap * turnaround / payload)),
        plain("right: exact", limits.concurrency(1, payload, turnaround, cap).needed),
    )


def _kv() -> tuple[Figure, ...]:
    return (
        volume("wrong: Llama-3-70B a token by heads", size("2x80x64x128 x bf16")),
        volume("right: by KV heads", size("2x80x8x128 x bf16")),
        volume("wrong: MLA a token, times 2", 2 * MLA),
        volume("right: once", MLA),
        volume("wrong: activation without dtype", size("1x4096x7168 x int8")),
        volume("right: in bf16", size("1x4096x7168 x bf16")),
    )


def _duplex() -> tuple[Figure, ...]:
    return (
        seconds("wrong: 64 MiB each way, links only", limits.duplex_full(MiB64, MiB64, BETA, BETA)),
        seconds("right: with the memory", limits.duplex_full(MiB64, MiB64, BETA, BETA, memory=MEMORY)),
    )


STATEMENTS: tuple[Statement, ...] = (
    Statement(
        "M1", "k* with h, not clamped, not whole", "√(hm/(αβ))", "WRONG",
        "h-1; k from 1 to the bytes; compare both whole neighbours", _chunks,
    ),
    Statement("M2", "harmonic bandwidth for cut-through", "", "WRONG", "store-and-forward only", _harmonic),
    Statement(
        "M3", "bottleneck is the hop of least β", "", "WRONG", "it moves with the chunk size", _bottleneck
    ),
    Statement(
        "M4", "last chunk priced as a full one", "", "WRONG", "and α is occupancy or latency, not both", _last_chunk
    ),
    Statement(
        "M5", "queue not clamped, drops counted as backlog", "", "WRONG",
        "0 to capacity; reaching it exactly drops nothing", needs="Flows",
    ),
    Statement(
        "M6", "slots come back at completion", "", "WRONG",
        "only at polls; fixed order at one instant; slots below the batch", needs="Flows",
    ),
    Statement("M7", "ceiling taken of floats", "1501, 51", "WRONG", "round up in exact arithmetic", _ceiling),
    Statement(
        "M8", "ring with 2(N-1)/N M, log2 N rounded up", "", "WRONG",
        "whole pieces each round; fold in and out where N is no power of two", needs="Schedules",
    ),
    Statement(
        "M9", "buckets as max(T_c, first ready + ΣT)", "", "WRONG", "the last bucket is always exposed",
        overlap.last_bucket,
    ),
    Statement(
        "M10", "KV by all heads, MLA doubled, no dtype", "", "WRONG", "KV heads; no 2 for MLA; bytes need dtype", _kv
    ),
    Statement(
        "M11", "pause headroom: one-way cable, bits, one MTU", "", "WRONG", "both ways, bytes, two MTU", needs="Flows"
    ),
    Statement(
        "M12", "deadlock looked for on links or routes", "", "WRONG",
        "on resources: link with virtual channel and class", needs="Flows",
    ),
    Statement(
        "M13", "go-back-N as 1-p; reorder buffer as rate x skew", "", "WRONG",
        "a loss costs the window; the product is only an upper bound", needs="Flows",
    ),
    Statement(
        "M14", "pipeline bubble over which time", "(p-1)/m", "WRONG",
        "over the ideal; (p-1)/(m+p-1) over the total; v chunks divide it", overlap.bubbles,
    ),
    Statement("M15", "full duplex without the memory", "", "WRONG", "both ways share the memory", _duplex),
)  # fmt: skip
"""One row for each mistake."""
