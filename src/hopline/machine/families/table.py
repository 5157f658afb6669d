"""TOPOLOGIES: machines by a name and numbers, like ``fat-tree:leaves=8,hosts=8,spines=4,rate=50GB/s``.

What belongs here: the table, and making a machine of a text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hopline.errors import UnknownNameError
from hopline.machine.families import direct, fat_trees, rails
from hopline.machine.families.parameters import COMMON, Parameter, Values, read
from hopline.machine.topology import Machine


@dataclass(frozen=True, slots=True)
class Topology:
    """A family of machines: ``own`` parameters beside COMMON, and an ``example`` of them."""

    title: str
    own: tuple[Parameter, ...]
    build: Callable[[Values], Machine]
    example: str

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All of them."""
        return (*self.own, *COMMON)


TOPOLOGIES: dict[str, Topology] = {
    "fat-tree": Topology(
        "hosts at leaf switches, each of which is joined to every spine", fat_trees.TWO_TIERS, fat_trees.two_tiers,
        "leaves=8,hosts=8,spines=4,rate=50GB/s",
    ),
    "k-ary-fat-tree": Topology(
        "three tiers of switches with k ports, k^3 / 4 hosts", fat_trees.THREE_TIERS, fat_trees.three_tiers,
        "k=8,rate=50GB/s",
    ),
    "rail-optimised": Topology(
        "NIC g of every node at rail switch g, a fast switch inside of each node", rails.RAILS, rails.rails,
        "nodes=4,gpus=8,rate=50GB/s,inside=450GB/s",
    ),
    "torus": Topology(
        "devices joined to their neighbours in every dimension", direct.TORUS, direct.torus, "dims=4x4x2,rate=50GB/s"
    ),
    "dragonfly": Topology(
        "groups of routers, all groups joined to each other", direct.DRAGONFLY, direct.dragonfly,
        "groups=9,routers=4,hosts=2,rate=25GB/s",
    ),
    "supernode": Topology(
        "many devices on switch planes or in a mesh, and a slower network between such nodes", rails.SUPERNODES,
        rails.supernodes, "nodes=2,devices=72,planes=18,inside=50GB/s,rate=50GB/s",
    ),
}  # fmt: skip


def is_topology(text: str) -> bool:
    """Whether a text means a topology: a name of TOPOLOGIES, or one with ``:key=value`` behind it."""
    name, colon, rest = text.partition(":")
    return name in TOPOLOGIES or bool(colon and "=" in rest and "/" not in name)


def generate(text: str) -> Machine:
    """The machine of ``NAME:key=value,...``.

    Raises UnknownNameError for unknown names and keys, QuantityError for values without their unit, InputError for what is
    missing, too large or cannot be joined.
    """
    name, _, rest = text.partition(":")
    if name not in TOPOLOGIES:
        raise UnknownNameError("topology", name, TOPOLOGIES)
    topology = TOPOLOGIES[name]
    return topology.build(read(name, rest, topology.own, f"{name}:{topology.example}"))
