"""What a job sends: which messages, how large, how many, between whom, and what they cost.

What belongs here: the form of that answer. The bytes come from ``model.traffic``, the times from the collectives' forms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hopline.records.estimate import Estimate

Axis = Literal["tp", "cp", "dp", "ep", "edp", "pp", "kv"]


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
        How many a rank takes part in, one after the other, in a step or for a token.
    each
        Bytes that one rank sends for one, at least: by a ring where it is a reduction or a gathering.
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
        """Seconds of all, one after the other."""
        return self.sent.count * self.estimate.value

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
class Workload:
    """What a rank of a job takes part in: in a step of ``training``, for a prompt (``prefill``), for a token (``decode``).

    ``priced`` is empty where no network was told, ``levers`` too.
    """

    phase: str
    sent: tuple[Sent, ...]
    priced: tuple[Priced, ...]
    levers: tuple[Changed, ...]
    cache: Cache
    premises: tuple[str, ...]

    @property
    def time(self) -> float:
        """Seconds of all messages, one after the other."""
        return sum(one.time for one in self.priced)

    @property
    def start(self) -> float:
        """Seconds of that for start-ups."""
        return sum(one.start for one in self.priced)

    @property
    def bytes(self) -> float:
        """Seconds of that for bytes."""
        return sum(one.bytes for one in self.priced)
