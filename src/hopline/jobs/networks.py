"""The network under a collective: from a machine and its devices, or from numbers, to what formulas and simulations need.

What belongs here: making fabrics of what a user says.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hopline.curve import Curve
from hopline.errors import InputError
from hopline.jobs import layout
from hopline.machine.fabric import Fabric, Level, Levels, Wired
from hopline.machine.topology import Machine
from hopline.machine.wires import Wires
from hopline.quantity import counted, show
from hopline.records.estimate import Premise

MOST_RANKS = 1 << 20


@dataclass(frozen=True, slots=True)
class Network:
    """Ranks and how they reach one another.

    Attributes
    ----------
    fabric
        What a simulation goes by.
    levels
        The same as nested levels, for closed forms: ranks of a node, then nodes.
    note
        In words.
    premises
        What the levels leave out of the fabric.
    """

    fabric: Fabric
    levels: Levels
    note: str
    premises: tuple[Premise, ...] = ()

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.fabric.ranks

    @property
    def shape(self) -> tuple[int, ...]:
        """Ranks of each level, the innermost first; levels of one member are left out."""
        return tuple(level.ranks for level in self.levels.levels if level.ranks > 1)

    @property
    def nics(self) -> int:
        """NICs that rings can share: those of a rank, or of all ranks that reach other groups over the outermost level."""
        *inner, outer = self.levels.levels
        return outer.nics * math.prod(level.ranks for level in inner)


def by_machine(machine: Machine, ranks: int | None, names: Sequence[str] = (), reduce: float | None = None) -> Network:
    """Ranks on devices of a machine: those named, else its first ones.

    ``reduce``: seconds to add up a byte; None: a third of the memory's bandwidth, where the machine has one. Raises
    MachineError and InputError where the devices are not there, or are spread unevenly over nodes.
    """
    places = layout.devices(machine, ranks, names)
    wired = Wired(machine, places, reduce)
    if len(places) == 1:
        alone = Levels.uniform(1, Curve.line(0.0, math.inf), reduce=wired.reduce, name=machine.name)
        return Network(alone, alone, "one rank")
    laid = layout.layout(machine, places)
    nodes = len(places) // laid.per_node
    order = layout.in_nodes(machine, places)
    inside = [Level(laid.per_node, laid.sends.near, wired.nics(*order[:2]))] if laid.sends.near is not None else []
    far = (order[0], order[laid.per_node]) if laid.sends.far is not None else None
    between = [Level(nodes, laid.sends.far, wired.nics(*far))] if laid.sends.far is not None and far else []
    levels = Levels([*inside, *between], wired.reduce, name=machine.name)
    return Network(wired, levels, laid.note, _premises(machine, laid))


def wires(
    machine: Machine, ranks: int | None, names: Sequence[str], routing: str, reduce: float | None = None,
    used: Sequence[int] | None = None,
) -> Wires:  # fmt: skip
    """What flows share, with ranks on the same devices as ``by_machine``, which need not be spread evenly.

    ``used``: ranks that do anything, where ranks are numbers of nodes.
    """
    if used is not None and not names and ranks is not None:
        return Wires(machine, layout.numbered(machine, ranks, used), routing, reduce)
    return Wires(machine, layout.devices(machine, ranks, names), routing, reduce)


def _premises(machine: Machine, laid: layout.Layout) -> tuple[Premise, ...]:
    shared = laid.sends.far is not None and laid.sends.rails < laid.per_node
    lacking = (
        Premise(
            "each rank has a NIC of its own",
            "broken",
            f"{laid.per_node} ranks of a node share {laid.sends.rails}: formulas are too fast between nodes, simulations not",
            matters=True,
        ),
    )
    return (*(lacking if shared else ()), *_between_switches(machine))


def _between_switches(machine: Machine) -> tuple[Premise, ...]:
    """Where a switch joins several devices to other switches, ports at the ranks are not all that is shared."""
    nodes = machine.nodes
    devices: Counter[str] = Counter()
    passes = set()
    for here, there in (ends for c in machine.connections for ends in (c.ends, c.ends[::-1])):
        if nodes[here].kind == "switch":
            devices[here] += nodes[there].kind == "device"
            passes |= {here} if nodes[there].kind == "switch" else set()
    whole = Premise(
        "only ports of ranks are shared",
        "broken",
        "links between switches are left out, and the first of equally short ways is taken: see hopline sim --sharing max-min",
        matters=True,
    )
    return (whole,) if any(devices[switch] > 1 for switch in passes) else ()


def by_levels(levels: Sequence[Level], reduce: float = 0.0) -> Network:
    """Ranks in nested levels, the innermost first."""
    ranks = math.prod(level.ranks for level in levels)
    if ranks > MOST_RANKS:
        raise InputError(f"{ranks} ranks: expected at most {MOST_RANKS}")
    made = Levels(levels, reduce, name=", then ".join(_words(level) for level in levels))
    inner = levels[0].ranks
    note = (
        counted(ranks, "rank")
        if len(levels) == 1
        else f"{' x '.join(str(level.ranks) for level in levels)} ranks, {inner} in a group"
    )
    return Network(made, made, note)


def _words(level: Level) -> str:
    piece = level.curve.pieces[0]
    nics = f" on each of {level.nics} NICs" if level.nics > 1 else ""
    return f"{show(piece.latency, 'time')} + size / {show(piece.bandwidth, 'bandwidth')}{nics}"
