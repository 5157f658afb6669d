"""The founding documents' own examples: the links, paths and sizes that several rows work on.

What belongs here: what the ``founding_*`` rows share. These numbers are the documents'; all others are worked out.
"""

from __future__ import annotations

from hopline.curve import Hop
from hopline.model import chunks, pipeline
from hopline.quantity import bandwidth, size, time

ALPHA, BETA, MEMORY = time("0.55us"), bandwidth("64GB/s"), bandwidth("68.2GB/s")
LINK: Hop = (ALPHA, BETA)
C2C, B2B = bandwidth("64GB/s"), bandwidth("25GB/s")
CHIP_TO_BOARD: list[Hop] = [(time("0.25us"), C2C), (time("2us"), B2B)]
SHIFTING: list[Hop] = [(time("0.1us"), bandwidth("10GB/s")), (time("8us"), bandwidth("100GB/s"))]
"""A hop slow by bandwidth, then one slow by latency: the bottleneck moves from one to the other as k grows."""
SWITCH: Hop = (time("0.3us"), bandwidth("50GB/s"))
ROUTER: Hop = (time("5ns"), BETA)
MiB, MiB16, MiB64 = size("1MiB"), size("16MiB"), size("64MiB")

MLA, QWEN, LLAMA = size("61x576 x bf16"), size("2x80x8x128 x bf16"), size("2x126x8x128 x bf16")
"""KV bytes a token: DeepSeek-V3 (latent), Qwen2.5-72B and Llama-3.1-405B (grouped heads)."""


def at_real_k(message: float, hops: list[Hop], k: float) -> float:
    """Σt_i + (k-1) max t_i for chunks of message/k bytes; k need not be whole here."""
    steps = [float(pipeline.first_chunk(message / k, [hop])) for hop in hops]
    return float(pipeline.first_chunk(message / k, hops)) + (k - 1) * max(steps)


def document_optimum(message: float, hop_count: int) -> chunks.ClosedForm:
    """The document's k* and T* for h hops: they are the true ones of h + 1."""
    return chunks.closed_form(message, [LINK] * (hop_count + 1))
