"""What a job sends: which messages, how large, how many, between whom, and what they cost.

What belongs here: the form of that answer. The bytes come from ``model.traffic``, the times from the collectives' forms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hopline.records.estimate import Estimate

Axis = Literal["tp", "cp", "dp", "ep", "edp", "pp", "ends", "kv"]


@dataclass(frozen=True, slots=True)
class Sent:
    """Messages of one kind.

    Attributes
    ----------
    operation, ranks, step
        The collective in hopline's words (``sendrecv``: from one rank to another), ranks of a group, and the step between
        their numbers.
    size
        Bytes of one, as nccl-tests counts them.
    count
        How many, one after the other: those that a rank takes part in, or on the way of a prompt or token through all stages.
    each
        Bytes that one rank sends for one: by the algorithm that it is priced with; without a network the least of any.
    formula
        How the size came about, with its numbers.
    """

    name: str
    axis: Axis
    operation: str
    ranks: int
    step: int
    size: float
    count: int
    each: float
    formula: str

    @property
    def total(self) -> float:
        """Bytes that one rank sends for all."""
        return self.each * self.count


@dataclass(frozen=True, slots=True)
class Priced:
    """Messages of one kind with their price; ``estimate`` is of one by its fastest algorithm."""

    sent: Sent
    algorithm: str
    estimate: Estimate

    @property
    def time(self) -> float:
        """Seconds of all, one after the other; of bounds the upper one."""
        return self.sent.count * self.estimate.value

    @property
    def least(self) -> float:
        """The lower bound of that, where the closed form is one of bounds; else the same."""
        low = self.estimate.low
        return self.time if low is None else self.sent.count * low

    @property
    def start(self) -> float:
        """Seconds of that for start-ups."""
        return self.sent.count * sum(term.value for term in self.estimate.terms if term.name.startswith("start-up"))

    @property
    def bytes(self) -> float:
        """Seconds of that for bytes."""
        return self.sent.count * sum(term.value for term in self.estimate.terms if term.name.startswith("bytes"))

    @property
    def rest(self) -> float:
        """Seconds of that for neither: adding up, copying."""
        return self.time - self.start - self.bytes


@dataclass(frozen=True, slots=True)
class Cache:
    """The KV cache: how attention keeps it, bytes of a token over all layers, and of a sequence of ``tokens``."""

    kind: str
    token: float
    tokens: int
    sequence: float


@dataclass(frozen=True, slots=True)
class Changed:
    """Seconds of all messages after a change, and the part of them that it saves."""

    name: str
    time: float
    gain: float


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes that the fullest rank keeps: weights, gradients and optimizer state (training), KV cache (else); no activations.

    ``optimizer_element``: bytes of optimizer state for a parameter.
    """

    weights: float
    gradients: float = 0.0
    optimizer: float = 0.0
    cache: float = 0.0
    optimizer_element: float = 0.0

    @property
    def total(self) -> float:
        """All of it."""
        return self.weights + self.gradients + self.optimizer + self.cache


@dataclass(frozen=True, slots=True)
class Workload:
    """What a job sends: in a step of ``training``, for a prompt (``prefill``), for a token (``decode``).

    Attributes
    ----------
    stage, stages
        The pipeline stage that sends most (in training: whose messages take longest, where there is a network), of how many.
    sent
        What a rank of it sends.
    way
        What one goes through: a rank's step, or a prompt or token on its way through all stages.
    priced, levers
        ``way`` with its prices, and what changes it; empty where no network was told.
    notes, premises
        What makes the numbers other than usual, and what they stand on.
    """

    phase: str
    stage: int
    stages: int
    sent: tuple[Sent, ...]
    way: tuple[Sent, ...]
    priced: tuple[Priced, ...]
    levers: tuple[Changed, ...]
    cache: Cache
    memory: Memory
    notes: tuple[str, ...] = ()
    premises: tuple[str, ...] = ()

    @property
    def time(self) -> float:
        """Seconds of all messages, one after the other; of bounds the upper one."""
        return sum(one.time for one in self.priced)

    @property
    def least(self) -> float:
        """The lower bound of that."""
        return sum(one.least for one in self.priced)

    @property
    def start(self) -> float:
        """Seconds of that for start-ups."""
        return sum(one.start for one in self.priced)

    @property
    def bytes(self) -> float:
        """Seconds of that for bytes."""
        return sum(one.bytes for one in self.priced)
