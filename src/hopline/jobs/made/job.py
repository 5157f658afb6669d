"""A training job to be made up.

What belongs here: the question, checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from hopline.errors import InputError
from hopline.quantity import NON_NEGATIVE, POSITIVE

_NOBODY: Mapping[int, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Job:
    """Data-parallel training with gradients all-reduced in buckets beside the backward pass; optionally tensor-parallel, with
    an all-reduce of the activations after each layer on the stream of the kernels, and in pipeline stages (1F1B).

    Attributes
    ----------
    ranks, tensor, stages
        Of the job, of each tensor-parallel group (neighbouring ranks), and pipeline stages (equal blocks of ranks).
        Gradients are reduced over what is left.
    layers, forward, backward, update
        Layers of the model, and seconds of a layer forwards and backwards, and of the whole update.
    batches, boundary
        Micro-batches that forward and backward are cut into, and bytes of one that go from stage to stage.
    gradients, buckets, algorithm
        Bytes of all gradients of a rank, cut into so many all-reduces by this algorithm of COLLECTIVES.
    activations
        Bytes of each tensor-parallel all-reduce.
    host, lag
        Seconds of the host between two launches, and from a launch to the earliest begin of its kernel.
    noise, seed
        Relative deviation of kernels and of the host (log-normal), and what draws it. Draws do not depend on the network.
    slow, slow_host
        Rank -> factor by which its kernels, or its host, take longer.
    slow_in
        The name of the kernels that slow ranks are slow in; "" for all.
    """

    ranks: int = 8
    tensor: int = 1
    stages: int = 1
    layers: int = 12
    forward: float = 400e-6
    backward: float = 800e-6
    update: float = 1e-3
    batches: int = 1
    boundary: int = 4 << 20
    gradients: int = 192 << 20
    buckets: int = 6
    algorithm: str = "ring"
    activations: int = 8 << 20
    host: float = 12e-6
    lag: float = 6e-6
    noise: float = 0.0
    seed: int = 0
    slow: Mapping[int, float] = field(default_factory=lambda: _NOBODY)
    slow_host: Mapping[int, float] = field(default_factory=lambda: _NOBODY)
    slow_in: str = ""

    def __post_init__(self) -> None:
        for name in ("ranks", "tensor", "stages", "layers", "batches", "buckets"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}: expected at least 1")
        if self.layers % self.stages:
            raise InputError(f"{self.layers} layers in {self.stages} stages: expected equally many in each")
        if self.buckets > self.layers // self.stages:
            raise InputError(
                f"{self.buckets} buckets of {self.layers // self.stages} layers: expected at most one a layer"
            )
        if self.ranks % (self.tensor * self.stages):
            raise InputError(
                f"{self.ranks} ranks in {self.stages} stages of groups of {self.tensor}: expected equal groups"
            )
        for name in ("forward", "backward", "update", "host"):
            POSITIVE.check(name, getattr(self, name))
        for name in ("lag", "noise", "gradients", "activations", "boundary"):
            NON_NEGATIVE.check(name, getattr(self, name))
        for factors in (self.slow, self.slow_host):
            for rank, factor in factors.items():
                POSITIVE.check(f"factor of rank {rank}", factor)
                if not 0 <= rank < self.ranks:
                    raise InputError(f"rank {rank} is slow: expected ranks 0 to {self.ranks - 1}")

    def slowness(self, rank: int, kernel: str) -> float:
        """Factor by which a kernel takes longer on a rank."""
        return self.slow.get(rank, 1) if self.slow_in in ("", kernel) else 1

    @property
    def block(self) -> int:
        """Ranks of a stage."""
        return self.ranks // self.stages
