"""hwloc's XML (``lstopo file.xml``), versions 1 to 3: packages, NUMA nodes, bridges and PCI devices.

What belongs here: how they join. GPUs and NICs are devices; bridges that lead to one, and packages and the like where ways
part, are switches. ``pci_link_speed`` is in GB/s after the encoding, and says what the link has at that moment; 0: not known.
hwloc reads it from each device's own link status, which for a port of a bridge is the link below it: the port's cable upwards
then has the rate of the link below, which never makes a way slower than it is.
"""

from __future__ import annotations

from collections import Counter

from hopline.formats.topologies.hwloc_objects import Pci, facts, kind, pci, speed
from hopline.formats.topologies.sketch import Sketch, machine_name
from hopline.formats.topologies.xml import Element, parse
from hopline.machine.wiring import Wiring
from hopline.quantity import convert, counted

_SLOW = 4.0
"""GB/s of a GPU's link below which it is surely asleep, or a guest's."""


def read(path: str) -> Wiring:
    """What the file at ``path`` says. Raises FormatError."""
    topology = parse(path, "topology")
    if not topology.all("object"):
        raise topology.wrong("topology has no element 'object': expected what lstopo writes")
    counts = facts(topology)
    reader = _Reader(topology)
    for top in topology.all("object"):
        reader.draw(top, None)
    reader.tell()
    return reader.sketch.wiring("hwloc", machine_name(path), counts)


def _keeps(parent: Element | None, above: str) -> bool:
    """Whether an object through which only one way leads is a switch all the same: a package below a machine that is one."""
    return bool(above) and parent is not None and kind(parent) == "Machine"


class _Reader:
    def __init__(self, topology: Element) -> None:
        self.sketch = Sketch()
        self._ends: dict[int, Pci] = {}
        self._leading: dict[int, bool] = {}
        self._numbers = Counter[str]()
        self._others = Counter[str]()
        self._homeless = False
        busids: set[str] = set()
        for top in topology.all("object"):
            self._mark(top, busids)

    def _mark(self, here: Element, busids: set[str]) -> bool:
        """Note which objects lead to a GPU or NIC; whether this one does."""
        if kind(here) == "PCIDev":
            device, busid = pci(here), here.text("pci_busid")
            if busid in busids:
                raise here.wrong(f"pci_busid {busid[:40]!r} stands here a second time: expected each once")
            busids.add(busid)
            if device.gpu or device.nic:
                self._ends[id(here)] = device
            else:
                self._others[device.code] += 1
        below = [self._mark(child, busids) for child in here.all("object")]
        self._leading[id(here)] = any(below) or id(here) in self._ends
        return self._leading[id(here)]

    def draw(self, here: Element, parent: Element | None, above: str = "") -> None:
        """Draw what leads to a device at and below an object; ``above`` is the node over it, "" for none."""
        below = [child for child in here.all("object") if self._leading[id(child)]]
        device = self._ends.get(id(here))
        if not self._leading[id(here)]:
            return
        if device is None and kind(here) != "Bridge" and len(below) == 1 and not _keeps(parent, above):
            self.draw(below[0], parent if above else here, above)
            return
        node = self._device(device) if device else self.sketch.node(self._name(here), "switch")
        if above and parent is not None:
            self._join(here, parent, above, node)
        elif kind(here) == "Bridge":
            self._homeless |= parent is not None and kind(parent) == "Machine"
        for child in below:
            self.draw(child, here, node)

    def _join(self, here: Element, parent: Element, above: str, node: str) -> None:
        """The cable upwards: a PCI link, or the way into a NUMA node (NODE) or between them (SYS)."""
        if here.text("pci_busid", "") and kind(parent) == "Bridge":
            rate = speed(here)
            label, bandwidth = (f"PCIe {rate:.4g} GB/s", convert(rate, "GB/s")) if rate else ("PCIe", None)
            self.sketch.cable((above, node), label, 1, bandwidth)
            return
        at_machine = kind(parent) == "Machine"
        self._homeless |= at_machine and kind(here) in ("Bridge", "PCIDev")
        self.sketch.cable((above, node), "SYS" if at_machine else "NODE")

    def _name(self, here: Element) -> str:
        """Of a switch: busid of a bridge, else its kind and number."""
        busid = here.text("pci_busid", "")
        if busid:
            return busid
        word = "host" if kind(here) == "Bridge" else kind(here).lower()
        if kind(here) == "Machine":
            return word
        number = self._numbers[word]
        self._numbers[word] += 1
        return f"{word}{number}"

    def _device(self, device: Pci) -> str:
        if device.gpu:
            self._numbers["gpu"] += 1
            return self.sketch.node(f"gpu{self._numbers['gpu'] - 1}", "gpu")
        return self.sketch.node((device.names or ("nic",))[0] or "nic", "end", 0 if device.fabric else 1)

    def tell(self) -> None:
        """Remarks on what was read."""
        devices = list(self._ends.values())
        if self._homeless:
            self.sketch.remark(
                "PCI devices hang from the machine, not from a NUMA node: which package is near is not said"
            )
        if any(device.gpu for device in devices):
            self.sketch.remark("NVLinks are not read from hwloc's XML: GPUs are joined by PCIe only")
        slow = [device.speed for device in devices if device.gpu and 0 < device.speed < _SLOW]
        if slow:
            self.sketch.remark(
                f"{counted(len(slow), 'GPU')} with a PCIe link of {min(slow):g} GB/s: asleep, or what a guest is told? "
                "It may do more"
            )
        silent = sum(not device.speed for device in devices)
        if silent:
            self.sketch.remark(f"{silent} of {counted(len(devices), 'GPU or NIC')} with pci_link_speed 0: not known")
        if self._others:
            told = ", ".join(f"{count} of class {code}" for code, count in sorted(self._others.items()))
            self.sketch.remark(f"PCI devices that are no GPU or NIC are left out: {told}")
