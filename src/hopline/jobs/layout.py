"""Where ranks run on a machine: which devices, which of them share a node, and what a send costs inside and between nodes.

What belongs here: reading a machine for collectives. Links are told apart by their names (WIRES), since a machine file
does not say which of them are a network.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hopline.curve import Curve
from hopline.errors import InputError, MachineError
from hopline.machine.cuts import cuts
from hopline.machine.topology import Machine, Path
from hopline.model.collectives import Sends

WIRES = {r"nv|xgmi|c2c|ualink": "nvlink", r"pci|upi|qpi|shm": "pci"}
"""Start of a link's name -> what collectives take it for; any other link is a network."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The ranks of a collective: their devices in order, ranks of each node, and what sends cost."""

    devices: tuple[str, ...]
    per_node: int
    sends: Sends
    note: str


def devices(machine: Machine, ranks: int | None, names: Sequence[str] = ()) -> tuple[str, ...]:
    """The devices of ``ranks`` ranks: those named (``h0.gpu*`` means the family), else the machine's first ones.

    Raises InputError where they are not as many, MachineError where the machine has not got them.
    """
    have = [name for name, node in machine.nodes.items() if node.kind == "device"]
    if not names:
        if ranks is None:
            raise InputError("the number of ranks is not known: give -n")
        if ranks > len(have):
            raise MachineError(f"{machine.name} has {len(have)} devices: expected at most as many ranks, got {ranks}")
        return tuple(have[:ranks])
    found = tuple(device for name in names for device in _expanded(machine, name, have))
    if ranks is not None and ranks != len(found):
        raise InputError(f"--ranks names {len(found)} devices, and there are {ranks} ranks: expected one device a rank")
    return found


def _expanded(machine: Machine, name: str, have: Sequence[str]) -> list[str]:
    if not name.endswith("*"):
        machine.path((name, next((other for other in have if other != name), name)))
        return [name]
    family = [device for device in have if re.fullmatch(re.escape(name[:-1]) + r"\d+", device)]
    if not family:
        raise MachineError(f"{machine.name} has no devices {name}: hopline presets shows what it has")
    return family


def layout(machine: Machine, places: Sequence[str]) -> Layout:
    """Ranks on ``places``, grouped by what joins them. Raises MachineError where nodes hold unequally many."""
    groups: list[list[str]] = []
    near: tuple[Path, str] | None = None
    far: Path | None = None
    for place in places:
        for group in groups:
            path = machine.path((group[0], place))
            wires = _wires(path)
            if wires:
                group.append(place)
                near = near or (path, wires)
                break
            far = far or path
        else:
            groups.append([place])
    sizes = {len(group) for group in groups}
    if len(sizes) > 1:
        raise MachineError(
            f"ranks are spread unevenly over nodes ({', '.join(map(str, sorted(sizes)))} a node): expected equally many"
        )
    sends = Sends(
        near=None if near is None else _curve(near[0]),
        far=None if far is None else _curve(far),
        rails=1 if far is None else _rails(machine, places, groups[0], far),
        wires=near[1] if near else "nvlink",
    )
    return Layout(tuple(places), len(groups[0]), sends, _note(groups, near, far))


def send(machine: Machine, first: str, second: str) -> Curve:
    """One send from a device to another."""
    return _curve(machine.path((first, second)))


def _wires(path: Path) -> str:
    """What joins two devices: the slowest kind on the way; "" where a network is among it."""
    kinds = {next((kind for start, kind in WIRES.items() if re.match(start, leg.link.name)), "") for leg in path.legs}
    return "" if "" in kinds else "pci" if "pci" in kinds else "nvlink"


def _curve(path: Path) -> Curve:
    """One send over a path: its hop's own curve; over several hops all latencies and the least bandwidth (cut-through)."""
    hops = path.hops()
    if len(hops) == 1:
        return hops[0]
    lasts = [hop.pieces[-1] for hop in hops]
    return Curve.line(sum(hop.pieces[0].latency for hop in hops), min(piece.bandwidth for piece in lasts))


def _rails(machine: Machine, places: Sequence[str], group: Sequence[str], far: Path) -> int:
    """Network links that a node can use at once: the rate of its border over that of one of them."""
    around = [cut for cut in cuts(machine, places) if set(cut.inside) == set(group)]
    slowest = min(leg.link.peak or leg.link.bandwidth for leg in far.legs)
    rate = min((cut.rate for cut in around), default=slowest)
    return max(1, min(len(group), round(rate / slowest)))


def _note(groups: Sequence[Sequence[str]], near: tuple[Path, str] | None, far: Path | None) -> str:
    parts = [f"{len(groups)} node{'s' if len(groups) > 1 else ''} of {len(groups[0])}"]
    if near is not None:
        parts.append(f"inside over {near[0].legs[0].link.name}")
    if far is not None:
        slowest = min(far.legs, key=lambda leg: leg.link.bandwidth)
        parts.append(f"between over {slowest.link.name}")
    return ", ".join(parts)
