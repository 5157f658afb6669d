"""Groups of a job's ranks on a network: who of them sit inside of a node, and what reaches the others.

What belongs here: from a machine or levels to the levels that a group sees. A machine of several nodes stands for more of
them, joined alike, and the answer says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hopline.errors import InputError, MachineError
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

    def network(self, ranks: int, step: int = 1, job: int | None = None) -> Network:
        """As a group of ``ranks`` ranks, every ``step``-th, sees it, and all groups alike of a job of ``job`` ranks.

        Where groups neither fit inside of a level nor fill it evenly they are cut into smaller groups that do (``uneven``).
        Raises InputError where there are too many ranks.
        """
        whole = job or ranks * step
        if len(self.levels) == 1 and self.devices is not None and whole > self.devices:
            raise InputError(
                f"{self.note} has {counted(self.devices, 'rank')} on one level: expected at most as many, got {whole}"
            )
        levels, known, span = [], 1, 1
        for level in self.levels[:-1]:
            span *= level.ranks
            inside = _together(ranks, step, whole, span)
            levels.append(Level(inside // known, level.curve, level.nics))
            known = inside
        levels.append(Level(ranks // known, self.levels[-1].curve, self.levels[-1].nics))
        return networks.by_levels([level for level in levels if level.ranks > 1] or levels[-1:], self.reduce)

    def uneven(self, ranks: int, step: int = 1, job: int | None = None) -> str:
        """How groups are cut that do not fill a level evenly, in words; "": they need not be."""
        whole, span = job or ranks * step, 1
        for level in self.levels[:-1]:
            span *= level.ranks
            inside = _together(ranks, step, whole, span)
            most = min(ranks, span // step)
            if most > inside:
                parts = (
                    f"{ranks // inside} parts of {counted(inside, 'rank')}" if inside > 1 else f"{ranks} ranks apart"
                )
                apart = f", {step} apart," if step > 1 else ""
                return (
                    f"groups of {ranks} ranks{apart} do not fill groups of {span} evenly: priced as {parts} over the level "
                    "outside, which is slower than it may be"
                )
        return ""

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


def _together(ranks: int, step: int, job: int, span: int) -> int:
    """Neighbours of a group that sit in one group of ``span`` ranks, in all groups of the job: blocks of ranks x step.

    All of them, where each block lies within one span; else the most of which each part of a block does.
    """
    block = ranks * step
    if span % block == 0 or job <= span:
        return ranks
    return math.gcd(ranks, span // step) if span % step == 0 else 1


def of_machine(machine: Machine, ranks: int, names: Sequence[str] = (), reduce: float | None = None) -> Ranks:
    """Of a machine with all its devices, or those named; grown where it has several levels and is too small.

    Where its devices are spread unevenly over nodes only as many as ``ranks`` are taken. Raises MachineError and InputError.
    """
    devices = sum(node.kind == "device" for node in machine.nodes.values())
    try:
        network = networks.by_machine(machine, None if names else devices, names, reduce)
    except MachineError:
        network = networks.by_machine(machine, min(ranks, devices), names, reduce)
    if ranks > network.ranks and len(network.levels.levels) == 1:
        network = networks.by_machine(machine, ranks, names, reduce)
    premises = network.premises if len(network.levels.levels) == 1 or ranks > network.levels.levels[0].ranks else ()
    return Ranks(network.levels.levels, network.levels.reduce, machine.name, network.ranks, premises)


def of_levels(levels: Sequence[Level], reduce: float = 0.0) -> Ranks:
    """Of levels as they are told."""
    made = networks.by_levels(levels, reduce)
    return Ranks(tuple(levels), reduce, "the network that was told", made.ranks)
