"""Where ranks run on a machine: which devices, which of them share a node, and what a send costs inside and between nodes.

What belongs here: reading a machine for collectives. Links are told apart by their names (WIRES), since a machine file
does not say which of them are a network.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hopline.curve import Curve
from hopline.errors import InputError, MachineError, UnknownNameError
from hopline.machine.cuts import components, cuts
from hopline.machine.fabric import through
from hopline.machine.topology import Machine, Path
from hopline.model.library import Sends

WIRES = {r"nv|xgmi|c2c|ualink|inside$": "nvlink", r"pci|upi|qpi|shm": "pci"}
"""Start of a link's name -> what collectives take it for; any other link is a network."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The ranks of a collective: how many each node has, what sends cost, and both in words."""

    per_node: int
    sends: Sends
    note: str


def devices(machine: Machine, ranks: int | None, names: Sequence[str] = ()) -> tuple[str, ...]:
    """The devices of ``ranks`` ranks: those named (a ``*`` is any number: ``h0.gpu*``), else the machine's first ones.

    Raises InputError where they are not as many or named twice, UnknownNameError and MachineError where the machine has not
    got them.
    """
    have = [name for name, node in machine.nodes.items() if node.kind == "device"]
    if not names:
        if ranks is None:
            raise InputError("the number of ranks is not known: give -n")
        if ranks > len(have):
            raise MachineError(f"{machine.name} has {len(have)} devices: expected at most as many ranks, got {ranks}")
        return tuple(have[:ranks])
    found = tuple(device for name in names for device in _expanded(machine, name, have))
    twice = next((name for name, count in Counter(found).items() if count > 1), None)
    if twice is not None:
        raise InputError(f"--on names {twice} twice: expected one rank a device")
    if len(found) < 2 or ranks not in (None, len(found)):
        wanted = "at least 2" if ranks is None else f"{ranks}, one for each rank"
        raise InputError(f"--on names {len(found)} device{'s' if len(found) > 1 else ''}: expected {wanted}")
    return found


def numbered(machine: Machine, ranks: int, used: Sequence[int]) -> tuple[str, ...]:
    """The devices of ranks that are numbers of nodes: rank r on ``host{r}``; a rank that does nothing is on the first one.

    Raises MachineError where a rank of ``used`` has no device of its number.
    """
    first = next((name for name, node in machine.nodes.items() if node.kind == "device"), "")
    places = [first] * ranks
    for rank in used:
        name = f"host{rank}"
        if name not in machine.nodes or machine.nodes[name].kind != "device":
            raise MachineError(
                f"rank {rank} is node {rank} of a topology file, and {machine.name} has no device {name}: expected the"
                " topology of these flows, or --on with a device for each rank"
            )
        places[rank] = name
    return tuple(places)


def _expanded(machine: Machine, name: str, have: Sequence[str]) -> list[str]:
    if "*" in name:
        digits = re.compile(r"\d+".join(map(re.escape, name.split("*"))))
        family = [device for device in have if digits.fullmatch(device)]
        if not family:
            some = ", ".join(have[:8]) + (", ..." if len(have) > 8 else "")
            raise MachineError(f"{machine.name} has no devices {name} (* is a number): expected some of {some}")
        return family
    if name in machine.nodes and name not in have:
        raise MachineError(f"{name} of {machine.name} is a switch: expected devices, which ranks run on")
    if name not in have:
        raise UnknownNameError(f"device of {machine.name}", name, have)
    return [name]


def layout(machine: Machine, places: Sequence[str]) -> Layout:
    """Ranks on ``places``, grouped by what joins them. Raises MachineError where nodes hold unequally many."""
    groups = _groups(machine, places)
    sizes = {len(group) for group in groups}
    if len(sizes) > 1:
        raise MachineError(
            f"ranks are spread unevenly over nodes ({', '.join(map(str, map(len, groups)))}), and formulas expect equally "
            "many on each: give -n as a multiple, or the devices with --on"
        )
    near = machine.path(groups[0][:2]) if len(groups[0]) > 1 else None
    far = machine.path((groups[0][0], groups[1][0])) if len(groups) > 1 else None
    sends = Sends(
        near=None if near is None else through(near),
        far=None if far is None else through(far),
        rails=1 if far is None else _rails(machine, places, groups[0], far),
        wires="nvlink" if near is None else _wires(near),
    )
    return Layout(len(groups[0]), sends, _note(groups, near, far))


def _groups(machine: Machine, places: Sequence[str]) -> list[list[str]]:
    """Places that no network lies between, in the order of their first ones."""
    wired = [connection.ends for connection in machine.connections if _kind(connection.link)]
    part_of = {node: i for i, part in enumerate(components(machine.nodes, wired)) for node in part}
    groups: dict[int, list[str]] = {}
    for place in places:
        groups.setdefault(part_of[place], []).append(place)
    return list(groups.values())


def in_nodes(machine: Machine, places: Sequence[str]) -> list[int]:
    """The ranks on ``places``, node by node."""
    return [places.index(place) for group in _groups(machine, places) for place in group]


def send(machine: Machine, first: str, second: str) -> Curve:
    """One send from a device to another."""
    return through(machine.path((first, second)))


def _kind(link: str) -> str:
    """What a link is taken for by its name; "" for a network."""
    return next((kind for start, kind in WIRES.items() if re.match(start, link)), "")


def _wires(path: Path) -> str:
    """What joins two devices: the slowest kind on the way."""
    return "nvlink" if all(_kind(leg.link.name) == "nvlink" for leg in path.legs) else "pci"


def _rails(machine: Machine, places: Sequence[str], group: Sequence[str], far: Path) -> int:
    """Network links that a node can use at once: the rate of its border over that of one of them."""
    inside = set(group)
    around = [cut for cut in cuts(machine, places) if set(cut.inside) == inside]
    slowest = min(leg.link.peak or leg.link.bandwidth for leg in far.legs)
    rate = min((cut.rate for cut in around), default=slowest)
    return max(1, min(len(group), round(rate / slowest)))


def _note(groups: Sequence[Sequence[str]], near: Path | None, far: Path | None) -> str:
    parts = [f"{len(groups)} node{'s' if len(groups) > 1 else ''} of {len(groups[0])}"]
    if near is not None:
        parts.append(f"inside over {near.legs[0].link.name}")
    if far is not None:
        slowest = min(far.legs, key=lambda leg: leg.link.bandwidth)
        parts.append(f"between over {slowest.link.name}")
    return ", ".join(parts)
