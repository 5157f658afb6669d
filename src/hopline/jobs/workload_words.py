"""What a job's messages are told with: what is unusual about its layout, and what is taken for granted.

What belongs here: notes and premises of ``hopline workload``, from the job to words.
"""

from __future__ import annotations

from collections.abc import Iterator

from hopline.quantity import DTYPES, binary
from hopline.workload.parallel import Parallel, Phase
from hopline.workload.shapes import Model


def notes(model: Model, parallel: Parallel, phase: Phase) -> Iterator[str]:
    """What makes the numbers other than usual."""
    p = parallel
    if phase != "training" and p.tp > 1 and p.ep > 1 and not p.sequence_parallel:
        yield (
            f"each of {p.tp} tensor-parallel ranks sends all tokens to experts, {p.tp} times the bytes that are needed: with "
            "--sequence-parallel each sends its part"
        )
    if model.attention.kind != "mla" and model.attention.keys > 1 and model.attention.keys % p.tp:
        kept = model.attention.kept_keys(p.tp)
        yield (
            f"{model.attention.keys} heads of K and V over tp {p.tp}: each rank keeps {kept} whole "
            f"head{'s' if kept > 1 else ''}, so that some are kept more than once"
        )


def premises(model: Model, parallel: Parallel, phase: Phase, element: str) -> Iterator[str]:
    """What the messages stand on, and what is left out of them."""
    p = parallel
    yield "groups are of neighbouring ranks in the order tp, cp, dp, pp; messages of different groups do not meet on a wire"
    if p.ep > 1:
        yield (
            "experts are asked for evenly, and a token goes to each of its experts by itself: software that sends it once to "
            "a rank that has several sends less"
        )
    if model.experts and p.ep == 1 and p.tp > 1:
        yield "with ep 1 each expert is split over tp, and all of them together are counted as one MLP"
    if p.pp > 1:
        yield "a message to the next stage goes over the outermost level between any two of its group"
    if p.cp > 1 and model.attention.kind == "mla":
        whole = model.attention.heads // p.tp * (model.attention.head + model.attention.rope + model.attention.values)
        yield f"latents go round the ranks of a sequence: software that makes K and V first sends {whole:,} elements a token"
    if phase == "training":
        yield from _training(parallel)
    elif p.tp > 1:
        logits = p.micro_batch * model.vocab * DTYPES[element]
        yield (
            f"left out: logits, where a server gathers them ({binary(float(logits))} for a token of each sequence), and token "
            "numbers"
        )


def _training(parallel: Parallel) -> Iterator[str]:
    yield (
        "left out: recomputed activations (whose forward messages come once more), the sum of squares for clipping, the loss "
        "over replicas, and what fp8 needs to scale"
    )
    if parallel.sequence_parallel:
        yield (
            "a third of the all-gathers fetches an input of the forward pass once more, since a rank keeps its part alone "
            "(arXiv 2205.05198); beside compute it may cost nothing"
        )
    if parallel.zero >= 2 and parallel.microbatches > 1:
        yield "with ZeRO 2 and 3 the shards are reduced after each micro-batch; with 3 parameters are gathered for each pass"
