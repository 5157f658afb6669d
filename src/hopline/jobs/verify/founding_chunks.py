"""A message in chunks: what the document says of the best number of them, beside what the model gives.

What belongs here: those rows of the first founding document and the calls that work their figures out. Numbers are
computed, never typed in: only the document's own examples (sizes, latencies, bandwidths) are written down.
"""

from __future__ import annotations

from hopline.jobs.verify.figures import Figure, Statement, plain, seconds, volume
from hopline.jobs.verify.founding_examples import (
    ALPHA,
    BETA,
    CHIP_TO_BOARD,
    LINK,
    SHIFTING,
    MiB,
    MiB16,
    MiB64,
    at_real_k,
    document_optimum,
)
from hopline.model import chunks, forwarding, pipeline
from hopline.quantity import size


def _pipelined() -> tuple[Figure, ...]:
    four = [LINK] * 4
    return (
        seconds("1 MiB, 4 hops, 8 chunks", pipeline.equal(MiB, four, 8)),
        seconds("α as latency", pipeline.equal(MiB, four, 8, occupies=False)),
        seconds("1000001 B in 64 KiB chunks, 2 hops", pipeline.fixed(1_000_001, CHIP_TO_BOARD, size("64KiB"))),
    )


def _best_k() -> tuple[Figure, ...]:
    return (
        plain("k* of 16 MiB, h = 2", chunks.closed_form(MiB16, [LINK] * 2).k),
        plain("document's k there", document_optimum(MiB16, 2).k),
        plain("best whole k", chunks.best(MiB16, [LINK] * 2, split="fractional").k),
        plain("64 MiB, 64 then 25 GB/s: k", chunks.best(MiB64, CHIP_TO_BOARD, split="fractional").k),
        plain("4 MiB, bottleneck moves: k", chunks.best(size("4MiB"), SHIFTING, split="fractional").k),
    )


def _best_time() -> tuple[Figure, ...]:
    document = document_optimum(MiB16, 2)
    return (
        seconds("T* of 16 MiB, h = 2", chunks.closed_form(MiB16, [LINK] * 2).time),
        seconds("document's T* there", document.time),
        seconds("T at the document's k", at_real_k(MiB16, [LINK] * 2, document.k)),
    )


def _one_hop() -> tuple[Figure, ...]:
    document = document_optimum(MiB16, 1)
    return (
        seconds("16 MiB, k = 1", chunks.closed_form(MiB16, [LINK]).time),
        plain("document's k", document.k),
        seconds("T at that k", at_real_k(MiB16, [LINK], document.k)),
        seconds("document's T*", document.time),
    )


def _error_size() -> tuple[Figure, ...]:
    two, document = [LINK] * 2, document_optimum(MiB16, 2)
    least, at_k = chunks.closed_form(MiB16, two).time, at_real_k(MiB16, two, document.k)
    small = document_optimum(MiB, 2).time / chunks.closed_form(MiB, two).time
    return (
        seconds("16 MiB, h = 2: T at the document's k", at_k),
        seconds("least T", least),
        plain("worse by, %", 100 * (at_k / least - 1)),
        plain("claimed T* too high by, %", 100 * (document.time / least - 1)),
        plain("the same for 1 MiB, %", 100 * (small - 1)),
    )


def _long_messages() -> tuple[Figure, ...]:
    message = 400 * 3 * ALPHA * BETA
    over = chunks.closed_form(message, [LINK] * 4).time / float(forwarding.direct(message, 0, BETA))
    return (
        volume("2√((h-1)αβ/m) is 10 % at h = 4 for", message),
        plain("all overhead over m/β there, %", 100 * (over - 1)),
    )


STATEMENTS: tuple[Statement, ...] = (
    Statement(
        "1.14", "k chunks: (h+k-1)(α + m/(kβ))", "(h+k-1)(α + m/(kβ))", "COND",
        "equal hops and chunks, α occupies the hop for each chunk", _pipelined,
    ),
    Statement(
        "1.15", "best number of chunks", "√(hm/(αβ))", "WRONG",
        "√((h-1)m/(αβ)) in [1, m], then both whole neighbours; unequal hops: search", _best_k,
    ),
    Statement(
        "1.16", "least time", "hα + m/β + 2√(hmα/β)", "WRONG",
        "h-1 for h: the document's T*(h) is the true T*(h+1)", _best_time,
    ),
    Statement("1.17", "the same for one hop", "286.71 µs", "WRONG", "one hop: chunks only add α(k-1)", _one_hop),
    Statement(
        "1.18", "how much the wrong k* costs", "", "QUALITATIVE",
        "the k costs little, the claimed time is off by more", _error_size,
    ),
    Statement(
        "1.19", "T* tends to m/β for m >> hαβ", "m/β", "RIGHT",
        "the limit is slow: under 10 % needs m > 400(h-1)αβ", _long_messages,
    ),
    Statement(
        "1.20", "ring: N pieces, N-1 steps", "N-1", "RIGHT",
        "reduce-scatter alone; all-reduce takes 2(N-1)", needs="Schedules",
    ),
)  # fmt: skip
"""One row for each statement, in the document's order."""
