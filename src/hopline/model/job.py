"""A phase of a job as a rank of one stage sees it: its tokens, its layers, and its messages over the groups it is in.

What belongs here: what all kinds of messages have in common. Which there are is ``phases``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hopline.errors import UnknownNameError
from hopline.model import traffic
from hopline.quantity import DTYPES
from hopline.records.traffic import Axis, Sent
from hopline.workload.parallel import Parallel, Phase
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


@dataclass(frozen=True, slots=True)
class Job:
    """A phase of a job, seen from a rank of ``stage``."""

    model: Model
    parallel: Parallel
    phase: Phase
    types: Types
    stage: int

    @property
    def training(self) -> bool:
        """Whether there is a backward pass."""
        return self.phase == "training"

    @property
    def tokens(self) -> int:
        """That go through a rank together."""
        p = self.parallel
        return p.micro_batch * (1 if self.phase == "decode" else p.sequence // p.cp)

    @property
    def share(self) -> int:
        """Of these, those that a tensor-parallel rank has between the parts that all work on: with padding, whole ones."""
        return -(-self.tokens // self.parallel.tp) if self.parallel.sequence_parallel else self.tokens

    @property
    def words(self) -> str:
        """The tokens in words."""
        p = self.parallel
        if self.phase == "decode":
            return f"{p.micro_batch} x 1 tokens"
        return f"{p.micro_batch} x {p.sequence}{f' / cp {p.cp}' if p.cp > 1 else ''} tokens"

    @property
    def shared(self) -> str:
        """How a rank's share of them comes about."""
        return f"{self.words} / tp {self.parallel.tp}" if self.parallel.sequence_parallel else self.words

    @property
    def times(self) -> int:
        """Micro-batches one after the other: in a step, else one."""
        return self.parallel.microbatches if self.training else 1

    @property
    def layers(self) -> Sequence[int]:
        """Layers of the stage."""
        return self.parallel.layers(self.model, self.stage)

    @property
    def expert_layers(self) -> int:
        """Of these, those with experts."""
        return sum(map(self.model.has_experts, self.layers))

    @property
    def first(self) -> bool:
        """Whether the stage embeds tokens."""
        return self.stage == 0

    @property
    def last(self) -> bool:
        """Whether the stage has the head."""
        return self.stage == self.parallel.pp - 1

    def message(
        self, name: str, axis: Axis, operation: str, size: Fraction, count: int, formula: str, dtype: str
    ) -> Sent:
        """One kind of messages over the ranks of ``axis``."""
        ranks, step = self.parallel.group(axis)
        each = traffic.around(size, ranks, operation)
        return Sent(name, axis, operation, ranks, step, float(size), count, float(each), f"{formula} x {dtype}")

    def activations(self, name: str, counts: Mapping[str, int]) -> Iterator[Sent]:
        """Collectives of ``counts`` over tensor-parallel ranks, of all activations between two layers."""
        dtype, hidden = self.types.element, self.model.hidden
        tokens = self.share * (self.parallel.tp if self.parallel.sequence_parallel else 1)
        size = traffic.activation(tokens, hidden, float(DTYPES[dtype]))
        for operation, count in counts.items():
            yield self.message(
                name, "tp", operation, size, count * self.times, f"{self.words} x hidden {hidden}", dtype
            )
