"""What a job sends, in bytes: activations, reductions, gradients, tokens for experts, and the KV cache.

What belongs here: the formulas, each from elements to bytes by the size of its data type. Which of them a job needs is
``phases``. Sizes are rational, since a data type may have half a byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hopline.errors import InputError
from hopline.quantity import NON_NEGATIVE, POSITIVE, exact
from hopline.workload.shapes import Attention


@dataclass(frozen=True, slots=True)
class Reductions:
    """All-reduces of one size: how many there are, and bytes that a rank sends for all of them by a ring."""

    count: int
    sent: Fraction


def activation(tokens: int, hidden: int, dtype: float, ranks: int = 1) -> Fraction:
    """Bytes of the activations of ``tokens`` at a boundary: tokens x hidden x bytes of an element, split over ``ranks``.

    ``ranks``: those that tensor parallelism splits them over where sequence parallelism is on (Megatron, arXiv 2205.05198).
    """
    _check(tokens=tokens, hidden=hidden, ranks=ranks)
    return tokens * hidden * exact(POSITIVE.check("bytes of an element", dtype)) / ranks


def reductions(size: Fraction, ranks: int, backward: bool = False) -> Reductions:
    """All-reduces of a layer over tensor-parallel ranks: after attention and MLP, and twice again in the backward pass."""
    _check(ranks=ranks)
    count = 0 if ranks == 1 else halves(2, backward)["all_reduce"]
    return Reductions(count, count * around(size, ranks, "all_reduce"))


def halves(count: int, backward: bool, sequence_parallel: bool = False) -> dict[str, int]:
    """Collectives over tensor-parallel ranks for ``count`` halves of layers (attention, MLP): operation -> how many.

    One all-reduce a half and pass (arXiv 1909.08053). With sequence parallelism it is an all-gather before and a
    reduce-scatter after, and the backward pass gathers the input of the first matrix once more, since only a part of it was
    kept (arXiv 2205.05198, section 4.2.2).
    """
    passes = 2 if backward else 1
    if not sequence_parallel:
        return {"all_reduce": count * passes}
    return {"all_gather": count * (passes + backward), "reduce_scatter": count * passes}


def boundaries(stage: int, stages: int, chunks: int = 1, backward: bool = False) -> int:
    """Messages that ``stage`` sends to its neighbours for a micro-batch.

    A chunk sends activations forward, but for the last of all, and gradients backward, but for the first of all (1F1B and
    interleaved, arXiv 2104.04473).
    """
    forward = chunks - (stage == stages - 1)
    return forward + (chunks - (stage == 0) if backward else 0)


def around(size: Fraction, ranks: int, operation: str) -> Fraction:
    """Bytes that a rank sends for a collective of ``size``: the least of any algorithm in which the ranks make the sums."""
    shares = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1, "alltoall": 1}
    return size if operation == "sendrecv" else shares[operation] * size * Fraction(ranks - 1, ranks)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One of the collectives by which replicas agree: bytes of it, and whether each micro-batch repeats it."""

    name: str
    operation: str
    size: Fraction
    repeated: bool = False
    times: int = 1


def gradients(parameters: int, gradient: float, parameter: float, zero: int = 0) -> tuple[Exchange, ...]:
    """What data-parallel ranks exchange of ``parameters`` in a step; bytes of an element of gradients and of parameters.

    ZeRO (arXiv 1910.02054): with 1 and 2 gradients are reduced in shards and parameters gathered once; with 3 parameters are
    gathered for each forward and each backward pass, three times their bytes in all.
    """
    _check(parameters=parameters)
    sums = parameters * exact(POSITIVE.check("bytes of a gradient", gradient))
    whole = parameters * exact(POSITIVE.check("bytes of a parameter", parameter))
    if zero == 0:
        return (Exchange("gradients", "all_reduce", sums),)
    shards = Exchange("gradients", "reduce_scatter", sums, repeated=zero >= 2)
    if zero < 3:
        return shards, Exchange("parameters", "all_gather", whole)
    return shards, Exchange("parameters", "all_gather", whole, repeated=True, times=2)


def dispatched(tokens: int, per_token: int, hidden: int, dtype: float) -> Fraction:
    """Bytes of a rank's tokens on their way to ``per_token`` experts each, wherever these are (arXiv 2505.09343)."""
    _check(tokens=tokens, per_token=per_token, hidden=hidden)
    return tokens * per_token * hidden * exact(POSITIVE.check("bytes of an element", dtype))


def kv_elements(attention: Attention) -> int:
    """Elements that a token leaves in one layer's cache: K and V of the heads that keep them, or one latent with its key."""
    if attention.kind == "mla":
        return attention.latent + attention.rope
    return attention.keys * (attention.head + attention.values)


def kv_bytes(elements: int, layers: int, dtype: float) -> Fraction:
    """Bytes that a token leaves in the caches of all layers."""
    _check(elements=elements, layers=layers)
    return elements * layers * exact(POSITIVE.check("bytes of an element", dtype))


def kv_share(attention: Attention, ranks: int) -> Fraction:
    """Part of a layer's cache that each tensor-parallel rank keeps: whole heads, at least one; a latent whole."""
    _check(ranks=ranks)
    return Fraction(1) if attention.kind == "mla" else Fraction(attention.kept_keys(ranks), attention.keys)


def migration(size: float, latency: float, bandwidth: float) -> float:
    """Seconds to move a cache of ``size`` bytes: latency + size / bandwidth."""
    moved = exact(NON_NEGATIVE.check("size", size)) / exact(POSITIVE.check("bandwidth", bandwidth))
    return float(exact(NON_NEGATIVE.check("latency", latency)) + moved)


def _check(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise InputError(f"{name} is {count}: expected a whole number of at least 1")
