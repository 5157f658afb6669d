"""What a rank keeps of a model: its parameters, and the bytes of them, of their gradients and of the optimizer.

What belongs here: counting the weights of a stage's ranks, and what ZeRO shares out. Activations are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hopline.model import traffic
from hopline.quantity import exact
from hopline.records.traffic import Memory
from hopline.workload.parallel import Parallel
from hopline.workload.shapes import Model

_ADAM = 8
"""Bytes of two moments in fp32."""
_MASTER = 4
"""Bytes of a parameter's copy in fp32, where parameters are smaller: 12 in all (ZeRO, arXiv 1910.02054, section 3.1)."""


@dataclass(frozen=True, slots=True)
class Held:
    """Parameters of a rank: its part of what tensor parallelism splits, what every rank keeps whole, and routed experts."""

    split: int
    whole: int
    routed: int

    @property
    def dense(self) -> int:
        """Those that replicas over dp and cp share."""
        return self.split + self.whole

    @property
    def all(self) -> int:
        """All of them."""
        return self.dense + self.routed


def held(model: Model, parallel: Parallel, stage: int) -> Held:
    """Parameters of a rank of ``stage``. With tied embeddings both ends of a pipeline keep them."""
    layers, last, tp = parallel.layers(model, stage), stage == parallel.pp - 1, parallel.tp
    split = sum(model.layer_split(layer, tp) for layer in layers)
    whole = sum(model.layer_whole(layer) for layer in layers) + (model.hidden if last else 0)
    embedding = -(-model.vocab // tp) * model.hidden
    split += embedding * ((stage == 0) + (last and (not model.tied or parallel.pp > 1)))
    routed = model.expert_parameters * sum(map(model.has_experts, layers))
    if parallel.ep > 1:
        return Held(split, whole, routed // parallel.ep)
    return Held(split + -(-routed // tp), whole, 0)


def memory(model: Model, parallel: Parallel, element: float, gradient: float) -> Memory:
    """Of the fullest rank in training with Adam; bytes of an element of parameters and of gradients."""
    state = _ADAM + (_MASTER if element < _MASTER else 0)
    found = [
        _training(held(model, parallel, stage), parallel, (element, gradient, state)) for stage in range(parallel.pp)
    ]
    return max(found, key=lambda one: one.total)


def _training(parameters: Held, parallel: Parallel, widths: tuple[float, float, float]) -> Memory:
    """Stage 1 of ZeRO shares the optimizer's state out over replicas, 2 gradients too, 3 parameters too."""
    groups = ((parameters.dense, parallel.group("dp")[0]), (parameters.routed, parallel.group("edp")[0]))
    weights, gradients, state = (
        sum(count * exact(width) / (ranks if parallel.zero >= stage else 1) for count, ranks in groups)
        for width, stage in zip(widths, (3, 2, 1), strict=True)
    )
    return Memory(float(weights), float(gradients), float(state), optimizer_element=widths[2])


def serving(model: Model, parallel: Parallel, element: float, cached: float) -> Memory:
    """Of the fullest rank that reads prompts or makes tokens: weights, and the cache of all its sequences."""
    found = []
    for stage in range(parallel.pp):
        layers = len(parallel.layers(model, stage))
        tokens = parallel.micro_batch * (parallel.sequence // parallel.cp)
        cache = tokens * cache_elements(model, parallel) * layers * exact(cached)
        weights = held(model, parallel, stage).all * exact(element)
        found.append(Memory(float(weights), cache=float(cache)))
    return max(found, key=lambda one: one.total)


def cache_elements(model: Model, parallel: Parallel) -> Fraction:
    """Elements that a token leaves in a rank's cache of one layer."""
    return traffic.kv_elements(model.attention) * traffic.kv_share(model.attention, parallel.tp)
