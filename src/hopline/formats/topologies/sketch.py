"""A Wiring in the making: names that are each one's own, one cable between two nodes, remarks as they come up.

What belongs here: what any reader of topologies needs to collect parts. What the parts are is each reader's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, get_args

from hopline.formats.source import STDIN
from hopline.machine.parts import Node
from hopline.machine.wiring import Cable, Fact, Wiring

Role = Literal["gpu", "end", "switch"]
"""GPUs and other ends (NICs, ports) are devices. They come in this order, so that rank 0 is a GPU."""
_LONGEST = 60
_BETWEEN = frozenset(",>;")
"""Letters that stand between names elsewhere."""


def cleaned(name: str) -> str:
    """A name out of a file, fit for a path and a machine file: printable, one word, cut."""
    return "".join("_" if c.isspace() or c in _BETWEEN or not c.isprintable() else c for c in name.strip())[:_LONGEST]


def machine_name(path: str) -> str:
    """What to call the machine of a file that gives it no name: the file's, without folder and endings."""
    name = "" if path == STDIN else re.sub(r"(?:\.\w{1,5}){1,2}$", "", re.split(r"[/\\]", path)[-1])
    return cleaned(name) or "topology"


class Sketch:
    """Parts as a reader finds them."""

    def __init__(self) -> None:
        self._nodes: dict[str, tuple[Role, float]] = {}
        self._cables: dict[frozenset[str], Cable] = {}
        self.remarks: list[str] = []

    def node(self, name: str, role: Role, order: float = 0) -> str:
        """Add a node; its name, made different from all others. Those of a role are sorted by ``order``."""
        base = cleaned(name) or role
        found, number = base, 2
        while found in self._nodes:
            found, number = f"{base}.{number}", number + 1
        self._nodes[found] = role, order
        return found

    def cable(
        self,
        ends: tuple[str, str],
        label: str,
        count: int = 1,
        bandwidth: float | None = None,
        latency: float | None = None,
    ) -> None:
        """Add a cable (byte/s, s; see Cable), unless these nodes are joined already: the first says how."""
        self._cables.setdefault(frozenset(ends), Cable(ends, label, count, bandwidth, latency))

    def remark(self, text: str) -> None:
        """Add a remark, once."""
        if text not in self.remarks:
            self.remarks.append(text)

    def wiring(self, format: str, name: str, facts: Mapping[str, Fact], refusal: str = "") -> Wiring:  # noqa: A002
        """All of it; refused where there is nothing to send to.

        Cables between two devices come last: of equally short ways the first is taken, and no device forwards by itself.
        """
        roles = get_args(Role)
        order = sorted(self._nodes, key=lambda node: (roles.index(self._nodes[node][0]), self._nodes[node][1]))
        nodes = tuple(Node(n, "switch" if self._nodes[n][0] == "switch" else "device") for n in order)
        if not refusal and not any(node.kind == "device" for node in nodes):
            refusal = "it names no GPU and no NIC, so nothing can send"
        devices = {node.name for node in nodes if node.kind == "device"}
        cables = sorted(self._cables.values(), key=lambda cable: devices.issuperset(cable.ends))
        return Wiring(format, name, nodes, tuple(cables), facts, tuple(self.remarks), refusal)
