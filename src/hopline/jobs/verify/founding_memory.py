"""Memory, activations and the KV cache: what the document says, beside what the model gives.

What belongs here: those rows of the first founding document and the calls that work their figures out. Numbers are
computed, never typed in: only the document's own examples (sizes, latencies, bandwidths) are written down.
"""

from __future__ import annotations

from hopline.jobs.verify.figures import Figure, Statement, plain, rate, seconds, volume
from hopline.jobs.verify.founding_examples import (
    BETA,
    LLAMA,
    MEMORY,
    MLA,
    QWEN,
    MiB64,
)
from hopline.model import limits
from hopline.quantity import size


def _duplex() -> tuple[Figure, ...]:
    return (
        seconds("64 MiB each way, memory left out", limits.duplex_full(MiB64, MiB64, BETA, BETA)),
        seconds("with 68.2 GB/s of memory", limits.duplex_full(MiB64, MiB64, BETA, BETA, memory=MEMORY)),
    )


def _memory() -> tuple[Figure, ...]:
    uses = {"send only": 1, "relay": 2, "reduce": 3}
    return tuple(rate(f"two links, {use}", limits.memory_cap(2, BETA, MEMORY, n).aggregate) for use, n in uses.items())


def _demand() -> tuple[Figure, ...]:
    cap = limits.memory_cap(2, BETA, MEMORY)
    return rate("asked of the memory", cap.demand), rate("it gives", cap.aggregate)


def _activation() -> tuple[Figure, ...]:
    return (
        volume("1x4096x7168 in bf16", size("1x4096x7168 x bf16")),
        plain("elements", size("1x4096x7168 x int8")),
    )


def _decode() -> tuple[Figure, ...]:
    return (volume("decode, s = 1, h = 7168, bf16", size("1x1x7168 x bf16")),)


def _kv() -> tuple[Figure, ...]:
    grouped, every = size("2x80x8x128 x bf16"), size("2x80x64x128 x bf16")
    return (
        volume("Llama-3-70B a token, 8 KV heads", grouped),
        plain("counted with 64 heads: times", every / grouped),
        volume("MLA a token, 61 layers of 512 + 64", MLA),
    )


def _mla() -> tuple[Figure, ...]:
    return (
        plain("Qwen2.5-72B against MLA", QWEN / MLA),
        plain("Llama-3.1-405B against MLA", LLAMA / MLA),
        plain("same model, MHA of 128 x 128", size("2x128x128 x bf16") / size("576 x bf16")),
        plain("same model, MHA of 128 x (192 + 128)", size("128x320 x bf16") / size("576 x bf16")),
    )


def _mla_context() -> tuple[Figure, ...]:
    return (
        volume("a token", MLA),
        volume("4096 tokens", size("4096x61x576 x bf16")),
        volume("131072 tokens", size("131072x61x576 x bf16")),
    )


STATEMENTS: tuple[Statement, ...] = (
    Statement(
        "1.21", "full duplex: max of both ways", "max(m_s/β, m_r/β)", "COND",
        "no α, separate equal channels, memory fast enough (contradicts 1.23)", _duplex,
    ),
    Statement(
        "1.22", "d links: min(dβ, β_mem)", "min(dβ, β_mem)", "COND",
        "each byte crosses the memory once; relay β_mem/2, reduce β_mem/3", _memory,
    ),
    Statement(
        "1.23", "two links are bound by the DDR", "128 > 68.2 GB/s", "RIGHT",
        "arithmetic; the memory's rate is an input", _demand,
    ),
    Statement(
        "1.24", "activation is b s h bytes", "29.4 MB", "WRONG", "elements: bytes need the data type", _activation
    ),
    Statement(
        "1.25", "backward traffic under inference", "", "WRONG", "inference has no backward; decode has s = 1", _decode
    ),
    Statement(
        "1.26", "KV cache 2 L n_heads s d dtype", "2 L n_heads s d dtype", "COND",
        "all heads kept (MHA), batch 1; GQA counts KV heads, MLA has no 2 and no heads", _kv,
    ),
    Statement("1.27", "MLA makes it smaller", "5-8x", "APPROX", "against other models' GQA; baseline unstated", _mla),
    Statement(
        "1.28", "the KV cache stays at MB level", "MB", "APPROX", "only short contexts; grows with s", _mla_context
    ),
)  # fmt: skip
"""One row for each statement, in the document's order."""
