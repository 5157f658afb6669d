"""What each rank of a job takes part in: training a step, reading a prompt (prefill), making a token (decode).

What belongs here: which of the formulas of ``traffic`` a phase needs, and how often. A rank of the busiest stage is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from hopline.errors import UnknownNameError
from hopline.model import traffic
from hopline.quantity import DTYPES, counted
from hopline.records.traffic import Axis, Sent
from hopline.workload.parallel import PHASES, Parallel, Phase
from hopline.workload.shapes import Model


@dataclass(frozen=True, slots=True)
class Types:
    """Names of data types (quantity.DTYPES): of activations and parameters, gradients, and tokens on their way to experts."""

    element: str = "bf16"
    gradient: str = "fp32"
    dispatch: str = "bf16"
    cache: str = "bf16"

    def __post_init__(self) -> None:
        for name in (self.element, self.gradient, self.dispatch, self.cache):
            if name not in DTYPES:
                raise UnknownNameError("data type", name, DTYPES)


TYPES = Types()
"""As most jobs have them."""


def sent(model: Model, parallel: Parallel, phase: Phase, types: Types = TYPES) -> tuple[Sent, ...]:
    """All kinds of messages of ``phase``. Raises WorkloadError where the model cannot be spread so."""
    if phase not in PHASES:
        raise UnknownNameError("phase", phase, PHASES)
    parallel.check(model)
    return tuple(_PHASES[phase](_Job(model, parallel, phase, types)))


def cache_of_token(model: Model, dtype: float) -> Fraction:
    """Bytes that a token leaves in all caches of ``model``."""
    return traffic.kv_bytes(traffic.kv_elements(model.attention), model.layers, dtype)


@dataclass(frozen=True, slots=True)
class _Job:
    model: Model
    parallel: Parallel
    phase: Phase
    types: Types

    @property
    def tokens(self) -> int:
        """That go through a rank together."""
        p = self.parallel
        return p.micro_batch * (1 if self.phase == "decode" else p.sequence // p.cp)

    @property
    def words(self) -> str:
        """The same in words."""
        p = self.parallel
        if self.phase == "decode":
            return f"{p.micro_batch} x 1 tokens"
        return f"{p.micro_batch} x {p.sequence}{f' / cp {p.cp}' if p.cp > 1 else ''} tokens"

    @property
    def passes(self) -> int:
        """A forward pass, and in training a backward pass."""
        return 2 if self.phase == "training" else 1

    @property
    def times(self) -> int:
        """Micro-batches one after the other: in a step, else one."""
        return self.parallel.microbatches if self.phase == "training" else 1

    @property
    def layers(self) -> range:
        """Layers that a rank's messages are counted over: of its stage in a step, else all that a token passes."""
        return self.parallel.layers(self.model) if self.phase == "training" else range(self.model.layers)

    @property
    def expert_layers(self) -> int:
        """Of these, those with experts; of all stages the one that has most."""
        experts = self.model.experts
        if experts is None:
            return 0
        stages = range(self.parallel.pp) if self.phase == "training" else ()
        counts = [sum(layer >= experts.first for layer in self.parallel.layers(self.model, s)) for s in stages]
        return max(counts, default=self.model.expert_layers)

    def message(
        self, name: str, axis: Axis, operation: str, size: Fraction, count: int, formula: str, dtype: str
    ) -> Sent:
        """One kind of messages over the ranks of ``axis``."""
        ranks, step = self.parallel.group(axis)
        each = traffic.around(size, ranks, operation)
        return Sent(name, axis, operation, ranks, step, float(size), count, float(each), f"{formula} x {dtype}")


def _tensor(job: _Job) -> Iterator[Sent]:
    """Reductions after attention and MLP of each layer."""
    p, dtype = job.parallel, job.types.element
    if p.tp == 1:
        return
    size = traffic.activation(job.tokens, job.model.hidden, float(DTYPES[dtype]))
    count = traffic.reductions(size, p.tp, backward=job.phase == "training").count * len(job.layers) * job.times
    formula = f"{job.words} x hidden {job.model.hidden}"
    kinds = ("reduce_scatter", "all_gather") if p.sequence_parallel else ("all_reduce",)
    for operation in kinds:
        yield job.message("tensor parallel", "tp", operation, size, count, formula, dtype)


def _boundary(job: _Job) -> Iterator[Sent]:
    """Activations from stage to stage, and their gradients back."""
    p, dtype = job.parallel, job.types.element
    if p.pp == 1:
        return
    split = p.tp if p.sequence_parallel else 1
    size = traffic.activation(job.tokens, job.model.hidden, float(DTYPES[dtype]), split)
    count = job.passes * job.times * p.vpp if job.phase == "training" else p.pp * p.vpp - 1
    shared = f" / tp {p.tp}" if split > 1 else ""
    yield job.message(
        "stage boundary", "pp", "sendrecv", size, count, f"{job.words} x hidden {job.model.hidden}{shared}", dtype
    )


def _context(job: _Job) -> Iterator[Sent]:
    """Keys and values round the ranks that share a sequence: forward, and with gradients backward (arXiv 2310.01889)."""
    p, dtype = job.parallel, job.types.element
    if p.cp == 1 or job.phase == "decode":
        return
    elements = traffic.kv_elements(job.model.attention) * traffic.kv_share(job.model.attention, p.tp)
    size = job.tokens * elements * DTYPES[dtype]
    rounds = 3 if job.phase == "training" else 1
    count = rounds * (p.cp - 1) * len(job.layers) * job.times
    yield job.message(
        "ring attention", "cp", "sendrecv", size, count, f"{job.words} x {float(elements):g} of K and V", dtype
    )


def _experts(job: _Job) -> Iterator[Sent]:
    """Tokens to their experts and back."""
    p, experts = job.parallel, job.model.experts
    if experts is None or p.ep == 1:
        return
    split = p.tp if p.sequence_parallel else 1
    tokens, count = -(-job.tokens // split), job.expert_layers * job.passes * job.times
    formula = (
        f"{job.words}{f' / tp {split}' if split > 1 else ''} x {experts.per_token} experts x hidden {job.model.hidden}"
    )
    for name, dtype in (("to experts", job.types.dispatch), ("from experts", job.types.element)):
        size = traffic.dispatched(tokens, experts.per_token, job.model.hidden, float(DTYPES[dtype]))
        yield job.message(name, "ep", "alltoall", size, count, formula, dtype)


def _replicas(job: _Job) -> Iterator[Sent]:
    """Gradients, and with ZeRO parameters."""
    p = job.parallel
    dense, routed = _stage_parameters(job)
    kinds: tuple[tuple[Axis, int, str], ...] = (("dp", dense, ""), ("edp", routed, " of experts"))
    for axis, parameters, what in kinds:
        if parameters == 0 or p.group(axis)[0] == 1:
            continue
        types = {"gradients": job.types.gradient, "parameters": job.types.element}
        widths = float(DTYPES[types["gradients"]]), float(DTYPES[types["parameters"]])
        for part in traffic.gradients(parameters, *widths, p.zero):
            name, count = f"{part.name}{what}", part.times * (job.times if part.repeated else 1)
            formula = f"{counted(parameters, 'parameter')} of a rank"
            yield job.message(name, axis, part.operation, part.size, count, formula, types[part.name])


def _stage_parameters(job: _Job) -> tuple[int, int]:
    """Parameters of a rank of the largest stage, dense ones and routed experts, each split over its ranks."""
    model, p = job.model, job.parallel
    whole = model.expert_parameters
    found = []
    for stage in range(p.pp):
        layers = p.layers(model, stage)
        ends = (model.embedding if stage == 0 else 0) + (model.head if stage == p.pp - 1 else 0)
        dense = sum(model.layer_parameters(layer) for layer in layers) + ends
        routed = whole * sum(model.experts is not None and layer >= model.experts.first for layer in layers)
        found.append((dense, 0, routed) if p.ep > 1 else (dense, routed, 0))
    dense, with_tp, routed = max(found, key=sum)
    return -(-(dense + with_tp) // p.tp), -(-routed // p.ep)


def _cache(job: _Job) -> Iterator[Sent]:
    """The prompt's cache, from a rank that read it to one that goes on from it."""
    model, p, dtype = job.model, job.parallel, job.types.cache
    elements = traffic.kv_elements(model.attention) * traffic.kv_share(model.attention, p.tp)
    layers = len(p.layers(model))
    size = job.tokens * elements * layers * DTYPES[dtype]
    formula = f"{job.words} x {layers} layers x {float(elements):g} of K and V"
    if model.attention.kind == "mla":
        formula = f"{job.words} x {layers} layers x {float(elements):g} of latent and key"
    yield job.message("KV cache to decode", "kv", "sendrecv", size, 1, formula, dtype)


_Part = Callable[[_Job], Iterator[Sent]]


def _all(*parts: _Part) -> _Part:
    return lambda job: (found for part in parts for found in part(job))


_PHASES: Mapping[str, _Part] = {
    "training": _all(_tensor, _context, _experts, _boundary, _replicas),
    "prefill": _all(_tensor, _context, _experts, _boundary, _cache),
    "decode": _all(_tensor, _experts, _boundary),
}
