"""Groups of a job's ranks on a network: who of them sit inside of a node, and what reaches the others.

What belongs here: from a machine or levels to the levels that a group sees. A machine of several nodes stands for more of
them, joined alike, and the answer says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hopline.errors import InputError
from hopline.jobs import networks
from hopline.jobs.networks import Network
from hopline.machine.fabric import Level
from hopline.machine.topology import Machine
from hopline.quantity import counted
from hopline.records.estimate import Premise


@dataclass(frozen=True, slots=True)
class Ranks:
    """A network for any number of ranks: levels, the innermost first; the outermost one may grow.

    ``note``: what it is; ``devices``: how many it really has (None: as many as are asked for).
    """

    levels: tuple[Level, ...]
    reduce: float
    note: str
    devices: int | None = None
    premises: tuple[Premise, ...] = ()

    def network(self, ranks: int, step: int = 1) -> Network:
        """As ``ranks`` ranks, every ``step``-th, see it. Raises InputError where there are too many."""
        if len(self.levels) == 1 and self.devices is not None and ranks > self.devices:
            raise InputError(
                f"{self.note} has {counted(self.devices, 'rank')} on one level: expected at most as many, got {ranks}"
            )
        levels, left, apart = [], ranks, step
        for level in self.levels[:-1]:
            inside = max(1, math.gcd(left, level.ranks // math.gcd(apart, level.ranks)) if apart < level.ranks else 1)
            levels.append(Level(inside, level.curve, level.nics))
            left, apart = left // inside, max(1, apart // level.ranks)
        levels.append(Level(left, self.levels[-1].curve, self.levels[-1].nics))
        return networks.by_levels([level for level in levels if level.ranks > 1] or levels[-1:], self.reduce)

    def grown(self, ranks: int) -> tuple[Premise, ...]:
        """What is taken for granted with so many ranks."""
        if self.devices is None or ranks <= self.devices:
            return self.premises
        more = Premise(
            f"{self.note} has {counted(self.devices, 'rank')}, {ranks:,} are priced as more nodes joined alike",
            "unknown",
            "a larger network has more switches on the way and may have less bandwidth between groups",
            matters=True,
        )
        return (*self.premises, more)


def of_machine(machine: Machine, ranks: int, names: Sequence[str] = (), reduce: float | None = None) -> Ranks:
    """Of a machine, grown where it has several levels and is too small. Raises MachineError and InputError."""
    devices = sum(node.kind == "device" for node in machine.nodes.values())
    network = networks.by_machine(machine, ranks if names else min(ranks, devices), names, reduce)
    if ranks > network.ranks and len(network.levels.levels) == 1:
        network = networks.by_machine(machine, ranks, names, reduce)
    return Ranks(network.levels.levels, network.levels.reduce, machine.name, network.ranks, network.premises)


def of_levels(levels: Sequence[Level], reduce: float = 0.0) -> Ranks:
    """Of levels as they are told."""
    made = networks.by_levels(levels, reduce)
    return Ranks(tuple(levels), reduce, "the network that was told", made.ranks)
