"""Cuts of a machine: sets of devices, and the rate of all links by which bytes can leave or enter them.

What belongs here: what the links of a machine can carry over a border when nothing runs. Which bytes must cross it is
``model.cuts``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hopline.errors import MachineError, UnknownNameError
from hopline.machine.topology import Connection, Machine
from hopline.quantity import POSITIVE

ALONE = "each device alone"
"""The family of the cuts around one device."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A border around some of the ranks.

    Attributes
    ----------
    name
        Of this set, like ``h0.gpu3`` or ``h0.gpu0 and 7 more``.
    family
        Which cuts belong together: ALONE, or ``without LINK`` for the parts that remain without the links of that name.
    inside
        The devices of the set that hold ranks, each once.
    side, ranks
        Number of ranks inside, and in all.
    rate
        Byte/s that can leave the set, and that can enter it.
    both
        Byte/s that can leave and enter it together: twice the rate where all links are full duplex, the rate itself where
        all are half.
    """

    name: str
    family: str
    inside: tuple[str, ...]
    side: int
    ranks: int
    rate: float
    both: float

    def __post_init__(self) -> None:
        POSITIVE.check(f"rate of the cut around {self.name}", self.rate)
        POSITIVE.check(f"rate both ways of the cut around {self.name}", self.both)
        if not 0 < self.side < self.ranks:
            raise MachineError(
                f"the cut around {self.name} has {self.side} of {self.ranks} ranks: expected some, not all"
            )


def cuts(machine: Machine, ranks: Sequence[str]) -> list[Cut]:
    """True cuts between ``ranks`` (the device of each rank): each device alone, and for each link name the parts without it.

    A link counts with its ``peak`` where that is known, else with its ``bandwidth``, once for each NIC that works in
    parallel. Raises UnknownNameError, and MachineError for fewer than two devices, switches, and devices that no links
    lead out of to the others.
    """
    held = _held(machine, ranks)
    found = _family(ALONE, machine, held, [{name} for name in machine.nodes])
    for link in sorted({c.link for c in machine.connections}):
        kept = [c.ends for c in machine.connections if c.link != link]
        found += _family(f"without {link}", machine, held, components(machine.nodes, kept))
    return found


def _held(machine: Machine, ranks: Sequence[str]) -> Counter[str]:
    """Device -> its number of ranks, in the order of the ranks."""
    for name in ranks:
        if name not in machine.nodes:
            raise UnknownNameError(f"node of {machine.name}", name, machine.nodes)
        if machine.nodes[name].kind != "device":
            raise MachineError(f"{name} is a switch: expected devices, which ranks run on")
    held = Counter(ranks)
    if len(held) < 2:
        raise MachineError(f"ranks on {', '.join(held) or 'no device'}: expected at least two devices to cut between")
    return held


def _rates(machine: Machine, connection: Connection, parallel: int) -> tuple[float, float]:
    """(one way, both ways) of a connection; ``parallel`` NICs where no end says how many there are."""
    link = machine.links[connection.link]
    devices = [machine.nodes[end].nics for end in connection.ends if machine.nodes[end].kind == "device"]
    rate = (link.peak or link.bandwidth) * min(devices, default=parallel)
    return rate, rate * (2 if link.duplex == "full" else 1)


def _family(family: str, machine: Machine, held: Counter[str], parts: Sequence[set[str]]) -> list[Cut]:
    """The cuts around those of ``parts`` (which share no node and hold all) that have some of the ranks, not all."""
    parallel = max(machine.nodes[name].nics for name in held)
    part_of = {node: i for i, part in enumerate(parts) for node in part}
    one, both = [0.0] * len(parts), [0.0] * len(parts)
    for connection in machine.connections:
        ends = {part_of[end] for end in connection.ends}
        rate, together = _rates(machine, connection, parallel)
        for part in ends if len(ends) == 2 else ():
            one[part] += rate
            both[part] += together
    inside: dict[int, list[str]] = defaultdict(list)
    for name in held:
        inside[part_of[name]].append(name)
    return [_cut(family, names, held, one[i], both[i]) for i, names in inside.items() if len(names) < len(held)]


def _cut(family: str, inside: Sequence[str], held: Counter[str], one: float, both: float) -> Cut:
    name = inside[0] if len(inside) == 1 else f"{inside[0]} and {len(inside) - 1} more"
    if not one:
        raise MachineError(f"no links lead from {name} to the other ranks: expected ranks that can reach one another")
    return Cut(name, family, tuple(inside), sum(held[i] for i in inside), held.total(), one, both)


def components(nodes: Mapping[str, object], joined: Iterable[tuple[str, str]]) -> list[set[str]]:
    """The parts that ``nodes`` fall into when only ``joined`` pairs hold together, in the order of the nodes."""
    near: dict[str, list[str]] = defaultdict(list)
    for a, b in joined:
        near[a].append(b)
        near[b].append(a)
    parts: list[set[str]] = []
    seen: set[str] = set()
    for start in nodes:
        if start in seen:
            continue
        part, todo = {start}, [start]
        while todo:
            fresh = [there for there in near[todo.pop()] if there not in part]
            part.update(fresh)
            todo += fresh
        seen |= part
        parts.append(part)
    return parts
