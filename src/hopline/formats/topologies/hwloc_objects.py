"""Objects of hwloc's XML: what a PCI device is, and what all of them count up to.

What belongs here: from one element to what it stands for. How they join is ``hwloc``.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from hopline.formats.topologies.xml import Element
from hopline.machine.wiring import Fact

_TYPE = re.compile(r"([0-9a-fA-F]{4}) \[([0-9a-fA-F]{4}):([0-9a-fA-F]{4})\].*", re.DOTALL)
_GPU_CLASSES = ("0302", "0380", "1200")
"""3D controller, other display controller (AMD), processing accelerator."""
_VGA, _MAKERS = "0300", ("10de", "1002")
"""A VGA device is a GPU where NVIDIA or AMD made it: servers and virtual machines have one that only shows a console."""
_NETWORK = "02"
OPENFABRICS = "3"
"""osdev_type of an RDMA device (hwloc_obj_osdev_type_e)."""


@dataclass(frozen=True, slots=True)
class Pci:
    """A PCI device: class, ``vendor:device``, GB/s of its link as it stands there (0: not known), its names in the system."""

    element: Element
    code: str
    id: str
    speed: float
    names: tuple[str, ...]
    fabric: bool

    @property
    def gpu(self) -> bool:
        """Whether it is a GPU."""
        return self.code in _GPU_CLASSES or (self.code == _VGA and self.id[:4] in _MAKERS)

    @property
    def nic(self) -> bool:
        """Whether it is on a network."""
        return self.code.startswith(_NETWORK)

    @property
    def efa(self) -> bool:
        """Whether it is an Elastic Fabric Adapter of AWS; its other adapter, ENA, is of the same class."""
        return self.id.startswith("1d0f:efa")


def kind(element: Element) -> str:
    """Type of an object; Socket is what hwloc 1 calls a Package."""
    found = element.text("type", "")
    return "Package" if found == "Socket" else found


def speed(element: Element) -> float:
    """GB/s of the PCI link of an object; 0 where it is not known."""
    return element.decimal("pci_link_speed", default=0.0)


def pci(element: Element) -> Pci:
    """What a PCIDev object is. Raises FormatError."""
    found = _TYPE.fullmatch(element.text("pci_type"))
    if found is None:
        raise element.wrong(
            f"pci_type is {element.text('pci_type')[:40]!r}: expected something like '0302 [10de:2330]'"
        )
    systems = [child for child in element.walk() if kind(child) == "OSDev"]
    fabrics = [child for child in systems if child.text("osdev_type", "") == OPENFABRICS]
    names = tuple(child.text("name", "") for child in (*fabrics, *(s for s in systems if s not in fabrics)))
    return Pci(element, found[1].lower(), f"{found[2]}:{found[3]}".lower(), speed(element), names, bool(fabrics))


def facts(topology: Element) -> dict[str, Fact]:
    """By hwloc's words; link speeds in GB/s, as they stand there."""
    objects = [element for element in topology.walk() if element.tag == "object"]
    kinds = Counter(map(kind, objects))
    devices = [pci(element) for element in objects if kind(element) == "PCIDev"]
    systems = [element.text("osdev_type", "") for element in objects if kind(element) == "OSDev"]
    gpus = [device for device in devices if device.code == "0302"]
    adapters = [device for device in devices if device.efa]
    return {
        "hwloc_version": topology.text("version", "1"),
        "packages": kinds["Package"],
        "numa_nodes": kinds["NUMANode"],
        "cores": kinds["Core"],
        "pus": kinds["PU"],
        "bridges": kinds["Bridge"],
        "pci_devices": len(devices),
        "pci_classes": Counter(device.code for device in devices),
        "gpus_class_0302": len(gpus),
        "gpu_id": ",".join(sorted({device.id for device in gpus})) or "none",
        "gpu_link_speed_GBps": Counter(map(_said, gpus)),
        "efa_nics": len(adapters),
        "efa_id": ",".join(sorted({device.id for device in adapters})) or "none",
        "efa_link_speed_GBps": Counter(map(_said, adapters)),
        "ib_nics_class_0207": sum(device.code == "0207" for device in devices),
        "eth_class_0200_not_efa": sum(device.code == "0200" and not device.efa for device in devices),
        "openfabrics_osdevs": systems.count(OPENFABRICS),
        "osdevs_by_type": Counter(systems),
    }


def _said(device: Pci) -> str:
    return device.element.text("pci_link_speed", "")
