"""What flows share: resources with a capacity, and the route of each flow through them.

What belongs here: the words that machines and flow simulations have in common. Where the resources of a machine come from
is ``wires``; how flows share them is ``sim``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopline.errors import MachineError
from hopline.machine.graph import Index, Start

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Routes:
    """Which resources each flow goes through: flow f uses ``resource[start[f] : start[f + 1]]``, each once.

    Attributes
    ----------
    start
        Shape (flows + 1,).
    resource
        Numbers of resources, shape (uses,).
    weight
        Bytes of the resource that each byte of the flow takes (a memory that a byte crosses twice: 2), shape (uses,).
    latency
        Seconds before the first byte of a flow arrives where nothing else moves, shape (flows,).
    """

    start: Start
    resource: Index
    weight: Floats
    latency: Floats

    def __len__(self) -> int:
        return len(self.latency)


class Resources(ABC):
    """What ``ranks`` ranks share when they send.

    Attributes
    ----------
    name
        Of the machine.
    reduce, copy
        Seconds a byte for adding up and for copying inside of a rank.
    """

    name: str
    ranks: int
    reduce: float
    copy: float

    @property
    @abstractmethod
    def capacity(self) -> Floats:
        """Byte/s of each resource, all positive; after the routes of all flows were asked for."""

    @abstractmethod
    def routes(self, sender: Index, receiver: Index, channel: Index) -> Routes:
        """The route of each flow; ``channel`` tells flows of one pair apart."""

    @abstractmethod
    def resource(self, number: int) -> str:
        """How people speak of a resource: ``leaf0>spine1``, ``memory of h0.gpu0``."""


def check_capacity(capacity: Floats, names: Resources) -> None:
    """Raises MachineError for a resource that carries nothing, or without bound."""
    wrong = np.flatnonzero(~(np.isfinite(capacity) & (capacity > 0)))
    if len(wrong):
        number = int(wrong[0])
        raise MachineError(
            f"{names.resource(number)} carries {float(capacity[number])!r} byte/s: expected a finite rate above 0"
        )
