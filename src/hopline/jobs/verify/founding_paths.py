"""One message over a link or a path: what the document says, beside what the model gives.

What belongs here: those rows of the first founding document and the calls that work their figures out. Numbers are
computed, never typed in: only the document's own examples (sizes, latencies, bandwidths) are written down.
"""

from __future__ import annotations

from hopline.jobs.verify.figures import Figure, Statement, plain, rate, seconds
from hopline.jobs.verify.founding_examples import (
    ALPHA,
    B2B,
    BETA,
    C2C,
    CHIP_TO_BOARD,
    LINK,
    ROUTER,
    SWITCH,
    MiB,
    MiB64,
)
from hopline.model import chunks, forwarding, limits
from hopline.quantity import time

_MODES = tuple(forwarding.FORWARDING.items())


def _direct() -> tuple[Figure, ...]:
    return (
        seconds("64 MiB at 0.55 µs, 64 GB/s", forwarding.direct(MiB64, ALPHA, BETA)),
        seconds("0 bytes", forwarding.direct(0, ALPHA, BETA)),
    )


def _alpha() -> tuple[Figure, ...]:
    return (seconds("α", limits.alpha_sum([time("0.25us"), time("0.3us")])),)


def _store_and_forward() -> tuple[Figure, ...]:
    return (
        seconds("1 MiB over 8 equal hops", forwarding.store_and_forward(MiB, [LINK] * 8)),
        seconds("64 MiB, 64 then 25 GB/s", forwarding.store_and_forward(MiB64, CHIP_TO_BOARD)),
    )


def _cut_through() -> tuple[Figure, ...]:
    four, header = [SWITCH] * 4, forwarding.Forward(header=64)
    return (
        seconds("4 KiB over 4 switches, 64 B header", forwarding.cut_through(4096, four, header)),
        seconds("the same by hα + m/β", forwarding.cut_through(4096, four)),
        seconds("64 MiB, 64 then 25 GB/s", forwarding.cut_through(MiB64, CHIP_TO_BOARD)),
        seconds("end-node α paid on 3 hops", forwarding.cut_through(0, [LINK] * 3)),
    )


def _ratio() -> tuple[Figure, ...]:
    message, path = 10 * ALPHA * BETA, [LINK] * 8
    found = limits.effective_bandwidth([C2C, B2B])
    return (
        plain(
            "SAF/CT, h = 8, m = 10 αβ",
            forwarding.store_and_forward(message, path) / forwarding.cut_through(message, path),
        ),
        plain("limit for 64 then 25 GB/s (h = 2)", found.cut_through / found.store_and_forward),
    )


def _wormhole() -> tuple[Figure, ...]:
    four = [ROUTER] * 4
    return (
        seconds("4 KiB over 4 hops, 32 B flits", forwarding.wormhole(4096, four, forwarding.Forward(flit=32))),
        seconds("infinitely small flits", forwarding.wormhole_limit(4096, four)),
    )


def _wormhole_latency() -> tuple[Figure, ...]:
    flit = forwarding.Forward(flit=64)
    return tuple(
        seconds(f"64 B over {h} hop{'s' if h > 1 else ''}", forwarding.wormhole(64, [ROUTER] * h, flit))
        for h in (1, 64)
    )


def _three_modes() -> tuple[Figure, ...]:
    return tuple(seconds(f"4 KiB, 4 hops: {name}", mode(4096, [SWITCH] * 4, None)) for name, mode in _MODES)


def _path_bandwidth() -> tuple[Figure, ...]:
    found = limits.effective_bandwidth([C2C, B2B])
    best = chunks.best(MiB64, CHIP_TO_BOARD, split="fractional")
    whole = float(forwarding.store_and_forward(MiB64, CHIP_TO_BOARD))
    return (
        rate("store-and-forward, m → ∞", found.store_and_forward),
        rate("64 MiB with its α", MiB64 / whole),
        rate("cut-through, pipelined, m → ∞", found.cut_through),
        rate("64 MiB pipelined, best k", MiB64 / best.time),
        plain("that k", best.k),
    )


def _harmonic_mean() -> tuple[Figure, ...]:
    found = limits.effective_bandwidth([C2C, B2B])
    return rate("harmonic mean", found.harmonic_mean), rate("harmonic sum", found.store_and_forward)


def _below() -> tuple[Figure, ...]:
    found = limits.effective_bandwidth([C2C, B2B])
    return (plain("against the slowest hop, %", 100 * (found.store_and_forward / found.cut_through - 1)),)


STATEMENTS: tuple[Statement, ...] = (
    Statement("1.1", "bytes received = bytes sent, once done", "", "RIGHT", "by definition"),
    Statement(
        "1.2", "direct transfer: α + m/β", "α + m/β", "COND",
        "uncontended link, no packet or protocol overhead", _direct,
    ),
    Statement("1.3", "α is the sum of its parts", "0.55 µs", "RIGHT", "arithmetic; the parts are inputs", _alpha),
    Statement("1.4", "α of an all-reduce step", "1.2 µs", "UNVERIFIABLE", "no derivation: an input, no constant"),
    Statement(
        "1.5", "store-and-forward over h hops", "h(α + m/β)", "COND",
        "equal hops, no chunks; in general Σ(α_i + m/β_i)", _store_and_forward,
    ),
    Statement(
        "1.6", "cut-through over h hops", "hα + m/β", "APPROX",
        "plus a header time per further hop; a switch does not pay the end node's α", _cut_through,
    ),
    Statement(
        "1.7", "SAF/CT tends to h for m >> αβ", "h", "WRONG",
        "needs m >> hαβ; unequal hops tend to min β Σ1/β_i", _ratio,
    ),
    Statement(
        "1.8", "wormhole: h t_route + m/β", "h t_route + m/β", "COND",
        "infinitely small flits, no source α, nothing blocks", _wormhole,
    ),
    Statement(
        "1.9", "wormhole latency hardly depends on h", "constant", "WRONG",
        "linear in h; negligible only for m >> h t_route β", _wormhole_latency,
    ),
    Statement(
        "1.10", "the three modes side by side", "table", "COND", "the premises of 1.5, 1.6 and 1.8", _three_modes
    ),
    Statement(
        "1.11", "path bandwidth 1/Σ(1/β_i)", "18.0 GB/s", "COND",
        "store-and-forward, m → ∞, α left out; others tend to min β", _path_bandwidth,
    ),
    Statement(
        "1.12", "that is called the harmonic mean", "harmonic mean", "WRONG",
        "the mean is n times as much; the formula is mean/n", _harmonic_mean,
    ),
    Statement("1.13", "path far below any single hop", "far below", "APPROX", "below the slowest hop, not far", _below),
)  # fmt: skip
"""One row for each statement, in the document's order."""
