"""The elements of an NCCL topology and what they are: classes, busids, GPUs and the links they name.

What belongs here: from one element to one part. How parts join is ``nccl_topo``, what they count up to ``nccl_topo_facts``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from hopline.formats.topologies.xml import Element

PciRole = Literal["gpu", "nic", "bridge", "nvswitch", "cpu", "other"]
_CLASSES: tuple[tuple[str, PciRole], ...] = (
    ("0x068001", "cpu"), ("0x0680", "nvswitch"), ("0x0604", "bridge"), ("0x03", "gpu"), ("0x12", "gpu"), ("0x02", "nic"),
)  # fmt: skip
"""Begin of a PCI class code -> what it is; the first that fits. 0x12 are processing accelerators (MI300)."""
_HEX = re.compile(r"[0-9a-fA-F]{1,16}")
LINKS = ("nvlink", "xgmi")
MOST_COUNT = 1 << 12
"""Links side by side."""

Busid = tuple[str, str]
"""Host and busid: each host counts its own."""


def class_role(code: str) -> PciRole:
    """What a PCI class code like ``0x030200`` stands for."""
    return next((role for begin, role in _CLASSES if code.strip().lower().startswith(begin)), "other")


def role(pci: Element) -> PciRole:
    """What a pci element is: by what stands in it, else by its class."""
    if pci.all("gpu"):
        return "gpu"
    if pci.all("nic"):
        return "nic"
    found = class_role(pci.text("class", ""))
    return "bridge" if found == "other" and pci.all("pci") else found


def host(cpu: Element) -> str:
    """The host of a cpu element; empty where there is only one."""
    return cpu.text("host_hash", "")


def pcis(cpu: Element) -> Iterator[Element]:
    """All pci elements of a cpu."""
    return (element for element in cpu.walk() if element.tag == "pci")


def cores(cpu: Element) -> int:
    """Bits of the mask of a cpu element: hexadecimal words of 32 bits, the high one first."""
    words = [word.strip().removeprefix("0x") for word in cpu.text("affinity", "").split(",") if word.strip()]
    if not all(_HEX.fullmatch(word) for word in words):
        raise cpu.wrong(
            f"cpu has affinity={cpu.text('affinity')[:40]!r}: expected hexadecimal words like 00ffffff,00000000"
        )
    return sum(int(word, 16).bit_count() for word in words)


@dataclass(frozen=True, slots=True)
class Named:
    """A link that a GPU's element names: ``count`` of kind ``tag`` to the GPU at ``target``, or to a switch or a cpu."""

    tag: str
    target: str
    count: int
    to: PciRole
    line: int


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU: the node it is, its place, the cpu above it, and the links it names."""

    name: str
    place: Busid
    cpu: str
    element: Element | None

    @property
    def links(self) -> list[Named]:
        """Those with a count above 0, in the order of the file."""
        if self.element is None:
            return []
        links = [child for child in self.element.children if child.tag in LINKS]
        return [named for named in map(_named, links) if named.count]

    def attribute(self, name: str) -> str:
        """Of its gpu element; empty where there is none."""
        return "" if self.element is None else self.element.text(name, "")


def _named(link: Element) -> Named:
    to = class_role(link.text("tclass", "0x030000"))
    return Named(link.tag, link.text("target").strip().lower(), link.integer("count", 0, MOST_COUNT), to, link.line)
