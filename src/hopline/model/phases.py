"""What the ranks of each stage of a job take part in: training a step, reading a prompt (prefill), making a token (decode).

What belongs here: which of the formulas of ``traffic`` a phase needs, and how often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from hopline.errors import UnknownNameError
from hopline.model import traffic
from hopline.model.holding import cache_elements, held
from hopline.model.job import TYPES, Job, Types
from hopline.quantity import DTYPES, counted
from hopline.records.traffic import Axis, Sent
from hopline.workload.parallel import PHASES, Parallel, Phase
from hopline.workload.shapes import Model

Rows = tuple[Sent, ...]


def stages(model: Model, parallel: Parallel, phase: Phase, types: Types = TYPES) -> tuple[Rows, ...]:
    """For each stage all that a rank of it sends. Raises WorkloadError where the model cannot be spread so."""
    if phase not in PHASES:
        raise UnknownNameError("phase", phase, PHASES)
    parallel.check(model, phase)
    known: dict[tuple[bool, bool, int, int], Rows] = {}
    found = []
    for stage in range(parallel.pp):
        job = Job(model, parallel, phase, types, stage)
        kind = job.first, job.last, len(job.layers), job.expert_layers
        if kind not in known:
            known[kind] = tuple(one for one in _PHASES[phase](job) if one.count)
        found.append(known[kind])
    return tuple(found)


def sent(model: Model, parallel: Parallel, phase: Phase, types: Types = TYPES) -> Rows:
    """What a rank of the stage that sends most bytes sends. Raises WorkloadError where the model cannot be spread so."""
    return max(stages(model, parallel, phase, types), key=total)


def total(rows: Iterable[Sent]) -> float:
    """Bytes of all."""
    return sum(one.total for one in rows)


def way(rows: Iterable[Rows]) -> Rows:
    """What a prompt or token meets on its way through the stages: the messages of all, one after the other.

    Caches are moved by all stages at once, so that the largest counts.
    """
    found: dict[tuple[str, str, float], Sent] = {}
    for one in (one for stage in rows for one in stage):
        key = one.name, one.operation, 0.0 if one.axis == "kv" else one.size
        if key not in found:
            found[key] = one
        elif one.axis == "kv":
            found[key] = max(found[key], one, key=lambda sent: sent.size)
        else:
            found[key] = replace(found[key], count=found[key].count + one.count)
    return tuple(found.values())


def cache_of_token(model: Model, dtype: float) -> Fraction:
    """Bytes that a token leaves in all caches of ``model``."""
    return traffic.kv_bytes(traffic.kv_elements(model.attention), model.layers, dtype)


def _tensor(job: Job) -> Iterator[Sent]:
    """Around attention and MLP of each layer. Routed experts have tokens of their own, shared ones are like an MLP."""
    p, experts = job.parallel, job.model.experts
    if p.tp == 1:
        return
    alone = job.expert_layers if experts and p.ep > 1 and not experts.shared else 0
    counts = traffic.halves(2 * len(job.layers) - alone, job.training, p.sequence_parallel)
    yield from job.activations("tensor parallel", counts)


def _ends(job: Job) -> Iterator[Sent]:
    """What shares out the vocabulary: the embedding's sum, the gradient before the head, and the loss (Megatron-LM)."""
    p = job.parallel
    if p.tp == 1:
        return
    if job.first and p.sequence_parallel:
        yield from job.activations("embedding", {"reduce_scatter": 1, "all_gather": int(job.training)})
    elif job.first:
        yield from job.activations("embedding", {"all_reduce": 1})
    if job.last and job.training:
        counts = {"all_gather": 2, "reduce_scatter": 1} if p.sequence_parallel else {"all_reduce": 1}
        yield from job.activations("head", counts)
        size = job.tokens * DTYPES["fp32"]
        yield job.message("loss", "tp", "all_reduce", size, 3 * job.times, f"{job.words} x a number", "fp32")


def _boundary(job: Job) -> Iterator[Sent]:
    """Activations to the next stage, and their gradients back."""
    p, dtype, hidden = job.parallel, job.types.element, job.model.hidden
    if p.pp == 1:
        return
    size = traffic.activation(job.share, hidden, float(DTYPES[dtype]))
    count = traffic.boundaries(job.stage, p.pp, p.vpp, job.training) * job.times
    yield job.message("stage boundary", "pp", "sendrecv", size, count, f"{job.shared} x hidden {hidden}", dtype)


def _context(job: Job) -> Iterator[Sent]:
    """Keys and values round the ranks that share a sequence: forward, and with gradients backward (arXiv 2310.01889)."""
    p, dtype = job.parallel, job.types.element
    if p.cp == 1:
        return
    elements = cache_elements(job.model, p)
    size = job.tokens * elements * DTYPES[dtype]
    count = (3 if job.training else 1) * (p.cp - 1) * len(job.layers) * job.times
    yield job.message(
        "ring attention", "cp", "sendrecv", size, count, f"{job.words} x {float(elements):g} of K and V", dtype
    )


def _experts(job: Job) -> Iterator[Sent]:
    """Tokens to their experts and back."""
    p, experts = job.parallel, job.model.experts
    if experts is None or p.ep == 1:
        return
    count = job.expert_layers * (2 if job.training else 1) * job.times
    formula = f"{job.shared} x {experts.per_token} experts x hidden {job.model.hidden}"
    for name, dtype in (("to experts", job.types.dispatch), ("from experts", job.types.element)):
        size = traffic.dispatched(job.share, experts.per_token, job.model.hidden, float(DTYPES[dtype]))
        yield job.message(name, "ep", "alltoall", size, count, formula, dtype)


def _replicas(job: Job) -> Iterator[Sent]:
    """Gradients, and with ZeRO parameters."""
    p, own = job.parallel, held(job.model, job.parallel, job.stage)
    kinds: tuple[tuple[Axis, int, str], ...] = (("dp", own.dense, ""), ("edp", own.routed, " of experts"))
    for axis, parameters, what in kinds:
        if parameters == 0 or p.group(axis)[0] == 1:
            continue
        types = {"gradients": job.types.gradient, "parameters": job.types.element}
        widths = float(DTYPES[types["gradients"]]), float(DTYPES[types["parameters"]])
        for part in traffic.gradients(parameters, *widths, p.zero):
            name, count = f"{part.name}{what}", part.times * (job.times if part.repeated else 1)
            formula = f"{counted(parameters, 'parameter')} of a rank"
            yield job.message(name, axis, part.operation, part.size, count, formula, types[part.name])


def _copies(job: Job) -> Iterator[Sent]:
    """Gradients of what several ranks of a replica keep alike (Megatron-LM): a tied embedding, and what tp does not split."""
    model, p, dtype = job.model, job.parallel, job.types.gradient
    if model.tied and p.pp > 1 and (job.first or job.last):
        count = -(-model.vocab // p.tp) * model.hidden
        formula = f"{counted(count, 'parameter')} at both ends"
        yield job.message("tied embedding", "ends", "all_reduce", count * DTYPES[dtype], 1, formula, dtype)
    if p.sequence_parallel:
        count = held(model, p, job.stage).whole
        formula = f"{counted(count, 'parameter')} that tp does not split"
        yield job.message("unsplit gradients", "tp", "all_reduce", count * DTYPES[dtype], 1, formula, dtype)


def _cache(job: Job) -> Iterator[Sent]:
    """The prompt's cache, from a rank that read it to one that goes on from it."""
    model, p, dtype = job.model, job.parallel, job.types.cache
    elements, layers = cache_elements(model, p), len(job.layers)
    size = job.tokens * elements * layers * DTYPES[dtype]
    what = "latent and key" if model.attention.kind == "mla" else "K and V"
    formula = f"{job.words} x {layers} layers x {float(elements):g} of {what}"
    yield job.message("KV cache to decode", "kv", "sendrecv", size, 1, formula, dtype)


_Part = Callable[[Job], Iterator[Sent]]


def _all(*parts: _Part) -> _Part:
    return lambda job: (found for part in parts for found in part(job))


_PHASES: Mapping[str, _Part] = {
    "training": _all(_tensor, _ends, _context, _experts, _boundary, _replicas, _copies),
    "prefill": _all(_tensor, _ends, _context, _experts, _boundary, _cache),
    "decode": _all(_tensor, _ends, _experts, _boundary),
}
